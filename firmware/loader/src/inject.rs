//! Faults that tests build in on purpose. Without a feature every function here is empty.
//!
//! A release never has one of these features: no default enables them, and only the boot tests in
//! `tests/device` and the measurement of what verification costs name them.

use hartlock_image::Reason;
use hartlock_virt::clock;

/// The faulty hart.
#[allow(dead_code, reason = "used by the features only")]
const VICTIM: usize = 2;

/// Keeps a hart busy without work.
#[allow(dead_code, reason = "used by the features only")]
fn delay(milliseconds: u64) {
    let until = clock::deadline(milliseconds);
    while !clock::is_past(until) {
        core::hint::spin_loop();
    }
}

/// How long a payload may take after its last byte arrived: a test does not wait for a minute.
pub const fn payload_ms(release: u64) -> u64 {
    if cfg!(feature = "inject-slow-hashing") { 2000 } else { release }
}

/// The metadata buffer, or so little of it that no manifest fits.
pub fn metadata(buffer: &mut [u8]) -> &mut [u8] {
    #[cfg(feature = "inject-small-metadata")]
    let buffer = buffer.get_mut(..512).unwrap_or_default();
    buffer
}

/// Whether hashing of a payload waits for its last byte.
pub const LOADS_FIRST: bool = cfg!(feature = "inject-load-first");

/// Whether a payload is read from the disk again after it was hashed.
pub const READS_TWICE: bool = cfg!(feature = "inject-reads-twice");

/// What the last reset of the disk says.
pub const fn reset(result: Result<(), Reason>) -> Result<(), Reason> {
    if cfg!(feature = "inject-reset-fails") { Err(Reason::MediumError) } else { result }
}

/// The harts that are started beside the boot hart.
pub fn to_start(others: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    others.take(if cfg!(feature = "inject-one-hart") { 0 } else { usize::MAX })
}

/// Runs on a hart that has claimed a block.
pub fn before_leaf(hart: usize) {
    // No hart holds a block for long, and all of them together are still too slow.
    #[cfg(feature = "inject-slow-hashing")]
    delay(200);
    #[cfg(feature = "inject-worker-trap")]
    if hart == VICTIM {
        // SAFETY: meant to trap.
        unsafe { core::arch::asm!("unimp") };
    }
    #[cfg(feature = "inject-worker-stall")]
    if hart == VICTIM {
        // Longer than the boot hart waits for a block, shorter than it waits for a stop: the leaf
        // is delivered after all, too late.
        delay(crate::timeouts::PATIENCE_MS + 1000);
    }
    let _ = hart;
}

/// Runs on a worker that was told to stop.
pub fn before_stop(hart: usize) {
    #[cfg(feature = "inject-worker-never-stops")]
    if hart == VICTIM {
        loop {
            core::hint::spin_loop();
        }
    }
    let _ = hart;
}
