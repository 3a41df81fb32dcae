//! The field of integers modulo p = 2^255 - 19 (RFC 8032 §5.1).
//!
//! An element has five limbs of 51 bits, so that products can be summed without a carry between words. The limbs have
//! one of two bounds:
//!
//! * *reduced*, below 2^51 + 2^18: multiplications return such limbs;
//! * *loose*, below 2^54: multiplications accept such limbs. A sum of three reduced elements is loose. So is a
//!   difference of two values, each of which is reduced or a sum of two reduced elements.
//!
//! The multiplication is in assembly (`rv64/ed25519_rv64.S`) if a stage has scalar kernels. Otherwise it is portable.

#[cfg(all(target_arch = "riscv64", feature = "scalar-ed25519"))]
use crate::rv64::{
    ed25519_multiply as multiply, ed25519_multiply_into as multiply_into, ed25519_square as square,
};
#[cfg(not(all(target_arch = "riscv64", feature = "scalar-ed25519")))]
mod portable;
#[cfg(not(all(target_arch = "riscv64", feature = "scalar-ed25519")))]
use portable::{multiply, multiply_into, square};

const LIMB_MASK: u64 = (1 << 51) - 1;

/// An element of the field. Its representation is not necessarily canonical.
#[derive(Clone, Copy)]
pub(super) struct Fe([u64; 5]);

impl Fe {
    pub(super) const ZERO: Fe = Fe::from_u32(0);
    pub(super) const ONE: Fe = Fe::from_u32(1);

    pub(super) const fn from_u32(value: u32) -> Fe {
        Fe([value as u64, 0, 0, 0, 0])
    }

    /// Reads 32 little-endian bytes (RFC 8032 §5.1.3 step 1). The top bit is ignored, because it is the sign of the
    /// other coordinate. Values from p to 2^255 - 1 are accepted and represent their residue modulo p. To refuse
    /// them, the caller compares with [`Fe::to_bytes`].
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Fe {
        let mut w = [0; 4];
        for (word, bytes) in w.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Fe([
            w[0] & LIMB_MASK,
            ((w[0] >> 51) | (w[1] << 13)) & LIMB_MASK,
            ((w[1] >> 38) | (w[2] << 26)) & LIMB_MASK,
            ((w[2] >> 25) | (w[3] << 39)) & LIMB_MASK,
            (w[3] >> 12) & LIMB_MASK,
        ])
    }

