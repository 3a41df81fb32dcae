//! Memory maps of boards (boot flow §2): where payloads may go and what must stay untouched.

use hartlock_image::{BundleType, PayloadRecord, PayloadType, Reason};

pub mod soc;

/// A half-open range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// First byte behind.
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

    /// Whether `other` lies inside.
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
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// What goes there.
    pub payload_type: PayloadType,
    /// Where it may go.
    pub region: Region,
    /// Where in it.
    pub fixed: Fixed,
}

/// A board as far as verification needs to know it.
#[derive(Debug)]
pub struct Board {
    /// Name in manifests.
    pub name: &'static str,
    /// SoC name in manifests.
    pub soc: &'static str,
    /// Most harts that the board has.
    pub hart_count: usize,
    /// Places of payloads.
    pub places: &'static [Place],
    /// Memory in use while the ROM verifies a boot bundle.
    pub live_in_rom: &'static [Region],
    /// Memory in use while the loader verifies a system bundle.
    pub live_in_loader: &'static [Region],
}

impl Board {
    /// The board of this name.
    pub fn by_name(name: &str) -> Option<&'static Board> {
        [&qemu_virt::BOARD, &soc::BOARD].into_iter().find(|board| board.name == name)
    }

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

/// QEMU's `virt` machine (boot flow §2).
pub mod qemu_virt {
    use super::{Board, Fixed, PayloadType, Place, Region};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// Flash bank 0: the ROM.
    pub const ROM_FLASH: Region = Region::new(0x2000_0000, 32 * MIB);
    /// The root-of-trust block inside it.
    pub const ROOT_OF_TRUST: Region = Region::new(0x2002_0000, 4 * KIB);
    /// Flash bank 1.
    pub const BUNDLE_FLASH: Region = Region::new(0x2200_0000, 32 * MIB);
    /// The part of flash bank 1 that a boot bundle may fill.
    pub const BOOT_SLOT: Region = Region::new(0x2200_0000, 16 * MIB);
    /// The two copies of the state record.
    pub const STATE_COPIES: [Region; 2] =
        [Region::new(0x23f8_0000, 256 * KIB), Region::new(0x23fc_0000, 256 * KIB)];
    /// All of the memory.
    pub const RAM: Region = Region::new(0x8000_0000, 1024 * MIB);
    /// OpenSBI.
    pub const OPENSBI: Region = Region::new(0x8000_0000, MIB);
    /// The ROM's stack, data and fw_dynamic_info.
    pub const ROM_RAM: Region = Region::new(0x8010_0000, 64 * KIB);
    /// Hand-off block.
    pub const HANDOFF: Region = Region::new(0x8011_0000, 4 * KIB);
    /// Measurement log.
    pub const LOG: Region = Region::new(0x8012_0000, 64 * KIB);
    /// The loader with its stacks and rings.
    pub const LOADER: Region = Region::new(0x8020_0000, 2 * MIB);
    /// The device tree that OpenSBI gets.
    pub const BOOT_FDT: Region = Region::new(0x8040_0000, 128 * KIB);
    /// Signed region and signature area under verification.
    pub const METADATA: Region = Region::new(0x8044_0000, 512 * KIB);
    /// The device tree that Linux gets.
    pub const LINUX_FDT: Region = Region::new(0x8050_0000, 256 * KIB);
    /// System payloads.
    pub const SYSTEM: Region = Region { start: 0x8100_0000, end: RAM.end };

    /// The board.
    pub const BOARD: Board = Board {
        name: "qemu-virt",
        soc: "virt",
        hart_count: 5,
        places: &[
            Place { payload_type: PayloadType::Opensbi, region: OPENSBI, fixed: Fixed::AtStart },
            Place { payload_type: PayloadType::Loader, region: LOADER, fixed: Fixed::AtStart },
            Place { payload_type: PayloadType::BootFdt, region: BOOT_FDT, fixed: Fixed::AtStart },
            Place {
                payload_type: PayloadType::Kernel,
                region: SYSTEM,
                fixed: Fixed::Aligned(2 * MIB),
            },
            Place { payload_type: PayloadType::Initramfs, region: SYSTEM, fixed: Fixed::No },
            Place { payload_type: PayloadType::SystemFdt, region: SYSTEM, fixed: Fixed::No },
        ],
        live_in_rom: &[ROM_RAM, HANDOFF, LOG, METADATA, LINUX_FDT],
        live_in_loader: &[OPENSBI, ROM_RAM, HANDOFF, LOG, LOADER, BOOT_FDT, METADATA, LINUX_FDT],
    };
}
