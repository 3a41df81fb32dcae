//! Inverses modulo a prime by divsteps (Bernstein, Yang: Fast constant-time gcd computation and modular
//! inversion, 2019), here in variable time.
//!
//! What a divstep does to f and g depends on their lowest bits. So 62 of them are done on one word, which
//! gives a matrix, and the matrix is applied to the whole numbers, in signed digits of 62 bits: all but the
//! top digit from 0 to 2^62 - 1.

use super::Modulus;

/// Digits of the longest number: 6 limbs, a sign, and room for a small multiple of the modulus.
const DIGITS: usize = 7;

const MASK: i64 = (1 << 62) - 1;

/// A digit of each of two numbers, and of what is added to them in multiples.
type Row = [i64; 3];

impl Modulus<'_> {
    /// The inverse of `a` modulo a prime m of at most six limbs, for `a` from 1 to m - 1.
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
        // a · d = f and a · e = g modulo m hold throughout. At the end g is zero, and f is 1 or -1.
        if let Some([_, e, _]) = de.first_mut() {
            *e = 1;
        }
        let mut delta = 1;
        // For n bits (49 n + 57) / 17 divsteps are enough: 1,110 for 384. This bound is never reached.
        for _ in 0..18 {
            if fg.iter().all(|[_, g, _]| *g == 0) {
                break;
            }
            let matrix = match fg.first() {
                Some([f, g, _]) => divsteps(&mut delta, *f, *g),
                None => break,
            };
            apply(fg, &matrix, [0; 2]);
            // The multiples of m that make both sums a multiple of 2^62. Each adds less than m.
            let multiples = match de.first() {
                Some([d, e, _]) => matrix.map(|[by_first, by_second]| {
                    let sum = by_first.wrapping_mul(*d).wrapping_add(by_second.wrapping_mul(*e));
                    sum.wrapping_mul(self.negated_inverse as i64) & MASK
                }),
                None => break,
            };
            apply(de, &matrix, multiples);
        }
        // d or -d, which is above -19 m and below 19 m, to below zero and then to where it belongs.
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
        // Digit i begins at bit 64 i - 2 i.
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

/// The digits of a number, and then zeros.
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

fn is_negative(rows: &[Row]) -> bool {
    rows.last().is_some_and(|row| row[0] < 0)
}

/// 62 divsteps: the matrix that times f and g gives 2^62 times what they become.
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

/// Replaces the two numbers by (matrix · numbers + multiples · the third) / 2^62.
///
/// A line of the matrix has magnitudes of at most 2^62 in sum, so that each sum is far below 2^127.
#[inline(never)]
fn apply(rows: &mut [Row], [[u, v], [q, r]]: &[[i64; 2]; 2], [for_first, for_second]: [i64; 2]) {
    let product = |a: i64, b: i64| i128::from(a).wrapping_mul(i128::from(b));
    let (mut first, mut second) = (0i128, 0i128);
    // Divided by 2^62, digit i becomes digit i - 1.
    let mut below: Option<&mut Row> = None;
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

/// Adds the third number to the first, `factor` times: 1 or -1.
#[inline(never)]
fn add_multiple(rows: &mut [Row], factor: i64) {
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
