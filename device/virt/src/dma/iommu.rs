//! DMA protection of a board with an IOMMU. While stages run, devices can access the memory of the loader's buffers
//! alone. Linux's devices can access the memory of the system, and no memory of the earlier stages.

use hartlock_drivers::iommu::{Error, Grant, Iommu, TABLES_SIZE};
use hartlock_image::Reason;

use crate::board::{IOMMU, map};
use crate::{hart, sbi};

/// The grant for slots 1 and 2 of the PCI bus, function 0, which are identified by their device numbers.
const GRANT: Grant<'static> = Grant {
    devices: &[1 << 3, 2 << 3],
    buffers: (map::DMA.start, map::DMA.end),
    system: (map::DMA.start, map::RAM.end),
};

const _: () = assert!(map::IOMMU_TABLES.size() >= TABLES_SIZE);
const _: () = assert!(map::DMA.end <= map::SYSTEM.start, "a payload is within reach of the disk");
// The monitor derives the entry that it changes from the address of the tables.
const _: () = assert!(map::IOMMU_TABLES.start >> 30 == GRANT.buffers.0 >> 30);
/// Regions that must stay closed to devices. Flash is not in the list, because it is not memory.
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
        assert!(closed[index].end <= GRANT.system.0);
        index += 1;
    }
};

fn reason_of(_: Error) -> Reason {
    Reason::DmaNotGuarded
}

const fn iommu() -> Iommu {
    // SAFETY: this is the IOMMU of this board; only M-mode can access it, and only one hart of the ROM uses it.
    unsafe { Iommu::new(IOMMU) }
}

/// Denies all devices access to memory.
///
/// # Errors
/// `DmaNotGuarded`.
pub fn close() -> Result<(), Reason> {
    iommu().close().map_err(reason_of)
}

/// Permits the disk and the other devices on the bus to access the buffers of the loader.
///
/// # Errors
/// `DmaNotGuarded`.
pub fn guard() -> Result<(), Reason> {
    let start = core::ptr::with_exposed_provenance_mut(map::IOMMU_TABLES.start as usize);
    // SAFETY: the region is reserved for these tables; OpenSBI closes it to S-mode, and no stage uses it for other
    // data.
    let tables = unsafe { core::slice::from_raw_parts_mut(start, (TABLES_SIZE / 8) as usize) };
    // SAFETY: only this function uses the IOMMU and its tables at this time, as explained above.
    unsafe { iommu().guard(&GRANT, tables, hart::fence) }.map_err(reason_of)
}

/// Asks the monitor to permit devices to access the memory of the system. It does so once after a reset.
///
/// # Errors
/// `DmaNotGuarded`, if the monitor does not do it.
pub fn open_system() -> Result<(), Reason> {
    sbi::system_map().map_err(|_| Reason::DmaNotGuarded)
}
