//! Points in Jacobian coordinates (X / Z², Y / Z³), and the computation of \[u\]G + \[v\]Q.

#![allow(non_snake_case, reason = "names of the formulas")]

use super::curve::{Affine, Domain};
use super::field::{LIMBS, Limbs};

/// Number of points in a table, which has the odd multiples 1, 3, .. 15.
const TABLE_LEN: usize = 8;

/// Maximum number of digits of a scalar, which is its length in bits plus one.
const DIGITS: usize = 64 * LIMBS + 1;

/// A point of the curve in Jacobian coordinates. Z is zero for the neutral element.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: Limbs,
    pub(super) y: Limbs,
    pub(super) z: Limbs,
}

impl Point {
    const NEUTRAL: Self = Self { x: [0; LIMBS], y: [0; LIMBS], z: [0; LIMBS] };

    pub(super) fn is_neutral(&self) -> bool {
        // The neutral element is made with Z = 0, and products of zero are zero. Z of another point does not
        // represent zero, so the representation p cannot occur.
        self.z.iter().all(|limb| *limb == 0)
    }

    /// Doubles the point with dbl-2001-b of the Explicit-Formulas Database, rearranged to need fewer additions.
    fn double(&mut self, curve: &Domain) {
        let field = curve.field;
        let Self { x: X, y: Y, z: Z } = self;
        // M = 3 (X - Z²) (X + Z²), the slope for a = -3.
        let ZZ = field.product(Z, Z);
        let third = field.product(&field.difference(X, &ZZ), &field.sum(X, &ZZ));
        let M = field.sum(&field.sum(&third, &third), &third);
        // S = 4XY², Z3 = 2YZ. The neutral element stays neutral.
        let Y2 = field.sum(Y, Y);
        let YY2 = field.product(&Y2, Y);
        let YY4 = field.sum(&YY2, &YY2);
        let S = field.product(X, &YY4);
        // X3 = M² - 2S, Y3 = M (S - X3) - 8Y⁴
        set(Z, field.product(Z, &Y2));
        set(X, field.difference(&field.difference(&field.product(&M, &M), &S), &S));
        let y = field.product(&field.difference(&S, X), &M);
        set(Y, field.difference(&y, &field.product(&YY2, &YY4)));
    }

    /// Adds `other`, or its negative if `is_negative`. The formulas are those of madd in the Explicit-Formulas
    /// Database; all exceptional cases are handled.
    fn add(&mut self, other: &Affine, is_negative: bool, curve: &Domain, one: &Limbs) {
        let field = curve.field;
        let (x2, mut y2) = (&other.x, &other.y);
        let negative;
        if is_negative {
            // y is never zero, because no point has order 2.
            negative = field.difference(&[0; LIMBS], y2);
            y2 = &negative;
        }
        if self.is_neutral() {
            *self = Self { x: *x2, y: *y2, z: *one };
            return;
        }
        let Self { x: X1, y: Y1, z: Z1 } = self;
        // H = x2 Z1² - X1, r = y2 Z1³ - Y1
        let ZZ = field.product(Z1, Z1);
        let H = field.difference(&field.product(&ZZ, x2), X1);
        let r = field.difference(&field.product(&field.product(&ZZ, Z1), y2), Y1);
        if field.is_zero(&H) {
            // Both points have the same x, for which the formulas below would give 0 / 0.
            if field.is_zero(&r) {
                self.double(curve)
            } else {
                *self = Self::NEUTRAL
            }
            return;
        }
        // X3 = r² - H³ - 2V, Y3 = r (V - X3) - Y1 H³
        let HH = field.product(&H, &H);
        let HHH = field.product(&HH, &H);
        let V = field.product(X1, &HH);
        set(Z1, field.product(Z1, &H));
        let x = field.difference(&field.product(&r, &r), &HHH);
        set(X1, field.difference(&field.difference(&x, &V), &V));
        let y = field.product(&field.difference(&V, X1), &r);
        set(Y1, field.difference(&y, &field.product(Y1, &HHH)));
    }

    /// Returns x of a point other than the neutral element, as an integer below p.
    pub(super) fn affine_x(&self, curve: &Domain) -> Limbs {
        let field = curve.field;
        let inverse = curve.invert(&self.z);
        curve.to_integer(&field.product(&field.product(&inverse, &inverse), &self.x))
    }
}

/// Copies a value limb by limb. Otherwise the compiler would call a function that copies bytes.
#[inline(always)]
fn set(to: &mut Limbs, [l0, l1, l2, l3, l4, l5]: Limbs) {
    *to = [l0, l1, l2, l3, l4, l5];
}

