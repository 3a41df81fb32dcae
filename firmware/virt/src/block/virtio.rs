//! The first virtio block device of the board.

pub use hartlock_drivers::virtio_blk::{DEPTH, SECTOR_SIZE};
use hartlock_drivers::virtio_blk::{Error, Queue, VirtioBlk};
use hartlock_image::Reason;

use crate::board::{VIRTIO, VIRTIO_COUNT, VIRTIO_SIZE};

/// Bytes of one request. Large enough to be cheap, small enough that hashing starts early.
pub const fn request_size(_: u64) -> u64 {
    128 << 10
}

static mut QUEUE: Queue = Queue::new();

/// The device.
#[derive(Debug)]
pub struct Device(VirtioBlk);

fn reason_of(error: Error) -> Reason {
    match error {
        Error::NotThere | Error::Unusable => Reason::MediumMissing,
        Error::Busy | Error::Failed => Reason::MediumError,
    }
}

impl Device {
    /// Finds the block device in the lowest slot, and resets every other one (boot flow §4.1).
    ///
    /// # Errors
    /// `MediumMissing`; `MediumError` for a device that does not complete its reset.
    pub fn open() -> Result<Self, Reason> {
        let bases =
            (0..VIRTIO_COUNT).map(|slot| VIRTIO.wrapping_add(slot.wrapping_mul(VIRTIO_SIZE)));
        for base in bases.clone() {
            // SAFETY: a virtio-mmio slot of the board, for which there is no driver yet.
            unsafe { VirtioBlk::silence(base) }.map_err(reason_of)?;
        }
        let queue = &raw mut QUEUE;
        for base in bases {
            // SAFETY: a virtio-mmio slot of the board; the queue is used here only, and one driver is
            // made from it before this function returns it.
            match unsafe { VirtioBlk::new(base, queue) } {
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
