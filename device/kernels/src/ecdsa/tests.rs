//! These tests compare fields, digits and points with big integers and with the curves of other crates.

#![allow(non_snake_case)] // Q and G

use super::curve::{self, Affine};
use super::field::{Field, LIMBS, Limbs};
use super::point::{self, double_product};
use super::*;
use num_bigint::BigUint;
use p256::elliptic_curve::sec1::ToSec1Point;
use proptest::prelude::*;
use std::vec::Vec;

fn big(limbs: &[u64]) -> BigUint {
    BigUint::from_slice(
        &limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect::<Vec<_>>(),
    )
}

fn limbs_of(value: &BigUint) -> Limbs {
    let mut limbs = value.to_u64_digits();
    limbs.resize(LIMBS, 0);
    limbs.try_into().unwrap()
}

const CURVES: [&curve::Domain; 2] = [&curve::P256, &curve::P384];

/// A strategy for a curve and two numbers below a bound. The numbers are often extreme, or have limbs at which
/// carries begin and end.
fn numbers(
    bound: fn(&curve::Domain) -> BigUint,
) -> impl Strategy<Value = (&'static curve::Domain, [Limbs; 2])> {
    let limb = || prop_oneof![2 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)];
    let number = move || (prop::array::uniform6(limb()), 0..10u8);
    (prop::sample::select(&CURVES[..]), number(), number()).prop_map(move |(curve, a, b)| {
        let bound = bound(curve);
        let place = |(value, edge): (Limbs, u8)| {
            limbs_of(&match edge {
                0 => BigUint::ZERO,
                1 => BigUint::from(1u8),
                2 => &bound - 1u8,
                3 => &bound - 2u8,
                _ => big(&value) % &bound,
            })
        };
        (curve, [place(a), place(b)])
    })
}

fn prime(curve: &curve::Domain) -> BigUint {
    big(curve.field.modulus())
}

/// Returns R, the bound of field elements.
fn radix(curve: &curve::Domain) -> BigUint {
    BigUint::from(1u8) << (64 * curve.limbs())
}

fn order(curve: &curve::Domain) -> BigUint {
    big(&curve.n)
}

/// Computes the point \[k\]G with another crate. Returns `None` for the neutral element.
fn other_multiple(curve: &curve::Domain, k: &BigUint) -> Option<[BigUint; 2]> {
    let len = curve.len_bytes();
    let mut bytes = std::vec![0; len];
    let k = k.to_bytes_be();
    bytes[len - k.len()..].copy_from_slice(&k);
    macro_rules! multiple {
        ($krate:ident) => {{
            use $krate::elliptic_curve::PrimeField;
            let scalar = $krate::Scalar::from_repr(bytes.as_slice().try_into().unwrap()).unwrap();
            let point = ($krate::ProjectivePoint::GENERATOR * scalar).to_affine();
            point.to_sec1_point(false).as_bytes().to_vec()
        }};
    }
    let point = match curve.field {
        Field::P256 => multiple!(p256),
        Field::P384 => multiple!(p384),
    };
    let (tag, coordinates) = point.split_first()?;
    (*tag == 4).then(|| {
        let (x, y) = coordinates.split_at(len);
        [x, y].map(BigUint::from_bytes_be)
    })
}

