//! The slots of virtio-mmio.

pub use hartlock_drivers::virtio_blk::mmio::Mmio as Transport;
use hartlock_drivers::virtio_blk::{Error, silence};

pub use crate::board::VIRTIO_COUNT as SLOTS;
use crate::board::{VIRTIO, VIRTIO_SIZE};

/// All virtio-mmio slots.
pub struct VirtioMmioBus;

impl VirtioMmioBus {
    /// Resets every block device.
    pub fn silence() -> Result<Self, Error> {
        let mut bus = Self;
        (0..SLOTS).try_for_each(|slot| silence(&bus.slot(slot)?))?;
        Ok(bus)
    }

    /// Returns the transport of a slot, whether or not there is a device in it.
    pub fn slot(&mut self, slot: usize) -> Result<Transport, Error> {
        // SAFETY: the address is a virtio-mmio slot of the board, for which there is no driver yet.
        Ok(unsafe { Transport::new(VIRTIO.wrapping_add(slot.wrapping_mul(VIRTIO_SIZE))) })
    }
}
