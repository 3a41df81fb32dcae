//! Arithmetic modulo q and the number-theoretic transform (FIPS 204 §7.5, §7.6).
//!
//! All values are unsigned and have 64 bits. A product is reduced with two multiplications: let t = a·f be below 2^64
//! and m = t·q⁻¹ mod 2^64. Then m·q = t + k·2^64, where k is the upper half of m·q. So k ≡ −t·2⁻⁶⁴ (mod q), and k < q
//! because m < 2^64. If f is a constant, f·q⁻¹ is also a constant, and the factor −2⁻⁶⁴ is compensated in it. So a
//! product with a constant takes one `mul` and one `mulhu`, and its result is fully reduced. Sums are not reduced;
//! the bounds are stated at each function.
//!
//! The transforms are in assembly (`rv64/ml_dsa_rv64.S`) if a stage has scalar kernels. Otherwise they are portable.

#[cfg(all(target_arch = "riscv64", feature = "scalar"))]
mod assembly;
#[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
mod portable;

#[cfg(all(target_arch = "riscv64", feature = "scalar"))]
pub(super) use assembly::{forward_into, forward_times, inverse};
#[cfg(test)]
pub(super) use portable::forward;
#[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
pub(super) use portable::{forward_into, forward_times, inverse};

/// The modulus q = 2^23 − 2^13 + 1 (FIPS 204 §4, table 1).
pub(super) const Q: u64 = 8_380_417;

/// A polynomial during computation. It has 256 coefficients modulo q, which are not always reduced.
pub(super) type Poly = [u64; 256];

/// A polynomial in storage. Its coefficients are below 2^32.
pub(super) type Narrow = [u32; 256];

/// The value q⁻¹ modulo 2^64. Each step of the Newton iteration doubles the number of correct bits, and the start
/// value q has 3 correct low bits.
const Q_INVERSE: u64 = {
    let mut inverse = Q;
    let mut bits = 3;
    while bits < 64 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(Q.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
};

/// The value 2^64 modulo q.
const TWO_POW_64: u64 = ((1_u128 << 64) % Q as u128) as u64;

/// Returns the stored form of a constant v, which is −v·2^64 modulo q.
const fn stored(value: u64) -> u32 {
    ((Q - value % Q) * TWO_POW_64 % Q) as u32
}

/// A constant in the form that [`Factor::times`] needs.
#[derive(Clone, Copy)]
struct Factor(u64);

impl Factor {
    const fn new(stored: u32) -> Self {
        Self((stored as u64).wrapping_mul(Q_INVERSE))
    }

    /// Returns the product with `a` in [0, q). `a` must be below 2^41. The stored constant is below 2^23, so that t
    /// is below 2^64.
    #[inline(always)]
    #[allow(dead_code, reason = "the assembly multiplies itself")]
    const fn times(self, a: u64) -> u64 {
        rounded_down(a.wrapping_mul(self.0))
    }
}

/// Returns fraction · q / 2^64, rounded down, which is the upper half of a product. For a result of [`inverse`] this is
/// the coefficient in [0, q).
#[inline(always)]
pub(super) const fn rounded_down(fraction: u64) -> u64 {
    ((fraction as u128).wrapping_mul(Q as u128) >> 64) as u64
}

/// Returns a constant v in the form v·2^64 / q, rounded up. Its product with a, modulo 2^64, is (a·v mod q)·2^64 / q,
/// and is too large by less than a.
const fn fraction(value: u64) -> u64 {
    (((value % Q) as u128) << 64).div_ceil(Q as u128) as u64
}

/// The constant that removes the factors of [`inverse`]: 256 from the transform (FIPS 204 §7.5, algorithm 42, where
/// 8,347,681 is 256⁻¹), and −2⁻⁶⁴ from the reduction in its first step.
const UNSCALE: u64 = (Q - TWO_POW_64) * 8_347_681 % Q;

/// Returns ζ^BitRev8(k) for ζ = 1753.
const fn zeta(k: usize) -> u64 {
    let mut power = 1;
    let mut count = (k as u8).reverse_bits();
    while count > 0 {
        power = power * 1753 % Q;
        count -= 1;
    }
    power
}
