//! The counter `time`, which all harts share.

use core::arch::asm;

use super::Instant;
use crate::board::RTC;

/// Whether ticks are cycles, so that they are worth printing.
pub const COUNTS_CYCLES: bool = false;

/// Ticks since reset.
#[inline]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter that both stages may read; nothing else happens.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// Instructions that this hart has retired.
#[inline]
pub fn retired() -> u64 {
    let instret: u64;
    // SAFETY: as above; OpenSBI leaves the counter readable for S-mode.
    unsafe { asm!("rdinstret {}", out(reg) instret, options(nomem, nostack, preserves_flags)) };
    instret
}

/// Now.
pub fn now() -> Instant {
    Instant { instret: retired(), time: ticks() }
}

/// What happens from here on has another tag in the trace of the machine, which has none.
#[inline]
pub fn mark(_: u64) {}

/// Nanoseconds since 1970 by the machine's real-time clock (goldfish RTC). Untrusted: it only
/// makes one boot's number differ from the next.
pub fn wall_clock() -> u64 {
    const LOW: *const u32 = RTC as *const u32;
    // SAFETY: the board's RTC registers; reading the low word latches the high one.
    let low = unsafe { LOW.read_volatile() };
    // SAFETY: the second register of the same device, 4 bytes on.
    let high = unsafe { LOW.wrapping_add(1).read_volatile() };
    (u64::from(high) << 32) | u64::from(low)
}
