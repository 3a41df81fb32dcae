//! Time and retired instructions. The unit of time depends on the board.

#[cfg_attr(clock = "cycles", path = "clock/cycles.rs")]
#[cfg_attr(clock = "time", path = "clock/time.rs")]
mod form;

pub use form::*;

pub use crate::board::TICKS_PER_SECOND;
pub use hartlock_stage::Instant;

/// Returns the number of ticks in a time.
pub const fn ticks_of(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(TICKS_PER_SECOND / 1000)
}

/// Returns the tick value that is `milliseconds` from now.
pub fn deadline(milliseconds: u64) -> u64 {
    ticks().saturating_add(ticks_of(milliseconds))
}

/// Returns true if a deadline has passed.
#[inline]
pub fn is_past(deadline: u64) -> bool {
    ticks() >= deadline
}
