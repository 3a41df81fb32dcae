//! Selection of the kernels of a hart.

use crate::dispatch::{Kernels, Probe};
#[cfg(target_arch = "riscv64")]
use crate::rv64;

impl Kernels {
    /// Returns the fastest kernels that work on this hart.
    #[cfg_attr(not(target_arch = "riscv64"), expect(unused_variables, reason = "nothing to try"))]
    pub fn detect(probe: &mut impl Probe) -> Self {
        #[cfg_attr(not(target_arch = "riscv64"), expect(unused_mut, reason = "nothing to try"))]
        let mut kernels = Self::PORTABLE;
        #[cfg(target_arch = "riscv64")]
        rv64::offer_all(&mut kernels, probe);
        kernels
    }
}
