//! Known answers that an engine for big numbers has to give.

#[cfg(feature = "ecdsa")]
use hartlock_algorithm::Curve;

use crate::numbers::{Engine, Numbers, Purpose};
use crate::{KernelFault, Kernels};

impl Kernels {
    /// With an engine for big numbers. It is used for what it gave the known answers of: a signature that fits, and the same
    /// for another digest. What this build does not verify is not tried.
    ///
    /// # Errors
    /// `WrongAnswer` if one answer is wrong: none of the engine's answers counts then. The same if it gives none.
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

    /// Whether an engine is used for this.
    pub const fn has_number_engine(&self, purpose: Purpose) -> bool {
        self.numbers.has(purpose)
    }
}

#[cfg(test)]
mod tests;
