//! Classifies the addresses outside the stage's code from which an instruction can be fetched.

use hartlock_maps::qemu_virt as map;
use hartlock_verify::board::Region;

use crate::subject::MemoryKind;

/// Returns the kind of memory at an address; `None` if there is neither memory nor flash.
pub fn place_of(address: u64) -> Option<MemoryKind> {
    let is_in = |region: &Region| region.contains(&Region::new(address, 1));
    let own = [map::ROM_RAM, map::HANDOFF, map::LOG, map::METADATA, map::LINUX_FDT];
    Some(match address {
        _ if own.iter().any(is_in) => MemoryKind::Data,
        _ if is_in(&map::RAM) => MemoryKind::Payload,
        _ if is_in(&map::BUNDLE_FLASH) => MemoryKind::BundleFlash,
        _ if is_in(&map::ROM_FLASH) => MemoryKind::RomFlash,
        _ => return None,
    })
}
