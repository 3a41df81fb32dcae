//! The Ed25519 engine of this project (`hartlock_drivers::ed25519`) as a [`SignEngine`].

use hartlock_drivers::ed25519::{self, Ed25519, Error};
use hartlock_drivers::wait::Wait;
use hartlock_kernels::signature::Rejection;

use crate::compute::{Challenge, SignEngine, Slot};

fn slot(slot: Slot) -> Option<ed25519::Slot> {
    ed25519::Slot::new(slot as u8)
}

impl<W: Wait> SignEngine for Ed25519<W> {
    fn load(&mut self, number: Slot, expanded: &[u8; 64], public_key: &mut [u8; 32]) -> Option<()> {
        *public_key = self.load(slot(number)?, expanded).ok()?;
        Some(())
    }

    fn sign(
        &mut self,
        number: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()> {
        *signature = self.sign(slot(number)?, nonce, challenge).ok()?;
        Some(())
    }

    fn verify(
        &mut self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        let answer = self.verify(public_key, signature, challenge).ok()?;
        Some(answer.map_err(|why| match why {
            ed25519::Rejection::InvalidKey => Rejection::InvalidKey,
            ed25519::Rejection::InvalidSignature => Rejection::NonCanonicalSignature,
            ed25519::Rejection::Mismatch => Rejection::Mismatch,
        }))
    }

    fn wipe(&mut self) -> Option<()> {
        // An engine with a fault has already cleared itself.
        match self.wipe() {
            Ok(()) | Err(Error::Failed) => Some(()),
            Err(_) => None,
        }
    }
}
