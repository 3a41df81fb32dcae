//! Known-answer tests for a big-number engine.

#[cfg(feature = "ecdsa")]
use hartlock_algorithm::Curve;

use crate::numbers::{Engine, Numbers, Purpose};
use crate::{KernelFault, Kernels};

impl Kernels {
    /// Returns these kernels with a big-number engine. The engine is used for each purpose for which it accepts a
    /// valid signature and rejects a changed signature or digest. Algorithms that this build does not verify are not
    /// tested.
    ///
    /// # Errors
    /// `WrongAnswer` if any answer is wrong, so that the engine is not used at all, or if the engine gives no answer.
    pub fn with_number_engine(self, engine: Engine) -> Result<Self, KernelFault> {
        let mut numbers = Numbers::NONE;
        for (purpose, answer) in [
            #[cfg(feature = "rsa")]
            (Purpose::Rsa, crate::rsa::known_to(engine.power)),
            #[cfg(feature = "ecdsa")]
            (Purpose::P256, crate::ecdsa::known_to(Curve::P256, engine.verify)),
            #[cfg(feature = "ecdsa")]
            (Purpose::P384, crate::ecdsa::known_to(Curve::P384, engine.verify)),
        ] {
            match answer {
                Some(true) => numbers = numbers.known_to(engine, purpose),
                Some(false) => return Err(KernelFault::WrongAnswer),
                None => {}
            }
        }
        if numbers.is_none() {
            return Err(KernelFault::WrongAnswer);
        }
        Ok(Self { numbers, ..self })
    }

    /// Returns true if an engine is used for this purpose.
    pub const fn has_number_engine(&self, purpose: Purpose) -> bool {
        self.numbers.has(purpose)
    }
}

#[cfg(test)]
mod tests;
