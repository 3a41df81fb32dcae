//! Time in cycles, and retired instructions (RISC-V Privileged Architecture §3.1.10).

use core::arch::asm;

use hartlock_stage::Instant;

/// A cycle takes a tick. The simulation has no frequency; the board names one so that tools that want seconds
/// get numbers that can be compared.
pub use hartlock_rot::TICKS_PER_SECOND;

/// Both counters, halves of one moment.
macro_rules! counter {
    ($low:literal, $high:literal) => {{
        loop {
            let (before, low, after): (u32, u32, u32);
            // SAFETY: reads counters.
            unsafe {
                asm!(
                    concat!("csrr {}, ", $high), concat!("csrr {}, ", $low), concat!("csrr {}, ", $high),
                    out(reg) before, out(reg) low, out(reg) after, options(nomem, nostack)
                );
            }
            // The lower half did not overflow in between.
            if before == after {
                break u64::from(before) << 32 | u64::from(low);
            }
        }
    }};
}

/// Now.
pub fn now() -> Instant {
    Instant { time: counter!("mcycle", "mcycleh"), instret: counter!("minstret", "minstreth") }
}
