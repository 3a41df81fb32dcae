//! A watchdog that ends a test of the pool with a message if the pool hangs.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Maximum time in which a test reports no progress. The limit does not measure speed: a long test
/// reports progress with every leaf, and a leaf takes microseconds.
const SILENCE: Duration = Duration::from_secs(20);

/// Handle with which a test reports progress.
pub struct Life(Sender<()>);

impl Life {
    pub fn sign(&self) {
        // Sending fails after the test has failed, because the receiver is dropped.
        let _ = self.0.send(());
    }
}

/// Runs a test on its own thread. If the test hangs, that thread keeps running and the caller
/// panics.
pub fn watched(test: impl FnOnce(&Life) + Send + 'static) {
    let (sender, signs) = channel();
    let run = thread::spawn(move || test(&Life(sender)));
    loop {
        match signs.recv_timeout(SILENCE) {
            Ok(()) => {}
            // The sender was dropped at the end of the test.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                panic!("the pool hangs: no sign of life for {SILENCE:?}")
            }
        }
    }
    run.join().unwrap_or_else(|panic| resume_unwind(panic));
}
