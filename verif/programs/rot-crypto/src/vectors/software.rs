//! The verifiers without an engine: software computes everything, including the hashes.

use hartlock_kernels::Kernels;

/// Returns kernels without an engine.
#[expect(clippy::unnecessary_wraps, reason = "with the engine there may be none")]
pub const fn kernels() -> Option<Kernels> {
    Some(Kernels::PORTABLE)
}

/// Returns the number of answers of an engine, which is zero.
pub const fn given() -> u32 {
    0
}
