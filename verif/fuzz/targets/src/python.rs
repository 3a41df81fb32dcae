//! The second verifiers, `spec/verify.py` and `spec/first_stage.py`, in a Python process that runs as long as
//! this program.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hartlock_testkit::first_stage::FirstStageOptions;
use serde_json::json;

use crate::options::Options;

pub struct SecondVerifier {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    _process: Child,
}

impl SecondVerifier {
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge.py");
        let mut command = Command::new("python3");
        command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python3 starts");
        Self {
            requests: process.stdin.take().expect("a pipe"),
            answers: BufReader::new(process.stdout.take().expect("a pipe")),
            _process: process,
        }
    }

    /// Returns `accepted` or the code of the reason.
    pub fn judge(&mut self, bundle: &[u8], options: &Options) -> String {
        let is_revoked = |index: usize| options.revoked_keys >> index & 1 == 1;
        let keys = options.keys.iter().take(8).enumerate().filter(|(index, _)| !is_revoked(*index));
        let keys: Vec<_> = keys
            .map(|(_, key)| {
                let id: String = key.key_id.iter().map(|byte| format!("{byte:02x}")).collect();
                json!([key.algorithm, key.parameters, id])
            })
            .collect();
        let request = json!({
            "keys": keys,
            "policy": options.policy.name(),
            "type": options.bundle_type.map(|kind| kind.name()),
            "board": options.board.as_ref().map(|name| name.as_str()),
            "soc": options.soc.as_ref().map(|name| name.as_str()),
            "floor": options.floor,
            "boot_version": options.boot_version,
            "lifecycle": options.lifecycle.map(|state| state.name()),
            "medium": options.is_medium,
        });
        self.ask(&request.to_string(), bundle)
    }

    /// Same as [`SecondVerifier::judge`] for a first stage, by `spec/first_stage.py`.
    pub fn judge_first_stage(&mut self, image: &[u8], options: &FirstStageOptions) -> String {
        self.ask(&serde_json::to_string(options).expect("options are JSON"), image)
    }

    fn ask(&mut self, options: &str, file: &[u8]) -> String {
        let mut message = Vec::new();
        for part in [options.as_bytes(), file] {
            message.extend((part.len() as u32).to_le_bytes());
            message.extend(part);
        }
        self.requests.write_all(&message).expect("the second verifier listens");
        self.requests.flush().expect("the second verifier listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the second verifier answers");
        assert!(line.ends_with('\n'), "the second verifier died");
        line.trim_end().to_owned()
    }
}
