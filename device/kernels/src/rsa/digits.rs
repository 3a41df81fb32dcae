//! Powers modulo an RSA modulus with Montgomery multiplication (Handbook of Applied Cryptography §14.3.2).
//!
//! An integer has 36, 54 or 72 digits of 57 bits, least significant digit first. In a sum of products, the low parts
//! are added in one limb and the high parts in the next, without a carry between words, for which RISC-V has no flag.
//! A limb has seven spare bits for this. With R = 2^(57 · digits), x is represented by any number below 2m that is
//! congruent to x · R modulo m. R is more than eight times m, so a product of two such numbers, divided by R, is
//! again below 2m.

/// Number of digits of the longest modulus.
pub(super) const MAX_DIGITS: usize = 72;

const BITS: u32 = 57;
const MASK: u64 = (1 << BITS) - 1;

/// Number of digits that are multiplied at once. It divides every allowed number of digits.
const GROUP: usize = 6;
type Group = [u64; GROUP];

/// Number of groups whose products can be added to limbs of at most 3 · 2^57. Each group adds less than 12 · 2^57 to
/// a limb.
const ROOM: usize = 10;

/// Initial values of a row: the carry into its lowest limb, and the five digits before its first digit, in reverse
/// order.
type Start = [u64; GROUP];

/// Initial values of a row without preceding digits.
const NOTHING: &Start = &[0; GROUP];

/// Returns the number of digits of an integer whose modulus has the given number of 64-bit limbs, and the number of
/// bits by which these digits are longer than the limbs.
pub(super) const fn digits_for(limbs: usize) -> (usize, u32) {
    // 64 / 57 is a little less than 9 / 8.
    let digits = limbs.wrapping_mul(9) / 8;
    (digits, (digits.wrapping_mul(BITS as usize).wrapping_sub(limbs.wrapping_mul(64))) as u32)
}

/// Converts an integer from 64-bit limbs to digits.
pub(super) fn from_limbs(digits: &mut [u64], limbs: &[u64]) {
    let mut limbs = limbs.iter();
    // `rest` contains `count` bits that belong to later digits.
    let (mut rest, mut count) = (0, 0u32);
    for digit in digits {
        if count < BITS {
            let limb = limbs.next().copied().unwrap_or(0);
            *digit = (rest | limb.wrapping_shl(count)) & MASK;
            rest = limb.wrapping_shr(BITS.wrapping_sub(count));
            count = count.wrapping_add(64 - BITS);
        } else {
            *digit = rest & MASK;
            rest >>= BITS;
            count = count.wrapping_sub(BITS);
        }
    }
}

/// Converts an integer from digits to 64-bit limbs, and returns the limb above them.
pub(super) fn to_limbs(limbs: &mut [u64], digits: &[u64]) -> u64 {
    let mut digits = digits.iter();
    // `rest` contains `count` bits that belong to later limbs.
    let (mut rest, mut count) = (0u64, 0u32);
    let mut next = || {
        let mut limb = rest;
        while count < 64 {
            let digit = digits.next().copied().unwrap_or(0);
            limb |= digit.wrapping_shl(count);
            rest = digit.wrapping_shr(64u32.wrapping_sub(count));
            count = count.wrapping_add(BITS);
        }
        count = count.wrapping_sub(64);
        limb
    };
    for limb in limbs {
        *limb = next();
    }
    next()
}

/// An odd modulus m in digits.
pub(super) struct Odd<'a> {
    digits: &'a [u64],
    /// The value -m^(-1) mod 2^64.
    negated_inverse: u64,
}

impl<'a> Odd<'a> {
    /// Makes a modulus from its digits and the value -m^(-1) mod 2^64.
    pub(super) const fn new(digits: &'a [u64], negated_inverse: u64) -> Self {
        Self { digits, negated_inverse }
    }

    /// Replaces a by a · b / R modulo m. `wide` is scratch space with twice as many digits.
    pub(super) fn multiply(&self, a: &mut [u64], b: &[u64], wide: &mut [u64]) {
        wide.fill(0);
        for (i, six) in groups(b).iter().enumerate() {
            let Some(sum) = wide.get_mut(i.wrapping_mul(GROUP)..) else { return };
            add_rows(sum, groups(a), six, NOTHING);
            carry(sum);
        }
        self.reduce(a, wide);
    }

