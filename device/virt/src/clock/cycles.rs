//! Cycles of the simulated machine. M-mode only.

use core::arch::asm;

use super::Instant;
use crate::soc;

pub use crate::soc::mark;

/// Whether ticks are cycles, so that they are worth printing.
pub const COUNTS_CYCLES: bool = true;

/// Cycles since reset in which this hart did not wait for an interrupt.
///
/// Rocket stops `mcycle` in `wfi`, and reading `time` traps there.
#[inline]
pub fn ticks() -> u64 {
    let cycles: u64;
    // SAFETY: reads a counter; nothing else happens.
    unsafe { asm!("csrr {}, mcycle", out(reg) cycles, options(nomem, nostack, preserves_flags)) };
    cycles
}

/// Instructions that this hart has retired. Cores without S-mode know the counter by this name alone.
#[inline]
pub fn retired() -> u64 {
    let instret: u64;
    // SAFETY: as above.
    unsafe {
        asm!("csrr {}, minstret", out(reg) instret, options(nomem, nostack, preserves_flags));
    }
    instret
}

/// Now, by the one clock that all harts share and that goes on while they sleep.
pub fn now() -> Instant {
    Instant { instret: retired(), time: soc::cycles() }
}
