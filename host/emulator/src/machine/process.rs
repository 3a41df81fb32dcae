//! The child process of QEMU, and the threads that read its output.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::Error;
use crate::qemu::{Config, Qemu};
use crate::qmp::{Control, Message, read_messages};

/// Maximum length of the path of a socket; the limit of the system is 108 bytes, including the terminating
/// zero.
const LONGEST_SOCKET_PATH: usize = 100;
/// A folder with a short path, which always exists.
const SHORT_FOLDER: &str = "/tmp";
/// Maximum number of queued events. Beyond it QEMU has to wait, so that memory is bounded.
const WAITING_EVENTS: usize = 64;
const MAX_ERROR_OUTPUT: usize = 4096;
/// The time to wait for the last error output of a QEMU that has ended; a process that it started may keep its
/// standard error open for longer.
const LAST_ERROR_OUTPUT: Duration = Duration::from_secs(2);

/// An event that the threads report.
#[derive(Debug)]
pub(super) enum Event {
    Console(Vec<u8>),
    Control(Message),
    /// The console is closed because QEMU has ended.
    Exited,
}

/// The process of QEMU. It is killed through its handle when it is dropped, so that no other process can be
/// hit.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    control: Option<Control>,
    error_output: Arc<Mutex<VecDeque<u8>>>,
    /// A channel that is closed when all error output was received.
    error_output_end: Receiver<()>,
    folder: TempDir,
}

impl Process {
    pub(super) fn start(qemu: &Qemu, config: &Config, deadline: Instant) -> Result<Self, Error> {
        let folder = short_folder()?;
        let socket = folder.path().join("control");
        // This process listens before QEMU connects, so that the socket always exists.
        let listener = UnixListener::bind(&socket)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|source| Error::file("listen at", &socket, source))?;
        let mut child = qemu
            .command()
            .args(config.arguments(&socket)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| Error::file("start", qemu.program(), source))?;
        let (sender, events) = sync_channel(WAITING_EVENTS);
        let error_output = Arc::default();
        let (is_open, error_output_end) = sync_channel(0);
        if let Some(stderr) = child.stderr.take() {
            let error_output = Arc::clone(&error_output);
            thread::spawn(move || {
                keep_end(stderr, &error_output);
                drop(is_open);
            });
        }
        if let Some(stdout) = child.stdout.take() {
            let sender = sender.clone();
            thread::spawn(move || forward(stdout, &sender));
        }
        let input = child.stdin.take();
        let mut process =
            Self { child, input, events, control: None, error_output, error_output_end, folder };
        process.connect(&listener, sender, deadline)?;
        Ok(process)
    }

    /// Waits until QEMU connects. If QEMU ends before, this function returns without a connection, and the end
    /// of the console is reported as an event.
    fn connect(
        &mut self,
        listener: &UnixListener,
        sender: SyncSender<Event>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let no_answer = |error: io::Error| Error::NoAnswer(error.to_string());
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).map_err(no_answer)?;
                    let reader: UnixStream = stream.try_clone().map_err(no_answer)?;
                    self.control = Some(Control::new(stream));
                    thread::spawn(move || {
                        read_messages(reader, |message| {
                            sender.send(Event::Control(message)).is_ok()
                        });
                    });
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(no_answer(error)),
            }
            if self.child.try_wait().map_err(no_answer)?.is_some() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Error::NoAnswer("it did not start in time".to_owned()));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.control.is_some()
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns a folder that exists as long as the process.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn command(&mut self, command: &str, arguments: &Value) -> io::Result<u64> {
        match &mut self.control {
            Some(control) => control.send(command, arguments),
            None => Err(ErrorKind::NotConnected.into()),
        }
    }

    pub(super) fn type_text(&mut self, text: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(text.as_bytes()).and_then(|()| input.flush()),
            None => Err(ErrorKind::NotConnected.into()),
        }
    }

    /// Waits for the next event; returns `None` if there is none before `until`.
    pub(super) fn next_event(&mut self, until: Instant) -> Option<Event> {
        let time = until.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(time) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            // Both threads have ended, which means that QEMU has ended.
            Err(RecvTimeoutError::Disconnected) => Some(Event::Exited),
        }
    }

    /// Kills the process if it is still running, and waits for its end.
    pub(super) fn end(&mut self) {
        // The process may have ended already; then there is nothing to kill, and the wait returns at once.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Returns the end of QEMU's error output, which is complete once QEMU has ended.
    pub(super) fn error_output(&self) -> String {
        // No value is ever sent: this call returns when the reading thread drops its end of the channel.
        let _ = self.error_output_end.recv_timeout(LAST_ERROR_OUTPUT);
        let bytes = self.error_output.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn short_folder() -> Result<TempDir, Error> {
    let usual = std::env::temp_dir();
    // The length includes room for the name of the folder and of a socket in it.
    let is_short = usual.as_os_str().len() + 40 <= LONGEST_SOCKET_PATH;
    let parent = if is_short { usual.as_path() } else { Path::new(SHORT_FOLDER) };
    tempfile::Builder::new()
        .prefix("hartlock-")
        .tempdir_in(parent)
        .map_err(|source| Error::file("create a folder in", parent, source))
}

fn forward(mut from: impl Read, to: &SyncSender<Event>) {
    let mut buffer = [0; 4096];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                if to.send(Event::Console(buffer[..len].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // If the receiver was dropped, the event is not needed.
    let _ = to.send(Event::Exited);
}

fn keep_end(mut from: impl Read, place: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        let mut bytes = place.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(&buffer[..len]);
        let surplus = bytes.len().saturating_sub(MAX_ERROR_OUTPUT);
        bytes.drain(..surplus);
    }
}
