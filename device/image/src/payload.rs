//! Payload records (image format §4.3).

use crate::Reason;
use crate::bytes::{Writer, bytes_at, is_zero, u32_at, u64_at};
use crate::types::{BundleType, PAGE_SIZE, PayloadType, TreeMode, align_up};
use hartlock_algorithm::HashId;

/// Length of a payload record in bytes.
pub const PAYLOAD_RECORD_SIZE: usize = 128;
/// Length of a payload record without its digest, in bytes. The header hash of the tree covers these bytes (§6.2).
pub const PAYLOAD_RECORD_PREFIX_SIZE: usize = 64;
/// Largest payload in bytes. This limit is larger than the memory of any board and excludes overflow.
const MAX_PAYLOAD_SIZE: u64 = 1 << 40;

/// The record of a payload: its location in the bundle, its location in memory, and its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadRecord {
    /// Type of the payload.
    pub payload_type: PayloadType,
    /// Hash that computes the digest.
    pub hash: HashId,
    /// Mode in which the digest is computed.
    pub mode: TreeMode,
    /// Offset of the first byte in the bundle.
    pub offset: u64,
    /// Length in bytes, without padding.
    pub size: u64,
    /// Address of the first byte in memory.
    pub load_address: u64,
    /// Length in bytes of the memory region that belongs to the payload.
    pub memory_size: u64,
    /// Address of the first instruction; 0 for data.
    pub entry: u64,
    /// The digest, padded with zeros.
    pub digest: [u8; 64],
}

impl PayloadRecord {
    /// Parses and checks one record (§8 step 8). `earlier` iterates over the preceding records. `end` is the offset
    /// of the end of the preceding part of the bundle.
    pub(crate) fn parse<'a>(
        record: &[u8; PAYLOAD_RECORD_SIZE],
        bundle_type: BundleType,
        earlier: impl DoubleEndedIterator<Item = &'a PayloadRecord> + Clone,
        end: u64,
    ) -> Result<Self, Reason> {
        let field32 = |offset| u32_at(record, offset).ok_or(Reason::Truncated);
        let field64 = |offset| u64_at(record, offset).ok_or(Reason::Truncated);

        let payload_type = PayloadType::from_number(field32(0)?)
            .filter(|kind| bundle_type.payload_types().contains(kind))
            .ok_or(Reason::PayloadTypeUnknown)?;
        if earlier.clone().next_back().is_some_and(|last| last.payload_type >= payload_type) {
            return Err(Reason::PayloadOrder);
        }
        let hash = HashId::from_number(field32(4)?).ok_or(Reason::HashUnknown)?;
        let mode = TreeMode::from_fields(field32(8)?, field32(12)?)?;
        if !mode.allows(hash) {
            return Err(Reason::HashModeNotAllowed);
        }
        let digest: [u8; 64] = bytes_at(record, 64).ok_or(Reason::Truncated)?;
        if !digest.get(hash.output_len()..).is_some_and(is_zero) {
            return Err(Reason::DigestPadding);
        }
        if field64(56)? != 0 {
            return Err(Reason::ReservedNotZero);
        }
        let parsed = Self {
            payload_type,
            hash,
            mode,
            offset: field64(16)?,
            size: field64(24)?,
            load_address: field64(32)?,
            memory_size: field64(40)?,
            entry: field64(48)?,
            digest,
        };
        parsed.check_ranges(earlier, end)?;
        Ok(parsed)
    }

    /// Checks offset, size, memory region and entry point (§4.3, in the order of §8).
    fn check_ranges<'a>(
        &self,
        mut earlier: impl Iterator<Item = &'a PayloadRecord>,
        end: u64,
    ) -> Result<(), Reason> {
        if align_up(end, PAGE_SIZE) != Some(self.offset) {
            return Err(Reason::PayloadOffset);
        }
        let may_be_empty = self.payload_type == PayloadType::Initramfs;
        if self.size > MAX_PAYLOAD_SIZE || (self.size == 0 && !may_be_empty) {
            return Err(Reason::PayloadSizeOutOfRange);
        }
        let page_mask = PAGE_SIZE.wrapping_sub(1);
        let padded_size = align_up(self.size, PAGE_SIZE).ok_or(Reason::PayloadSizeOutOfRange)?;
        if (self.load_address | self.memory_size) & page_mask != 0 || self.memory_size < padded_size
        {
            return Err(Reason::LoadRangeForm);
        }
        // This is checked before ranges are compared, because a comparison would find no overlap with a range that
        // wraps.
        let memory_end =
            self.load_address.checked_add(self.memory_size).ok_or(Reason::LoadRangeWraps)?;
        // An empty range, such as that of an empty initramfs, does not overlap any range.
        let is_shared = |other: &PayloadRecord| {
            self.load_address < other.memory_end()
                && other.load_address < memory_end
                && self.memory_size > 0
                && other.memory_size > 0
        };
        if earlier.any(is_shared) {
            return Err(Reason::LoadRangesOverlap);
        }
        let is_inside = self.entry.is_multiple_of(4)
            && self.entry >= self.load_address
            && self.entry < self.load_address.saturating_add(self.size);
        let entry_is_right = if self.payload_type.is_code() { is_inside } else { self.entry == 0 };
        if entry_is_right { Ok(()) } else { Err(Reason::EntryOutsidePayload) }
    }

    /// Address of the first byte past the payload in memory. The sum saturates, but not for a parsed record.
    pub const fn memory_end(&self) -> u64 {
        self.load_address.saturating_add(self.memory_size)
    }

    /// Returns the number of blocks: 0 for an empty payload, 1 for a nonempty payload in flat mode (§6.2).
    pub const fn block_count(&self) -> u64 {
        match self.mode.block_size() {
            Some(block_size) if block_size > 0 => self.size.div_ceil(block_size as u64),
            _ => (self.size > 0) as u64,
        }
    }

    /// Returns the digest without its zero padding.
    pub fn digest(&self) -> &[u8] {
        self.digest.get(..self.hash.output_len()).unwrap_or(&self.digest)
    }

    /// Encodes the record without its digest.
    pub fn prefix(&self) -> [u8; PAYLOAD_RECORD_PREFIX_SIZE] {
        let mut prefix = [0; PAYLOAD_RECORD_PREFIX_SIZE];
        let (mode, block_size) = self.mode.fields();
        let mut out = Writer::new(&mut prefix);
        out.put_u32(self.payload_type as u32);
        out.put_u32(self.hash as u32);
        out.put_u32(mode);
        out.put_u32(block_size);
        out.put_u64(self.offset);
        out.put_u64(self.size);
        out.put_u64(self.load_address);
        out.put_u64(self.memory_size);
        out.put_u64(self.entry);
        prefix
    }
}
