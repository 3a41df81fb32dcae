//! The system on a chip with a root of trust of its own (`hw/soc`). Addresses are those of the host's
//! memory, which both sides see alike.

use super::{Board, Fixed, PayloadType, Place, Region};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Memory that a boot needs.
pub const RAM: Region = Region::new(0x8000_0000, 256 * MIB);
/// What the host starts with, in M-mode.
pub const FIRST: Region = Region::new(0x8000_0000, MIB);
/// Measurement log.
pub const LOG: Region = Region::new(0x8012_0000, 64 * KIB);
/// The loader with its stacks and rings.
pub const LOADER: Region = Region::new(0x8020_0000, 2 * MIB);
/// The device tree.
pub const BOOT_FDT: Region = Region::new(0x8040_0000, 128 * KIB);
/// The boot bundle, where whoever fills the memory left it.
pub const BUNDLE: Region = Region::new(0x8800_0000, 16 * MIB);

/// What the host must not have the root of trust read or write for it.
pub const PROTECTED: [Region; 2] = [FIRST, LOG];

/// The board.
pub const BOARD: Board = Board {
    name: "hartlock-soc",
    soc: "rot",
    hart_count: 4,
    places: &[
        Place { payload_type: PayloadType::Opensbi, region: FIRST, fixed: Fixed::AtStart },
        Place { payload_type: PayloadType::Loader, region: LOADER, fixed: Fixed::AtStart },
        Place { payload_type: PayloadType::BootFdt, region: BOOT_FDT, fixed: Fixed::AtStart },
    ],
    live_in_rom: &[LOG, BUNDLE],
    live_in_loader: &[FIRST, LOG, LOADER, BOOT_FDT],
};
