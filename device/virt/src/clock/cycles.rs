//! Clock of the simulated machine, in cycles; for M-mode only.

use core::arch::asm;

use super::Instant;
use crate::soc;

pub use crate::soc::mark;

/// True if a tick is one cycle, so that tick counts are worth printing.
pub const COUNTS_CYCLES: bool = true;

/// Returns the number of cycles since reset in which this hart did not wait for an interrupt.
///
/// Rocket stops `mcycle` in `wfi`, and its reads of `time` trap.
#[inline]
pub fn ticks() -> u64 {
    let cycles: u64;
    // SAFETY: the instruction only reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) cycles, options(nomem, nostack, preserves_flags)) };
    cycles
}

/// Returns the number of instructions that this hart has retired. Cores without S-mode have only the M-mode name of
/// this counter.
#[inline]
pub fn retired() -> u64 {
    let instret: u64;
    // SAFETY: the instruction only reads a counter.
    unsafe {
        asm!("csrr {}, minstret", out(reg) instret, options(nomem, nostack, preserves_flags));
    }
    instret
}

/// Returns the current time by the only clock that all harts share and that continues while they sleep.
pub fn now() -> Instant {
    Instant { instret: retired(), time: soc::cycles() }
}
