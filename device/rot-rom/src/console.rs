//! The console of the test bench, without a heap and without `core::fmt`. Without a test bench nothing is printed.

use hartlock_image::Reason;
use hartlock_stage::console;

#[cfg(feature = "bench")]
use hartlock_rot::put;

/// Discards the byte, because a chip has no console. The boot sequencer holds the reason of a refusal, and the host's
/// memory holds the log.
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

/// Prints a refusal with its code, title and hint (boot flow §7).
pub fn refusal(reason: Reason) {
    console::refusal(line, "root of trust", reason);
}

/// Prints the header of a log and `entries` entries.
pub fn log(memory: &[u8], entries: usize) {
    console::log(put, memory, entries);
}
