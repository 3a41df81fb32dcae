//! Byte strings of a key and a signature, and what is made of the result: hints and the commitment
//! w1 (FIPS 204 §7.1, §7.2, §7.4).

use super::Parameters;
use super::ntt::{Poly, Q};
use crate::keccak::Sponge;

/// Reads 256 values of `width` bits, at most 20, from the low bit of each byte up (FIPS 204 §7.1,
/// algorithm 18). `bytes` has 32 `width` of them; values that it does not hold stay as they were.
#[inline(never)]
pub(super) fn unpack(bytes: &[u8], width: u32, w: &mut Poly) {
    let mut words = bytes.as_chunks::<4>().0.iter();
    let mask = 1_u64.wrapping_shl(width).wrapping_sub(1);
    // At most 19 bits are left when 32 are added.
    let mut bits = 0_u64;
    let mut bits_len = 0_u32;
    for value in w {
        if bits_len < width {
            let Some(word) = words.next() else { return };
            bits |= u64::from(u32::from_le_bytes(*word)).wrapping_shl(bits_len);
            bits_len = bits_len.wrapping_add(32);
        }
        *value = bits & mask;
        bits = bits.wrapping_shr(width);
        bits_len = bits_len.wrapping_sub(width);
    }
}

/// A polynomial of z modulo q, below 2 q (FIPS 204 §7.1, algorithm 19). False unless all coefficients
/// are smaller than γ1 − β (§6.3, algorithm 8, line 13).
#[must_use]
pub(super) fn unpack_z(parameters: &Parameters, bytes: &[u8], w: &mut Poly) -> bool {
    unpack(bytes, parameters.z_width, w);
    let gamma1 = 1_u64.wrapping_shl(parameters.z_width.wrapping_sub(1));
    // The value v represents γ1 − v. Allowed are β + 1 to 2 γ1 − β − 1.
    let least = parameters.beta.wrapping_add(1);
    let count = gamma1.wrapping_sub(least).wrapping_mul(2).wrapping_add(1);
    let mut is_small = true;
    for value in w {
        is_small &= value.wrapping_sub(least) < count;
        *value = Q.wrapping_add(gamma1).wrapping_sub(*value);
    }
    is_small
}

/// The hint h of a signature.
#[derive(Clone, Copy)]
pub(super) struct Hint<'a> {
    /// Positions of the ones, row after row, rising in each.
    positions: &'a [u8],
    /// How many positions belong to this row and those before, for each row.
    ends: &'a [u8],
}

impl<'a> Hint<'a> {
    /// Reads the ω + k bytes at the end of a signature (FIPS 204 §7.1, algorithm 21). None for
    /// whatever no signer writes: another encoding of a hint would be another signature.
    pub(super) fn parse(omega: usize, bytes: &'a [u8]) -> Option<Self> {
        let (positions, ends) = bytes.split_at_checked(omega)?;
        let mut rest = positions;
        let mut start = 0;
        for &end in ends {
            // Line 4: counts do not fall, and none is above ω.
            let (row, later) = rest.split_at_checked(usize::from(end.checked_sub(start)?))?;
            // Line 9: positions rise in a row.
            if !row.is_sorted_by(|a, b| a < b) {
                return None;
            }
            (rest, start) = (later, end);
        }
        // Line 17: what is not used is zero.
        rest.iter().all(|byte| *byte == 0).then_some(Self { positions, ends })
    }

    /// The positions of the ones in each row.
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

/// How many high parts there are: m = (q − 1) / 2γ2 (FIPS 204 §7.4, algorithm 40, line 1).
const fn high_count(parameters: &Parameters) -> u64 {
    if parameters.w1_width == 4 { 16 } else { 44 }
}

/// r1 of Decompose for r below q, except that m represents 0 (FIPS 204 §7.4, algorithm 36).
///
/// r0 is above −γ2 and at most γ2, so r1 is (r + γ2 − 1) / 2γ2 rounded down. The numerator is below
/// 2^24 and the reciprocal too large by less than 2^−48, so that the quotient is too large by less than
/// 2^−24, and it would take 1 / 2γ2 > 2^−19 to reach the next integer.
#[inline(always)]
fn high_part(parameters: &Parameters, r: u64) -> u64 {
    let numerator = r.wrapping_add(parameters.gamma2).wrapping_sub(1);
    numerator.wrapping_mul(parameters.reciprocal) >> 48
}

/// Changes the coefficients at `positions`, in [0, q) as all are, so that their high parts become what
/// UseHint says (FIPS 204 §7.4, algorithm 40): to the middle of that range.
pub(super) fn use_hint(parameters: &Parameters, positions: &[u8], w: &mut Poly) {
    let alpha = parameters.gamma2.wrapping_mul(2);
    let count = high_count(parameters);
    for position in positions {
        let value = &mut w[usize::from(*position)];
        let r1 = high_part(parameters, *value);
        // Where m represents 0, r0 is not positive, and m − 1 follows on both ways.
        let hinted = if *value > r1.wrapping_mul(alpha) {
            if r1 == count.wrapping_sub(1) { 0 } else { r1.wrapping_add(1) }
        } else {
            (if r1 == 0 { count } else { r1 }).wrapping_sub(1)
        };
        *value = hinted.wrapping_mul(alpha);
    }
}

/// Encodes the high parts of a row (FIPS 204 §7.2, algorithm 28) and hashes them.
// Out of line, so that the buffer is gone when the next row is sampled.
#[inline(never)]
pub(super) fn absorb_w1(parameters: &Parameters, w: &Poly, sponge: &mut Sponge) {
    let width = parameters.w1_width;
    let count = high_count(parameters);
    // Eight values make `width` bytes: 4 or 6. `max` only spares the panic of `chunks_exact_mut`.
    let len = width as usize;
    let mut buffer = [0; 6 * 32];
    for (bytes, values) in buffer.chunks_exact_mut(len.max(1)).zip(w.as_chunks::<8>().0) {
        let mut bits = 0_u64;
        for value in values.iter().rev() {
            let r1 = high_part(parameters, *value);
            bits = bits.wrapping_shl(width) | if r1 == count { 0 } else { r1 };
        }
        for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()) {
            *to = from;
        }
    }
    sponge.absorb(buffer.get(..len.wrapping_mul(32)).unwrap_or_default());
}