    /// Replaces a by a² / R modulo m. `wide` is the scratch space of [`multiply`](Self::multiply).
    pub(super) fn square(&self, a: &mut [u64], wide: &mut [u64]) {
        wide.fill(0);
        // This adds the products of digits in different groups, each once. A limb receives the products of at most
        // seven of these rows.
        let mut at = GROUP;
        let mut rest = groups(a);
        while let Some((six, later @ [_, ..])) = rest.split_first() {
            let Some(sum) = wide.get_mut(at..) else { return };
            add_rows(sum, later, six, NOTHING);
            rest = later;
            at = at.wrapping_add(2 * GROUP);
        }
        // This adds the products of digits within each group, doubles the sums, and adds the square of each digit.
        let mut above = 0;
        for (six, sums) in groups(a).iter().zip(wide.as_chunks_mut().0) {
            above = finish_square(sums, six, above);
        }
        self.reduce(a, wide);
    }

    /// Writes `wide` / R modulo m to `out`. The limbs of `wide` are at most 3 · 2^57, and are overwritten.
    fn reduce(&self, out: &mut [u64], wide: &mut [u64]) {
        let Some((lowest, higher)) = groups(self.digits).split_first() else { return };
        let mut room = ROOM;
        let mut sum = &mut *wide;
        for _ in groups(self.digits) {
            let Some((low, rest)) = sum.split_first_chunk_mut() else { return };
            let (multiples, start) = cancelling(low, lowest, self.negated_inverse);
            add_rows(rest, higher, &multiples, &start);
            room = room.wrapping_sub(1);
            if room == 0 {
                carry(rest);
                room = ROOM;
            }
            sum = rest;
        }
        carry(sum);
        for (out, digit) in out.iter_mut().zip(sum) {
            *out = *digit;
        }
    }
}

/// Reduces limbs to digits. The last limb also keeps its carry.
fn carry(limbs: &mut [u64]) {
    let mut above = 0;
    let Some((last, limbs)) = limbs.split_last_mut() else { return };
    for limb in limbs {
        let sum = limb.wrapping_add(above);
        *limb = sum & MASK;
        above = sum >> BITS;
    }
    *last = last.wrapping_add(above);
}

fn groups(digits: &[u64]) -> &[Group] {
    digits.as_chunks().0
}

/// A sum of products, represented as low + high · 2^57, with low modulo 2^64.
#[derive(Clone, Copy)]
struct DigitSum {
    low: u64,
    high: u64,
}

impl DigitSum {
    const fn new(low: u64) -> Self {
        Self { low, high: 0 }
    }

    #[inline(always)]
    const fn add(self, a: u64, b: u64) -> Self {
        Self {
            low: self.low.wrapping_add(a.wrapping_mul(b)),
            high: self.high.wrapping_add(upper(a, b)),
        }
    }

    /// Returns the sum minus high · 2^57, which must fit into a limb.
    #[inline(always)]
    const fn low(self) -> u64 {
        self.low.wrapping_sub(self.high << BITS)
    }
}

/// Returns the product of two digits divided by 2^57, rounded down.
#[inline(always)]
const fn upper(a: u64, b: u64) -> u64 {
    if cfg!(target_pointer_width = "64") {
        (((a << (64 - BITS)) as u128).wrapping_mul(b as u128) >> 64) as u64
    } else {
        // On targets with narrower words, the low part of the sum reuses these partial products.
        ((a as u128).wrapping_mul(b as u128) >> BITS) as u64
    }
}

/// Returns the multiples of m that make the six lowest limbs of a sum zero modulo 2^57, one after the other, and the
/// initial values of their rows after these limbs. The limbs do not change.
fn cancelling(
    &[w0, w1, w2, w3, w4, w5]: &Group,
    &[m0, m1, m2, m3, m4, m5]: &Group,
    negated_inverse: u64,
) -> (Group, Start) {
    // This returns the multiple for a limb, and the carry into the next limb.
    let end = |sum: DigitSum| {
        let multiple = sum.low.wrapping_mul(negated_inverse) & MASK;
        let sum = sum.add(multiple, m0);
        (multiple, sum.high.wrapping_add(sum.low() >> BITS))
    };
    let begin = |limb: u64, below: u64| DigitSum::new(limb.wrapping_add(below));
    let (q0, below) = end(begin(w0, 0));
    let (q1, below) = end(begin(w1, below).add(q0, m1));
    let (q2, below) = end(begin(w2, below).add(q0, m2).add(q1, m1));
    let (q3, below) = end(begin(w3, below).add(q0, m3).add(q1, m2).add(q2, m1));
    let (q4, below) = end(begin(w4, below).add(q0, m4).add(q1, m3).add(q2, m2).add(q3, m1));
    let sum = begin(w5, below).add(q0, m5).add(q1, m4).add(q2, m3);
    let (q5, below) = end(sum.add(q3, m2).add(q4, m1));
    ([q0, q1, q2, q3, q4, q5], [below, m5, m4, m3, m2, m1])
}

