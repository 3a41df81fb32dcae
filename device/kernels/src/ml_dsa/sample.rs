//! Sampling of the matrix A and the challenge c from hashes (FIPS 204 §7.3).

use super::ntt::{Narrow, Poly, Q};
use crate::Kernels;
use crate::keccak::{self, FULL_ROUNDS, RATE_128, RATE_256, Sponge, Squeeze};

/// Suffix of SHAKE and the first bit of its padding (FIPS 202 §6.2, §B.2).
pub(super) const SHAKE: u8 = 0x1f;

/// Number of columns of the widest matrix.
pub(super) const MAX_L: usize = 7;

/// Maximum number of polynomials of a row that are sampled at once. Without lanes there is one state.
const MAX_GROUP: usize = if cfg!(feature = "lanes") { MAX_L } else { 1 };

/// The hash blocks that one polynomial needs if less than 25 of their 280 candidates are rejected.
const BLOCKS: usize = 5;

/// All blocks but one, which is the beginning of the state after it.
const WORDS_BEFORE: usize = RATE_128 * (BLOCKS - 1);

/// Scratch space for the states of a group, or for the blocks of one polynomial, if one call of a kernel squeezes them.
pub(super) type Scratch = [[u64; 25]; SCRATCH];

const SCRATCH: usize = if cfg!(feature = "lanes") {
    MAX_GROUP
} else if cfg!(any(feature = "scalar", feature = "zbb")) {
    (WORDS_BEFORE + 25).div_ceil(25)
} else {
    1
};

/// Maximum number of hash blocks for one polynomial, which guarantees that every loop ends (FIPS 204 appendix C
/// allows a bound). In practice the bound is not reached. For A, the blocks have 896 candidates, of which one in
/// 1,024 is rejected, and 256 are needed. For c, they have more than 2,000 bytes, of which less than a quarter is
/// rejected, and at most 60 are needed.
const MAX_BLOCKS: usize = 16;

/// Adds the product of a row of A and the vector z to `sum`. Every coefficient of A is multiplied as soon as it is
/// known, and is not stored (FIPS 204 §7.3, algorithms 30 and 32).
///
/// A coefficient of A is below q and a coefficient of z is below 18 q, so each polynomial adds less than 18 q² to a
/// coefficient. Returns false if a polynomial is not complete after [`MAX_BLOCKS`] blocks.
#[inline(never)]
#[must_use]
pub(super) fn add_row(
    kernels: &Kernels,
    rho: &[u64; 4],
    row: u8,
    z: &[Narrow],
    sum: &mut Poly,
    scratch: &mut Scratch,
) -> bool {
    let mut rest = z;
    let mut column = 0_u8;
    if let Some(squeeze) = kernels.keccak_squeeze
        && kernels.keccak.lanes() == 1
    {
        return z.iter().zip(0..).all(|(z, column)| {
            add_squeezed(kernels, squeeze, rho, (row, column), z, sum, scratch)
        });
    }
    while !rest.is_empty() {
        let count = kernels.keccak.lanes().clamp(1, MAX_GROUP).min(rest.len());
        let (Some((group, later)), Some(states)) =
            (rest.split_at_checked(count), scratch.get_mut(..count))
        else {
            return false;
        };
        for state in states.iter_mut() {
            seed(state, rho, row, column);
            column = column.wrapping_add(1);
        }
        if !add_products(kernels, states, group, sum) {
            return false;
        }
        rest = later;
    }
    true
}

/// Makes the state with the single block ρ ‖ column ‖ row, padded for SHAKE128.
#[inline(always)]
fn seed(state: &mut [u64; 25], [r0, r1, r2, r3]: &[u64; 4], row: u8, column: u8) {
    let tail = u64::from_le_bytes([column, row, SHAKE, 0, 0, 0, 0, 0]);
    // The compiler would call `memset` for zeros that it knows, which takes three times as long for so few.
    let o = core::hint::black_box(0);
    // The last of the 21 lanes of the rate has the last bit of the padding.
    let pad = 1 << 63;
    *state =
        [*r0, *r1, *r2, *r3, tail, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, pad, o, o, o, o];
}

