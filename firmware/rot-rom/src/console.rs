//! The console of the bench, without a heap and without `core::fmt`.

use hartlock_image::Reason;
use hartlock_rot::put;
use hartlock_stage::console;

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
