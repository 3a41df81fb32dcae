//! The loader's part of the measurement log.

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::u32_at;
use hartlock_stage::entry;
use hartlock_virt::board::map;
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::{console, memory};

/// Offset of the number of entries in a log (boot flow §3.5).
const LOG_COUNT_AT: usize = 16;

/// An entry of the loader from `start` to now.
pub fn step(step: Step, start: Instant) -> Entry {
    entry(Stage::Loader, step, start, clock::now())
}

/// Prints the measurement log on machines where no later stage can read it: a line
/// `log <hexadecimal>` for its header and for each entry.
pub fn print() {
    // SAFETY: its writer has written its last entry.
    let log = unsafe { memory::bytes(map::LOG) };
    let count = u32_at(log, LOG_COUNT_AT).unwrap_or(0) as usize;
    console::log(log, count);
}
