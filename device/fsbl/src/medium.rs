//! The storage as a medium of `device/verify`. Every byte of the bundle is read once.

use hartlock_image::{HashId, PAGE_SIZE, PayloadRecord, PayloadType, Reason, TreeMode, align_up};
use hartlock_kernels::Kernels;
use hartlock_kernels::engines::Sha3Digest;
use hartlock_verify::{Loaded, Platform, bits_of, tree};

use crate::compute::Computer;
use crate::pages::{HEAD, PAGE, Pages};

/// A point that a boot has reached, for its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Signatures, policy and manifest were checked.
    Authenticated,
    /// The engines were tested.
    Tried,
    /// The device's public key was computed.
    DeviceKey,
    /// A payload is in memory.
    Read,
    /// A payload was hashed.
    Hashed,
    /// The first decision was taken.
    Verified,
    /// The expanded key of the monitor was derived.
    Derived,
    /// The key pair of the monitor was computed.
    KeyPair,
    /// The monitor is endorsed.
    Endorsed,
}

/// A function that predicts offset and size of the next read after a page, from the page's first bytes. **The
/// prediction is not authenticated.**
pub type Next<'a> = &'a mut dyn FnMut(&[u8; HEAD]) -> Option<(u64, u64)>;

/// The functions that differ between machines.
pub trait FsblBoard {
    /// Returns the size of the storage in bytes.
    fn size(&self) -> u64;

    /// Reads a whole page of the storage. The last page may extend beyond the end of the storage.
    ///
    /// # Errors
    /// `MediumError`; `Truncated` for a page past the end.
    fn read(&mut self, offset: u64, into: &mut [u8; PAGE]) -> Result<(), Reason>;

    /// Same as [`read`](Self::read), except that `next` is called with the first bytes of the page, possibly before the
    /// others have arrived. It returns offset and size of a range that will probably be read next; see
    /// [`read_ahead`](Self::read_ahead).
    ///
    /// # Errors
    /// The same as those of `read`.
    fn read_before(
        &mut self,
        offset: u64,
        into: &mut [u8; PAGE],
        next: Next<'_>,
    ) -> Result<(), Reason> {
        self.read(offset, into)?;
        if let Some((offset, size)) = into.first_chunk().and_then(next) {
            self.read_ahead(offset, None, size);
        }
        Ok(())
    }

    /// May begin to read a range that `load_parts` will probably request, after all ranges of earlier calls. Without an
    /// address the destination is the region of the monitor, and **neither number is authenticated**: only that region
    /// may be written, and another range may be requested later.
    fn read_ahead(&mut self, _offset: u64, _address: Option<u64>, _size: u64) {}

    /// Reads `size` bytes, in whole pages, to an address. The data may bypass the processor's caches or pass through
    /// them, but is not written by the processor's own stores.
    ///
    /// # Errors
    /// The same as those of `read`.
    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason>;

    /// Same as [`load`](Self::load), except that `arrived` is called with each part of the first `used` bytes, in
    /// order, and with true for the last one. The length of each part except the last is a multiple of
    /// [`PART_UNIT`](crate::PART_UNIT) bytes.
    ///
    /// # Errors
    /// The same as those of `read`.
    fn load_parts(
        &mut self,
        offset: u64,
        address: u64,
        (size, used): (u64, u64),
        arrived: &mut dyn FnMut(&[u8], bool),
    ) -> Result<(), Reason> {
        self.load(offset, address, size)?;
        arrived(self.memory(address, used).ok_or(Reason::InternalLimit)?, true);
        Ok(())
    }

    /// Returns the memory of a payload. The range was checked against the map of the board.
    fn memory(&mut self, address: u64, size: u64) -> Option<&mut [u8]>;

    /// Returns the OR of all bytes of such memory.
    fn bits(&mut self, address: u64, size: u64) -> Option<u64> {
        self.memory(address, size).map(|memory| bits_of(memory))
    }

    /// Records that the boot has reached a point.
    fn reached(&mut self, point: Point);
}

/// The storage as a medium, together with the implementation of the computations.
pub struct Medium<'a, 'page, B> {
    pub(crate) board: &'a mut B,
    pub(crate) computer: &'a mut Computer,
    /// Measurement of the monitor, after it was loaded.
    pub(crate) measurement: Option<Sha3Digest>,
    pages: &'a mut Pages<'page>,
}

