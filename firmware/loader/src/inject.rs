//! Faults that tests build in on purpose. Without a feature every function here is empty.
//!
//! A release never has one of these features: no default asks for them, and only the boot tests of
//! `xtask` name them.

/// The hart that misbehaves.
#[allow(dead_code, reason = "used by the features only")]
const VICTIM: usize = 2;

/// Runs on a worker that has claimed a block.
pub fn before_leaf(hart: usize) {
    #[cfg(feature = "inject-worker-trap")]
    if hart == VICTIM {
        // SAFETY: meant to trap.
        unsafe { core::arch::asm!("unimp") };
    }
    #[cfg(feature = "inject-worker-stall")]
    if hart == VICTIM {
        // Longer than the boot hart waits for a block, shorter than it waits for a stop: the leaf
        // is delivered after all, too late.
        let until = hartlock_virt::clock::deadline(crate::disk::PATIENCE_MS + 1000);
        while !hartlock_virt::clock::is_past(until) {
            core::hint::spin_loop();
        }
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
