//! The slots of the PCI bus.

use hartlock_drivers::virtio_blk::Error;
use hartlock_drivers::virtio_blk::pci;
pub use hartlock_drivers::virtio_blk::pci::{Pci as Transport, SLOTS};

use crate::board::{PCI_CONFIG, PCI_MEMORY};

/// Size in bytes of the address range for the registers of all devices. They need only a small part
/// of the range that the board reserves.
const MEMORY_SIZE: usize = 64 << 20;

/// Bus 0 of the board.
pub struct VirtioPciBus(pci::PciBus);

impl VirtioPciBus {
    /// Disables memory access of every device: none reads or writes memory until it is enabled. A virtio device that
    /// bypasses the IOMMU is an error, also if it is no disk: S-mode could use it later.
    pub fn silence() -> Result<Self, Error> {
        let memory = (PCI_MEMORY, PCI_MEMORY.wrapping_add(MEMORY_SIZE));
        // SAFETY: this is the bus of the board, for which there is no driver yet.
        let mut bus = unsafe { pci::PciBus::new(PCI_CONFIG, memory) };
        bus.disable_all()?;
        Ok(Self(bus))
    }

    /// Returns the transport of the block device in a slot.
    pub fn slot(&mut self, slot: usize) -> Result<Transport, Error> {
        self.0.block(slot)
    }
}
