//! A board with an IOMMU: they reach what the loader and the system have, and nothing of the stages before.

use hartlock_drivers::iommu::{Error, Grant, Iommu, TABLES_SIZE};
use hartlock_image::Reason;

use crate::board::{IOMMU, map};
use crate::hart;

/// Slots 1 and 2 of the PCI bus, function 0, by their numbers on it.
const GRANT: Grant<'static> =
    Grant { devices: &[1 << 3, 2 << 3], start: map::DMA.start, end: map::RAM.end };

const _: () = assert!(map::IOMMU_TABLES.size() >= TABLES_SIZE);
/// What must stay closed to devices, other than flash, which is no memory.
const _: () = {
    let closed = [
        map::OPENSBI,
        map::ROM_RAM,
        map::HANDOFF,
        map::IOMMU_TABLES,
        map::LOG,
        map::LOADER,
        map::BOOT_FDT,
        map::METADATA,
        map::LINUX_FDT,
    ];
    let mut index = 0;
    while index < closed.len() {
        assert!(closed[index].end <= GRANT.start);
        index += 1;
    }
};

fn reason_of(_: Error) -> Reason {
    Reason::DmaNotGuarded
}

const fn iommu() -> Iommu {
    // SAFETY: the IOMMU of this board; M-mode alone reaches it, and one hart of the ROM alone uses it.
    unsafe { Iommu::new(IOMMU) }
}

/// Keeps devices from all memory.
///
/// # Errors
/// `DmaNotGuarded`.
pub fn close() -> Result<(), Reason> {
    iommu().close().map_err(reason_of)
}

/// Lets the disk and what else is on the bus reach the memory of the system, and the buffers of the loader.
///
/// # Errors
/// `DmaNotGuarded`.
pub fn guard() -> Result<(), Reason> {
    let start = core::ptr::with_exposed_provenance_mut(map::IOMMU_TABLES.start as usize);
    // SAFETY: set aside for this; OpenSBI closes it to S-mode, and no stage uses it for anything else.
    let tables = unsafe { core::slice::from_raw_parts_mut(start, (TABLES_SIZE / 8) as usize) };
    // SAFETY: as above.
    unsafe { iommu().guard(&GRANT, tables, hart::fence) }.map_err(reason_of)
}
