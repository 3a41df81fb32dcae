//! Payload records as stored, and a search for the rule of image format §4.3 that they break.

use hartlock_image::{
    BundleType, HashId, PAGE_SIZE, PayloadType, Reason, TreeMode, align_up, u32_at, u64_at,
};

/// The numbers of a payload record as stored.
pub(super) struct Record {
    payload_type: u32,
    hash: u32,
    mode: u32,
    block_size: u32,
    offset: u64,
    size: u64,
    load_address: u64,
    memory_size: u64,
    entry: u64,
}

impl Record {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            payload_type: u32_at(bytes, 0)?,
            hash: u32_at(bytes, 4)?,
            mode: u32_at(bytes, 8)?,
            block_size: u32_at(bytes, 12)?,
            offset: u64_at(bytes, 16)?,
            size: u64_at(bytes, 24)?,
            load_address: u64_at(bytes, 32)?,
            memory_size: u64_at(bytes, 40)?,
            entry: u64_at(bytes, 48)?,
        })
    }

    /// Returns true if the payload is of this type and not empty.
    pub(super) fn has_bytes_of(&self, payload_type: u64) -> bool {
        u64::from(self.payload_type) == payload_type && self.size > 0
    }

    /// Returns the offset of the first byte after the payload in the bundle.
    pub(super) const fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    const fn memory_end(&self) -> u64 {
        self.load_address.saturating_add(self.memory_size)
    }

    /// Returns the names of the first and the last field that break the rule of `reason`, if this record
    /// breaks it. `end` is the offset at which the part of the bundle before the payload ends.
    pub(super) fn fault(
        &self,
        reason: Reason,
        earlier: &[Record],
        end: u64,
        bundle_type: BundleType,
    ) -> Option<(&'static str, &'static str)> {
        let one = |name: &'static str| (name, name);
        let memory = ("load_address", "memory_size");
        let mode = TreeMode::from_fields(self.mode, self.block_size);
        let is_shared = |other: &Record| {
            self.load_address < other.memory_end()
                && other.load_address < self.memory_end()
                && self.memory_size > 0
                && other.memory_size > 0
        };
        let (is_broken, names) = match reason {
            Reason::PayloadTypeUnknown => {
                let known = PayloadType::from_number(self.payload_type);
                let fits = known.is_some_and(|it| bundle_type.payload_types().contains(&it));
                (!fits, one("type"))
            }
            Reason::PayloadOrder => {
                let last = earlier.last().map(|last| last.payload_type);
                (last.is_some_and(|last| last >= self.payload_type), one("type"))
            }
            Reason::HashUnknown => (HashId::from_number(self.hash).is_none(), one("hash")),
            Reason::ModeUnknown => (mode == Err(reason), one("mode")),
            Reason::BlockSizeNotAllowed => (mode == Err(reason), one("block_size")),
            Reason::HashModeNotAllowed => {
                let hash = HashId::from_number(self.hash);
                let pair = hash.zip(mode.ok());
                (pair.is_some_and(|(hash, mode)| !mode.allows(hash)), ("hash", "mode"))
            }
            Reason::PayloadOffset => (align_up(end, PAGE_SIZE) != Some(self.offset), one("offset")),
            Reason::PayloadSizeOutOfRange => {
                let may_be_empty = self.payload_type == PayloadType::Initramfs as u32;
                (self.size > 1 << 40 || (self.size == 0 && !may_be_empty), one("size"))
            }
            Reason::LoadRangeForm => {
                let is_whole = (self.load_address | self.memory_size).is_multiple_of(PAGE_SIZE);
                let fits = align_up(self.size, PAGE_SIZE).is_some_and(|it| it <= self.memory_size);
                (!is_whole || !fits, memory)
            }
            Reason::LoadRangeWraps => {
                (self.load_address.checked_add(self.memory_size).is_none(), memory)
            }
            Reason::LoadRangesOverlap => (earlier.iter().any(is_shared), memory),
            Reason::EntryOutsidePayload => {
                let is_code =
                    PayloadType::from_number(self.payload_type).is_some_and(PayloadType::is_code);
                let is_inside = self.entry.is_multiple_of(4)
                    && self.entry >= self.load_address
                    && self.entry < self.load_address.saturating_add(self.size);
                let is_right = if is_code { is_inside } else { self.entry == 0 };
                (!is_right, one("entry"))
            }
            _ => return None,
        };
        is_broken.then_some(names)
    }
}
