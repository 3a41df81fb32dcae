//! A bundle in memory as a medium (boot flow §4.1). The memory is mapped flash, or RAM that no other code writes to.
//! Each byte is read once: the copy is hashed, and the same copy is executed.

use core::marker::PhantomData;

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, align_up};
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_verify::{Loaded, Platform, bits_of, tree};

use crate::{Instant, RomLog, entry, memory, push};

/// The function of the hart that a medium in memory needs.
pub trait Hardware {
    /// Returns the current time.
    fn now() -> Instant;
}

/// Copies bytes until the shorter slice ends.
fn copy(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// The slot of a boot bundle.
pub struct Slot<'a, H: Hardware> {
    slot: &'static [u8],
    kernels: Kernels,
    log: &'a mut RomLog,
    hardware: PhantomData<H>,
}

impl<'a, H: Hardware> Slot<'a, H> {
    /// Returns a medium that consists of these bytes.
    pub fn new(slot: &'static [u8], kernels: Kernels, log: &'a mut RomLog) -> Self {
        Self { slot, kernels, log, hardware: PhantomData }
    }

    /// Adds an entry to the log.
    pub fn push(&mut self, entry: Entry) {
        push(self.log, entry);
    }

    /// Returns a log entry of the ROM for a step from `start` until now.
    fn step(step: Step, start: Instant) -> Entry {
        entry(Stage::Rom, step, start, H::now())
    }

    /// Copies a payload to its load address and zeroes the rest of its memory. Returns the copy, and the OR of the
    /// padding bytes after the original.
    ///
    /// # Errors
    /// `Truncated`, `InternalLimit`.
    pub fn copy(&mut self, payload: &PayloadRecord) -> Result<(&'static [u8], u64), Reason> {
        let start = H::now();
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let size = usize::try_from(payload.size).map_err(|_| Reason::InternalLimit)?;
        let source = self.bytes(payload.offset, padded_size)?;
        let (source, padding) = source.split_at_checked(size).ok_or(Reason::InternalLimit)?;
        // SAFETY: the load range was checked against the board's map: it is memory that no running stage uses and that
        // contains no part of the slot. This slice is its only user until the payload is executed.
        let memory =
            unsafe { memory::bytes_mut(Region::new(payload.load_address, payload.memory_size)) };
        let (loaded, rest) = memory.split_at_mut_checked(size).ok_or(Reason::InternalLimit)?;
        copy(loaded, source);
        rest.fill(0);
        let padding = bits_of(padding);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            ..Self::step(Step::Read, start)
        });
        Ok((loaded, padding))
    }

    /// Returns a range of the slot. A manifest has 64-bit sizes; a value that exceeds the address space of the hart is
    /// past the end.
    fn bytes(&self, offset: u64, len: u64) -> Result<&'static [u8], Reason> {
        let offset = usize::try_from(offset).map_err(|_| Reason::Truncated)?;
        let len = usize::try_from(len).map_err(|_| Reason::Truncated)?;
        self.slot.get(offset..).and_then(|rest| rest.get(..len)).ok_or(Reason::Truncated)
    }
}

impl<H: Hardware> Platform for Slot<'_, H> {
    fn medium_len(&self) -> u64 {
        self.slot.len() as u64
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let source = self.bytes(offset, into.len() as u64)?;
        copy(into, source);
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let (loaded, padding) = self.copy(payload)?;
        // From here on only the copy is used.
        let start = H::now();
        let digest = tree::digest_with(&self.kernels, payload, loaded);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            digest: tree::first_48(&digest),
            hash: Some(payload.hash),
            kernel: tree::tier(&self.kernels, (payload.mode, payload.hash)) as u32,
            ..Self::step(Step::Hash, start)
        });
        Ok(Loaded { digest, padding })
    }
}
