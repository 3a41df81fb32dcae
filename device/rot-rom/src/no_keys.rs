//! Replacement of [`keys`](crate::keys) without its feature: there are no keys, and no secret is
//! read.

use hartlock_drivers::mailbox::Answer;
use hartlock_drivers::mailbox::request::{Permitted, Refusal};

use crate::engines::RotEngines;

/// Does nothing. The hardware closes a slot, if there is one, before a host runs. Returns true, because no key is missing.
pub const fn fill_slot(_: &RotEngines) -> bool {
    true
}

pub use NoKeyService as KeyService;

/// A service that refuses every request that needs keys.
pub struct NoKeyService;

impl NoKeyService {
    /// Returns the service, which uses no device.
    pub const fn take() -> Self {
        Self
    }

    /// Refuses the request.
    pub const fn serve(&mut self, _: Permitted, _: &mut Answer) -> Result<(), Refusal> {
        Err(Refusal::UnknownOperation)
    }
}
