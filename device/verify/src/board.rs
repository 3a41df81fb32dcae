//! Memory maps of boards (boot flow §2): where payloads may go and what must stay untouched. The maps
//! themselves are made from `device/boards/<name>/board.toml`.

use hartlock_image::{BundleType, PayloadRecord, PayloadType, Reason};

#[rustfmt::skip]
mod generated;

pub use generated::*;

/// A half-open range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// First byte past the end.
    pub end: u64,
}

impl Region {
    /// `size` bytes from `start` on. The sum is checked when the constant is evaluated.
    pub const fn new(start: u64, size: u64) -> Self {
        Region { start, end: start.saturating_add(size) }
    }

    /// Bytes.
    pub const fn size(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether `other` is inside.
    pub const fn contains(&self, other: &Region) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether a byte is in both. An empty range shares nothing.
    pub const fn overlaps(&self, other: &Region) -> bool {
        self.start < other.end
            && other.start < self.end
            && self.start < self.end
            && other.start < other.end
    }
}

/// Which address a payload must have inside its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Any.
    No,
    /// The start of the place; code is entered there too.
    AtStart,
    /// A multiple of this; code is entered at its first byte.
    Aligned(u64),
}

/// Where one type of payload goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What goes there.
    pub payload_type: PayloadType,
    /// Where it may go.
    pub region: Region,
    /// Where in it.
    pub fixed: Fixed,
}

/// A board as far as verification needs to know it.
#[derive(Debug, PartialEq, Eq)]
pub struct Board {
    /// Name in manifests.
    pub name: &'static str,
    /// SoC name in manifests.
    pub soc: &'static str,
    /// Maximum number of harts of the board.
    pub hart_count: usize,
    /// Places of payloads.
    pub places: &'static [Place],
    /// Memory in use while the ROM verifies a boot bundle.
    pub live_in_rom: &'static [Region],
    /// Memory in use while the loader verifies a system bundle.
    pub live_in_loader: &'static [Region],
}

impl Board {
    /// Checks where a payload of a manifest would go.
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
