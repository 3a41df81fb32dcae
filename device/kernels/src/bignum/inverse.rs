//! Inverses modulo a prime with divsteps (Bernstein and Yang: Fast constant-time gcd computation and modular
//! inversion, 2019). This implementation takes variable time.
//!
//! A divstep depends only on the lowest bits of f and g. Therefore 62 divsteps are computed on single words, which
//! gives a matrix, and the matrix is applied to the whole numbers. These are stored in signed digits of 62 bits. All
//! digits except the top one are from 0 to 2^62 - 1.

use super::Modulus;

/// Maximum number of digits: 6 limbs, a sign, and room for a small multiple of the modulus.
const DIGITS: usize = 7;

const MASK: i64 = (1 << 62) - 1;

/// A row with one digit of each of three numbers: the two that a matrix is applied to, and the number of which
/// multiples are added to them.
type MatrixRow = [i64; 3];

impl Modulus<'_> {
    /// Returns the inverse of `a` modulo m, which must be a prime with at most six limbs. `a` is from 1 to m - 1.
    #[inline(never)]
    pub(crate) fn invert(&self, a: &[u64; 6]) -> [u64; 6] {
        let len = self.limbs.len().wrapping_add(1);
        let (mut fg, mut de) = ([[0; 3]; DIGITS], [[0; 3]; DIGITS]);
        let (Some(fg), Some(de)) = (fg.get_mut(..len), de.get_mut(..len)) else { return [0; 6] };
        let m_digits = digits(self.limbs);
        for (((fg, de), m), a) in fg.iter_mut().zip(de.iter_mut()).zip(m_digits).zip(digits(a)) {
            *fg = [m, a, 0];
            *de = [0, 0, m];
        }
        // Invariant: a · d = f and a · e = g modulo m. At the end g is zero, and f is 1 or -1.
        if let Some([_, e, _]) = de.first_mut() {
            *e = 1;
        }
        let mut delta = 1;
        // For n bits (49 n + 57) / 17 divsteps are enough, which is 1,110 for 384 bits. So 18 rounds of 62 divsteps
        // always suffice.
        for _ in 0..18 {
            if fg.iter().all(|[_, g, _]| *g == 0) {
                break;
            }
            let matrix = match fg.first() {
                Some([f, g, _]) => divsteps(&mut delta, *f, *g),
                None => break,
            };
            apply(fg, &matrix, [0; 2]);
            // These are the multiples of m that make both sums divisible by 2^62. Each adds less than m after the
            // division.
            let multiples = match de.first() {
                Some([d, e, _]) => matrix.map(|[by_first, by_second]| {
                    let sum = by_first.wrapping_mul(*d).wrapping_add(by_second.wrapping_mul(*e));
                    sum.wrapping_mul(self.negated_inverse as i64) & MASK
                }),
                None => break,
            };
            apply(de, &matrix, multiples);
        }
        // The result is d or -d, which is between -19 m and 19 m. The loops bring it below zero and then into the
        // range from 0 to m - 1.
        if is_negative(fg) {
            for [d, ..] in de.iter_mut() {
                *d = d.wrapping_neg();
            }
        }
        for _ in 0..20 {
            if is_negative(de) {
                break;
            }
            add_multiple(de, -1);
        }
        for _ in 0..20 {
            add_multiple(de, 1);
            if !is_negative(de) {
                break;
            }
        }
        // Digit i begins at bit 62 i, which is 64 i - 2 i.
        let mut inverse = [0; 6];
        let mut shift = 0;
        let mut rest = de.iter();
        let mut digit = rest.next().map_or(0, |row| row[0] as u64);
        for (to, row) in inverse.iter_mut().zip(rest) {
            let next = row[0] as u64;
            *to = digit.wrapping_shr(shift) | next.wrapping_shl(62u32.wrapping_sub(shift));
            digit = next;
            shift = shift.wrapping_add(2);
        }
        inverse
    }
}

/// Splits a number into digits of 62 bits, followed by zero digits.
fn digits(limbs: &[u64]) -> impl Iterator<Item = i64> {
    let mut below = 0;
    let mut shift = 64u32;
    limbs.iter().chain(&[0; DIGITS]).map(move |limb| {
        let pair = (u128::from(*limb) << 64) | u128::from(below);
        let digit = pair.wrapping_shr(shift) as i64 & MASK;
        below = *limb;
        shift = shift.wrapping_sub(2);
        digit
    })
}

fn is_negative(rows: &[MatrixRow]) -> bool {
    rows.last().is_some_and(|row| row[0] < 0)
}

/// Computes 62 divsteps. Returns the matrix that, multiplied by (f, g), gives 2^62 times the new (f, g).
fn divsteps(delta: &mut i64, mut f: i64, mut g: i64) -> [[i64; 2]; 2] {
    let (mut u, mut v, mut q, mut r) = (1i64, 0i64, 0i64, 1i64);
    for _ in 0..62 {
        if g & 1 == 1 {
            if *delta > 0 {
                *delta = delta.wrapping_neg();
                (f, g) = (g, f.wrapping_neg());
                (u, q) = (q, u.wrapping_neg());
                (v, r) = (r, v.wrapping_neg());
            }
            g = g.wrapping_add(f);
            q = q.wrapping_add(u);
            r = r.wrapping_add(v);
        }
        *delta = delta.wrapping_add(1);
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    [[u, v], [q, r]]
}

/// Replaces the first two numbers by (matrix · numbers + multiples · third number) / 2^62.
///
/// The absolute values in a row of the matrix add up to at most 2^62, so each sum is far below 2^127.
#[inline(never)]
fn apply(
    rows: &mut [MatrixRow],
    [[u, v], [q, r]]: &[[i64; 2]; 2],
    [for_first, for_second]: [i64; 2],
) {
    let product = |a: i64, b: i64| i128::from(a).wrapping_mul(i128::from(b));
    let (mut first, mut second) = (0i128, 0i128);
    // The division by 2^62 moves digit i to digit i - 1.
    let mut below: Option<&mut MatrixRow> = None;
    for row in rows {
        let [x, y, m] = *row;
        first = first
            .wrapping_add(product(*u, x))
            .wrapping_add(product(*v, y))
            .wrapping_add(product(for_first, m));
        second = second
            .wrapping_add(product(*q, x))
            .wrapping_add(product(*r, y))
            .wrapping_add(product(for_second, m));
        if let Some(below) = below {
            below[0] = first as i64 & MASK;
            below[1] = second as i64 & MASK;
        }
        first >>= 62;
        second >>= 62;
        below = Some(row);
    }
    if let Some(top) = below {
        top[0] = first as i64;
        top[1] = second as i64;
    }
}

/// Adds the third number, multiplied by `factor` (1 or -1), to the first number.
#[inline(never)]
fn add_multiple(rows: &mut [MatrixRow], factor: i64) {
    let mut carry = 0i64;
    let mut top = None;
    for [x, _, m] in rows {
        let sum = carry.wrapping_add(*x).wrapping_add(m.wrapping_mul(factor));
        *x = sum & MASK;
        carry = sum >> 62;
        top = Some((x, sum));
    }
    if let Some((top, sum)) = top {
        *top = sum;
    }
}
