//! The group of points of edwards25519 (RFC 8032 §5.1), and the encoding of points.

use super::constants::{BASE_MULTIPLES, D, SQRT_MINUS_ONE, TWICE_D};
use super::field::Fe;
use super::scalar::Scalar;

/// The odd multiples P, 3P .. 15P of a point P, each together with 2Z.
type OddMultiples = [(Addend, Fe); 8];

/// An encoded point: its y, and the sign of its x. It has passed all checks that need no square root.
#[derive(Clone, Copy)]
pub(super) struct EncodedPoint {
    y: Fe,
    x_is_odd: bool,
}

impl EncodedPoint {
    /// Parses an encoding. Returns `None` if it is not canonical, which means that y is not below p (RFC 8032 §5.1.3
    /// step 1), or that x = 0 has the sign of an odd x (step 4).
    pub(super) fn parse(bytes: &[u8; 32]) -> Option<EncodedPoint> {
        let mut y_bytes = *bytes;
        y_bytes[31] &= 0x7f;
        let y = Fe::from_bytes(&y_bytes);
        let x_is_odd = bytes[31] & 0x80 != 0;
        // x = 0 holds if and only if y^2 = 1.
        let x_is_zero = y.square().sub(&Fe::ONE).is_zero();
        if y.to_bytes() != y_bytes || (x_is_zero && x_is_odd) {
            return None;
        }
        Some(EncodedPoint { y, x_is_odd })
    }

    /// Returns true for the eight points whose order divides 8.
    ///
    /// The conditions follow from the curve equation. Order 1 or 2 means x = 0, so y^2 = 1. Order 4 means that the
    /// double is (0, -1), so y = 0. Order 8 means that the double has y = 0, so y^2 = -x^2, and the curve equation
    /// becomes d y^4 + 2 y^2 - 1 = 0. Therefore no list of points is needed.
    pub(super) fn is_small_order(&self) -> bool {
        let yy = self.y.square();
        let order_1_2 = yy.sub(&Fe::ONE);
        let order_8 = D.mul(&yy).add(&Fe::from_u32(2)).mul(&yy).sub(&Fe::ONE);
        self.y.mul(&order_1_2).mul(&order_8).is_zero()
    }

    /// Returns the point with x negated, or `None` if y is not on the curve. Verification subtracts the key, so it
    /// needs the negative.
    pub(super) fn decode_negative(&self) -> Option<Extended> {
        Extended::from_y(self.y, !self.x_is_odd)
    }
}

/// A point with x = X/Z, y = Y/Z and x * y = T/Z (RFC 8032 §5.1.4).
#[derive(Clone, Copy)]
pub(super) struct Extended {
    x: Fe,
    y: Fe,
    z: Fe,
    t: Fe,
}

impl Extended {
    #[cfg(any(feature = "ed25519-signer", test))]
    pub(super) const NEUTRAL: Extended =
        Extended { x: Fe::ZERO, y: Fe::ONE, z: Fe::ONE, t: Fe::ZERO };

    /// Computes x from y (RFC 8032 §5.1.3 steps 2 to 4). If x = 0, the requested parity is ignored, because
    /// [`EncodedPoint::parse`] has refused the wrong one.
    pub(super) fn from_y(y: Fe, x_is_odd: bool) -> Option<Extended> {
        let yy = y.square();
        let u = yy.sub(&Fe::ONE);
        let v = D.mul(&yy).add(&Fe::ONE);
        // x = u v^3 (u v^7)^((p-5)/8) is a square root of u/v, or of -u/v, or of neither.
        let v3 = v.square().mul(&v);
        let uv7 = v3.square().mul(&v).mul(&u);
        let mut x = uv7.pow_p58().mul(&v3).mul(&u);
        let vxx = x.square().mul(&v);
        if !u.sub(&vxx).is_zero() {
            if !vxx.add(&u).is_zero() {
                return None;
            }
            x = x.mul(&SQRT_MINUS_ONE);
        }
        if x.is_odd() != x_is_odd {
            x = x.neg();
        }
        Some(Extended { x, y, z: Fe::ONE, t: x.mul(&y) })
    }

    /// Returns the point as an addend, together with 2Z.
    fn addend(&self) -> (Addend, Fe) {
        let addend = Addend {
            y_plus_x: self.y.add(&self.x),
            y_minus_x: self.y.sub(&self.x),
            twice_dt: self.t.mul(&TWICE_D),
        };
        (addend, self.z.add(&self.z))
    }

    pub(super) fn odd_multiples(mut self) -> OddMultiples {
        let Extended { x, y, z, .. } = self;
        let mut next = Completed::NEUTRAL;
        next.set_double(&Projective { x, y, z });
        let mut double = self;
        next.extend(&mut double);
        let (double, twice_z) = double.addend();
        let mut table = [self.addend(); 8];
        let mut i = 1;
        while i < 8 {
            next.set_sum(&self, &double, Some(&twice_z), false);
            next.extend(&mut self);
            table[i] = self.addend();
            i += 1;
        }
        table
    }
}

