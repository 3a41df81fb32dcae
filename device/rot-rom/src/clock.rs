//! Time in cycles, and the number of retired instructions (RISC-V Privileged Architecture §3.1.10).

use core::arch::asm;

use hartlock_stage::Instant;

/// A tick is one cycle. The simulation has no frequency; the board defines one, so that tools that compute seconds get
/// comparable numbers.
pub use hartlock_rot::TICKS_PER_SECOND;

/// Reads both halves of a 64-bit counter as one consistent value.
macro_rules! counter {
    ($low:literal, $high:literal) => {{
        loop {
            let (before, low, after): (u32, u32, u32);
            // SAFETY: the instructions only read counters.
            unsafe {
                asm!(
                    concat!("csrr {}, ", $high), concat!("csrr {}, ", $low), concat!("csrr {}, ", $high),
                    out(reg) before, out(reg) low, out(reg) after, options(nomem, nostack)
                );
            }
            // If the upper half did not change, the lower half did not overflow between the reads.
            if before == after {
                break u64::from(before) << 32 | u64::from(low);
            }
        }
    }};
}

/// Returns the current time.
pub fn now() -> Instant {
    Instant { time: counter!("mcycle", "mcycleh"), instret: counter!("minstret", "minstreth") }
}
