//! Where an instruction may be fetched from that is not the stage's code.

use hartlock_verify::board::{Region, qemu_virt as map};

/// What is at an address, and who chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Memory that nothing has written since reset: an attacker's, from before a warm reset.
    Prepared,
    /// Where payloads go, and memory that the ROM does not use.
    Payload,
    /// The stage's own code, or that of OpenSBI, after a store or a device changed it. It need not have run.
    ChangedCode,
    /// The flash bank of the boot bundle.
    BundleFlash,
    /// What the stage wrote or holds beside its code: stack, metadata of the bundle, hand-off block, log.
    Data,
    /// The root-of-trust block, and erased flash.
    RomFlash,
}

impl Place {
    /// The place of an address; `None` if there is no memory and no flash.
    pub fn of(address: u64) -> Option<Self> {
        let is_in = |region: &Region| region.contains(&Region::new(address, 1));
        let own = [map::ROM_RAM, map::HANDOFF, map::LOG, map::METADATA, map::LINUX_FDT];
        Some(match address {
            _ if own.iter().any(is_in) => Self::Data,
            _ if is_in(&map::RAM) => Self::Payload,
            _ if is_in(&map::BUNDLE_FLASH) => Self::BundleFlash,
            _ if is_in(&map::ROM_FLASH) => Self::RomFlash,
            _ => return None,
        })
    }

    /// Whether the bytes there are an attacker's choice.
    pub fn is_turned(self) -> bool {
        matches!(self, Self::Prepared | Self::Payload | Self::ChangedCode | Self::BundleFlash)
    }
}
