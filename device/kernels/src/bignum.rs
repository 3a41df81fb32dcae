//! Arithmetic on integers of fixed length, for RSA and ECDSA.
//!
//! An integer is a slice of 64-bit limbs, least significant limb first. The number of limbs is a run-time value, so
//! that one copy of the code serves all sizes: 4 and 6 limbs for curves, 32, 48 and 64 for RSA. Multiplication modulo
//! m uses the method of Montgomery (Handbook of Applied Cryptography §14.3.2): with R = 2^(64 · limbs), x is
//! represented by x · R mod m, and a division by R replaces the division by m.
//!
//! The fields of the curves have multiplications of their own (`ecdsa/field.rs`), which are specialized for their
//! moduli.

#[cfg(feature = "ecdsa")]
mod inverse;
#[cfg(all(test, feature = "rsa", feature = "ecdsa"))]
mod tests;

/// Returns the low and the high half of a · b + add + carry. The sum never overflows 128 bits.
#[inline(always)]
pub(crate) const fn multiply_add(a: u64, b: u64, add: u64, carry: u64) -> (u64, u64) {
    // The sum is computed with 64-bit words and carries, because the compiler emits unnecessary masks for 128-bit
    // sums.
    let product = (a as u128).wrapping_mul(b as u128);
    let (low, carry0) = (product as u64).overflowing_add(add);
    let (low, carry1) = low.overflowing_add(carry);
    let high = ((product >> 64) as u64).wrapping_add(carry0 as u64).wrapping_add(carry1 as u64);
    (low, high)
}

/// Reads a big-endian integer. The most significant bytes that do not fit into `limbs` are ignored.
pub(crate) fn read_be(limbs: &mut [u64], bytes: &[u8]) {
    limbs.fill(0);
    for (limb, bytes) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = bytes.iter().fold(0, |limb, byte| (limb << 8) | u64::from(*byte));
    }
}

/// Writes an integer in big-endian order. Only the least significant bytes are written if the integer is longer.
pub(crate) fn write_be(bytes: &mut [u8], limbs: &[u64]) {
    for (bytes, limb) in bytes.rchunks_mut(8).zip(limbs) {
        for (byte, value) in bytes.iter_mut().rev().zip(limb.to_le_bytes()) {
            *byte = value;
        }
    }
}

/// Returns true if a < b. Both have the same number of limbs.
pub(crate) fn is_below(a: &[u64], b: &[u64]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// Subtracts `b` from `a` in place. Returns true if the result is negative, which means that a borrow remains.
pub(crate) fn subtract(a: &mut [u64], b: &[u64]) -> bool {
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = a.borrowing_sub(*b, borrow);
    }
    borrow
}

/// An odd modulus with the most significant bit of its top limb set, and the values that division by it needs.
pub(crate) struct Modulus<'a> {
    limbs: &'a [u64],
    /// The value -m^(-1) mod 2^64.
    negated_inverse: u64,
    /// The limb v such that 2^64 + v is the largest integer that is at most 2^128 / m', where m' is the top limb plus
    /// one.
    reciprocal: u64,
}

