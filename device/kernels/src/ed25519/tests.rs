//! These tests compare field and scalar arithmetic with slow big-integer arithmetic, and the
//! small-order rule with the published torsion points.

use super::constants::{BASE_MULTIPLES, D, SQRT_MINUS_ONE, TWICE_D};
use super::field::Fe;
use super::point::{EncodedPoint, Extended};
use super::scalar::Scalar;
use curve25519_dalek::constants::EIGHT_TORSION;
use proptest::prelude::*;
use std::vec::Vec;

/// An integer below 2^256, least significant word first.
type Wide = [u64; 4];

const P: Wide = [0u64.wrapping_sub(19), u64::MAX, u64::MAX, u64::MAX >> 1];

fn add_mod_p(a: Wide, b: Wide) -> Wide {
    let mut sum = a;
    let mut carry = false;
    for (word, b) in sum.iter_mut().zip(b) {
        (*word, carry) = word.carrying_add(b, carry);
    }
    assert!(!carry, "both operands are below p");
    let mut less = sum;
    let mut borrow = false;
    for (word, p) in less.iter_mut().zip(P) {
        (*word, borrow) = word.borrowing_sub(p, borrow);
    }
    if borrow { sum } else { less }
}

fn mul_mod_p(a: Wide, b: Wide) -> Wide {
    let mut product = [0; 4];
    for bit in (0..256).rev() {
        product = add_mod_p(product, product);
        if b[bit / 64] >> (bit % 64) & 1 == 1 {
            product = add_mod_p(product, a);
        }
    }
    product
}

/// Returns the integer modulo p that five limbs represent.
fn value_of(limbs: [u64; 5]) -> Wide {
    let mut value = [0; 4];
    for limb in limbs.into_iter().rev() {
        value = mul_mod_p(value, [1 << 51, 0, 0, 0]);
        value = add_mod_p(value, [limb, 0, 0, 0]);
    }
    value
}

fn to_bytes(value: Wide) -> [u8; 32] {
    let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.try_into().unwrap()
}

/// A strategy for limbs up to the largest loose limb, which often occurs.
fn loose_limbs() -> impl Strategy<Value = [u64; 5]> {
    limbs_up_to((1 << 54) - 1)
}

/// A strategy for limbs up to the largest limb of a subtrahend.
fn subtrahend_limbs() -> impl Strategy<Value = [u64; 5]> {
    limbs_up_to((1 << 53) - 77)
}

/// A strategy for limbs up to the largest reduced limb.
fn reduced_limbs() -> impl Strategy<Value = [u64; 5]> {
    limbs_up_to((1 << 51) + (1 << 18) - 1)
}

fn limbs_up_to(max: u64) -> impl Strategy<Value = [u64; 5]> {
    prop::array::uniform5(prop_oneof![
        4 => 0..=max,
        2 => Just(max),
        1 => Just(0),
        1 => Just((1 << 51) - 1),
        1 => Just((1 << 51) - 19),
    ])
}

proptest! {
    #[test]
    fn field_operations_agree_with_integers(
        a in loose_limbs(),
        b in loose_limbs(),
        less in subtrahend_limbs(),
    ) {
        let (fa, fb, f_less) = (Fe::from_limbs(a), Fe::from_limbs(b), Fe::from_limbs(less));
        let (a, b, less) = (value_of(a), value_of(b), value_of(less));
        prop_assert_eq!(fa.to_bytes(), to_bytes(a));
        prop_assert_eq!(fa.mul(&fb).to_bytes(), to_bytes(mul_mod_p(a, b)));
        prop_assert_eq!(fa.square().to_bytes(), to_bytes(mul_mod_p(a, a)));
        prop_assert_eq!(fa.add(&fb).to_bytes(), to_bytes(add_mod_p(a, b)));
        prop_assert_eq!(fa.sub(&f_less).add(&f_less).to_bytes(), to_bytes(a));
        prop_assert_eq!(f_less.neg().add(&f_less).to_bytes(), [0; 32]);
        prop_assert_eq!(fa.is_odd(), a[0] & 1 == 1);
        prop_assert_eq!(fa.is_zero(), a == [0; 4]);
        prop_assert_eq!(f_less.neg().is_zero(), less == [0; 4]);
    }

    #[test]
    fn products_are_reduced(
        a in loose_limbs(),
        b in loose_limbs(),
        less in subtrahend_limbs(),
    ) {
        let (a, b, less) = (Fe::from_limbs(a), Fe::from_limbs(b), Fe::from_limbs(less));
        for result in [a.mul(&b), a.square(), less.neg()] {
            for limb in result.limbs() {
                prop_assert!(limb < (1 << 51) + (1 << 18));
            }
        }
    }

    #[test]
    fn differences_of_sums_of_two_are_loose(a in reduced_limbs(), b in reduced_limbs()) {
        let (a, b) = (Fe::from_limbs(a), Fe::from_limbs(b));
        for limb in a.add(&a).sub(&b.add(&b)).limbs() {
            prop_assert!(limb < 1 << 54);
        }
    }

    #[test]
    fn inverse_times_value_is_one(a in loose_limbs()) {
        let a = Fe::from_limbs(a);
        prop_assume!(!a.is_zero());
        prop_assert_eq!(a.mul(&a.invert()).to_bytes(), Fe::ONE.to_bytes());
    }

    #[test]
    fn digest_is_reduced_like_dalek(digest: [u8; 32], top: [u8; 32]) {
        let wide: [u8; 64] = [digest, top].concat().try_into().unwrap();
        let ours = Scalar::from_digest(&wide);
        let theirs = curve25519_dalek::Scalar::from_bytes_mod_order_wide(&wide);
        prop_assert_eq!(to_bytes(ours.words()), theirs.to_bytes());
    }

    #[test]
    fn signed_digits_sum_to_the_scalar(digest: [u8; 32]) {
        let wide: [u8; 64] = [digest, digest].concat().try_into().unwrap();
        check_digits(Scalar::from_digest(&wide));
    }

    #[test]
    fn points_of_full_order_are_not_small(seed: [u8; 32]) {
        let key = ed25519_dalek::SigningKey::from_bytes(&seed).verifying_key();
        let point = EncodedPoint::parse(&key.to_bytes()).unwrap();
        prop_assert!(!point.is_small_order());
        prop_assert!(point.decode_negative().is_some());
    }
}