/// The second operand of an addition, with precomputed values. Z is not included.
#[derive(Clone, Copy)]
pub(super) struct Addend {
    pub(super) y_plus_x: Fe,
    pub(super) y_minus_x: Fe,
    pub(super) twice_dt: Fe,
}

/// The result of an addition or doubling before its last multiplications: X = EF, Y = GH, Z = FG, T = EH (RFC 8032
/// §5.1.4). T is computed only before an addition, because a doubling does not need it.
pub(super) struct Completed {
    e: Fe,
    f: Fe,
    g: Fe,
    h: Fe,
}

// Results are written to their destination, because returned values would be copied.
impl Completed {
    pub(super) const NEUTRAL: Completed =
        Completed { e: Fe::ZERO, f: Fe::ONE, g: Fe::ONE, h: Fe::ONE };

    /// Doubles a point with the formulas of RFC 8032 §5.1.4, whose names the variables have.
    #[inline(never)]
    pub(super) fn set_double(&mut self, point: &Projective) {
        let a = point.x.square();
        let b = point.y.square();
        let zz = point.z.square();
        self.h = a.add(&b);
        self.g = a.sub(&b);
        self.f = zz.add(&zz).add(&self.g);
        self.e = self.h.sub(&point.x.add(&point.y).square());
    }

    /// Computes `point + rhs`, or `point - rhs` if `negate`, with the formulas of RFC 8032 §5.1.4, whose names the
    /// variables have. If `twice_z` is `None`, the Z of `rhs` is 1.
    #[inline(never)]
    pub(super) fn set_sum(
        &mut self,
        point: &Extended,
        rhs: &Addend,
        twice_z: Option<&Fe>,
        negate: bool,
    ) {
        // The negative of a point has -x and -t. So y + x and y - x are exchanged, and c has the opposite sign.
        let (plus, minus) =
            if negate { (&rhs.y_minus_x, &rhs.y_plus_x) } else { (&rhs.y_plus_x, &rhs.y_minus_x) };
        let a = point.y.sub(&point.x).mul(minus);
        let b = point.y.add(&point.x).mul(plus);
        let c = point.t.mul(&rhs.twice_dt);
        let d = match twice_z {
            Some(twice_z) => point.z.mul(twice_z),
            None => point.z.add(&point.z),
        };
        self.e = b.sub(&a);
        self.h = b.add(&a);
        let (f, g) = if negate { (&mut self.g, &mut self.f) } else { (&mut self.f, &mut self.g) };
        *f = d.sub(&c);
        *g = d.add(&c);
    }

    #[inline(never)]
    pub(super) fn extend(&self, point: &mut Extended) {
        point.x.set_product(&self.e, &self.f);
        point.y.set_product(&self.g, &self.h);
        point.z.set_product(&self.f, &self.g);
        point.t.set_product(&self.e, &self.h);
    }

    #[inline(never)]
    pub(super) fn project(&self, point: &mut Projective) {
        point.x.set_product(&self.e, &self.f);
        point.y.set_product(&self.g, &self.h);
        point.z.set_product(&self.f, &self.g);
    }
}

/// A point with x = X/Z and y = Y/Z.
pub(super) struct Projective {
    x: Fe,
    y: Fe,
    z: Fe,
}

impl Projective {
    pub(super) const NEUTRAL: Projective = Projective { x: Fe::ZERO, y: Fe::ONE, z: Fe::ONE };

    /// Encodes the point (RFC 8032 §5.1.2). The encoding is always canonical.
    pub(super) fn encode(&self) -> [u8; 32] {
        let recip = self.z.invert();
        let x = self.x.mul(&recip);
        let mut bytes = self.y.mul(&recip).to_bytes();
        bytes[31] |= (x.is_odd() as u8) << 7;
        bytes
    }
}

/// Computes `[s]B + [k]P`. The run time depends on all three operands, which are public.
pub(super) fn base_and_point_product(s: Scalar, k: Scalar, point: &Extended) -> Projective {
    let multiples = point.odd_multiples();
    let (s_digits, k_digits) = (s.signed_digits(), k.signed_digits());
    // A digit is odd and at most 15. The mask tells this to the compiler.
    let index = |digit: i8| (digit.unsigned_abs() as usize >> 1) & 7;
    let mut next = Completed::NEUTRAL;
    let (mut projective, mut extended) = (Projective::NEUTRAL, *point);
    for (&s_digit, &k_digit) in s_digits.iter().zip(&k_digits).rev() {
        next.project(&mut projective);
        next.set_double(&projective);
        if s_digit != 0 {
            next.extend(&mut extended);
            next.set_sum(&extended, &BASE_MULTIPLES[index(s_digit)], None, s_digit < 0);
        }
        if k_digit != 0 {
            let (addend, twice_z) = &multiples[index(k_digit)];
            next.extend(&mut extended);
            next.set_sum(&extended, addend, Some(twice_z), k_digit < 0);
        }
    }
    next.project(&mut projective);
    projective
}
