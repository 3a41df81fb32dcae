//! Where an instruction may be fetched from that is not the stage's code.

use hartlock_verify::board::{Region, qemu_virt as map};

use crate::subject::Place;

/// The place of an address; `None` if there is no memory and no flash.
pub fn place_of(address: u64) -> Option<Place> {
    let is_in = |region: &Region| region.contains(&Region::new(address, 1));
    let own = [map::ROM_RAM, map::HANDOFF, map::LOG, map::METADATA, map::LINUX_FDT];
    Some(match address {
        _ if own.iter().any(is_in) => Place::Data,
        _ if is_in(&map::RAM) => Place::Payload,
        _ if is_in(&map::BUNDLE_FLASH) => Place::BundleFlash,
        _ if is_in(&map::ROM_FLASH) => Place::RomFlash,
        _ => return None,
    })
}
