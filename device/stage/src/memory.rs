//! Memory by address. Every slice made here covers a region of the board's map that the running
//! stage owns, or a load range that was checked against that map.

use hartlock_verify::board::Region;

/// The bytes of a region, to read.
///
/// # Safety
/// Nothing writes to the region while the slice lives, and it is memory.
pub unsafe fn bytes(region: Region) -> &'static [u8] {
    let start = core::ptr::with_exposed_provenance(start(region));
    // SAFETY: the caller guarantees the region.
    unsafe { core::slice::from_raw_parts(start, len(region)) }
}

/// The bytes of a region, to write.
///
/// # Safety
/// Nothing else accesses the region while the slice lives, and it is memory.
pub unsafe fn bytes_mut(region: Region) -> &'static mut [u8] {
    let start = core::ptr::with_exposed_provenance_mut(start(region));
    // SAFETY: the caller guarantees the region.
    unsafe { core::slice::from_raw_parts_mut(start, len(region)) }
}

/// First byte; the end of the address space, which is no memory, if it is past it.
fn start(region: Region) -> usize {
    usize::try_from(region.start).unwrap_or(usize::MAX)
}

/// No bytes if the region does not end in the address space.
fn len(region: Region) -> usize {
    // The address after the last byte of a hart with 32 bits is 2^32.
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
        // SAFETY: inside the vector, which lives longer.
        assert_eq!(unsafe { bytes(region) }, [2, 3]);
    }
}