/// Samples one polynomial from each state, multiplies it by the polynomial of `z` and adds the product to `sum`.
/// Returns false if a polynomial is not complete after [`MAX_BLOCKS`] blocks.
fn add_products(kernels: &Kernels, states: &mut [[u64; 25]], z: &[Narrow], sum: &mut Poly) -> bool {
    // One state has code of its own, because the bookkeeping of a group takes as long as twenty coefficients.
    if let ([state], [z]) = (&mut *states, z) {
        return add_rest(kernels, state, 0, 0, z, sum);
    }
    #[cfg(feature = "lanes")]
    {
        // This is the number of known coefficients for each polynomial.
        let mut known = [0_u16; MAX_GROUP];
        for _ in 0..MAX_BLOCKS {
            keccak::permute_each(kernels, states);
            let mut is_complete = true;
            for ((state, z), known) in states.iter().zip(z).zip(&mut known) {
                *known = add_block(&state[..RATE_128], usize::from(*known), z, sum) as u16;
                is_complete &= *known == 256;
            }
            if is_complete {
                return true;
            }
        }
    }
    false
}

/// Squeezes [`BLOCKS`] blocks with one call, adds the product of their polynomial like [`add_products`], and continues
/// block by block if these are not enough.
fn add_squeezed(
    kernels: &Kernels,
    squeeze: Squeeze,
    rho: &[u64; 4],
    (row, column): (u8, u8),
    z: &Narrow,
    sum: &mut Poly,
    scratch: &mut Scratch,
) -> bool {
    let words = scratch.as_flattened_mut();
    let Some((before, after)) = words.split_at_mut_checked(WORDS_BEFORE) else { return false };
    let Some(state) = after.first_chunk_mut() else { return false };
    seed(state, rho, row, column);
    squeeze(state, before.as_chunks_mut().0);
    let known = add_block(words.get(..RATE_128 * BLOCKS).unwrap_or_default(), 0, z, sum);
    let Some(state) = words.get_mut(WORDS_BEFORE..).and_then(|it| it.first_chunk_mut()) else {
        return false;
    };
    known == 256 || add_rest(kernels, state, BLOCKS, known, z, sum)
}

/// Adds the product of a polynomial of which `known` coefficients are in the first `done` blocks.
fn add_rest(
    kernels: &Kernels,
    state: &mut [u64; 25],
    done: usize,
    mut known: usize,
    z: &Narrow,
    sum: &mut Poly,
) -> bool {
    for _ in done..MAX_BLOCKS {
        keccak::permute_each(kernels, core::slice::from_mut(state));
        known = add_block(&state[..RATE_128], known, z, sum);
        if known == 256 {
            return true;
        }
    }
    false
}

