//! Time and retired instructions.

use core::arch::asm;

/// Ticks of `time` per second: the timebase of the board's device trees.
#[cfg(not(feature = "soc"))]
pub const TICKS_PER_SECOND: u64 = 10_000_000;
/// The cycle-accurate machine counts cycles and knows no seconds: by convention, 100 MHz.
#[cfg(feature = "soc")]
pub const TICKS_PER_SECOND: u64 = 100_000_000;

/// A point in time by two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Ticks.
    pub time: u64,
    /// Retired instructions of this hart.
    pub instret: u64,
}

/// Ticks since reset.
#[cfg(not(feature = "soc"))]
#[inline]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter that both stages may read; nothing else happens.
    unsafe { asm!("rdtime {}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// Cycles since reset in which this hart did not wait for an interrupt. M-mode only.
///
/// Rocket stops `mcycle` in `wfi`, and reading `time` traps there.
#[cfg(feature = "soc")]
#[inline]
pub fn ticks() -> u64 {
    let cycles: u64;
    // SAFETY: reads a counter; nothing else happens.
    unsafe { asm!("csrr {}, mcycle", out(reg) cycles, options(nomem, nostack, preserves_flags)) };
    cycles
}

/// Instructions that this hart has retired.
#[inline]
pub fn retired() -> u64 {
    let instret: u64;
    // SAFETY: as above; OpenSBI leaves the counter readable for S-mode.
    #[cfg(not(feature = "soc"))]
    unsafe {
        asm!("rdinstret {}", out(reg) instret, options(nomem, nostack, preserves_flags))
    };
    // SAFETY: as above. M-mode only: cores without S-mode know the counter by this name alone.
    #[cfg(feature = "soc")]
    unsafe {
        asm!("csrr {}, minstret", out(reg) instret, options(nomem, nostack, preserves_flags))
    };
    instret
}

/// Now.
#[cfg(not(feature = "soc"))]
pub fn now() -> Instant {
    Instant { instret: retired(), time: ticks() }
}

/// Now, by the one clock that all harts share and that goes on while they sleep.
#[cfg(feature = "soc")]
pub fn now() -> Instant {
    Instant { instret: retired(), time: crate::soc::cycles() }
}

/// The `time` value `milliseconds` from now.
pub fn deadline(milliseconds: u64) -> u64 {
    ticks().saturating_add(milliseconds.saturating_mul(TICKS_PER_SECOND / 1000))
}

/// Whether a deadline has passed.
#[inline]
pub fn is_past(deadline: u64) -> bool {
    ticks() >= deadline
}

/// Nanoseconds since 1970 by the machine's real-time clock (goldfish RTC). Untrusted: it only
/// makes one boot's number differ from the next.
#[cfg(not(feature = "soc"))]
pub fn wall_clock() -> u64 {
    const RTC: *const u32 = 0x10_1000 as *const u32;
    // SAFETY: the board's RTC registers; reading the low word latches the high one.
    let low = unsafe { RTC.read_volatile() };
    // SAFETY: the second register of the same device, 4 bytes on.
    let high = unsafe { RTC.wrapping_add(1).read_volatile() };
    (u64::from(high) << 32) | u64::from(low)
}
