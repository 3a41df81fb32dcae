//! The storage of the cycle-accurate machine (`hw/soc/README.md`), which completes requests in order.

use hartlock_image::Reason;
use hartlock_verify::board::Region;

use super::buffers::{BUFFER_SIZE, address};
pub use crate::soc::SECTOR_SIZE;
use crate::soc::Storage;

/// Maximum number of concurrent requests.
pub const DEPTH: usize = 8;

/// Returns the size of one request in bytes: two blocks, because the payloads of this machine are small. All requests
/// together keep the storage busy while the boot hart hashes a block and cannot submit new ones.
pub const fn request_size(block_size: u64) -> u64 {
    const PAGE: u64 = 4096;
    let is_large = block_size > BUFFER_SIZE / 2;
    if is_large { BUFFER_SIZE } else { (block_size * 2).next_multiple_of(PAGE) }
}

/// The storage as a block device.
#[derive(Debug)]
pub struct BenchDisk {
    storage: Storage,
    submitted: u64,
    completed: u64,
}

impl BenchDisk {
    /// Takes over the storage, which always exists.
    ///
    /// # Errors
    /// None.
    pub fn open() -> Result<Self, Reason> {
        Ok(Self { storage: Storage::new(), submitted: 0, completed: 0 })
    }

    /// Returns the capacity of the device in bytes.
    pub fn capacity(&self) -> u64 {
        self.storage.sectors().saturating_mul(SECTOR_SIZE)
    }

    /// Same as the function of a virtio block device.
    ///
    /// # Errors
    /// `MediumError`.
    pub fn submit(&mut self, sector: u64, len: u64) -> Result<Option<usize>, Reason> {
        if self.submitted.wrapping_sub(self.completed) >= DEPTH as u64 {
            return Ok(None);
        }
        let slot = (self.submitted % DEPTH as u64) as usize;
        let buffer = Region::new(address(slot), len.min(BUFFER_SIZE));
        // SAFETY: the buffer belongs to the slot, and code only copies from it after the request has completed.
        if !unsafe { self.storage.start(sector, buffer) } {
            return Err(Reason::MediumError);
        }
        self.submitted = self.submitted.wrapping_add(1);
        Ok(Some(slot))
    }

    /// Same as the function of a virtio block device.
    ///
    /// # Errors
    /// None.
    pub fn poll(&mut self) -> Result<Option<usize>, Reason> {
        let done = self.submitted.wrapping_sub(self.storage.pending());
        if self.completed == done {
            return Ok(None);
        }
        let slot = (self.completed % DEPTH as u64) as usize;
        self.completed = self.completed.wrapping_add(1);
        Ok(Some(slot))
    }

    /// Waits until no request is pending. The storage has no command to stop, and always finishes its requests.
    ///
    /// # Errors
    /// None.
    pub fn reset(&mut self) -> Result<(), Reason> {
        while self.storage.pending() > 0 {
            core::hint::spin_loop();
        }
        Ok(())
    }
}
