//! Arithmetic on integers of fixed length, shared by RSA and ECDSA.
//!
//! An integer is a slice of 64-bit limbs, lowest first. How many there are is a value and not a type, so
//! that one copy of the code serves every size: 4 and 6 limbs for curves, 32, 48 and 64 for RSA. Products
//! modulo m are Montgomery's (Handbook of Applied Cryptography §14.3.2): with R = 2^(64 · limbs), x is
//! carried as x · R mod m, and division by R replaces division by m.
//!
//! The fields of the curves have products of their own (`ecdsa/field.rs`), which know their moduli.

#[cfg(feature = "ecdsa")]
mod inverse;
#[cfg(all(test, feature = "rsa", feature = "ecdsa"))]
mod tests;

/// The low and the high half of a · b + add + carry, which never overflows.
#[inline(always)]
pub(crate) const fn multiply_add(a: u64, b: u64, add: u64, carry: u64) -> (u64, u64) {
    // In words and their carries: in sums of 128 bits the compiler masks halves that need no mask.
    let product = (a as u128).wrapping_mul(b as u128);
    let (low, carry0) = (product as u64).overflowing_add(add);
    let (low, carry1) = low.overflowing_add(carry);
    let high = ((product >> 64) as u64).wrapping_add(carry0 as u64).wrapping_add(carry1 as u64);
    (low, high)
}

/// Reads a big-endian integer. Bytes beyond the limbs are not read.
pub(crate) fn read_be(limbs: &mut [u64], bytes: &[u8]) {
    limbs.fill(0);
    for (limb, bytes) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = bytes.iter().fold(0, |limb, byte| (limb << 8) | u64::from(*byte));
    }
}

/// Writes the low bytes of an integer in big-endian order.
pub(crate) fn write_be(bytes: &mut [u8], limbs: &[u64]) {
    for (bytes, limb) in bytes.rchunks_mut(8).zip(limbs) {
        for (byte, value) in bytes.iter_mut().rev().zip(limb.to_le_bytes()) {
            *byte = value;
        }
    }
}

/// Whether `a` is below `b`, which has as many limbs.
pub(crate) fn is_below(a: &[u64], b: &[u64]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// `a - b` in place. True if it borrowed from beyond the top.
pub(crate) fn subtract(a: &mut [u64], b: &[u64]) -> bool {
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = a.borrowing_sub(*b, borrow);
    }
    borrow
}

/// An odd modulus with the top bit of its top limb set, and what division by it needs.
pub(crate) struct Modulus<'a> {
    limbs: &'a [u64],
    /// -m^(-1) mod 2^64.
    negated_inverse: u64,
    /// The limb v for which 2^64 + v approaches 2^128 / m' from below, where m' is the top limb plus one.
    reciprocal: u64,
}

impl<'a> Modulus<'a> {
    /// `None` if the modulus is even or does not fill its limbs.
    pub(crate) fn new(limbs: &'a [u64]) -> Option<Self> {
        let (low, top) = (*limbs.first()?, *limbs.last()?);
        if low & 1 == 0 || top >> 63 == 0 {
            return None;
        }
        // Newton: each step doubles the number of right bits, and an odd number is its own inverse
        // modulo 8: 3, 6, 12, 24, 48, 96 bits.
        let mut inverse = low;
        for _ in 0..5 {
            let error = low.wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(error));
        }
        Some(Self { limbs, negated_inverse: inverse.wrapping_neg(), reciprocal: reciprocal(top) })
    }

    /// -m^(-1) mod 2^64.
    #[cfg(feature = "rsa")]
    pub(crate) const fn negated_inverse(&self) -> u64 {
        self.negated_inverse
    }

    /// x · 2^(64 · limbs + `more`) mod m in place, for any x of as many limbs as m and `more` from 1 to 63: Montgomery's
    /// form. `wide` has twice as many; what is in it does not matter.
    ///
    /// Costs about as much as one product, and needs no square of a power of two to be computed or stored.
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
        // Schoolbook division, from the top limb down.
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

    /// a · b mod m into `out`, which is not in Montgomery's form, as a and b are not: for the few products of
    /// which the form would cost more than it saves. a is any number of as many limbs as m.
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

    /// x · 2^64 modulo m, in as many limbs as m, though not always below m: a step of schoolbook division.
    #[cfg(feature = "ecdsa")]
    fn shift(&self, x: &mut [u64]) {
        let mut top = 0;
        for limb in x.iter_mut() {
            core::mem::swap(limb, &mut top);
        }
        self.reduce_top(x, top);
    }

    /// Brings x, with the limb `top` above it, down to as many limbs as m has.
    ///
    /// Quotients are never too large. The top limb shrinks with each, to a few units at first, and m
    /// is at least half of what one of these units is.
    fn reduce_top(&self, x: &mut [u64], mut top: u64) {
        while top != 0 {
            // The two top limbs times 2^64 + v, without 128 bits below.
            let second = x.last().copied().unwrap_or(0);
            let (_, below) = multiply_add(second, self.reciprocal, 0, 0);
            let (_, estimate) = multiply_add(top, self.reciprocal, second, below);
            let quotient = top.saturating_add(estimate);
            top = top.wrapping_sub(subtract_row(x, self.limbs, quotient));
        }
    }

    /// Reduces a value below 2 · m, whose bit above the limbs is `carry`.
    pub(crate) fn subtract_once(&self, x: &mut [u64], carry: bool) {
        if carry || !is_below(x, self.limbs) {
            subtract(x, self.limbs);
        }
    }
}

/// Adds a · b to `x`, which has as many limbs as `a`. Returns the limb above.
#[cfg(feature = "ecdsa")]
fn add_row(x: &mut [u64], a: &[u64], b: u64) -> u64 {
    let mut carry = 0;
    for (x, a) in x.iter_mut().zip(a) {
        (*x, carry) = multiply_add(*a, b, *x, carry);
    }
    carry
}

/// Subtracts m · q from `x`. Returns what has to come off the limb above.
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

/// The reciprocal that [`Modulus`] describes, for a limb with its top bit set: division bit by bit.
fn reciprocal(top: u64) -> u64 {
    let divisor = top.wrapping_add(1);
    if divisor == 0 {
        // m' is 2^64, and its reciprocal exactly 2^64.
        return 0;
    }
    // 2^128 - 1 less 2^64 · m' leaves this in its high limb, and ones below.
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
