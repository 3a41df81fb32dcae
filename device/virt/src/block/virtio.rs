//! The first virtio block device of the board.

pub use hartlock_drivers::virtio_blk::{DEPTH, SECTOR_SIZE};
use hartlock_drivers::virtio_blk::{Error, Queue, VirtioBlk};
use hartlock_image::Reason;

use crate::board::map;
use bus::{Bus, Transport};

#[cfg_attr(storage = "virtio", path = "virtio/mmio.rs")]
#[cfg_attr(storage = "virtio-pci", path = "virtio/pci.rs")]
mod bus;

/// Bytes of one request. Large enough to be cheap, small enough that hashing starts early.
pub const fn request_size(_: u64) -> u64 {
    128 << 10
}

/// In memory that the disk reaches, on boards where it does not reach everything.
const QUEUE: usize = map::DMA.start as usize;
const _: () =
    assert!(size_of::<Queue>() as u64 <= map::DMA.size() && map::DMA.start.is_multiple_of(4096));

/// The device.
#[derive(Debug)]
pub struct Device(VirtioBlk<Transport>);

fn reason_of(error: Error) -> Reason {
    match error {
        Error::NotThere | Error::Unusable => Reason::MediumMissing,
        Error::Busy | Error::Failed => Reason::MediumError,
        Error::Unguarded => Reason::DmaNotGuarded,
    }
}

impl Device {
    /// Finds the block device in the lowest slot, and resets every other one (boot flow §4.1).
    ///
    /// # Errors
    /// `MediumMissing`; `MediumError` for a device that does not complete its reset; `DmaNotGuarded` for one that
    /// does not go through the IOMMU of the board.
    pub fn open() -> Result<Self, Reason> {
        let mut bus = Bus::silence().map_err(reason_of)?;
        for slot in 0..bus::SLOTS {
            let queue = core::ptr::with_exposed_provenance_mut(QUEUE);
            let device = bus.slot(slot).and_then(|transport| {
                // SAFETY: set aside for the queue; one driver is made from it before this function returns it.
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

    /// Bytes that the device holds.
    pub fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// Starts to read sectors into memory. Returns the slot, below [`DEPTH`], or `None` if all are in
    /// use.
    ///
    /// # Errors
    /// `MediumError`.
    ///
    /// # Safety
    /// The device may write to `[address, address + len)` until [`Device::poll`] reports the slot or
    /// the device is reset; `len` is a multiple of [`SECTOR_SIZE`].
    pub unsafe fn submit(
        &mut self,
        sector: u64,
        address: u64,
        len: u32,
    ) -> Result<Option<usize>, Reason> {
        // SAFETY: the caller guarantees the range.
        match unsafe { self.0.submit(sector, address, len) } {
            Ok(slot) => Ok(Some(slot)),
            Err(Error::Busy) => Ok(None),
            Err(error) => Err(reason_of(error)),
        }
    }

    /// The slot of the next request that was completed since the last call.
    ///
    /// # Errors
    /// `MediumError`.
    pub fn poll(&mut self) -> Result<Option<usize>, Reason> {
        self.0.poll().map_err(reason_of)
    }

    /// Stops the device: it writes to memory no more.
    ///
    /// # Errors
    /// `MediumError` if it does not complete the reset.
    pub fn reset(&mut self) -> Result<(), Reason> {
        self.0.reset().map_err(reason_of)
    }
}