/// Processes the candidates of whole blocks, 56 in each, in groups of three words of the state. `known` is the number of
/// coefficients that are already known. Returns the new number.
#[inline(always)]
fn add_block(words: &[u64], mut known: usize, z: &Narrow, sum: &mut Poly) -> usize {
    let mut groups = words.as_chunks::<3>().0;
    while let (Some(sums), Some(factors)) = (sum.get_mut(known..), z.get(known..)) {
        // In 99 of 100 groups all candidates are accepted, and no counting is necessary.
        let (sums, factors) = (sums.as_chunks_mut().0, factors.as_chunks().0);
        let count = groups.len().min(sums.len());
        let mut accepted = sums.iter_mut().zip(factors).zip(groups);
        let left = loop {
            let Some(((sums, factors), group)) = accepted.next() else { break 0 };
            let [c0, c1, c2, c3, c4, c5, c6, c7] = candidates(group);
            let are_coefficients =
                c0 < Q && c1 < Q && c2 < Q && c3 < Q && c4 < Q && c5 < Q && c6 < Q && c7 < Q;
            if !are_coefficients {
                break accepted.len().wrapping_add(1);
            }
            // The code is unrolled by hand, because a loop would store the candidates in memory.
            let ([s0, s1, s2, s3, s4, s5, s6, s7], [z0, z1, z2, z3, z4, z5, z6, z7]) =
                (sums, factors);
            add_product(c0, s0, z0);
            add_product(c1, s1, z1);
            add_product(c2, s2, z2);
            add_product(c3, s3, z3);
            add_product(c4, s4, z4);
            add_product(c5, s5, z5);
            add_product(c6, s6, z6);
            add_product(c7, s7, z7);
        };
        let done = count.wrapping_sub(left);
        known = known.wrapping_add(done.wrapping_mul(8));
        if known == 256 {
            break;
        }
        // A group that is left has a candidate that is rejected, or more candidates than are necessary.
        let Some((group, later)) = groups.get(done..).and_then(<[_]>::split_first) else { break };
        groups = later;
        // This applies FIPS 204 §7.1, algorithm 14.
        for candidate in candidates(group).into_iter().filter(|candidate| *candidate < Q) {
            let (Some(sum), Some(z)) = (sum.get_mut(known), z.get(known)) else { return 256 };
            add_product(candidate, sum, z);
            known = known.wrapping_add(1);
        }
    }
    known
}

/// Splits three words into eight candidates of 24 bits, of which the highest is ignored (FIPS 204 §7.1, algorithm 14).
#[inline(always)]
fn candidates([x, y, w]: &[u64; 3]) -> [u64; 8] {
    const MASK: u64 = 0x7f_ffff;
    [
        x & MASK,
        x >> 24 & MASK,
        (x >> 48 | y << 16) & MASK,
        y >> 8 & MASK,
        y >> 32 & MASK,
        (y >> 56 | w << 8) & MASK,
        w >> 16 & MASK,
        w >> 40 & MASK,
    ]
}

#[inline(always)]
fn add_product(coefficient: u64, sum: &mut u64, z: &u32) {
    *sum = sum.wrapping_add(coefficient.wrapping_mul(u64::from(*z)));
}

/// The value −2^d for d = 13 modulo q, by which t1 is multiplied (FIPS 204 §6.3, algorithm 8, line 9).
const MINUS_TWO_POW_D: u64 = Q - (1 << 13);

/// Samples −2^d·c for the challenge c, which has τ coefficients of 1 or −1, and zeros (FIPS 204 §7.3, algorithm 29).
/// Returns false if it is not complete after [`MAX_BLOCKS`] blocks.
#[must_use]
pub(super) fn sample_in_ball(
    kernels: &Kernels,
    sponge: &mut Sponge,
    c_tilde: &[u8],
    tau: u8,
    c: &mut Poly,
) -> bool {
    *c = [0; 256];
    *sponge = Sponge::new(kernels, RATE_256, FULL_ROUNDS);
    sponge.absorb(c_tilde);
    let state = sponge.finish(SHAKE);
    let mut signs = state[0];
    let mut signs_len = 1;
    let mut i = tau.wrapping_neg();
    for _ in 0..MAX_BLOCKS {
        for j in state[..RATE_256].iter().skip(signs_len).flat_map(|lane| lane.to_le_bytes()) {
            if j > i {
                continue;
            }
            c[usize::from(i)] = c[usize::from(j)];
            c[usize::from(j)] = if signs & 1 == 0 { MINUS_TWO_POW_D } else { Q - MINUS_TWO_POW_D };
            signs >>= 1;
            if i == 255 {
                return true;
            }
            i = i.wrapping_add(1);
        }
        signs_len = 0;
        keccak::permute_each(kernels, core::slice::from_mut(state));
    }
    false
}
