//! Devices that only the cycle-accurate machine has: storage with DMA, and a mailbox of
//! counters (`hw/soc/README.md`).

use hartlock_verify::board::Region;

use crate::board::{COUNTERS, STORAGE};
use crate::hart;

/// Bytes of a sector of the storage.
pub const SECTOR_SIZE: u64 = 512;

/// A register by its offset.
fn register(device: usize, offset: usize) -> *mut u64 {
    core::ptr::with_exposed_provenance_mut(device.wrapping_add(offset))
}

fn read(device: usize, offset: usize) -> u64 {
    // SAFETY: callers name registers of the two devices; reading them changes nothing.
    unsafe { register(device, offset).read_volatile() }
}

/// # Safety
/// The register must not make the device write to memory that Rust assumes to be its own.
unsafe fn write(device: usize, offset: usize, value: u64) {
    // SAFETY: callers name registers of the two devices, and guarantee what a write does.
    unsafe { register(device, offset).write_volatile(value) };
}

/// Cycles of the machine since reset. Other than `mcycle` it goes on while a hart waits.
pub fn cycles() -> u64 {
    read(COUNTERS, 0x00)
}

/// How many harts there are; they are numbered from 0.
pub fn harts() -> usize {
    read(COUNTERS, 0x08) as usize
}

/// Has the machine record where the cycles of every hart went since the mark before.
pub fn mark(tag: u64) {
    hart::fence();
    // SAFETY: the machine only records counters.
    unsafe { write(COUNTERS, 0x20, tag) };
    hart::fence();
}

/// The storage. There is one; a program that makes two of these mixes up their requests.
#[derive(Debug)]
pub struct Storage {
    started: u64,
}

impl Storage {
    /// Takes the storage over as it is after reset.
    pub fn new() -> Self {
        Self { started: read(STORAGE, 0x18) }
    }

    /// Starts to read sectors into memory. False if the device refuses: too many requests at a time,
    /// sectors that it has not, or a region that does not begin at a multiple of 64 or is no multiple
    /// of [`SECTOR_SIZE`].
    ///
    /// # Safety
    /// `into` is memory, and no code reads or writes it until the request is done.
    pub unsafe fn start(&mut self, sector: u64, into: Region) -> bool {
        let refused = read(STORAGE, 0x20);
        if !into.size().is_multiple_of(SECTOR_SIZE) {
            return false;
        }
        // SAFETY: only says where the next request begins.
        unsafe { write(STORAGE, 0x00, sector) };
        // SAFETY: only says where the next request goes.
        unsafe { write(STORAGE, 0x08, into.start) };
        // SAFETY: the caller gives the region away.
        unsafe { write(STORAGE, 0x10, into.size() / SECTOR_SIZE) };
        let is_started = read(STORAGE, 0x20) == refused;
        self.started = self.started.wrapping_add(is_started.into());
        is_started
    }

    /// Sectors of the medium.
    pub fn sectors(&self) -> u64 {
        read(STORAGE, 0x38)
    }

    /// Requests that were started.
    pub const fn started(&self) -> u64 {
        self.started
    }

    /// How many requests are not done. They end in the order in which they were started.
    pub fn pending(&self) -> u64 {
        let done = read(STORAGE, 0x18);
        // What was delivered is read after this.
        hart::fence();
        self.started.wrapping_sub(done)
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self::new()
    }
}
