//! The two curves (SP 800-186 §3.2.1.3, §3.2.1.4): y² = x³ - 3x + b over the field of p elements. The number n of
//! points is prime. The curve is a run-time value, so that one copy of the code serves both.

use super::field::{Field, LIMBS, Limbs};
use crate::bignum::{self, Modulus};

/// The constants of a curve, as integers.
#[derive(Debug)]
pub(super) struct Domain {
    pub(super) field: Field,
    /// Order of the group of points.
    pub(super) n: Limbs,
    b: Limbs,
    base: [Limbs; 2],
    /// Object identifier of the curve without tag and length (RFC 5480 §2.1.1.1).
    pub(super) identifier: &'static [u8],
}

pub(super) static P256: Domain = Domain {
    field: Field::P256,
    n: [
        0xf3b9_cac2_fc63_2551,
        0xbce6_faad_a717_9e84,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_0000_0000,
        0,
        0,
    ],
    b: [
        0x3bce_3c3e_27d2_604b,
        0x651d_06b0_cc53_b0f6,
        0xb3eb_bd55_7698_86bc,
        0x5ac6_35d8_aa3a_93e7,
        0,
        0,
    ],
    base: [
        [
            0xf4a1_3945_d898_c296,
            0x7703_7d81_2deb_33a0,
            0xf8bc_e6e5_63a4_40f2,
            0x6b17_d1f2_e12c_4247,
            0,
            0,
        ],
        [
            0xcbb6_4068_37bf_51f5,
            0x2bce_3357_6b31_5ece,
            0x8ee7_eb4a_7c0f_9e16,
            0x4fe3_42e2_fe1a_7f9b,
            0,
            0,
        ],
    ],
    identifier: b"\x2a\x86\x48\xce\x3d\x03\x01\x07",
};

pub(super) static P384: Domain = Domain {
    field: Field::P384,
    n: [
        0xecec_196a_ccc5_2973,
        0x581a_0db2_48b0_a77a,
        0xc763_4d81_f437_2ddf,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
    ],
    b: [
        0x2a85_c8ed_d3ec_2aef,
        0xc656_398d_8a2e_d19d,
        0x0314_088f_5013_875a,
        0x181d_9c6e_fe81_4112,
        0x988e_056b_e3f8_2d19,
        0xb331_2fa7_e23e_e7e4,
    ],
    base: [
        [
            0x3a54_5e38_7276_0ab7,
            0x5502_f25d_bf55_296c,
            0x59f7_41e0_8254_2a38,
            0x6e1d_3b62_8ba7_9b98,
            0x8eb1_c71e_f320_ad74,
            0xaa87_ca22_be8b_0537,
        ],
        [
            0x7a43_1d7c_90ea_0e5f,
            0x0a60_b1ce_1d7e_819d,
            0xe9da_3113_b5f0_b8c0,
            0xf8f4_1dbd_289a_147c,
            0x5d9e_98bf_9292_dc29,
            0x3617_de4a_9626_2c6f,
        ],
    ],
    identifier: b"\x2b\x81\x04\x00\x22",
};

/// A point in affine coordinates, in the internal form of the field. The neutral element has no such coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) x: Limbs,
    pub(super) y: Limbs,
}

impl Domain {
    /// Returns the number of limbs of p and of n.
    pub(super) const fn limbs(&self) -> usize {
        self.field.modulus().len()
    }

    /// Returns the length of a coordinate and of a scalar in bytes.
    pub(super) const fn len_bytes(&self) -> usize {
        self.limbs().wrapping_mul(8)
    }

    /// Returns the order n without unused limbs.
    pub(super) fn order(&self) -> &[u64] {
        self.n.get(..self.limbs()).unwrap_or_default()
    }

    /// Returns the base point G in the internal form of the field.
    pub(super) fn base(&self) -> Affine {
        let [x, y] = self.base;
        Affine { x: self.to_field(x), y: self.to_field(y) }
    }

    /// Converts an integer below R to the internal form of the field.
    pub(super) fn to_field(&self, value: Limbs) -> Limbs {
        self.field.product(&value, self.field.radix_squared())
    }

    /// Returns the integer below p that an element represents.
    pub(super) fn to_integer(&self, value: &Limbs) -> Limbs {
        // The product of a number below R and 1 / R is at most p.
        let integer = self.field.product(value, &[1, 0, 0, 0, 0, 0]);
        if self.field.is_zero(&integer) { [0; LIMBS] } else { integer }
    }

    /// Returns the inverse of a nonzero element.
    pub(super) fn invert(&self, value: &Limbs) -> Limbs {
        // The inverse of x · R is x^(-1) / R, which must be multiplied by R twice.
        let inverse = Modulus::new(self.field.modulus()).map(|p| p.invert(value));
        self.to_field(self.to_field(inverse.unwrap_or_default()))
    }

    /// Returns the point with these big-endian coordinates, each of which has the length of p. Returns `None` unless
    /// both are below p and satisfy the curve equation (SP 800-186 appendix D.1.1.2). The neutral element has no such
    /// coordinates. All other points have the order n, because the number of points is prime.
    pub(super) fn point(&self, x: &[u8], y: &[u8]) -> Option<Affine> {
        let field = self.field;
        let read = |bytes| {
            let mut value = [0; LIMBS];
            bignum::read_be(&mut value, bytes);
            let is_canonical = bignum::is_below(value.get(..self.limbs())?, field.modulus());
            is_canonical.then(|| self.to_field(value))
        };
        let (x, y) = (read(x)?, read(y)?);
        // x³ - 3x + b = (x² - 3) x + b
        let three = self.to_field([3, 0, 0, 0, 0, 0]);
        let slope = field.difference(&field.product(&x, &x), &three);
        let right = field.sum(&field.product(&slope, &x), &self.to_field(self.b));
        field.is_zero(&field.difference(&field.product(&y, &y), &right)).then_some(Affine { x, y })
    }
}