/// Completes the square of a group of digits in its twelve limbs: adds the products of all pairs of digits, doubles
/// the sums, and adds the square of each digit. Returns the carry into the next limb before that is doubled.
fn finish_square(sums: &mut [u64; 2 * GROUP], six: &Group, above: u64) -> u64 {
    let [a0, a1, a2, a3, a4, a5] = *six;
    let none = DigitSum::new(0);
    let once = [
        none,
        none.add(a0, a1),
        none.add(a0, a2),
        none.add(a0, a3).add(a1, a2),
        none.add(a0, a4).add(a1, a3),
        none.add(a0, a5).add(a1, a4).add(a2, a3),
        none.add(a1, a5).add(a2, a4),
        none.add(a2, a5).add(a3, a4),
        none.add(a3, a5),
        none.add(a4, a5),
        none,
        none,
    ];
    let mut above = above;
    let mut before = 0;
    for ((pair, once), a) in
        sums.as_chunks_mut::<2>().0.iter_mut().zip(once.as_chunks::<2>().0).zip(six)
    {
        let square = none.add(*a, *a);
        let [low, high] = pair;
        let [once_low, once_high] = once;
        let sum = low.wrapping_add(once_low.low()).wrapping_add(before).wrapping_add(above);
        *low = ((sum & MASK) << 1).wrapping_add(square.low());
        let sum = high
            .wrapping_add(once_high.low())
            .wrapping_add(once_low.high)
            .wrapping_add(sum >> BITS);
        *high = ((sum & MASK) << 1).wrapping_add(square.high);
        (above, before) = (sum >> BITS, once_high.high);
    }
    above
}

/// Adds a · b to `sum`, starting at its lowest limb. `sum` has at least six limbs more than a.
fn add_rows(sum: &mut [u64], a: &[Group], b: &Group, start: &Start) {
    #[cfg(all(target_arch = "riscv64", feature = "scalar"))]
    crate::rv64::add_rows(sum, a, b, start);
    #[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
    add_portable(sum, a, b, start);
}