fn affine(curve: &curve::Domain, [x, y]: &[BigUint; 2]) -> Affine {
    Affine { x: curve.to_field(limbs_of(x)), y: curve.to_field(limbs_of(y)) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn field_operations_agree_with_integers((curve, [a, b]) in numbers(radix)) {
        let (field, p, radix) = (curve.field, prime(curve), radix(curve));
        let product = big(&field.product(&a, &b));
        let sum = big(&field.sum(&a, &b));
        let difference = big(&field.difference(&a, &b));
        prop_assert!(product < radix && sum < radix && difference < radix);
        prop_assert_eq!(product * &radix % &p, big(&a) * big(&b) % &p);
        prop_assert_eq!(sum % &p, (big(&a) + big(&b)) % &p);
        prop_assert_eq!(difference % &p, (big(&a) + &p + &p - big(&b)) % &p);
        prop_assert_eq!(big(&curve.to_integer(&curve.to_field(a))), big(&a) % &p);
    }

    #[test]
    fn every_representative_of_zero_is_zero((curve, [a, _]) in numbers(prime)) {
        let (field, p) = (curve.field, limbs_of(&prime(curve)));
        for b in [a, field.sum(&a, &p)] {
            prop_assert!(field.is_zero(&field.difference(&a, &b)));
            prop_assert!(field.is_zero(&field.difference(&b, &a)));
            prop_assert_eq!(field.is_zero(&b), a == [0; LIMBS]);
        }
        prop_assert!(field.is_zero(&p));
        prop_assert_eq!(curve.to_integer(&p), [0; LIMBS]);
    }

    #[test]
    fn inverses_give_one((curve, [a, b]) in numbers(prime), (curve_n, [c, _]) in numbers(order)) {
        prop_assume!(a != [0; LIMBS] && c != [0; LIMBS]);
        let one = [1, 0, 0, 0, 0, 0];
        prop_assert_eq!(curve.to_integer(&curve.field.product(&a, &curve.invert(&a))), one);
        let inverse = Modulus::new(curve_n.order()).unwrap().invert(&c);
        prop_assert_eq!(big(&c) * big(&inverse) % order(curve_n), BigUint::from(1u8));
        let _ = b;
    }

    #[test]
    fn signed_digits_sum_to_the_scalar((_, [a, _]) in numbers(order)) {
        let mut digits = [0; 64 * LIMBS + 1];
        point::signed_digits(&a, digits.iter_mut());
        let (mut positive, mut negative) = (BigUint::ZERO, BigUint::ZERO);
        for digit in digits.iter().rev() {
            positive <<= 1;
            negative <<= 1;
            *(if *digit < 0 { &mut negative } else { &mut positive }) += digit.unsigned_abs();
        }
        prop_assert_eq!(positive - negative, big(&a));
        for window in digits.windows(5) {
            prop_assert!(window.iter().filter(|digit| **digit != 0).count() <= 1);
        }
        prop_assert!(digits.iter().all(|digit| *digit == 0 || digit % 2 != 0 && digit.abs() <= 15));
    }
}

/// Checks that \[u\]G + \[v\]\[k\]G equals \[u + v k\]G.
fn check_double_product(curve: &curve::Domain, u: &BigUint, v: &BigUint, k: &BigUint) {
    let Q = affine(curve, &other_multiple(curve, k).unwrap());
    let sum = double_product(curve, &limbs_of(u), &limbs_of(v), &Q);
    let expected = other_multiple(curve, &((u + v * k) % order(curve)));
    let x = (!sum.is_neutral()).then(|| big(&sum.affine_x(curve)));
    assert_eq!(x, expected.map(|[x, _]| x), "u {u} v {v} k {k}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sums_of_products_agree_with_other_crates(
        (curve, [u, v]) in numbers(order),
        (_, [k, _]) in numbers(|_| order(&curve::P256) - 1u8),
    ) {
        check_double_product(curve, &big(&u), &big(&v), &(big(&k) + 1u8));
    }
}

#[test]
fn exceptional_additions_are_right() {
    for curve in CURVES {
        let n = order(curve);
        // Q is near G or near -G, so that the sum meets entries of its tables and their negatives.
        for k in (1..18u8).map(BigUint::from).flat_map(|k| [&n - &k, k]) {
            for (u, v) in
                [(0, 0), (0, 1), (1, 0), (1, 1), (3, 1), (1, 3), (16, 15), (2, 31), (17, 17)]
            {
                let (u, v) = (BigUint::from(u as u8), BigUint::from(v as u8));
                check_double_product(curve, &u, &v, &k);
                check_double_product(curve, &(&n - 1u8 - &u), &v, &k);
                check_double_product(curve, &u, &(&n - 1u8 - &v), &k);
                // These scalars give the neutral element and its neighbours after a full sequence of doublings.
                let opposite = (&n - (&v * &k) % &n) % &n;
                check_double_product(curve, &opposite, &v, &k);
                check_double_product(curve, &((&opposite + 1u8) % &n), &v, &k);
            }
        }
    }
}

#[test]
fn the_constants_are_those_of_the_curves() {
    for curve in CURVES {
        let G = other_multiple(curve, &BigUint::from(1u8)).unwrap();
        let len = curve.len_bytes();
        let bytes = G.each_ref().map(|number| {
            let number = number.to_bytes_be();
            [std::vec![0; len - number.len()], number].concat()
        });
        // The point is on the curve with our b, it equals our G, and it has the order n.
        let point = curve.point(&bytes[0], &bytes[1]).unwrap();
        assert_eq!((point.x, point.y), (curve.base().x, curve.base().y));
        let (n, one) = (order(curve), BigUint::from(1u8));
        assert!(
            double_product(curve, &limbs_of(&(&n - 1u8)), &limbs_of(&one), &point).is_neutral()
        );
        for (x, y) in [(1, 0), (0, 1)] {
            let mut other = bytes.clone();
            other[0][len - 1] ^= x;
            other[1][len - 1] ^= y;
            assert!(curve.point(&other[0], &other[1]).is_none());
        }
    }
}

#[test]
fn known_answers_are_right() {
    assert!(self_test(Curve::P256));
    assert!(self_test(Curve::P384));
}
