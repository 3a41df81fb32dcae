//! The slots of the PCI bus.

use hartlock_drivers::virtio_blk::Error;
use hartlock_drivers::virtio_blk::pci;
pub use hartlock_drivers::virtio_blk::pci::{Pci as Transport, SLOTS};

use crate::board::{PCI_CONFIG, PCI_MEMORY};

/// Registers of devices fit into a small part of what is set aside for them.
const MEMORY_SIZE: usize = 64 << 20;

/// Bus 0.
pub struct Bus(pci::Bus);

impl Bus {
    /// Takes memory away from every device: none reads or writes it until it is enabled.
    pub fn silence() -> Result<Self, Error> {
        let memory = (PCI_MEMORY, PCI_MEMORY.wrapping_add(MEMORY_SIZE));
        // SAFETY: the bus of the board, for which there is no driver yet.
        let bus = unsafe { pci::Bus::new(PCI_CONFIG, memory) };
        bus.disable_all();
        Ok(Self(bus))
    }

    /// The block device in a slot.
    pub fn slot(&mut self, slot: usize) -> Result<Transport, Error> {
        self.0.block(slot)
    }
}
