//! The first virtio block device of the board.

pub use hartlock_drivers::virtio_blk::{DEPTH, SECTOR_SIZE};
use hartlock_drivers::virtio_blk::{Error, Queue, VirtioBlk};
use hartlock_image::Reason;

use super::buffers::{BUFFER_SIZE, address};
use crate::board::map;
use bus::Transport;
#[cfg(storage = "virtio")]
use bus::VirtioMmioBus as Bus;
#[cfg(storage = "virtio-pci")]
use bus::VirtioPciBus as Bus;

#[cfg_attr(storage = "virtio", path = "virtio/mmio.rs")]
#[cfg_attr(storage = "virtio-pci", path = "virtio/pci.rs")]
mod bus;

/// Returns the size of one request in bytes. The size is large enough that the cost of a request does not matter, and
/// small enough that hashing starts early.
pub const fn request_size(_: u64) -> u64 {
    BUFFER_SIZE
}

/// Address of the queue, in memory that the disk can reach on boards that restrict its access.
const QUEUE: usize = map::DMA.start as usize;
const _: () =
    assert!(size_of::<Queue>() as u64 <= map::DMA.size() && map::DMA.start.is_multiple_of(4096));

/// The virtio block device.
#[derive(Debug)]
pub struct VirtioDisk(VirtioBlk<Transport>);

fn reason_of(error: Error) -> Reason {
    match error {
        Error::NotThere | Error::Unusable => Reason::MediumMissing,
        Error::Busy | Error::Failed => Reason::MediumError,
        Error::Unguarded => Reason::DmaNotGuarded,
    }
}

impl VirtioDisk {
    /// Finds the block device in the lowest slot, and resets all others (boot flow §4.1).
    ///
    /// # Errors
    /// `MediumMissing`; `MediumError` for a device that does not complete its reset; `DmaNotGuarded` for a device whose
    /// accesses do not go through the IOMMU of the board.
    pub fn open() -> Result<Self, Reason> {
        let mut bus = Bus::silence().map_err(reason_of)?;
        for slot in 0..bus::SLOTS {
            let queue = core::ptr::with_exposed_provenance_mut(QUEUE);
            let device = bus.slot(slot).and_then(|transport| {
                // SAFETY: the memory is reserved for the queue; this function creates only one driver from it before it
                // returns.
                unsafe { VirtioBlk::new(transport, queue) }
            });
            match device {
                Ok(device) => return Ok(Self(device)),
                Err(Error::NotThere) => {}
                Err(error) => return Err(reason_of(error)),
            }
        }
        Err(Reason::MediumMissing)
    }

    /// Returns the capacity of the device in bytes.
    pub fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// Starts to read sectors into the buffer of a free slot. Returns the slot, which is less than [`DEPTH`], or `None`
    /// if all slots are in use. `len` is a multiple of [`SECTOR_SIZE`], and at most [`BUFFER_SIZE`] bytes are read.
    ///
    /// # Errors
    /// `MediumError`.
    pub fn submit(&mut self, sector: u64, len: u64) -> Result<Option<usize>, Reason> {
        let len = len.min(BUFFER_SIZE) as u32;
        // SAFETY: a buffer belongs to its slot, and code only copies from it after the request has completed.
        match unsafe { self.0.submit(sector, len, address) } {
            Ok(slot) => Ok(Some(slot)),
            Err(Error::Busy) => Ok(None),
            Err(error) => Err(reason_of(error)),
        }
    }

    /// Returns the slot of the next request that has completed since the last call.
    ///
    /// # Errors
    /// `MediumError`.
    pub fn poll(&mut self) -> Result<Option<usize>, Reason> {
        self.0.poll().map_err(reason_of)
    }

    /// Stops the device; afterwards it does not write to memory. The function is not inlined, because campaigns wait for
    /// a hart to reach its address.
    ///
    /// # Errors
    /// `MediumError` if the device does not complete the reset.
    #[inline(never)]
    pub fn reset(&mut self) -> Result<(), Reason> {
        self.0.reset().map_err(reason_of)
    }
}