/// Computes \[u\]G + \[v\]Q for scalars below n, with one sequence of doublings for both (Shamir's trick).
pub(super) fn double_product(curve: &Domain, u: &Limbs, v: &Limbs, Q: &Affine) -> Point {
    let one = curve.to_field([1, 0, 0, 0, 0, 0]);
    let mut tables = [Affine { x: one, y: one }; 2 * TABLE_LEN];
    fill_tables(curve, &one, &[curve.base(), *Q], &mut tables);
    let mut digits = [[0; 2]; DIGITS];
    let digits =
        digits.get_mut(..curve.limbs().wrapping_mul(64).wrapping_add(1)).unwrap_or_default();
    signed_digits(u, digits.iter_mut().map(|[u, _]| u));
    signed_digits(v, digits.iter_mut().map(|[_, v]| v));

    let mut sum = Point::NEUTRAL;
    for pair in digits.iter().rev() {
        if !sum.is_neutral() {
            sum.double(curve);
        }
        for (digit, table) in pair.iter().zip(tables.as_chunks::<TABLE_LEN>().0) {
            // An odd digit of magnitude 2i + 1 selects entry i.
            if *digit != 0
                && let Some(point) = table.get(usize::from(digit.unsigned_abs() >> 1))
            {
                sum.add(point, *digit < 0, curve, &one);
            }
        }
    }
    sum
}

/// Fills each table with the odd multiples of its point in affine coordinates, with only one inversion.
#[inline(never)]
fn fill_tables(
    curve: &Domain,
    one: &Limbs,
    points: &[Affine; 2],
    tables: &mut [Affine; 2 * TABLE_LEN],
) {
    let field = curve.field;
    let mut z = [*one; 2 * TABLE_LEN];
    let (z_halves, _) = z.as_chunks_mut::<TABLE_LEN>();
    let (halves, _) = tables.as_chunks_mut::<TABLE_LEN>();
    for ((point, table), z) in points.iter().zip(halves).zip(z_halves) {
        let mut double = Point { x: point.x, y: point.y, z: *one };
        double.double(curve);
        // Scaled by its Z, the doubled point has affine coordinates on an isomorphic curve, and so does the original
        // point with the same scale. The addition formulas do not depend on the constants of the curve. The Z of the
        // sums lacks this factor.
        let step = Affine { x: double.x, y: double.y };
        let (scale, [square, cube]) = (double.z, powers(curve, &double.z));
        let mut multiple = Point {
            x: field.product(&point.x, &square),
            y: field.product(&point.y, &cube),
            z: *one,
        };
        for (entry, z) in table.iter_mut().zip(z) {
            *entry = Affine { x: multiple.x, y: multiple.y };
            *z = field.product(&multiple.z, &scale);
            // The addends are never equal or opposite: the odd multiples from 1 to 15 and the multiple 2 differ in a
            // group of large prime order.
            multiple.add(&step, false, curve, one);
        }
    }
    // This is Montgomery's trick: the inverse of the product of all Z gives the inverse of each Z, from the last to
    // the first.
    let mut products = [*one; 2 * TABLE_LEN];
    let mut product = *one;
    for (before, z) in products.iter_mut().zip(&z) {
        *before = product;
        product = field.product(&product, z);
    }
    let mut inverse = curve.invert(&product);
    for ((entry, before), z) in tables.iter_mut().zip(&products).zip(&z).rev() {
        let [square, cube] = powers(curve, &field.product(&inverse, before));
        inverse = field.product(&inverse, z);
        *entry = Affine { x: field.product(&entry.x, &square), y: field.product(&entry.y, &cube) };
    }
}

/// Returns the square and the cube of a value.
fn powers(curve: &Domain, value: &Limbs) -> [Limbs; 2] {
    let square = curve.field.product(value, value);
    let cube = curve.field.product(&square, value);
    [square, cube]
}

/// Writes a scalar as signed digits of weight 2^i. Each is zero or odd, with a magnitude of at most 15, and of any
/// five consecutive digits at most one is nonzero (width-5 NAF, Guide to Elliptic Curve Cryptography §3.3.1).
#[inline(never)]
pub(super) fn signed_digits<'a>(scalar: &Limbs, digits: impl Iterator<Item = &'a mut i8>) {
    let limb = |at: usize| scalar.get(at).copied().unwrap_or(0);
    let mut carry = 0;
    let mut next = 0;
    for (i, digit) in digits.enumerate() {
        // The bit belongs to the five bits of the previous digit, or the number is even and the digit is zero.
        if i < next || limb(i >> 6).wrapping_shr(i as u32) & 1 == carry {
            continue;
        }
        // Bits beyond the end of the scalar are zero.
        let last = i.wrapping_add(4);
        let low = limb(i >> 6).wrapping_shr(i as u32);
        let above = limb(last >> 6).wrapping_shl(1).wrapping_shl(!i as u32);
        let bits = if i >> 6 == last >> 6 { low } else { low | above };
        let window = (bits & 31).wrapping_add(carry);
        carry = window >> 4;
        // A window value of 16 or more represents a negative digit, with a carry into the following digits.
        *digit = (window as i8).wrapping_sub((carry << 5) as i8);
        next = i.wrapping_add(5);
    }
}
