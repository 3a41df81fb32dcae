//! SHA-2 (FIPS 180-4) for one message in each lane of a vector.
//!
//! The names `a..h`, `W`, `K` and the sigmas are those of the standard. The hashes with 32-bit words use the
//! upper halves of the 64-bit constants: both are the first bits of the same roots (§4.2.2, §4.2.3, §5.3.3,
//! §5.3.5).

use fearless_simd::{Bytes, Simd, SimdBase, SimdInt, SimdIntElement};

use super::vectors::{MAX_LANES, rotate_right, transpose};
use hartlock_kernels::sha2::K512;

/// A word size of SHA-2, with its parameters.
pub(super) trait Word: SimdIntElement {
    /// Size of a message block in bytes.
    const BLOCK_SIZE: usize;
    const ROUNDS: usize;
    /// Rotation amounts of the functions in §4.1.2 and §4.1.3. The last number of a small sigma is a shift
    /// amount.
    const BIG_SIGMA_0: [u32; 3];
    const BIG_SIGMA_1: [u32; 3];
    const SMALL_SIGMA_0: [u32; 3];
    const SMALL_SIGMA_1: [u32; 3];

    /// Returns the upper bits of a 64-bit constant, as many as a word has.
    fn from_upper(constant: u64) -> Self;
}

impl Word for u32 {
    const BLOCK_SIZE: usize = 64;
    const ROUNDS: usize = 64;
    const BIG_SIGMA_0: [u32; 3] = [2, 13, 22];
    const BIG_SIGMA_1: [u32; 3] = [6, 11, 25];
    const SMALL_SIGMA_0: [u32; 3] = [7, 18, 3];
    const SMALL_SIGMA_1: [u32; 3] = [17, 19, 10];

    #[inline(always)]
    fn from_upper(constant: u64) -> Self {
        (constant >> 32) as u32
    }
}

impl Word for u64 {
    const BLOCK_SIZE: usize = 128;
    const ROUNDS: usize = 80;
    const BIG_SIGMA_0: [u32; 3] = [28, 34, 39];
    const BIG_SIGMA_1: [u32; 3] = [14, 18, 41];
    const SMALL_SIGMA_0: [u32; 3] = [1, 8, 7];
    const SMALL_SIGMA_1: [u32; 3] = [19, 61, 6];

    #[inline(always)]
    fn from_upper(constant: u64) -> Self {
        constant
    }
}

/// Processes all blocks of `messages`, which have the same length (§6.2.2, §6.4.2). `state[i][lane]` is word
/// `i` of the hash value of a lane.
#[inline(always)]
pub(super) fn compress<S, V, W>(
    simd: S,
    state: &mut [[W; MAX_LANES]; 8],
    messages: &[&[u8]; MAX_LANES],
) where
    S: Simd,
    V: SimdInt<S, Element = W, ByteVector = S::u8s>,
    W: Word,
{
    let mut hash: [V; 8] = std::array::from_fn(|i| V::from_slice(simd, &state[i][..V::LEN]));
    for at in (0..messages[0].len()).step_by(W::BLOCK_SIZE) {
        let mut w = words::<S, V, W>(simd, messages, at);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
        for round in (0..W::ROUNDS).step_by(16) {
            for t in 0..16 {
                let ch = (e & f) ^ (!e & g);
                let t1 = h + big_sigma::<S, V>(e, W::BIG_SIGMA_1) + ch;
                let t1 = t1 + (w[t] + W::from_upper(K512[round + t]));
                let maj = (a & b) ^ (a & c) ^ (b & c);
                let t2 = big_sigma::<S, V>(a, W::BIG_SIGMA_0) + maj;
                (h, g, f, e, d, c, b, a) = (g, f, e, d + t1, c, b, a, t1 + t2);
                // The last 16 rounds need no further words of the message schedule.
                if round + 16 < W::ROUNDS {
                    let sigma_0 = small_sigma::<S, V>(w[(t + 1) % 16], W::SMALL_SIGMA_0);
                    let sigma_1 = small_sigma::<S, V>(w[(t + 14) % 16], W::SMALL_SIGMA_1);
                    w[t] = w[t] + sigma_0 + w[(t + 9) % 16] + sigma_1;
                }
            }
        }
        for (word, add) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word += add;
        }
    }
    for (row, word) in state.iter_mut().zip(hash) {
        word.store_slice(&mut row[..V::LEN]);
    }
}

/// Loads the 16 big-endian words (§3.1) of the message blocks at offset `at`. Vector `i` has word `i` of
/// every message.
#[inline(always)]
fn words<S, V, W>(simd: S, messages: &[&[u8]; MAX_LANES], at: usize) -> [V; 16]
where
    S: Simd,
    V: SimdInt<S, Element = W, ByteVector = S::u8s>,
    W: Word,
{
    let word_size = size_of::<W>();
    let reversed = S::u8s::from_fn(simd, |byte| ((byte % 16) ^ (word_size - 1)) as u8);
    let part_size = V::LEN * word_size;
    let mut w = [V::splat(simd, W::from_upper(0)); 16];
    for part in 0..16 / V::LEN {
        let mut rows = [V::splat(simd, W::from_upper(0)); MAX_LANES];
        for (row, message) in rows.iter_mut().zip(messages).take(V::LEN) {
            let from = at + part * part_size;
            let bytes = S::u8s::from_slice(simd, &message[from..from + part_size]);
            *row = bytes.swizzle_dyn_within_blocks(reversed).bitcast();
        }
        transpose::<S, V>(&mut rows);
        w[part * V::LEN..][..V::LEN].copy_from_slice(&rows[..V::LEN]);
    }
    w
}

#[inline(always)]
fn big_sigma<S: Simd, V: SimdInt<S>>(x: V, [r0, r1, r2]: [u32; 3]) -> V {
    rotate_right::<S, V>(x, r0) ^ rotate_right::<S, V>(x, r1) ^ rotate_right::<S, V>(x, r2)
}

#[inline(always)]
fn small_sigma<S: Simd, V: SimdInt<S>>(x: V, [r0, r1, shift]: [u32; 3]) -> V {
    rotate_right::<S, V>(x, r0) ^ rotate_right::<S, V>(x, r1) ^ (x >> shift)
}
