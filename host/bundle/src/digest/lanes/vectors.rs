//! Vector operations that all hashes in lanes use.

use fearless_simd::{Simd, SimdBase, SimdInt};

/// Maximum number of messages that are hashed at once: the number of 32-bit words in a 512-bit vector.
pub(super) const MAX_LANES: usize = 16;

/// Transposes a square matrix of words: row `i` holds words of message `i` before, and word `i` of every
/// message after.
#[inline(always)]
pub(super) fn transpose<S: Simd, V: SimdBase<S>>(rows: &mut [V; MAX_LANES]) {
    let half = V::LEN / 2;
    // Each pass is a perfect shuffle of the rows and of their elements. After log2(LEN) passes every element
    // is in its transposed position.
    for _ in 0..V::LEN.ilog2() {
        let before = *rows;
        for at in 0..half {
            (rows[2 * at], rows[2 * at + 1]) = before[at].interleave(before[at + half]);
        }
    }
}

#[inline(always)]
pub(super) fn rotate_right<S: Simd, V: SimdInt<S>>(x: V, count: u32) -> V {
    if count == 0 {
        return x;
    }
    // The compiler emits one rotate instruction if the processor has it.
    (x >> count) | (x << (8 * size_of::<V::Element>() as u32 - count))
}
