//! What is sampled from hashes: the matrix A and the challenge c (FIPS 204 §7.3).

use super::ntt::{Narrow, Poly, Q};
use crate::Kernels;
use crate::keccak::{self, FULL_ROUNDS, RATE_128, RATE_256, Sponge};

/// The suffix of SHAKE and the first bit of its padding (FIPS 202 §6.2, §B.2).
pub(super) const SHAKE: u8 = 0x1f;

/// Columns of the widest matrix.
pub(super) const MAX_L: usize = 7;

/// Polynomials of a row that are sampled at once. Without lanes one state is enough.
pub(super) const MAX_GROUP: usize = if cfg!(feature = "lanes") { MAX_L } else { 1 };

/// Maximum number of hash blocks that one polynomial takes, so that every loop ends (FIPS 204 appendix C
/// allows a bound). It is not reached in practice: of the 896 candidates for A in them, one in 1,024 is
/// refused and 256 are needed; of more than 2,000 bytes for c, less than a quarter is refused
/// and at most 60 are needed.
const MAX_BLOCKS: usize = 16;

/// Adds the product of a row of A and the vector z to `sum`: every coefficient of A is multiplied as
/// soon as it is known and then forgotten (FIPS 204 §7.3, algorithms 30 and 32).
///
/// A coefficient of A is below q and one of z below 18 q, so that each polynomial adds less than
/// 18 q² to a coefficient. What is in `states` does not matter. False if some polynomial is not complete after [`MAX_BLOCKS`].
#[inline(never)]
#[must_use]
pub(super) fn add_row(
    kernels: &Kernels,
    rho: &[u64; 4],
    row: u8,
    z: &[Narrow],
    sum: &mut Poly,
    states: &mut [[u64; 25]; MAX_GROUP],
) -> bool {
    let mut rest = z;
    let mut column = 0_u8;
    while !rest.is_empty() {
        let count = kernels.keccak.lanes().clamp(1, MAX_GROUP).min(rest.len());
        let (Some((group, later)), Some(states)) =
            (rest.split_at_checked(count), states.get_mut(..count))
        else {
            return false;
        };
        for state in states.iter_mut() {
            *state = seeded(rho, row, column);
            column = column.wrapping_add(1);
        }
        if !add_products(kernels, states, group, sum) {
            return false;
        }
        rest = later;
    }
    true
}

/// The only block of ρ ‖ column ‖ row, padded for SHAKE128.
#[inline(always)]
fn seeded(rho: &[u64; 4], row: u8, column: u8) -> [u64; 25] {
    let mut state = [0; 25];
    for (lane, word) in state.iter_mut().zip(rho) {
        *lane = *word;
    }
    state[4] = u64::from_le_bytes([column, row, SHAKE, 0, 0, 0, 0, 0]);
    state[RATE_128 - 1] = 1 << 63;
    state
}

/// Samples as many polynomials as states, multiplies them by those of `z` and adds up.
fn add_products(kernels: &Kernels, states: &mut [[u64; 25]], z: &[Narrow], sum: &mut Poly) -> bool {
    // How many coefficients of each polynomial are known.
    let mut known = [0_u16; MAX_GROUP];
    for _ in 0..MAX_BLOCKS {
        keccak::permute_each(kernels, states);
        let mut is_complete = true;
        for ((state, z), known) in states.iter().zip(z).zip(&mut known) {
            *known = add_block(state, *known, z, sum);
            is_complete &= *known == 256;
        }
        if is_complete {
            return true;
        }
    }
    false
}

/// Takes the 56 candidates of a block, three words of the state after three, when `known` coefficients are
/// known. Returns how many are then.
#[inline(always)]
fn add_block(state: &[u64; 25], known: u16, z: &Narrow, sum: &mut Poly) -> u16 {
    const MASK: u64 = 0x7f_ffff;
    let mut known = usize::from(known);
    for [x, y, w] in state[..RATE_128].as_chunks::<3>().0 {
        let candidates @ [c0, c1, c2, c3, c4, c5, c6, c7] = [
            x & MASK,
            x >> 24 & MASK,
            (x >> 48 | y << 16) & MASK,
            y >> 8 & MASK,
            y >> 32 & MASK,
            (y >> 56 | w << 8) & MASK,
            w >> 16 & MASK,
            w >> 40 & MASK,
        ];
        // In 99 of 100 cases all eight are coefficients, and nothing has to be counted.
        let are_coefficients =
            c0 < Q && c1 < Q && c2 < Q && c3 < Q && c4 < Q && c5 < Q && c6 < Q && c7 < Q;
        if are_coefficients
            && known <= 248
            && let Some((sums, _)) = sum.get_mut(known..).and_then(|it| it.split_first_chunk_mut())
            && let Some((z, _)) = z.get(known..).and_then(|it| it.split_first_chunk())
        {
            // Unrolled by hand: a loop would pass the candidates through memory.
            let ([s0, s1, s2, s3, s4, s5, s6, s7], [z0, z1, z2, z3, z4, z5, z6, z7]) = (sums, z);
            add_product(c0, s0, z0);
            add_product(c1, s1, z1);
            add_product(c2, s2, z2);
            add_product(c3, s3, z3);
            add_product(c4, s4, z4);
            add_product(c5, s5, z5);
            add_product(c6, s6, z6);
            add_product(c7, s7, z7);
            known = known.wrapping_add(8);
        } else {
            // FIPS 204 §7.1, algorithm 14.
            for candidate in candidates.into_iter().filter(|candidate| *candidate < Q) {
                let (Some(sum), Some(z)) = (sum.get_mut(known), z.get(known)) else { return 256 };
                add_product(candidate, sum, z);
                known = known.wrapping_add(1);
            }
        }
    }
    known as u16
}

#[inline(always)]
fn add_product(coefficient: u64, sum: &mut u64, z: &u32) {
    *sum = sum.wrapping_add(coefficient.wrapping_mul(u64::from(*z)));
}

/// The challenge: τ coefficients are 1 or −1, the others 0 (FIPS 204 §7.3, algorithm 29). False if
/// it is not complete after [`MAX_BLOCKS`].
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
            c[usize::from(j)] = if signs & 1 == 0 { 1 } else { Q - 1 };
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