impl<'a, 'page, B: FsblBoard> Medium<'a, 'page, B> {
    /// `pages` are of this board; the first one may have been read.
    pub fn new(board: &'a mut B, computer: &'a mut Computer, pages: &'a mut Pages<'page>) -> Self {
        Self { board, computer, measurement: None, pages }
    }

    /// Reads a payload to its load address and computes the digest of the copy, by an engine while the rest is read if
    /// that is possible. The copy of the monitor is also measured; if its record has the same hash and mode, the
    /// measurement is the digest.
    fn copy(
        &mut self,
        payload: &PayloadRecord,
        padded_size: u64,
        digest: &mut [u8; 64],
    ) -> Result<(), Reason> {
        let is_measured = payload.payload_type == PayloadType::Opensbi;
        let is_measurement = (payload.hash, payload.mode) == (HashId::Sha3_512, TreeMode::Flat);
        let is_hashed = is_measured || is_measurement;
        let Self { board, computer, .. } = self;
        if is_hashed {
            computer.begin_parts();
            let mut arrived = |part: &[u8], is_last| computer.part(part, is_last);
            let sizes = (padded_size, payload.size);
            board.load_parts(payload.offset, payload.load_address, sizes, &mut arrived)?;
        } else {
            board.load(payload.offset, payload.load_address, padded_size)?;
        }
        board.reached(Point::Read);
        let memory = self.board.memory(payload.load_address, payload.size);
        let memory = memory.ok_or(Reason::InternalLimit)?;
        // The digest is completed before the processor stores to this memory, because an engine reads memory and not
        // caches.
        if is_hashed {
            let sha3_512 = self.computer.end_parts(memory);
            if is_measured {
                self.measurement = Some(sha3_512);
            }
            if is_measurement {
                *digest = sha3_512.0;
                return Ok(());
            }
        }
        in_software(self.computer.kernels(), payload, memory, digest);
        Ok(())
    }
}

// The function is not inlined, so that its variables are not on the stack while an engine computes a digest.
#[inline(never)]
fn in_software(kernels: &Kernels, payload: &PayloadRecord, memory: &[u8], digest: &mut [u8; 64]) {
    *digest = tree::digest_with(kernels, payload, memory);
}

impl<B: FsblBoard> Platform for Medium<'_, '_, B> {
    fn medium_len(&self) -> u64 {
        self.board.size()
    }

    fn kernels(&self) -> Kernels {
        *self.computer.kernels()
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let end = offset.checked_add(into.len() as u64).ok_or(Reason::Truncated)?;
        if end > self.board.size() {
            return Err(Reason::Truncated);
        }
        let (mut at, mut into) = (offset, into);
        while !into.is_empty() {
            let page_at = at & !(PAGE_SIZE - 1);
            let page = self.pages.page(self.board, page_at)?;
            let from = page.get((at & (PAGE_SIZE - 1)) as usize..).unwrap_or_default();
            let len = from.len().min(into.len());
            let (now, later) = into.split_at_mut_checked(len).ok_or(Reason::InternalLimit)?;
            now.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            (at, into) = (at.wrapping_add(len as u64), later);
        }
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        // The format requires this; no byte may be written outside of the range that was checked.
        if padded_size > payload.memory_size {
            return Err(Reason::InternalLimit);
        }
        let end = payload.offset.checked_add(padded_size).ok_or(Reason::Truncated)?;
        if end > self.board.size() {
            return Err(Reason::Truncated);
        }
        let mut loaded = Loaded { digest: [0; 64], padding: 0 };
        self.copy(payload, padded_size, &mut loaded.digest)?;
        self.board.reached(Point::Hashed);
        let end = payload.load_address.wrapping_add(payload.size);
        let padding = self.board.bits(end, padded_size.wrapping_sub(payload.size));
        loaded.padding = padding.ok_or(Reason::InternalLimit)?;
        let rest = self.board.memory(end, payload.memory_size.wrapping_sub(payload.size));
        rest.ok_or(Reason::InternalLimit)?.fill(0);
        Ok(loaded)
    }
}
