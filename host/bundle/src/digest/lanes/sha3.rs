//! The sponge of SHA-3 (FIPS 202) for one message in each lane of a vector.
//!
//! In the standard a *lane* is a word of the state; in this module it is an element of a vector. `state[i]`
//! holds the word `A[i % 5, i / 5]` of the standard for every message.

use fearless_simd::{Bytes, Simd, SimdBase};

use super::vectors::{MAX_LANES, rotate_right, transpose};
use hartlock_kernels::sha3::ROUND_CONSTANTS;

/// Number of 64-bit words in the state.
pub(super) const STATE_WORDS: usize = 25;

/// Absorbs all blocks of `messages`, which have the same length. A block has `rate` bytes (§4).
#[inline(always)]
pub(super) fn absorb<S: Simd>(
    simd: S,
    state: &mut [[u64; MAX_LANES]; STATE_WORDS],
    messages: &[&[u8]; MAX_LANES],
    rate: usize,
) {
    let lanes = S::u64s::LEN;
    let mut a: [S::u64s; STATE_WORDS] =
        std::array::from_fn(|i| S::u64s::from_slice(simd, &state[i][..lanes]));
    for at in (0..messages[0].len()).step_by(rate) {
        let words = rate / 8;
        for first in (0..words).step_by(lanes) {
            // The last group of words may be shorter than a vector. It is then read from an earlier offset,
            // and the words that it shares with the group before are skipped.
            let from = first.min(words - lanes);
            let mut rows = [S::u64s::splat(simd, 0); MAX_LANES];
            for (row, message) in rows.iter_mut().zip(messages).take(lanes) {
                let bytes = &message[at + from * 8..][..lanes * 8];
                *row = S::u8s::from_slice(simd, bytes).bitcast();
            }
            transpose::<S, S::u64s>(&mut rows);
            for word in first..(first + lanes).min(words) {
                a[word] ^= rows[word - from];
            }
        }
        permute::<S>(&mut a);
    }
    for (row, word) in state.iter_mut().zip(a) {
        word.store_slice(&mut row[..lanes]);
    }
}

/// Computes the permutation KECCAK-f[1600] (§3.4).
#[inline(always)]
fn permute<S: Simd>(a: &mut [S::u64s; STATE_WORDS]) {
    for round_constant in &ROUND_CONSTANTS {
        // θ (§3.2.1)
        let c: [S::u64s; 5] =
            std::array::from_fn(|x| a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
        let d: [S::u64s; 5] = std::array::from_fn(|x| {
            c[(x + 4) % 5] ^ rotate_right::<S, S::u64s>(c[(x + 1) % 5], 63)
        });
        // ρ and π (§3.2.2, §3.2.3)
        let mut b = *a;
        for y in 0..5 {
            for x in 0..5 {
                let moved = a[x + 5 * y] ^ d[x];
                let right = (64 - RHO[x + 5 * y]) % 64;
                b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_right::<S, S::u64s>(moved, right);
            }
        }
        // χ (§3.2.4) and ι (§3.2.5)
        for row in (0..STATE_WORDS).step_by(5) {
            for x in 0..5 {
                a[row + x] = b[row + x] ^ (!b[row + (x + 1) % 5] & b[row + (x + 2) % 5]);
            }
        }
        a[0] ^= *round_constant;
    }
}

/// Rotation offsets of ρ modulo 64 (§3.2.2, table 2).
#[rustfmt::skip]
const RHO: [u32; STATE_WORDS] = [
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
];
