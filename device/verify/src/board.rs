//! The form of the memory map of a board (boot flow §2): the regions for payloads and the regions that no payload may
//! overlap. The caller gives the map; those of known boards are generated from `device/boards/<name>/board.toml`.

use hartlock_handoff::domain::Wanted;
pub use hartlock_handoff::domain::{Access, Closed};
use hartlock_image::{BundleType, PayloadRecord, PayloadType, Reason};

/// A half-open range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address of the range.
    pub start: u64,
    /// First address after the range.
    pub end: u64,
}

impl Region {
    /// Returns the range of `size` bytes from `start`. The end saturates at the largest address.
    pub const fn new(start: u64, size: u64) -> Self {
        Region { start, end: start.saturating_add(size) }
    }

    /// Returns the size in bytes.
    pub const fn size(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns true if `other` lies inside this range.
    pub const fn contains(&self, other: &Region) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns true if the two ranges share a byte. An empty range shares no byte with any other.
    pub const fn overlaps(&self, other: &Region) -> bool {
        self.start < other.end
            && other.start < self.end
            && self.start < self.end
            && other.start < other.end
    }
}

/// The constraint on the load address of a payload inside its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// There is no constraint.
    No,
    /// The payload starts at the start of the region; code also has its entry point there.
    AtStart,
    /// The load address is a multiple of this power of two; the entry point of code is its first byte.
    Aligned(u64),
}

/// The permitted load region of one payload type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Payload type that this entry is for.
    pub payload_type: PayloadType,
    /// Region that must contain the payload.
    pub region: Region,
    /// Constraint on the load address inside the region.
    pub fixed: Fixed,
}

/// Number of the hart that the ROM boots on (boot flow §4).
pub const BOOT_HART: u32 = 0;

/// The properties of a board that verification needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Board<'a> {
    /// Board name as it appears in manifests.
    pub name: &'a str,
    /// SoC name as it appears in manifests.
    pub soc: &'a str,
    /// Maximum number of harts of the board.
    pub hart_count: usize,
    /// Load regions of the payload types.
    pub places: &'a [Place],
    /// Memory in use while the ROM verifies a boot bundle.
    pub live_in_rom: &'a [Region],
    /// Memory in use while the loader verifies a system bundle.
    pub live_in_loader: &'a [Region],
    /// Memory and registers that OpenSBI closes to S-mode. There are none on a board without OpenSBI.
    pub closed: &'a [Closed],
}

impl Board<'_> {
    /// Returns what the device tree for OpenSBI has to say on this board (boot flow §5.6), or `None` if the board has no
    /// OpenSBI.
    pub fn domain(&self) -> Option<Wanted<'_>> {
        let loader = self.places.iter().find(|it| it.payload_type == PayloadType::Loader)?;
        let wanted =
            Wanted { closed: self.closed, boot_hart: BOOT_HART, next_stage: loader.region.start };
        (!self.closed.is_empty()).then_some(wanted)
    }

    /// Checks the load range and the entry point of a payload against the memory map.
    ///
    /// # Errors
    /// `OutsideMemory`, `OverlapsLiveRegion`, `WrongLoadAddress`.
    pub fn check(&self, bundle_type: BundleType, payload: &PayloadRecord) -> Result<(), Reason> {
        let range = Region { start: payload.load_address, end: payload.memory_end() };
        let place = self
            .places
            .iter()
            .find(|place| place.payload_type == payload.payload_type)
            .ok_or(Reason::OutsideMemory)?;
        let live = match bundle_type {
            BundleType::Boot => self.live_in_rom,
            BundleType::System => self.live_in_loader,
        };
        if live.iter().any(|live| live.overlaps(&range)) {
            return Err(Reason::OverlapsLiveRegion);
        }
        if !place.region.contains(&range) {
            return Err(Reason::OutsideMemory);
        }
        let address_is_right = match place.fixed {
            Fixed::No => true,
            Fixed::AtStart => payload.load_address == place.region.start,
            Fixed::Aligned(alignment) => payload.load_address & alignment.wrapping_sub(1) == 0,
        };
        let entry_is_right = place.fixed == Fixed::No
            || !payload.payload_type.is_code()
            || payload.entry == payload.load_address;
        if address_is_right && entry_is_right { Ok(()) } else { Err(Reason::WrongLoadAddress) }
    }
}
