//! Programs that sign (`spec/signers.md` §3).

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::uri::ProgramUri;
use super::{Message, Signer, checked};
use crate::request::SignRequest;
use crate::{Error, OnProgress, PublicKey, SignerError, SignerReason};

/// The time that a program may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Maximum length of an answer in bytes. The longest signature in Base64 is shorter.
const MAX_ANSWER: u64 = 256 << 10;
/// Time between two looks at a program that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// A key that a program signs with.
#[derive(Debug)]
pub(super) struct ProgramKey {
    uri: ProgramUri,
    public: PublicKey,
    limit: Duration,
}

impl ProgramKey {
    pub(super) fn new(uri: ProgramUri, public: PublicKey) -> Self {
        Self { uri, public, limit: LIMIT }
    }

    fn fail(&self, reason: SignerReason, detail: impl ToString) -> Error {
        SignerError::new(reason, self.uri.shown.clone(), detail.to_string()).into()
    }

    /// Runs the program with the request on its standard input, and returns its standard output.
    fn run(&self, request: Vec<u8>) -> Result<Vec<u8>, Error> {
        let unusable = |detail: String| self.fail(SignerReason::ProgramUnusable, detail);
        let deadline = Instant::now() + self.limit;
        let mut child = Command::new(&self.uri.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unusable(error.to_string()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        // A program need not read its input, so an error here is none.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&request)));
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut answer = Vec::new();
            let read = stdout.map(|it| it.take(MAX_ANSWER + 1).read_to_end(&mut answer));
            // The receiver is gone if the time was over.
            let _ = sender.send(read.unwrap_or(Ok(0)).map(|_| answer));
        });
        let left = || deadline.saturating_duration_since(Instant::now());
        let answer = receiver.recv_timeout(left());
        let status = match &answer {
            // More than an answer: the program may wait for a reader that is gone.
            Ok(Ok(answer)) if answer.len() as u64 <= MAX_ANSWER => wait(&mut child, deadline),
            _ => None,
        };
        if status.is_none() {
            // It may have ended by itself meanwhile.
            let _ = child.kill();
            let _ = child.wait();
        }
        match (answer, status) {
            (Ok(Ok(answer)), Some(status)) if status.success() => Ok(answer),
            (Ok(Ok(_)), Some(status)) => Err(unusable(status.to_string())),
            (Ok(Err(error)), _) => Err(unusable(error.to_string())),
            (Ok(Ok(answer)), None) if answer.len() as u64 > MAX_ANSWER => {
                Err(unusable("its answer is longer than any signature".to_string()))
            }
            (Ok(Ok(_)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected), _) => {
                Err(self.fail(SignerReason::ProgramTimeout, ""))
            }
        }
    }
}

/// Waits for the end of a program. Returns `None` if it runs at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => return None,
        }
    }
}

impl Signer for ProgramKey {
    fn public(&self) -> PublicKey {
        self.public.clone()
    }

    fn sign_message(&self, message: &Message<'_>, _: OnProgress<'_>) -> Result<Vec<u8>, Error> {
        let request = SignRequest::new(message, std::slice::from_ref(&self.public));
        let answer = self.run(request.to_json().into_bytes())?;
        checked(&self.uri.shown, &self.public, message.signed, &answer)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::PrivateKey;

    fn answer(script: &str) -> Result<Vec<u8>, SignerReason> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let public = PrivateKey::generate().unwrap().public();
        let uri = ProgramUri { shown: "exec:program".into(), program, public: "-".into() };
        let limit = Duration::from_secs(2);
        let key = ProgramKey { uri, public, limit };
        key.run(vec![b'x'; 1 << 20]).map_err(|error| match error {
            Error::Signer(error) => error.reason,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn a_program_answers_or_is_refused() {
        assert_eq!(answer("wc -c").unwrap().trim_ascii(), b"1048576");
        assert_eq!(answer("echo read nothing").unwrap(), b"read nothing\n");
        for script in ["echo a; exit 3", "kill -9 $$", "head -c 300000 /dev/zero"] {
            assert_eq!(answer(script), Err(SignerReason::ProgramUnusable), "{script}");
        }
        for script in ["exec sleep 30", "exec >&-; exec sleep 30"] {
            assert_eq!(answer(script), Err(SignerReason::ProgramTimeout), "{script}");
        }
    }
}