impl<'a> Modulus<'a> {
    /// Makes a modulus. Returns `None` if it is even or if the most significant bit of its top limb is not set.
    pub(crate) fn new(limbs: &'a [u64]) -> Option<Self> {
        let (low, top) = (*limbs.first()?, *limbs.last()?);
        if low & 1 == 0 || top >> 63 == 0 {
            return None;
        }
        // Newton iteration: each step doubles the number of correct bits. An odd number is its own inverse modulo 8,
        // so the correct bits are 3, 6, 12, 24, 48, 96.
        let mut inverse = low;
        for _ in 0..5 {
            let error = low.wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(error));
        }
        Some(Self { limbs, negated_inverse: inverse.wrapping_neg(), reciprocal: reciprocal(top) })
    }

    /// Returns the value -m^(-1) mod 2^64.
    #[cfg(feature = "rsa")]
    pub(crate) const fn negated_inverse(&self) -> u64 {
        self.negated_inverse
    }

    /// Replaces x by x · 2^(64 · limbs + `more`) mod m, which is the Montgomery form. x may be any integer with as
    /// many limbs as m, and `more` is from 1 to 63. `wide` is scratch space with twice as many limbs.
    ///
    /// The cost is about that of one multiplication. No precomputed square of a power of two is necessary.
    #[cfg(feature = "rsa")]
    pub(crate) fn to_montgomery(&self, x: &mut [u64], more: u32, wide: &mut [u64]) {
        let mut above = 0u64;
        for limb in x.iter_mut() {
            let shifted = limb.wrapping_shl(more) | above;
            above = limb.wrapping_shr(64u32.wrapping_sub(more));
            *limb = shifted;
        }
        self.reduce_top(x, above);
        let Some((low, high)) = wide.split_at_mut_checked(self.limbs.len()) else { return };
        low.fill(0);
        for (high, x) in high.iter_mut().zip(x.iter()) {
            *high = *x;
        }
        // This is schoolbook division, from the top limb downwards.
        for i in (0..self.limbs.len()).rev() {
            let Some(window) = wide.get_mut(i..) else { return };
            let Some((window, [top, ..])) = window.split_at_mut_checked(self.limbs.len()) else {
                return;
            };
            self.reduce_top(window, *top);
        }
        for (x, rest) in x.iter_mut().zip(wide) {
            *x = *rest;
        }
        self.subtract_once(x, false);
    }

    /// Writes a · b mod m to `out`. None of the three is in Montgomery form. This serves the few multiplications for
    /// which a conversion to Montgomery form would cost more than it saves. a may be any integer with as many limbs
    /// as m.
    #[cfg(feature = "ecdsa")]
    pub(crate) fn plain_product(&self, out: &mut [u64], a: &[u64], b: &[u64]) {
        out.fill(0);
        for b in b.iter().rev() {
            self.shift(out);
            let top = add_row(out, a, *b);
            self.reduce_top(out, top);
        }
        self.subtract_once(out, false);
    }

    /// Replaces x by a number that is congruent to x · 2^64 modulo m and has as many limbs as m, but is not always
    /// below m. This is one step of schoolbook division.
    #[cfg(feature = "ecdsa")]
    fn shift(&self, x: &mut [u64]) {
        let mut top = 0;
        for limb in x.iter_mut() {
            core::mem::swap(limb, &mut top);
        }
        self.reduce_top(x, top);
    }

    /// Reduces x, extended by the limb `top`, to as many limbs as m has.
    ///
    /// The quotient estimate is never too large. After each subtraction the top limb is smaller. It is only a few
    /// units after the first one, and m is at least half of one such unit.
    fn reduce_top(&self, x: &mut [u64], mut top: u64) {
        while top != 0 {
            // The product of the two top limbs and 2^64 + v, without its 128 lowest bits.
            let second = x.last().copied().unwrap_or(0);
            let (_, below) = multiply_add(second, self.reciprocal, 0, 0);
            let (_, estimate) = multiply_add(top, self.reciprocal, second, below);
            let quotient = top.saturating_add(estimate);
            top = top.wrapping_sub(subtract_row(x, self.limbs, quotient));
        }
    }

    /// Reduces a value below 2 · m. `carry` is the bit above its limbs.
    pub(crate) fn subtract_once(&self, x: &mut [u64], carry: bool) {
        if carry || !is_below(x, self.limbs) {
            subtract(x, self.limbs);
        }
    }
}

/// Adds a · b to `x`, which has as many limbs as `a`. Returns the carry limb.
#[cfg(feature = "ecdsa")]
fn add_row(x: &mut [u64], a: &[u64], b: u64) -> u64 {
    let mut carry = 0;
    for (x, a) in x.iter_mut().zip(a) {
        (*x, carry) = multiply_add(*a, b, *x, carry);
    }
    carry
}

/// Subtracts m · q from `x`. Returns the limb that the caller must subtract from the limb above `x`.
#[inline(never)]
fn subtract_row(x: &mut [u64], m: &[u64], q: u64) -> u64 {
    let mut carry = 0;
    for (x, m) in x.iter_mut().zip(m) {
        let (low, high) = multiply_add(*m, q, carry, 0);
        let borrow;
        (*x, borrow) = x.overflowing_sub(low);
        carry = high.wrapping_add(u64::from(borrow));
    }
    carry
}

/// Computes the field `reciprocal` of [`Modulus`] for a top limb with its most significant bit set, by bitwise long
/// division.
fn reciprocal(top: u64) -> u64 {
    let divisor = top.wrapping_add(1);
    if divisor == 0 {
        // m' is 2^64, so 2^128 / m' is exactly 2^64.
        return 0;
    }
    // The difference 2^128 - 1 - 2^64 · m' has this value in its high limb, and all bits set in its low limb.
    let mut rest = !divisor;
    let mut quotient = 0;
    for _ in 0..64 {
        let is_large = rest >> 63 == 1;
        rest = (rest << 1) | 1;
        quotient <<= 1;
        if is_large || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    quotient
}