    /// Returns the canonical encoding, which is below p, little-endian, with a zero top bit (RFC 8032 §5.1.2).
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let [l0, l1, l2, l3, l4] = self.canonical();
        let words = [
            l0 | (l1 << 51),
            (l1 >> 13) | (l2 << 38),
            (l2 >> 26) | (l3 << 25),
            (l3 >> 39) | (l4 << 12),
        ];
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }

    /// Returns the limbs of the representative below p.
    const fn canonical(self) -> [u64; 5] {
        // After the carry the value is below 2p, so p is subtracted at most once. This is necessary if and only if
        // value + 19 reaches 2^255. `q` is that carry out of the top limb.
        let [l0, l1, l2, l3, l4] = self.carry().0;
        let q = l0.wrapping_add(19) >> 51;
        let q = l1.wrapping_add(q) >> 51;
        let q = l2.wrapping_add(q) >> 51;
        let q = l3.wrapping_add(q) >> 51;
        let q = l4.wrapping_add(q) >> 51;

        // value - q * p = value + 19 * q - q * 2^255. The last term is removed by the mask of the top limb.
        let l0 = l0.wrapping_add(q.wrapping_mul(19));
        let l1 = l1.wrapping_add(l0 >> 51);
        let l2 = l2.wrapping_add(l1 >> 51);
        let l3 = l3.wrapping_add(l2 >> 51);
        let l4 = l4.wrapping_add(l3 >> 51);
        [l0 & LIMB_MASK, l1 & LIMB_MASK, l2 & LIMB_MASK, l3 & LIMB_MASK, l4 & LIMB_MASK]
    }

    const fn carry(self) -> Fe {
        Fe(carry(self.0))
    }

    /// Returns the least significant bit of the canonical form, which is the sign of RFC 8032 §5.1.2.
    pub(super) const fn is_odd(self) -> bool {
        self.canonical()[0] & 1 == 1
    }

    pub(super) const fn is_zero(self) -> bool {
        let [l0, l1, l2, l3, l4] = self.canonical();
        l0 | l1 | l2 | l3 | l4 == 0
    }

    pub(super) const fn from_limbs(limbs: [u64; 5]) -> Fe {
        Fe(limbs)
    }

    /// ORs the bits of `other` into `self` if the mask is all ones, and changes nothing if it is zero.
    #[cfg(any(feature = "ed25519-signer", test))]
    #[inline(always)]
    pub(super) const fn or_masked(&mut self, other: &Fe, mask: u64) {
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, other.0);
        self.0 = [a0 | b0 & mask, a1 | b1 & mask, a2 | b2 & mask, a3 | b3 & mask, a4 | b4 & mask];
    }

    #[cfg(test)]
    pub(super) const fn limbs(self) -> [u64; 5] {
        self.0
    }

    /// Returns `self + rhs`, limb by limb.
    pub(super) const fn add(&self, rhs: &Fe) -> Fe {
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, rhs.0);
        Fe([
            a0.wrapping_add(b0),
            a1.wrapping_add(b1),
            a2.wrapping_add(b2),
            a3.wrapping_add(b3),
            a4.wrapping_add(b4),
        ])
    }

    /// Returns `self - rhs`, limb by limb. The limbs of `rhs` must be below 2^53 - 76.
    pub(super) const fn sub(&self, rhs: &Fe) -> Fe {
        // 4p has limbs near 2^53. It is added first, so that no limb underflows.
        const LOW: u64 = 4 * ((1 << 51) - 19);
        const HIGH: u64 = 4 * ((1 << 51) - 1);
        let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (self.0, rhs.0);
        Fe([
            a0.wrapping_add(LOW).wrapping_sub(b0),
            a1.wrapping_add(HIGH).wrapping_sub(b1),
            a2.wrapping_add(HIGH).wrapping_sub(b2),
            a3.wrapping_add(HIGH).wrapping_sub(b3),
            a4.wrapping_add(HIGH).wrapping_sub(b4),
        ])
    }

    /// Returns `-self`, reduced. The limbs have the bound of [`Fe::sub`].
    pub(super) const fn neg(&self) -> Fe {
        Fe::ZERO.sub(self).carry()
    }

    /// Returns `self * rhs`.
    #[inline(always)]
    pub(super) fn mul(&self, rhs: &Fe) -> Fe {
        Fe(multiply(&self.0, &rhs.0))
    }

    /// Sets `self` to `a * b`. A returned product would be copied to its destination.
    #[inline(always)]
    pub(super) fn set_product(&mut self, a: &Fe, b: &Fe) {
        multiply_into(&mut self.0, &a.0, &b.0);
    }

    /// Returns `self * self`.
    pub(super) fn square(&self) -> Fe {
        self.square_times(1)
    }

    /// Returns `self ^ (2 ^ count)`. `count` is not zero.
    #[inline(always)]
    fn square_times(&self, count: usize) -> Fe {
        Fe(square(&self.0, count))
    }

    /// Returns `self ^ (2^252 - 3)`, which is `self ^ ((p - 5) / 8)`. The square root of RFC 8032 §5.1.3 step 2 needs
    /// this power, and [`Fe::invert`] uses it.
    pub(super) fn pow_p58(&self) -> Fe {
        // The name of a variable is the number of one bits in its exponent. The exponent has 252 - 2 one bits,
        // followed by binary 01.
        let ones_1 = *self;
        let ones_2 = ones_1.square_times(1).mul(&ones_1);
        let ones_4 = ones_2.square_times(2).mul(&ones_2);
        let ones_5 = ones_4.square_times(1).mul(&ones_1);
        let ones_10 = ones_5.square_times(5).mul(&ones_5);
        let ones_20 = ones_10.square_times(10).mul(&ones_10);
        let ones_40 = ones_20.square_times(20).mul(&ones_20);
        let ones_50 = ones_40.square_times(10).mul(&ones_10);
        let ones_100 = ones_50.square_times(50).mul(&ones_50);
        let ones_200 = ones_100.square_times(100).mul(&ones_100);
        let ones_250 = ones_200.square_times(50).mul(&ones_50);
        ones_250.square_times(2).mul(&ones_1)
    }

    /// Returns `1 / self`, or zero for zero.
    pub(super) fn invert(&self) -> Fe {
        // By Fermat's little theorem the inverse is the power p - 2 = 8 * (2^252 - 3) + 3.
        let cube = self.square().mul(self);
        self.pow_p58().square_times(3).mul(&cube)
    }
}

/// Moves the bits above 51 of each limb into the next limb, in one pass. The function accepts any limbs.
#[inline(always)]
const fn carry([l0, l1, l2, l3, l4]: [u64; 5]) -> [u64; 5] {
    // 2^255 = 19 mod p, so the carry of the top limb is multiplied by 19 and added to the lowest limb.
    [
        (l0 & LIMB_MASK).wrapping_add((l4 >> 51).wrapping_mul(19)),
        (l1 & LIMB_MASK).wrapping_add(l0 >> 51),
        (l2 & LIMB_MASK).wrapping_add(l1 >> 51),
        (l3 & LIMB_MASK).wrapping_add(l2 >> 51),
        (l4 & LIMB_MASK).wrapping_add(l3 >> 51),
    ]
}
