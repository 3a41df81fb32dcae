//! The console of the bench, without a heap and without `core::fmt`; nothing without a bench.

use hartlock_image::Reason;
use hartlock_stage::console;

#[cfg(feature = "bench")]
use hartlock_rot::put;

/// A chip has no console. The boot sequencer holds the reason of a refusal, and the host's memory the log.
#[cfg(not(feature = "bench"))]
fn put(_: u8) {}

fn print(text: &str) {
    text.bytes().for_each(put);
}

/// Prints texts and a line end.
pub fn line(parts: &[&str]) {
    parts.iter().for_each(|part| print(part));
    put(b'\n');
}

/// Prints a refusal: code, title, hint (boot flow §7).
pub fn refusal(reason: Reason) {
    console::refusal(line, "root of trust", reason);
}

/// Prints a log with so many entries.
pub fn log(memory: &[u8], entries: usize) {
    console::log(put, memory, entries);
}
