//! The host's memory, in which this program never has objects of its own.

pub use hartlock_stage::memory::{bytes, bytes_mut};

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
