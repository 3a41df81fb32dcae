//! The verifiers without an engine: software computes everything, including the hashes.

use hartlock_kernels::Kernels;

/// Returns kernels without an engine.
#[expect(clippy::unnecessary_wraps, reason = "with the engine there may be none")]
pub fn kernels() -> Option<(Kernels, impl Fn() -> u32)> {
    Some((Kernels::PORTABLE, || 0))
}
