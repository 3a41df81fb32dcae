//! Devices that only the cycle-accurate machine has: storage with DMA, and a mailbox of counters (`hw/soc/README.md`).

use hartlock_verify::board::Region;

use crate::board::{COUNTERS, STORAGE};
use crate::hart;

/// Size of a storage sector in bytes.
pub const SECTOR_SIZE: u64 = 512;

/// Returns the address of a register.
fn register(device: usize, offset: usize) -> *mut u64 {
    core::ptr::with_exposed_provenance_mut(device.wrapping_add(offset))
}

fn read(device: usize, offset: usize) -> u64 {
    // SAFETY: callers pass registers of the two devices; reading them has no side effect.
    unsafe { register(device, offset).read_volatile() }
}

/// # Safety
/// The register must not make the device write to memory that Rust assumes to be its own.
unsafe fn write(device: usize, offset: usize, value: u64) {
    // SAFETY: callers pass registers of the two devices, and guarantee the effect of the write.
    unsafe { register(device, offset).write_volatile(value) };
}

/// Returns the number of machine cycles since reset. Unlike `mcycle`, this counter continues while a hart waits.
pub fn cycles() -> u64 {
    read(COUNTERS, 0x00)
}

/// Returns the number of harts, which are numbered from 0.
pub fn harts() -> usize {
    read(COUNTERS, 0x08) as usize
}

/// Makes the machine record the distribution of every hart's cycles since the previous mark.
pub fn mark(tag: u64) {
    hart::fence();
    // SAFETY: the write only makes the machine record counters.
    unsafe { write(COUNTERS, 0x20, tag) };
    hart::fence();
}

/// The storage. A program must create only one driver, because two would mix up their requests.
#[derive(Debug)]
pub struct Storage {
    started: u64,
}

impl Storage {
    /// Takes over the storage in the state after reset.
    pub fn new() -> Self {
        Self { started: read(STORAGE, 0x18) }
    }

    /// Starts to read sectors into memory. Returns false if the device refuses: there are too many pending requests,
    /// the sectors do not exist, or the region does not start at a multiple of 64 or its size is not a multiple of
    /// [`SECTOR_SIZE`].
    ///
    /// # Safety
    /// `into` is memory, and no code reads or writes it until the request has completed.
    pub unsafe fn start(&mut self, sector: u64, into: Region) -> bool {
        let refused = read(STORAGE, 0x20);
        if !into.size().is_multiple_of(SECTOR_SIZE) {
            return false;
        }
        // SAFETY: the write only sets the first sector of the next request.
        unsafe { write(STORAGE, 0x00, sector) };
        // SAFETY: the write only sets the destination of the next request.
        unsafe { write(STORAGE, 0x08, into.start) };
        // SAFETY: the caller guarantees that the device may write to the region.
        unsafe { write(STORAGE, 0x10, into.size() / SECTOR_SIZE) };
        let is_started = read(STORAGE, 0x20) == refused;
        self.started = self.started.wrapping_add(is_started.into());
        is_started
    }

    /// Returns the number of sectors of the medium.
    pub fn sectors(&self) -> u64 {
        read(STORAGE, 0x38)
    }

    /// Returns the number of requests that were started.
    pub const fn started(&self) -> u64 {
        self.started
    }

    /// Returns the number of requests that are not complete. They complete in the order in which they were started.
    pub fn pending(&self) -> u64 {
        let done = read(STORAGE, 0x18);
        // The fence orders this read before reads of the delivered data.
        hart::fence();
        self.started.wrapping_sub(done)
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self::new()
    }
}
