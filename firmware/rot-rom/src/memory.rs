//! The host's memory, in which this program's own objects never lie.

use hartlock_verify::board::Region;

/// The bytes of a region.
///
/// # Safety
/// It lies in the host's memory, and nobody writes there for as long as the slice is used.
pub unsafe fn bytes(region: Region) -> &'static [u8] {
    // SAFETY: the caller vouches for it; addresses below 2^32 are checked by `range`.
    unsafe {
        core::slice::from_raw_parts(core::ptr::with_exposed_provenance(start(region)), len(region))
    }
}

/// The same to be written.
///
/// # Safety
/// It lies in the host's memory, and nobody else uses it for as long as the slice is used.
pub unsafe fn bytes_mut(region: Region) -> &'static mut [u8] {
    // SAFETY: as above.
    unsafe {
        core::slice::from_raw_parts_mut(
            core::ptr::with_exposed_provenance_mut(start(region)),
            len(region),
        )
    }
}

/// First byte; the end of the address space, which is no memory, if it lies beyond.
fn start(region: Region) -> usize {
    usize::try_from(region.start).unwrap_or(usize::MAX)
}

/// No bytes if the region does not end below 2^32.
fn len(region: Region) -> usize {
    if region.end > 1 << 32 { 0 } else { usize::try_from(region.size()).unwrap_or(0) }
}

/// Copies as many bytes as there are on both sides, by words where both allow it: an access to the host's
/// memory costs the same for a byte as for a word.
pub fn copy(to: &mut [u8], from: &[u8]) {
    // SAFETY: every four bytes are a word.
    let (head, words, _) = unsafe { from.align_to::<u32>() };
    // SAFETY: as above.
    let (to_head, to_words, _) = unsafe { to.align_to_mut::<u32>() };
    let mut done = 0;
    if head.is_empty() && to_head.is_empty() {
        for (to, from) in to_words.iter_mut().zip(words) {
            *to = *from;
            done += 4;
        }
    }
    let rest = (to.get_mut(done..).unwrap_or_default(), from.get(done..).unwrap_or_default());
    for (to, from) in rest.0.iter_mut().zip(rest.1) {
        *to = *from;
    }
}