#[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
fn add_portable(sum: &mut [u64], a: &[Group], b: &Group, start: &Start) {
    let [b0, b1, b2, b3, b4, b5] = *b;
    let [mut before, mut d1, mut d2, mut d3, mut d4, mut d5] = *start;
    // Zeros follow the digits of a, for the products of its last digits.
    for (limb, next) in sum.iter_mut().zip(a.as_flattened().iter().chain(&[0; GROUP])) {
        let of_limb =
            DigitSum::new(limb.wrapping_add(before)).add(*next, b0).add(d1, b1).add(d2, b2);
        let of_limb = of_limb.add(d3, b3).add(d4, b4).add(d5, b5);
        *limb = of_limb.low();
        before = of_limb.high;
        (d1, d2, d3, d4, d5) = (*next, d1, d2, d3, d4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bignum::Modulus;
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn value(digits: &[u64]) -> BigUint {
        let mut value = BigUint::ZERO;
        for digit in digits.iter().rev() {
            value = (value << BITS) + digit;
        }
        value
    }

    fn limbs_of(value: &BigUint, len: usize) -> Vec<u64> {
        let mut limbs = value.to_u64_digits();
        limbs.resize(len, 0);
        limbs
    }

    fn digits_of(value: &BigUint, count: usize) -> Vec<u64> {
        let mut digits = vec![9; count];
        from_limbs(&mut digits, &limbs_of(value, count));
        digits
    }

    /// A strategy for limbs. Extreme values, at which digits and carries begin and end, are as frequent as random
    /// values.
    fn limb() -> impl Strategy<Value = u64> {
        prop_oneof![3 => any::<u64>(), 3 => Just(u64::MAX), 2 => Just(0), 1 => Just(1 << 63)]
    }

    /// A strategy for a modulus in limbs, and two integers below twice the modulus.
    fn operands() -> impl Strategy<Value = (Vec<u64>, BigUint, BigUint)> {
        let len = prop::sample::select(&[32, 48, 64][..]);
        len.prop_flat_map(|len| {
            let number = move || prop::collection::vec(limb(), len);
            (number(), number(), number(), 0..4u8, 0..4u8)
        })
        .prop_map(|(mut m, a, b, edge_a, edge_b)| {
            m[0] |= 1;
            *m.last_mut().unwrap() |= 1 << 63;
            let big = |limbs: &[u64]| {
                let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
                BigUint::from_bytes_le(&bytes)
            };
            let twice = big(&m) * 2u8;
            let place = |limbs: &[u64], edge| match edge {
                0 => &twice - 1u8,
                1 => BigUint::ZERO,
                _ => big(limbs) % &twice,
            };
            let (a, b) = (place(&a, edge_a), place(&b, edge_b));
            (m, a, b)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn products_agree_with_integers((m, a, b) in operands()) {
            let (count, more) = digits_for(m.len());
            let modulus = Modulus::new(&m).unwrap();
            let mut m_digits = vec![0; count];
            from_limbs(&mut m_digits, &m);
            let odd = Odd::new(&m_digits, modulus.negated_inverse());
            let m_value = value(&m_digits);
            let radix = BigUint::from(1u8) << (m.len() * 64 + more as usize);
            prop_assert_eq!(&radix, &(BigUint::from(1u8) << (BITS as usize * count)));
            let mut wide = vec![u64::MAX; 2 * count];
            let (mut product, mut square) = (digits_of(&a, count), digits_of(&a, count));
            odd.multiply(&mut product, &digits_of(&b, count), &mut wide);
            odd.square(&mut square, &mut wide);
            for (result, right) in [(&product, &a * &b), (&square, &a * &a)] {
                prop_assert!(result.iter().all(|digit| *digit <= MASK));
                prop_assert!(value(result) < &m_value * 2u8);
                prop_assert_eq!(value(result) * &radix % &m_value, right % &m_value);
            }
        }

        #[test]
        fn digits_and_limbs_are_one_number((_, a, _) in operands()) {
            for (len, count) in [(32, 36), (48, 54), (64, 72)] {
                prop_assert_eq!(digits_for(len).0, count);
                let a = &a % (BigUint::from(1u8) << (64 * len + 1));
                let digits = digits_of(&a, count);
                prop_assert_eq!(value(&digits), a.clone());
                let mut limbs = vec![7; len];
                let above = to_limbs(&mut limbs, &digits);
                limbs.push(above);
                prop_assert_eq!(limbs, limbs_of(&a, len + 1));
            }
        }
    }

    #[test]
    fn the_largest_digits_overflow_no_limb() {
        // All digits have their largest value. This is more than can occur, because numbers are below twice a
        // modulus.
        for count in [36, 54, 72] {
            let m = vec![MASK; count];
            let odd = Odd::new(&m, 1);
            let (mut square, mut product) = (m.clone(), m.clone());
            let mut wide = vec![0; 2 * count];
            odd.square(&mut square, &mut wide);
            odd.multiply(&mut product, &m, &mut wide);
            assert_eq!(square, product);
            let value_m = value(&m);
            let radix = BigUint::from(1u8) << (BITS as usize * count);
            assert_eq!(value(&square) * radix % &value_m, &value_m * &value_m % &value_m);
        }
    }

    /// Two digits of 2^57 - x, with x² just below 2^57, have a product whose low and high parts are both almost 2^57,
    /// which is the maximum that a limb receives. Here all digits of the modulus and of the multiples have this
    /// value, and the upper limbs have the maximum that `reduce` accepts.
    #[test]
    fn the_largest_sums_overflow_no_limb() {
        let digit = (1 << BITS) - ((1u64 << BITS).isqrt() - 1);
        assert_eq!(digit % 2, 1);
        for count in [36, 54, 72] {
            let m = vec![digit; count];
            let radix = BigUint::from(1u8) << (BITS as usize * count);
            let square = value(&m) * value(&m);
            let low = digits_of(&(&radix - &square % &radix), count);
            let mut wide = [low, vec![3 << BITS; count]].concat();
            let sum = value(&wide) + square;
            let lowest = digit | digit << BITS;
            // Newton iteration: each step doubles the number of correct bits of the inverse. An odd number is its own
            // inverse modulo 8.
            let inverse = (0..5).fold(lowest, |inverse, _| {
                inverse.wrapping_mul(2u64.wrapping_sub(lowest.wrapping_mul(inverse)))
            });
            let mut out = vec![0; count];
            Odd::new(&m, inverse.wrapping_neg()).reduce(&mut out, &mut wide);
            assert_eq!(value(&out), sum / radix);
        }
    }
}
