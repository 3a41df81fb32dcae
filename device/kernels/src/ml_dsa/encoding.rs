//! Decoding of keys and signatures, and the operations on the result: hints and the commitment w1 (FIPS 204 §7.1,
//! §7.2, §7.4).

use super::MlDsaParameters;
use super::ntt::{self, Poly, Q};
use crate::keccak::Sponge;

/// Decodes a polynomial of t1, whose values have 10 bits. Five bytes contain four values (FIPS 204 §7.2, algorithm
/// 23).
pub(super) fn unpack_t1(bytes: &[u8], w: &mut Poly) {
    for ([b0, b1, b2, b3, b4], [w0, w1, w2, w3]) in
        bytes.as_chunks().0.iter().zip(w.as_chunks_mut().0)
    {
        let bits = u64::from(u32::from_le_bytes([*b0, *b1, *b2, *b3]));
        *w0 = bits & 0x3ff;
        *w1 = bits >> 10 & 0x3ff;
        *w2 = bits >> 20 & 0x3ff;
        *w3 = bits >> 30 | u64::from(*b4) << 2;
    }
}

/// Decodes a polynomial of z modulo q (FIPS 204 §7.1, algorithm 19). The coefficients are below 2 q. Returns false
/// unless the absolute values of all coefficients are less than γ1 − β (§6.3, algorithm 8, line 13).
#[must_use]
pub(super) fn unpack_z(parameters: &MlDsaParameters, bytes: &[u8], w: &mut Poly) -> bool {
    let gamma1 = 1_u64.wrapping_shl(parameters.z_width.wrapping_sub(1));
    // The encoded value v represents γ1 − v. The allowed values are β + 1 to 2 γ1 − β − 1.
    let least = parameters.beta.wrapping_add(1);
    let count = gamma1.wrapping_sub(least).wrapping_mul(2).wrapping_add(1);
    let from = Q.wrapping_add(gamma1);
    let keep = |to: &mut u64, value: u32| {
        let value = u64::from(value);
        *to = from.wrapping_sub(value);
        value.wrapping_sub(least) < count
    };
    // Values are put together from single bytes, because the encoding is not aligned.
    let word = |low: u8, middle: u8, high: u8| u32::from_le_bytes([low, middle, high, 0]);
    // Four values have 9 or 10 bytes.
    let values = w.as_chunks_mut().0.iter_mut();
    if parameters.z_width == 18 {
        bytes.as_chunks().0.iter().zip(values).all(
            |([b0, b1, b2, b3, b4, b5, b6, b7, b8], [w0, w1, w2, w3])| {
                keep(w0, word(*b0, *b1, *b2 & 3))
                    && keep(w1, word(*b2, *b3, *b4 & 0xf) >> 2)
                    && keep(w2, word(*b4, *b5, *b6 & 0x3f) >> 4)
                    && keep(w3, word(*b6, *b7, *b8) >> 6)
            },
        )
    } else {
        bytes.as_chunks().0.iter().zip(values).all(
            |([b0, b1, b2, b3, b4, b5, b6, b7, b8, b9], [w0, w1, w2, w3])| {
                keep(w0, word(*b0, *b1, *b2 & 0xf))
                    && keep(w1, word(*b2, *b3, *b4) >> 4)
                    && keep(w2, word(*b5, *b6, *b7 & 0xf))
                    && keep(w3, word(*b7, *b8, *b9) >> 4)
            },
        )
    }
}

/// The hint h of a signature, in encoded form.
#[derive(Clone, Copy)]
pub(super) struct Hint<'a> {
    /// Positions of the ones, row by row. They are strictly increasing in each row.
    positions: &'a [u8],
    /// For each row, the number of positions in this row and the rows before it.
    ends: &'a [u8],
}

impl<'a> Hint<'a> {
    /// Parses the ω + k bytes at the end of a signature (FIPS 204 §7.1, algorithm 21). Returns `None` for an encoding
    /// that no signer makes. A second encoding of a hint would be a second valid signature.
    pub(super) fn parse(omega: usize, bytes: &'a [u8]) -> Option<Self> {
        let (positions, ends) = bytes.split_at_checked(omega)?;
        let mut rest = positions;
        let mut start = 0;
        for &end in ends {
            // Line 4: the counts do not decrease, and none exceeds ω.
            let (row, later) = rest.split_at_checked(usize::from(end.checked_sub(start)?))?;
            // Line 9: the positions in a row increase.
            if !row.is_sorted_by(|a, b| a < b) {
                return None;
            }
            (rest, start) = (later, end);
        }
        // Line 17: unused positions are zero.
        rest.iter().all(|byte| *byte == 0).then_some(Self { positions, ends })
    }

    /// Returns the positions of the ones for each row.
    pub(super) fn rows(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.positions;
        let mut start = 0_u8;
        self.ends.iter().map(move |end| {
            let count = usize::from(end.wrapping_sub(start));
            let (row, later) = rest.split_at_checked(count).unwrap_or_default();
            (rest, start) = (later, *end);
            row
        })
    }
}

