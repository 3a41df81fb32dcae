//! Known-answer tests for a big-number engine.

#[cfg(feature = "ecdsa")]
use hartlock_algorithm::Curve;

use crate::engines::EngineKind;
use crate::{EngineUse, KernelFault, Kernels};

impl Kernels {
    /// Uses the engine for big numbers, for what it gave the known answers of: a signature that fits, and the same for another
    /// digest. What this build does not verify is not tried.
    ///
    /// # Errors
    /// `WrongAnswer` if one answer is wrong, or there is none: the engine is not used any more.
    pub fn use_number_engine(&mut self) -> Result<(), KernelFault> {
        let engines = self.engines().ok_or(KernelFault::WrongAnswer)?;
        let answers = [
            #[cfg(feature = "rsa")]
            (EngineUse::Rsa.bit(), crate::rsa::known_to(engines)),
            #[cfg(feature = "ecdsa")]
            (EngineUse::P256.bit(), crate::ecdsa::known_to(Curve::P256, engines)),
            #[cfg(feature = "ecdsa")]
            (EngineUse::P384.bit(), crate::ecdsa::known_to(Curve::P384, engines)),
        ];
        self.add_uses(EngineKind::Bignum, &answers)
    }
}

#[cfg(test)]
mod tests;
