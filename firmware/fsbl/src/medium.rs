//! The storage as a medium of `crates/verify`. Every byte of it is read once.

use hartlock_image::{HashId, PAGE_SIZE, PayloadRecord, PayloadType, Reason, TreeMode, align_up};
use hartlock_kernels::Kernels;
use hartlock_verify::{Loaded, Platform, bits_of, tree};

use crate::compute::{Computer, HashEngine, SignEngine};

/// Bytes that are read at once of what precedes the payloads, which begin at multiples of it.
const PAGE: usize = PAGE_SIZE as usize;

/// What a boot has come to, for its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Signatures, policy, manifest.
    Authenticated,
    /// A payload is in memory.
    Read,
    /// A payload was hashed.
    Hashed,
    /// The first decision.
    Verified,
    /// The expanded key of the monitor is there.
    Derived,
    /// The monitor has its key pair.
    KeyPair,
    /// The device's public key is there.
    DeviceKey,
    /// The monitor is endorsed.
    Endorsed,
}

/// What differs between machines.
pub trait Board {
    /// Bytes of the storage.
    fn size(&self) -> u64;

    /// Reads whole pages of the storage, of which the last one may end with the storage.
    ///
    /// # Errors
    /// `MediumError`; `Truncated` past the end.
    fn read(&mut self, offset: u64, into: &mut [u8; PAGE]) -> Result<(), Reason>;

    /// Brings `size` bytes, whole pages, to an address, past the caches of the processor or through them, but not by its
    /// stores.
    ///
    /// # Errors
    /// As `read`.
    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason>;

    /// The same; tells of the first `used` bytes as they are there, in order: the part, and whether it is the last. Each but
    /// the last has a multiple of [`PART_UNIT`](crate::PART_UNIT) bytes.
    ///
    /// # Errors
    /// As `read`.
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

    /// Memory of a payload, whose place was checked against the map of the board.
    fn memory(&mut self, address: u64, size: u64) -> Option<&mut [u8]>;

    /// Something was done.
    fn reached(&mut self, point: Point);
}

/// The storage.
pub struct Medium<'a, B, H, S> {
    pub(crate) board: &'a mut B,
    pub(crate) computer: &'a mut Computer<H, S>,
    /// Of the monitor, once it is in memory.
    pub(crate) measurement: Option<[u8; 64]>,
    page: &'a mut [u8; PAGE],
    /// Where the page is from; nothing before the first one.
    page_at: Option<u64>,
}

impl<'a, B: Board, H: HashEngine, S: SignEngine> Medium<'a, B, H, S> {
    /// `page` is a place for a page that storage can write to.
    pub fn new(
        board: &'a mut B,
        computer: &'a mut Computer<H, S>,
        page: &'a mut [u8; PAGE],
    ) -> Self {
        Self { board, computer, measurement: None, page, page_at: None }
    }

    /// Reads a payload to its place and hashes the copy, where an engine can while the rest of it is read. The copy of the
    /// monitor is measured, which is the same for a record that says so.
    fn copy(&mut self, payload: &PayloadRecord, padded_size: u64) -> Result<[u8; 64], Reason> {
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
        // Before the processor stores anything there: an engine reads memory and not caches.
        let sha3_512 = is_hashed.then(|| self.computer.end_parts(memory));
        if is_measured {
            self.measurement = sha3_512;
        }
        Ok(match sha3_512.filter(|_| is_measurement) {
            Some(digest) => digest,
            None => tree::digest_with(self.computer.kernels(), payload, memory),
        })
    }
}

impl<B: Board, H: HashEngine, S: SignEngine> Platform for Medium<'_, B, H, S> {
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
            if self.page_at != Some(page_at) {
                self.page_at = None;
                self.board.read(page_at, self.page)?;
                self.page_at = Some(page_at);
            }
            let from = self.page.get((at & (PAGE_SIZE - 1)) as usize..).unwrap_or_default();
            let len = from.len().min(into.len());
            let (now, later) = into.split_at_mut_checked(len).ok_or(Reason::InternalLimit)?;
            now.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            (at, into) = (at.wrapping_add(len as u64), later);
        }
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        // The format says so; no byte may go past the range whose place was checked.
        if padded_size > payload.memory_size {
            return Err(Reason::InternalLimit);
        }
        let end = payload.offset.checked_add(padded_size).ok_or(Reason::Truncated)?;
        if end > self.board.size() {
            return Err(Reason::Truncated);
        }
        let digest = self.copy(payload, padded_size)?;
        self.board.reached(Point::Hashed);
        let memory = self.board.memory(payload.load_address, payload.memory_size);
        let memory = memory.ok_or(Reason::InternalLimit)?;
        let size = usize::try_from(payload.size).map_err(|_| Reason::InternalLimit)?;
        let padding_size = padded_size.wrapping_sub(payload.size) as usize;
        let rest = memory.get_mut(size..).ok_or(Reason::InternalLimit)?;
        let padding = bits_of(rest.get(..padding_size).ok_or(Reason::InternalLimit)?);
        rest.fill(0);
        Ok(Loaded { digest, padding })
    }
}