/// Returns the number of high parts, m = (q − 1) / 2γ2 (FIPS 204 §7.4, algorithm 40, line 1).
const fn high_count(parameters: &MlDsaParameters) -> u64 {
    if parameters.w1_width == 4 { 16 } else { 44 }
}

/// Returns r1 of Decompose for r below q (FIPS 204 §7.4, algorithm 36), except that the result is m instead of 0 for
/// the r with r − r0 = q − 1.
///
/// r0 is above −γ2 and at most γ2, so r1 is (r + γ2 − 1) / 2γ2 rounded down. The numerator is below 2^24, and the
/// reciprocal is too large by less than 2^−48. So the computed quotient is too large by less than 2^−24. This does
/// not reach the next integer, because 1 / 2γ2 is more than 2^−19.
#[inline(always)]
fn high_part(parameters: &MlDsaParameters, r: u64) -> u64 {
    let numerator = r.wrapping_add(parameters.gamma2).wrapping_sub(1);
    numerator.wrapping_mul(parameters.reciprocal) >> 48
}

/// Changes the coefficients at `positions` so that their high parts are those of UseHint (FIPS 204 §7.4, algorithm
/// 40). Each becomes the middle of the range of its high part. The coefficients are fractions ([`ntt::inverse`]).
pub(super) fn use_hint(parameters: &MlDsaParameters, positions: &[u8], w: &mut Poly) {
    let alpha = parameters.gamma2.wrapping_mul(2);
    let count = high_count(parameters);
    for position in positions {
        let fraction = &mut w[usize::from(*position)];
        let value = ntt::rounded_down(*fraction);
        let r1 = high_part(parameters, value);
        // If the high part is m, which stands for 0, r0 is not positive, and both definitions give the next lower
        // value m − 1.
        let hinted = if value > r1.wrapping_mul(alpha) {
            if r1 == count.wrapping_sub(1) { 0 } else { r1.wrapping_add(1) }
        } else {
            (if r1 == 0 { count } else { r1 }).wrapping_sub(1)
        };
        *fraction = hinted.wrapping_mul(middle(parameters).wrapping_mul(2));
    }
}

/// Returns 2^64 / 2m, rounded down, which is half of the range of a high part as a fraction.
const fn middle(parameters: &MlDsaParameters) -> u64 {
    if parameters.w1_width == 4 { (1 << 63) / 16 } else { (1 << 63) / 44 }
}

/// Encodes the high parts of a row (FIPS 204 §7.2, algorithm 28) and absorbs them into `sponge`. The coefficients are
/// fractions ([`ntt::inverse`]).
///
/// The high part is m·r / q, rounded to the nearest integer, with 0 instead of m. Proof: r1 becomes j at the value r =
/// γ2·(2j − 1) + 1, which is (q·(j − 1/2) + m + 1/2 − j) / m, because m·2γ2 = q − 1. For all j from 1 to m, the quantity
/// m·r / q + 1/2 is at least j + 1/2q at this r, and at most j − 1/2q at r − 1. A fraction is too large by less than
/// 2^−31, which becomes less than 2^−25 when it is multiplied by m, and 1/2q is more than 2^−24.
#[inline(never)]
pub(super) fn absorb_w1(parameters: &MlDsaParameters, w: &Poly, sponge: &mut Sponge) {
    let width = parameters.w1_width;
    let count = u128::from(high_count(parameters));
    let offset = middle(parameters);
    // The sum wraps for the values whose high part is 0 instead of m.
    let high = |fraction: &u64| {
        (u128::from(fraction.wrapping_add(offset)).wrapping_mul(count) >> 64) as u64
    };
    let (mut word, mut word_len) = (0_u64, 0_u32);
    for values in w.as_chunks::<8>().0 {
        // The code is unrolled by hand, because the compiler does not unroll so short a loop.
        let [v0, v1, v2, v3, v4, v5, v6, v7] = values;
        let pair = |low, above| high(low) | high(above).wrapping_shl(width);
        let two = width.wrapping_mul(2);
        let low = pair(v0, v1) | pair(v2, v3).wrapping_shl(two);
        let above = pair(v4, v5) | pair(v6, v7).wrapping_shl(two);
        // The eight values have 32 or 48 bits. Bits that do not fit into the word start the next word.
        let bits = low | above.wrapping_shl(width.wrapping_mul(4));
        word |= bits.wrapping_shl(word_len);
        word_len = word_len.wrapping_add(width.wrapping_mul(8));
        if word_len >= 64 {
            sponge.absorb_word(word);
            word_len = word_len.wrapping_sub(64);
            word = bits.wrapping_shr(width.wrapping_mul(8).wrapping_sub(word_len));
        }
    }
}
