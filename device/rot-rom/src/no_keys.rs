//! In place of [`keys`](crate::keys) without its feature: there are no keys, and no secret is read.

use hartlock_drivers::mailbox::Answer;
use hartlock_drivers::mailbox::request::{Permitted, Refusal};

/// Does nothing. A slot, if there is one, closes by itself before a host runs.
pub const fn fill_slot() {}

/// Refuses what needs keys.
pub struct Service;

impl Service {
    /// Takes nothing.
    pub const fn take() -> Self {
        Self
    }

    /// Refuses.
    pub const fn serve(&mut self, _: Permitted, _: &mut Answer) -> Result<(), Refusal> {
        Err(Refusal::UnknownOperation)
    }
}
