//! The slots of virtio-mmio.

pub use hartlock_drivers::virtio_blk::mmio::Mmio as Transport;
use hartlock_drivers::virtio_blk::{Error, silence};

pub use crate::board::VIRTIO_COUNT as SLOTS;
use crate::board::{VIRTIO, VIRTIO_SIZE};

/// All of them.
pub struct Bus;

impl Bus {
    /// Resets every block device.
    pub fn silence() -> Result<Self, Error> {
        let mut bus = Self;
        (0..SLOTS).try_for_each(|slot| silence(&bus.slot(slot)?))?;
        Ok(bus)
    }

    /// A slot, whatever is in it.
    pub fn slot(&mut self, slot: usize) -> Result<Transport, Error> {
        // SAFETY: a virtio-mmio slot of the board, for which there is no driver yet.
        Ok(unsafe { Transport::new(VIRTIO.wrapping_add(slot.wrapping_mul(VIRTIO_SIZE))) })
    }
}
