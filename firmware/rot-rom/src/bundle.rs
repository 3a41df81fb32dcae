//! The boot bundle in the host's memory as a medium. The host is in reset and nothing else writes there.

use hartlock_kernels::Kernels;
use hartlock_stage::{Hardware, Instant, RomLog, Slot};

use crate::{clock, map, memory};

/// The medium.
pub type Bundle<'a> = Slot<'a, Ibex>;

/// The hart that copies and hashes.
pub struct Ibex;

impl Hardware for Ibex {
    fn now() -> Instant {
        clock::now()
    }

    fn copy(to: &mut [u8], from: &[u8]) {
        memory::copy(to, from);
    }
}

/// Opens the medium.
pub fn open(kernels: Kernels, log: &mut RomLog) -> Bundle<'_> {
    // SAFETY: memory to which nothing writes while the host is in reset, and no payload goes there.
    Slot::new(unsafe { memory::bytes(map::BUNDLE) }, kernels, log)
}
