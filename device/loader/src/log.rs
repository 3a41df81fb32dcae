//! The measurement log as the loader writes it.

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::u32_at;
use hartlock_stage::entry;
use hartlock_virt::board::map;
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::{console, memory};

/// Offset of the entry count in a log (boot flow §3.5).
const LOG_COUNT_AT: usize = 16;

/// Returns a log entry of the loader for a step from `start` until now.
pub fn step(step: Step, start: Instant) -> Entry {
    entry(Stage::Loader, step, start, clock::now())
}

/// Prints the measurement log on machines on which no later stage can read it. Each line has the
/// form `log <hexadecimal>`; there is one for the header and one for each entry.
pub fn print() {
    // SAFETY: the last entry has been written, and nothing writes to the log any more.
    let log = unsafe { memory::bytes(map::LOG) };
    let count = u32_at(log, LOG_COUNT_AT).unwrap_or(0) as usize;
    console::log(log, count);
}
