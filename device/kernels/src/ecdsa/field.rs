//! The fields of the two curves. An integer x modulo p is represented by x · R mod p with R = 2^256 or 2^384.
//!
//! An element may be any representative below R. Limbs that P-256 does not need are zero. Verification spends most of
//! its time in these multiplications, so the inner loops are unrolled, and the reduction uses the special form of
//! each p instead of a multiplication by p.

use crate::bignum::multiply_add;

/// Number of limbs of an element of the larger field.
pub(super) const LIMBS: usize = 6;

/// An element of a field, or a scalar, as limbs in little-endian order.
pub(super) type Limbs = [u64; LIMBS];

/// A field, identified by its prime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// The prime 2^256 - 2^224 + 2^192 + 2^96 - 1 (SP 800-186 §3.2.1.3).
    P256,
    /// The prime 2^384 - 2^128 - 2^96 + 2^32 - 1 (SP 800-186 §3.2.1.4).
    P384,
}

const P256: [u64; 4] = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];

const P384: [u64; 6] =
    [0xffff_ffff, 0xffff_ffff_0000_0000, u64::MAX - 1, u64::MAX, u64::MAX, u64::MAX];

const RADIX_SQUARED_256: Limbs = [
    0x0000_0000_0000_0003,
    0xffff_fffb_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x0000_0004_ffff_fffd,
    0,
    0,
];

const RADIX_SQUARED_384: Limbs = [
    0xffff_fffe_0000_0001,
    0x0000_0002_0000_0000,
    0xffff_fffe_0000_0000,
    0x0000_0002_0000_0000,
    0x0000_0000_0000_0001,
    0,
];

/// Defines the addition and subtraction for a number of limbs, without a loop over limbs. A carry or borrow beyond
/// the limbs is corrected with p. This may be necessary twice, because R is less than 2p.
macro_rules! sums {
    ($add:ident, $subtract:ident, $p:ident: $($i:literal)*) => {
        #[inline(never)]
        fn $add(a: &Limbs, b: &Limbs) -> Limbs {
            let (mut sum, mut carry) = ([0; LIMBS], false);
            $( (sum[$i], carry) = a[$i].carrying_add(b[$i], carry); )*
            while carry {
                let mut borrow = false;
                $( (sum[$i], borrow) = sum[$i].borrowing_sub($p[$i], borrow); )*
                carry = !borrow;
            }
            sum
        }

        #[inline(never)]
        fn $subtract(a: &Limbs, b: &Limbs) -> Limbs {
            let (mut difference, mut borrow) = ([0; LIMBS], false);
            $( (difference[$i], borrow) = a[$i].borrowing_sub(b[$i], borrow); )*
            while borrow {
                let mut carry = false;
                $( (difference[$i], carry) = difference[$i].carrying_add($p[$i], carry); )*
                borrow = !carry;
            }
            difference
        }
    };
}

/// Subtracts p. The result is known to be nonnegative, except for a borrow from one bit above the limbs.
macro_rules! subtract_limbs {
    ($value:ident, $p:ident, $($i:literal)*) => {{
        let (mut less, mut borrow) = ($value, false);
        $( (less[$i], borrow) = $value[$i].borrowing_sub($p[$i], borrow); )*
        let _cancels_the_bit = borrow;
        less
    }};
}

sums!(add_256, subtract_256, P256: 0 1 2 3);
sums!(add_384, subtract_384, P384: 0 1 2 3 4 5);

/// Computes a · b / R mod p for the prime of P-256.
///
/// This is operand scanning with a reduction after each row (CIOS). The sum has four limbs and one bit and stays
/// below R + p. p is -1 modulo 2^64, so the multiple of p that clears the lowest limb t0 is t0 · p. With the limb p3
/// of p, it is t0 · p = t0 · (2^96 - 1) + t0 · p3 · 2^192.
#[inline(never)]
fn multiply_256(a: &Limbs, b: &Limbs) -> Limbs {
    let [a0, a1, a2, a3, ..] = *a;
    let [mut t0, mut t1, mut t2, mut t3, mut t4] = [0u64; 5];
    for b in b.iter().take(4) {
        let (q, c) = multiply_add(a0, *b, t0, 0);
        let (s1, c) = multiply_add(a1, *b, t1, c);
        let (s2, c) = multiply_add(a2, *b, t2, c);
        let (s3, c) = multiply_add(a3, *b, t3, c);
        let (s4, top) = t4.overflowing_add(c);
        let (s1, c) = s1.carrying_add(q << 32, false);
        let (s2, c) = s2.carrying_add(q >> 32, c);
        let (s3, c) = multiply_add(q, P256[3], s3, u64::from(c));
        let (s4, carry) = s4.overflowing_add(c);
        (t0, t1, t2, t3, t4) = (s1, s2, s3, s4, u64::from(top | carry));
    }
    let product = [t0, t1, t2, t3, 0, 0];
    if t4 == 0 { product } else { subtract_limbs!(product, P256, 0 1 2 3) }
}

