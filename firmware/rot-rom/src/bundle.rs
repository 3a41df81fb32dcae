//! The boot bundle in the host's memory as a medium. The host is in reset and nobody else writes there;
//! even so each byte is read once: what was copied is hashed, and what was hashed is what runs.

use hartlock_handoff::{Entry, Step};
use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, align_up};
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_verify::{Loaded, Platform, bits_of, tree};

use crate::{Log, clock, map, memory, push, step};

/// The medium.
pub struct Bundle<'a> {
    slot: &'static [u8],
    kernels: Kernels,
    log: &'a mut Log,
}

impl<'a> Bundle<'a> {
    pub fn new(kernels: Kernels, log: &'a mut Log) -> Self {
        // SAFETY: memory in which nobody writes while the host is in reset, and no payload goes there.
        Self { slot: unsafe { memory::bytes(map::BUNDLE) }, kernels, log }
    }

    /// Adds to the log.
    pub fn push(&mut self, entry: Entry) {
        push(self.log, entry);
    }

    /// Copies a payload to its memory. Returns the copy, and the bits that are set in the padding behind
    /// the original.
    fn copy(&mut self, payload: &PayloadRecord) -> Result<(&'static [u8], u64), Reason> {
        let start = clock::now();
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let size = usize::try_from(payload.size).map_err(|_| Reason::InternalLimit)?;
        let source = self.bytes(payload.offset, padded_size)?;
        let (source, padding) = source.split_at_checked(size).ok_or(Reason::InternalLimit)?;
        // SAFETY: the load range was checked against the board's map: it is memory of the host that holds
        // neither log nor bundle, and this slice is its only user until the host is released.
        let memory =
            unsafe { memory::bytes_mut(Region::new(payload.load_address, payload.memory_size)) };
        let (loaded, rest) = memory.split_at_mut_checked(size).ok_or(Reason::InternalLimit)?;
        memory::copy(loaded, source);
        rest.fill(0);
        let padding = bits_of(padding);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            ..step(Step::Read, start)
        });
        Ok((loaded, padding))
    }

    /// Sizes have 64 bits in a manifest and 32 here: what does not fit is not there.
    fn bytes(&self, offset: u64, len: u64) -> Result<&'static [u8], Reason> {
        let offset = usize::try_from(offset).map_err(|_| Reason::Truncated)?;
        let len = usize::try_from(len).map_err(|_| Reason::Truncated)?;
        let rest = self.slot.get(offset..).ok_or(Reason::Truncated)?;
        rest.get(..len).ok_or(Reason::Truncated)
    }
}

impl Platform for Bundle<'_> {
    fn medium_len(&self) -> u64 {
        self.slot.len() as u64
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let source = self.bytes(offset, into.len() as u64)?;
        memory::copy(into, source);
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let (loaded, padding) = self.copy(payload)?;
        // From here on only the copy counts.
        let start = clock::now();
        let digest = tree::digest_with(&self.kernels, payload, loaded);
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            digest: tree::first_48(&digest),
            hash: Some(payload.hash),
            kernel: tree::tier(&self.kernels, (payload.mode, payload.hash)) as u32,
            ..step(Step::Hash, start)
        });
        Ok(Loaded { digest, padding })
    }
}
