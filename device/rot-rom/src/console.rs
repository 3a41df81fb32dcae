//! The console, without a heap and without `core::fmt`.

use hartlock_image::Reason;
use hartlock_stage::console;

use crate::Environment;

/// Prints texts and a line end.
pub fn line<E: Environment>(parts: &[&str]) {
    parts.iter().for_each(|part| part.bytes().for_each(E::put));
    E::put(b'\n');
}

/// Prints a refusal with its code and title (boot flow §7).
pub fn refusal<E: Environment>(reason: Reason) {
    console::refusal(line::<E>, "root of trust", reason);
}

/// Prints the header of a log and `entries` entries.
pub fn log<E: Environment>(memory: &[u8], entries: usize) {
    console::log(E::put, memory, entries);
}
