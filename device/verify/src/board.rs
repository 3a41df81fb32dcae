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
    /// Maximum length in bytes of a kernel command line, of which the kernel would cut off the rest.
    pub max_bootargs: usize,
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
        let place = |wanted| self.places.iter().find(|it| it.payload_type == wanted);
        let loader = place(PayloadType::Loader)?;
        let wanted = Wanted {
            closed: self.closed,
            harts: self.hart_count,
            boot_hart: BOOT_HART,
            next_stage: loader.region.start,
            linux: place(PayloadType::Kernel).map(|it| (it.region.start, it.region.end)),
        };
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

#[cfg(test)]
mod tests {
    use hartlock_image::{HashId, TreeMode};

    use super::*;

    #[test]
    fn a_region_has_its_size_and_ends_at_the_last_address() {
        assert_eq!(Region::new(0x1000, 0x20), Region { start: 0x1000, end: 0x1020 });
        assert_eq!(Region::new(0x1000, 0x20).size(), 0x20);
        assert_eq!(Region::new(u64::MAX - 1, 0x20).size(), 1);
        assert_eq!(Region { start: 7, end: 3 }.size(), 0);
    }

    #[test]
    fn regions_overlap_exactly_if_they_share_a_byte() {
        for (a, b, c, d) in (0..6_u64.pow(4)).map(|n| (n % 6, n / 6 % 6, n / 36 % 6, n / 216 % 6)) {
            let (left, right) = (Region { start: a, end: b }, Region { start: c, end: d });
            let shares = (0..6).any(|at| (a..b).contains(&at) && (c..d).contains(&at));
            assert_eq!(left.overlaps(&right), shares, "{left:?} {right:?}");
            if a < b && c < d {
                let is_inside = (c..d).all(|at| (a..b).contains(&at));
                assert_eq!(left.contains(&right), is_inside, "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn a_board_that_closes_memory_wants_it_closed_before_its_loader() {
        let place = |payload_type, start| Place {
            payload_type,
            region: Region::new(start, 0x1000),
            fixed: Fixed::No,
        };
        let places = [place(PayloadType::Opensbi, 0x1000), place(PayloadType::Loader, 0x2000)];
        let closed = [Closed { start: 0, end: 0x1000, access: Access::None }];
        let wanted = |places: &[Place], closed: &[Closed]| {
            let board = Board {
                name: "board",
                soc: "soc",
                hart_count: 1,
                max_bootargs: 1023,
                places,
                live_in_rom: &[],
                live_in_loader: &[],
                closed,
            };
            let it = board.domain()?;
            Some((it.closed.to_vec(), it.harts, it.boot_hart, it.next_stage, it.linux))
        };
        assert_eq!(wanted(&places, &closed), Some((closed.to_vec(), 1, BOOT_HART, 0x2000, None)));
        let with_linux = [places[0], places[1], place(PayloadType::Kernel, 0x3000)];
        let linux = wanted(&with_linux, &closed).unwrap().4;
        assert_eq!(linux, Some((0x3000, 0x4000)));
        assert_eq!(wanted(&places, &[]), None, "it has no OpenSBI");
        assert_eq!(wanted(&places[..1], &closed), None, "it has no loader");
    }

    #[test]
    fn address_and_entry_are_judged_by_the_constraint_of_the_place() {
        const REGION: Region = Region::new(0x1_0000, 0x1_0000);
        let judge = |fixed, payload_type: PayloadType, load_address, entry| {
            let places = [Place { payload_type, region: REGION, fixed }];
            let board = Board {
                name: "board",
                soc: "soc",
                hart_count: 1,
                max_bootargs: 1023,
                places: &places,
                live_in_rom: &[],
                live_in_loader: &[],
                closed: &[],
            };
            board.check(
                BundleType::Boot,
                &PayloadRecord {
                    payload_type,
                    hash: HashId::Sha384,
                    mode: TreeMode::Flat,
                    offset: 4096,
                    size: 16,
                    load_address,
                    memory_size: 0x1000,
                    entry,
                    digest: [0; 64],
                },
            )
        };
        let (code, data) = (PayloadType::Opensbi, PayloadType::BootFdt);
        let wrong = Err(Reason::WrongLoadAddress);
        assert_eq!(judge(Fixed::No, code, 0x1_0010, 0x1_0018), Ok(()));
        assert_eq!(judge(Fixed::No, data, 0x1_0010, 0), Ok(()));
        assert_eq!(judge(Fixed::AtStart, code, 0x1_0000, 0x1_0000), Ok(()));
        assert_eq!(judge(Fixed::AtStart, code, 0x1_0000, 0x1_0008), wrong);
        assert_eq!(judge(Fixed::AtStart, code, 0x1_1000, 0x1_1000), wrong);
        assert_eq!(judge(Fixed::AtStart, data, 0x1_0000, 0), Ok(()));
        assert_eq!(judge(Fixed::AtStart, data, 0x1_1000, 0), wrong);
        assert_eq!(judge(Fixed::Aligned(0x2000), code, 0x1_2000, 0x1_2000), Ok(()));
        assert_eq!(judge(Fixed::Aligned(0x2000), code, 0x1_2000, 0x1_2008), wrong);
        assert_eq!(judge(Fixed::Aligned(0x2000), data, 0x1_2000, 0), Ok(()));
        assert_eq!(judge(Fixed::Aligned(0x2000), data, 0x1_3000, 0), wrong);
        assert_eq!(judge(Fixed::No, data, 0xf000, 0), Err(Reason::OutsideMemory));
        assert_eq!(judge(Fixed::No, data, 0x1_f001, 0), Err(Reason::OutsideMemory));
    }
}