/// Computes a · b / R mod p for the prime of P-384, like [`multiply_256`].
///
/// Here p is 2^32 - 1 modulo 2^64, and its negated inverse is 2^32 + 1. The multiple q · p is q · 2^384 - q · 2^128 -
/// q · 2^96 + q · (2^32 - 1).
#[inline(never)]
fn multiply_384(a: &Limbs, b: &Limbs) -> Limbs {
    let [a0, a1, a2, a3, a4, a5] = *a;
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6] = [0u64; 7];
    for b in b {
        let (s0, c) = multiply_add(a0, *b, t0, 0);
        let (s1, c) = multiply_add(a1, *b, t1, c);
        let (s2, c) = multiply_add(a2, *b, t2, c);
        let (s3, c) = multiply_add(a3, *b, t3, c);
        let (s4, c) = multiply_add(a4, *b, t4, c);
        let (s5, c) = multiply_add(a5, *b, t5, c);
        let (s6, top) = t6.overflowing_add(c);
        let q = s0.wrapping_add(s0 << 32);
        // s0 + q · (2^32 - 1) is h · 2^64, where h is at most 2^32.
        let (_, borrow) = (q << 32).overflowing_sub(q);
        let h = (q >> 32).wrapping_sub(u64::from(borrow)).wrapping_add(u64::from(s0 != 0));
        // The limbs d1 to d3 of q · 2^96 + q · 2^128 - h · 2^64 are subtracted. The limb d1 borrows only if q has a
        // nonzero high half from which it can borrow. If q is below 2^32, q and h are both zero, or h is at most 1.
        let (d1, borrow) = (q << 32).overflowing_sub(h);
        let (d2, d3) = q.overflowing_add((q >> 32).wrapping_sub(u64::from(borrow)));
        let (s1, borrow) = s1.overflowing_sub(d1);
        let (s2, borrow) = s2.borrowing_sub(d2, borrow);
        let (s3, borrow) = s3.borrowing_sub(u64::from(d3), borrow);
        let (s4, borrow) = s4.overflowing_sub(u64::from(borrow));
        let (s5, borrow) = s5.overflowing_sub(u64::from(borrow));
        let (s6, carry) = s6.overflowing_add(q);
        let (s6, borrow) = s6.overflowing_sub(u64::from(borrow));
        let above = u64::from(top).wrapping_add(u64::from(carry)).wrapping_sub(u64::from(borrow));
        (t0, t1, t2, t3, t4, t5, t6) = (s1, s2, s3, s4, s5, s6, above);
    }
    let product = [t0, t1, t2, t3, t4, t5];
    if t6 == 0 { product } else { subtract_limbs!(product, P384, 0 1 2 3 4 5) }
}

impl Field {
    /// Returns the prime p.
    pub(super) const fn modulus(self) -> &'static [u64] {
        match self {
            Self::P256 => &P256,
            Self::P384 => &P384,
        }
    }

    /// Returns the value R² mod p. A multiplication by it converts a number to the internal form.
    pub(super) const fn radix_squared(self) -> &'static Limbs {
        match self {
            Self::P256 => &RADIX_SQUARED_256,
            Self::P384 => &RADIX_SQUARED_384,
        }
    }

    /// Returns a · b / R.
    #[inline(always)]
    pub(super) fn product(self, a: &Limbs, b: &Limbs) -> Limbs {
        product(a, b, self)
    }

    /// Returns a + b.
    #[inline(always)]
    pub(super) fn sum(self, a: &Limbs, b: &Limbs) -> Limbs {
        sum(a, b, self)
    }

    /// Returns a - b.
    #[inline(always)]
    pub(super) fn difference(self, a: &Limbs, b: &Limbs) -> Limbs {
        difference(a, b, self)
    }

    /// Returns true if `a` represents zero, which it can do as 0 or as p.
    pub(super) fn is_zero(self, a: &Limbs) -> bool {
        a.iter().all(|limb| *limb == 0) || a.iter().zip(self.modulus()).all(|(a, p)| a == p)
    }
}

// These functions are not inlined, because each selects one of two functions and has many callers. The field is the
// last argument, so that the other arguments are already in the registers of the called function.

#[inline(never)]
fn product(a: &Limbs, b: &Limbs, field: Field) -> Limbs {
    match field {
        Field::P256 => multiply_256(a, b),
        Field::P384 => multiply_384(a, b),
    }
}

#[inline(never)]
fn sum(a: &Limbs, b: &Limbs, field: Field) -> Limbs {
    match field {
        Field::P256 => add_256(a, b),
        Field::P384 => add_384(a, b),
    }
}

#[inline(never)]
fn difference(a: &Limbs, b: &Limbs, field: Field) -> Limbs {
    match field {
        Field::P256 => subtract_256(a, b),
        Field::P384 => subtract_384(a, b),
    }
}
