//! A pool that is broken may hang. The watch ends its tests nevertheless, with a message.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Maximum time without progress of a test. It does not measure speed: where a test takes long, it
/// gives a sign with every leaf, and a leaf takes microseconds.
const SILENCE: Duration = Duration::from_secs(20);

/// Tells the watch that there is progress.
pub struct Life(Sender<()>);

impl Life {
    pub fn sign(&self) {
        // The receiver is gone once the test has failed.
        let _ = self.0.send(());
    }
}

/// Runs a test on a thread of its own, which keeps running if it hangs.
pub fn watched(test: impl FnOnce(&Life) + Send + 'static) {
    let (sender, signs) = channel();
    let run = thread::spawn(move || test(&Life(sender)));
    loop {
        match signs.recv_timeout(SILENCE) {
            Ok(()) => {}
            // The sender went away with the test.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                panic!("the pool hangs: no sign of life for {SILENCE:?}")
            }
        }
    }
    run.join().unwrap_or_else(|panic| resume_unwind(panic));
}
