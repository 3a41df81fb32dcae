//! Memory by address. Every slice made here covers a region of the board's map that the running
//! stage owns, or a load range that was checked against that map.

use hartlock_verify::board::Region;

/// The bytes of a region, to read.
///
/// # Safety
/// Nobody writes to the region while the slice lives, and it is memory.
pub unsafe fn bytes(region: Region) -> &'static [u8] {
    let start = core::ptr::with_exposed_provenance(region.start as usize);
    // SAFETY: the caller vouches for the region.
    unsafe { core::slice::from_raw_parts(start, region.size() as usize) }
}

/// The bytes of a region, to write.
///
/// # Safety
/// Nobody else accesses the region while the slice lives, and it is memory.
pub unsafe fn bytes_mut(region: Region) -> &'static mut [u8] {
    let start = core::ptr::with_exposed_provenance_mut(region.start as usize);
    // SAFETY: the caller vouches for the region.
    unsafe { core::slice::from_raw_parts_mut(start, region.size() as usize) }
}
