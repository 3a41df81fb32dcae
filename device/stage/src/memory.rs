//! Access to memory by address. Every slice that is created here covers a region of the board's map
//! that the running stage owns, or a load range that was checked against that map.

use hartlock_verify::board::Region;

/// Returns the bytes of a region for reading.
///
/// # Safety
/// The region is memory, and no code or device writes to it while the slice exists.
pub unsafe fn bytes(region: Region) -> &'static [u8] {
    let start = core::ptr::with_exposed_provenance(start(region));
    // SAFETY: the caller guarantees the region.
    unsafe { core::slice::from_raw_parts(start, len(region)) }
}

/// Returns the bytes of a region for writing.
///
/// # Safety
/// The region is memory, and no other code or device accesses it while the slice exists.
pub unsafe fn bytes_mut(region: Region) -> &'static mut [u8] {
    let start = core::ptr::with_exposed_provenance_mut(start(region));
    // SAFETY: the caller guarantees the region.
    unsafe { core::slice::from_raw_parts_mut(start, len(region)) }
}

/// Returns the first address, or the end of the address space, which is not memory, if the region
/// starts beyond it.
fn start(region: Region) -> usize {
    usize::try_from(region.start).unwrap_or(usize::MAX)
}

/// Returns the length in bytes, or 0 if the region extends beyond the address space.
fn len(region: Region) -> usize {
    // On a 32-bit hart the address after the last byte of a region can be 2^32.
    let is_inside = usize::try_from(region.end.saturating_sub(1)).is_ok();
    if is_inside { usize::try_from(region.size()).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_the_bytes_at_its_address() {
        let memory = std::vec![1_u8, 2, 3, 4];
        let region = Region::new(memory.as_ptr().expose_provenance() as u64 + 1, 2);
        // SAFETY: the region is inside the vector, which lives longer than the slice.
        assert_eq!(unsafe { bytes(region) }, [2, 3]);
    }
}
