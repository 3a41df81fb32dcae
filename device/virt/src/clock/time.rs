//! The counter `time`, which all harts share.

use core::arch::asm;

use super::Instant;
use crate::board::RTC;

/// True if a tick is one cycle, so that tick counts are worth printing.
pub const COUNTS_CYCLES: bool = false;

/// Returns the number of ticks since reset.
#[inline]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: the instruction only reads a counter, which both stages may read.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// Returns the number of instructions that this hart has retired.
#[inline]
pub fn retired() -> u64 {
    let instret: u64;
    // SAFETY: the instruction only reads a counter, which OpenSBI leaves readable for S-mode.
    unsafe { asm!("rdinstret {}", out(reg) instret, options(nomem, nostack, preserves_flags)) };
    instret
}

/// Returns the current time.
pub fn now() -> Instant {
    Instant { instret: retired(), time: ticks() }
}

/// Does nothing: this machine has no trace in which phases could be marked.
#[inline]
pub fn mark(_: u64) {}

/// Returns the nanoseconds since 1970 of the machine's real-time clock (goldfish RTC). The value is
/// untrusted and only makes the number of one boot differ from the next.
pub fn wall_clock() -> u64 {
    const LOW: *const u32 = RTC as *const u32;
    // SAFETY: this is an RTC register of the board; reading the low word latches the high word.
    let low = unsafe { LOW.read_volatile() };
    // SAFETY: this is the second register of the same device, 4 bytes after the first.
    let high = unsafe { LOW.wrapping_add(1).read_volatile() };
    (u64::from(high) << 32) | u64::from(low)
}
