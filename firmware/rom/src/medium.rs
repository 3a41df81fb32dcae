//! The boot bundle in flash bank 1 (boot flow §4.1).

use hartlock_handoff::{Entry, Step};
use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, align_up};
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_verify::tree;
use hartlock_verify::{Loaded, Platform, bits_of};
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

use crate::{RomLog, push, step};

/// Puts the flash into read mode: whoever ran before may have left it in another one, in which
/// reads return status instead of contents.
pub fn reset_flash() {
    /// Intel command set: Read Array. Two 16-bit devices side by side make a 32-bit bank.
    const READ_ARRAY: u32 = 0x00ff_00ff;
    let bank: *mut u32 = core::ptr::with_exposed_provenance_mut(map::BUNDLE_FLASH.start as usize);
    // SAFETY: a command write to the flash of this board; it changes no contents.
    unsafe { bank.write_volatile(READ_ARRAY) };
    hartlock_virt::hart::fence();
}

/// The slot of the boot bundle as a medium.
pub struct Flash<'a> {
    slot: &'static [u8],
    kernels: Kernels,
    log: &'a mut RomLog,
}

impl<'a> Flash<'a> {
    /// Opens the slot.
    pub fn new(kernels: Kernels, log: &'a mut RomLog) -> Self {
        // SAFETY: flash of this board, in read mode; nobody writes to it while the ROM runs.
        Self { slot: unsafe { memory::bytes(map::BOOT_SLOT) }, kernels, log }
    }

    /// Adds to the log.
    pub fn push(&mut self, entry: Entry) {
        push(self.log, entry);
    }

    /// Copies a payload to its memory. Returns the copy, and the bits that are set in the padding
    /// behind the original.
    pub fn copy(&mut self, payload: &PayloadRecord) -> Result<(&'static [u8], u64), Reason> {
        let read_start = clock::now();
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let source = self.bytes(payload.offset, padded_size)?;
        let (source, padding) =
            source.split_at_checked(payload.size as usize).ok_or(Reason::InternalLimit)?;
        // SAFETY: the load range was checked against the board's map: it is RAM that no running
        // stage uses, and this slice is its only user until OpenSBI starts.
        let memory =
            unsafe { memory::bytes_mut(Region::new(payload.load_address, payload.memory_size)) };
        let (loaded, rest) =
            memory.split_at_mut_checked(payload.size as usize).ok_or(Reason::InternalLimit)?;
        for (to, from) in loaded.iter_mut().zip(source) {
            *to = *from;
        }
        rest.fill(0);
        let padding = bits_of(padding);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            ..step(Step::Read, read_start)
        });
        Ok((loaded, padding))
    }

    fn bytes(&self, offset: u64, len: u64) -> Result<&'static [u8], Reason> {
        self.slot
            .get(offset as usize..)
            .and_then(|rest| rest.get(..len as usize))
            .ok_or(Reason::Truncated)
    }
}

impl Platform for Flash<'_> {
    fn medium_len(&self) -> u64 {
        self.slot.len() as u64
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let source = self.bytes(offset, into.len() as u64)?;
        for (to, from) in into.iter_mut().zip(source) {
            *to = *from;
        }
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let (loaded, padding) = self.copy(payload)?;
        // From here on only the copy counts.
        let hash_start = clock::now();
        let digest = tree::digest_with(&self.kernels, payload, loaded);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            digest: tree::first_48(&digest),
            hash: Some(payload.hash),
            kernel: tree::tier(&self.kernels, (payload.mode, payload.hash)) as u32,
            ..step(Step::Hash, hash_start)
        });
        Ok(Loaded { digest, padding })
    }
}
