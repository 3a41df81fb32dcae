//! What all hashes in lanes do with vectors.

use fearless_simd::{Simd, SimdBase, SimdInt};

/// Maximum number of messages at once: 32-bit words in a vector of 512 bits.
pub(super) const MAX_LANES: usize = 16;

/// Turns vectors of neighbouring words, one a message, into vectors of the same word of every
/// message.
#[inline(always)]
pub(super) fn transpose<S: Simd, V: SimdBase<S>>(rows: &mut [V; MAX_LANES]) {
    let half = V::LEN / 2;
    // Each pass shuffles the rows and their elements as in a perfect shuffle: after log2 passes every
    // element is exchanged with its transposed one.
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
    // The compiler makes one instruction of it where there is one.
    (x >> count) | (x << (8 * size_of::<V::Element>() as u32 - count))
}