/// Compares the sum of the digits with the scalars of dalek, and checks the documented form of the
/// digits.
fn check_digits(scalar: Scalar) {
    use curve25519_dalek::Scalar as Other;
    let digits = scalar.signed_digits();
    let mut sum = Other::ZERO;
    for digit in digits.iter().rev() {
        let magnitude = Other::from(digit.unsigned_abs());
        sum = sum + sum + if *digit < 0 { -magnitude } else { magnitude };
    }
    assert_eq!(sum.to_bytes(), to_bytes(scalar.words()));
    for window in digits.windows(5) {
        assert!(window.iter().filter(|digit| **digit != 0).count() <= 1);
    }
    for digit in digits {
        assert!(digit == 0 || (digit % 2 != 0 && digit.abs() <= 15));
    }
}

#[test]
fn scalars_are_read_only_below_the_order() {
    let minus_one = (-curve25519_dalek::Scalar::ONE).to_bytes();
    let largest = Scalar::from_canonical_bytes(&minus_one).unwrap();
    assert_eq!(to_bytes(largest.words()), minus_one);
    check_digits(largest);
    let mut order = minus_one;
    order[0] += 1;
    assert!(Scalar::from_canonical_bytes(&order).is_none());
    assert!(Scalar::from_canonical_bytes(&[0xff; 32]).is_none());
    check_digits(Scalar::from_canonical_bytes(&[0; 32]).unwrap());
}

#[test]
fn digests_next_to_multiples_of_the_order_are_reduced() {
    use curve25519_dalek::Scalar as Other;
    let mut order = (-Other::ONE).to_bytes();
    order[0] += 1;
    for (distance, shift) in [(0u8, 0), (1, 0), (0, 31), (1, 31), (0, 32)] {
        let mut wide = [0; 64];
        wide[shift..shift + 32].copy_from_slice(&order);
        wide[shift] -= distance;
        let theirs = Other::from_bytes_mod_order_wide(&wide).to_bytes();
        assert_eq!(to_bytes(Scalar::from_digest(&wide).words()), theirs);
    }
    let theirs = Other::from_bytes_mod_order_wide(&[0xff; 64]).to_bytes();
    assert_eq!(to_bytes(Scalar::from_digest(&[0xff; 64]).words()), theirs);
}

#[test]
fn all_eight_torsion_points_are_small() {
    for point in EIGHT_TORSION {
        let point = EncodedPoint::parse(&point.compress().to_bytes()).unwrap();
        assert!(point.is_small_order());
        assert!(point.decode_negative().is_some());
    }
}

#[test]
fn every_non_canonical_encoding_is_refused() {
    // The values of y are p to 2^255 - 1, with both signs.
    for above_p in 0..19u8 {
        for sign in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            bytes[0] = 0xed + above_p;
            bytes[31] = sign;
            assert!(EncodedPoint::parse(&bytes).is_none());
        }
    }
    // p - 1 and 1 are the values of y for x = 0. Only the even sign is a valid encoding.
    let mut minus_one = [0xff; 32];
    minus_one[0] = 0xec;
    assert!(EncodedPoint::parse(&minus_one).is_none());
    minus_one[31] = 0x7f;
    assert!(EncodedPoint::parse(&minus_one).is_some());
    let mut one = [0; 32];
    one[0] = 1;
    assert!(EncodedPoint::parse(&one).is_some());
    one[31] = 0x80;
    assert!(EncodedPoint::parse(&one).is_none());
}

#[test]
fn numbers_of_the_curve_are_those_of_their_definitions() {
    let is_same = |a: &Fe, b: &Fe| a.to_bytes() == b.to_bytes();
    let quotient = |a: u32, b: u32| Fe::from_u32(a).mul(&Fe::from_u32(b).invert());
    assert!(is_same(&D, &quotient(121_665, 121_666).neg()));
    assert!(is_same(&TWICE_D, &D.add(&D)));
    // The value is 2 ^ ((p - 1) / 4), where (p - 1) / 4 = 2 * ((p - 5) / 8) + 1.
    let two = Fe::from_u32(2);
    assert!(is_same(&SQRT_MINUS_ONE, &two.pow_p58().square().mul(&two)));
    assert!(is_same(&SQRT_MINUS_ONE.square(), &Fe::ONE.neg()));
    let base = Extended::from_y(quotient(4, 5), false).unwrap();
    for (stored, (computed, twice_z)) in BASE_MULTIPLES.iter().zip(base.odd_multiples()) {
        let recip = two.mul(&twice_z.invert());
        assert!(is_same(&stored.y_plus_x, &computed.y_plus_x.mul(&recip)));
        assert!(is_same(&stored.y_minus_x, &computed.y_minus_x.mul(&recip)));
        assert!(is_same(&stored.twice_dt, &computed.twice_dt.mul(&recip)));
    }
}
