//! No engine: the verifiers compute all of it, hashes as well.

use hartlock_kernels::Kernels;

/// Kernels without an engine.
#[expect(clippy::unnecessary_wraps, reason = "with the engine there may be none")]
pub const fn kernels() -> Option<Kernels> {
    Some(Kernels::PORTABLE)
}

/// Answers of an engine.
pub const fn given() -> u32 {
    0
}
