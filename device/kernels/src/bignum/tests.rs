//! These tests compare the fixed-length arithmetic with another crate, for all lengths and for extreme values.

use super::*;
use num_bigint::BigUint;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

fn big(limbs: &[u64]) -> BigUint {
    BigUint::from_slice(
        &limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect::<Vec<_>>(),
    )
}

fn limbs_of(value: &BigUint, len: usize) -> Vec<u64> {
    let mut limbs = value.to_u64_digits();
    assert!(limbs.len() <= len);
    limbs.resize(len, 0);
    limbs
}

/// A strategy for limbs. Extreme values, at which carries begin and end, are as frequent as random values.
fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => any::<u64>(),
        2 => Just(u64::MAX),
        2 => Just(0),
        1 => Just(1),
        1 => Just(1 << 63),
        1 => Just(u64::MAX - 1),
    ]
}

/// A strategy for an odd modulus with its top bit set, and two integers that are below it or extreme.
fn operands(lens: &'static [usize]) -> impl Strategy<Value = [Vec<u64>; 3]> {
    let len = prop::sample::select(lens);
    len.prop_flat_map(|len| {
        let number = move || prop::collection::vec(limb(), len);
        (number(), number(), number(), 0..6u8, 0..6u8)
    })
    .prop_map(|(mut m, a, b, edge_a, edge_b)| {
        m[0] |= 1;
        *m.last_mut().unwrap() |= 1 << 63;
        let modulus = big(&m);
        let place = |value: &[u64], edge| {
            let value = match edge {
                0 => BigUint::ZERO,
                1 => BigUint::from(1u8),
                2 => &modulus - 1u8,
                3 => &modulus - 2u8,
                _ => big(value) % &modulus,
            };
            limbs_of(&value, m.len())
        };
        let (a, b) = (place(&a, edge_a), place(&b, edge_b));
        [m, a, b]
    })
}

/// Returns R = 2^(64 · len).
fn radix(len: usize) -> BigUint {
    BigUint::from(1u8) << (64 * len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn products_agree_with_integers([m, a, b] in operands(&[4, 6])) {
        let modulus = Modulus::new(&m).unwrap();
        let len = m.len();
        let mut plain = vec![7; len];
        modulus.plain_product(&mut plain, &a, &b);
        prop_assert_eq!(big(&plain), big(&a) * big(&b) % big(&m));
    }

    #[test]
    fn a_first_factor_may_exceed_the_modulus([m, _, b] in operands(&[4, 6]), fill in limb()) {
        let modulus = Modulus::new(&m).unwrap();
        let a = vec![fill; m.len()];
        let mut plain = vec![0; m.len()];
        modulus.plain_product(&mut plain, &a, &b);
        prop_assert_eq!(big(&plain), big(&a) * big(&b) % big(&m));
    }

    #[test]
    fn any_number_is_brought_into_the_form([m, a, _] in operands(&[4, 6, 32, 48, 64]), fill in limb(), more in 1..64u32) {
        let modulus = Modulus::new(&m).unwrap();
        for mut x in [a, vec![fill; m.len()], m.clone()] {
            let expected = ((big(&x) * radix(m.len())) << more) % big(&m);
            modulus.to_montgomery(&mut x, more, &mut vec![9; 2 * m.len()]);
            prop_assert_eq!(big(&x), expected);
        }
    }

    #[test]
    fn the_reciprocal_is_the_integer_below(top in limb()) {
        let top = top | 1 << 63;
        let two_to_128 = BigUint::from(1u8) << 128;
        let quotient: BigUint = (two_to_128 - 1u8) / (BigUint::from(top) + 1u8);
        let expected = if top == u64::MAX { 0 } else { quotient.to_u64_digits()[0] };
        prop_assert_eq!(reciprocal(top), expected);
    }

    #[test]
    fn bytes_and_limbs_are_one_number(bytes in prop::collection::vec(any::<u8>(), 0..48)) {
        let mut limbs = [u64::MAX; 6];
        read_be(&mut limbs, &bytes);
        prop_assert_eq!(big(&limbs), BigUint::from_bytes_be(&bytes));
        let mut back = vec![0xaa; bytes.len()];
        write_be(&mut back, &limbs);
        prop_assert_eq!(back, bytes);
    }

    #[test]
    fn order_and_difference_agree([_, a, b] in operands(&[4, 6])) {
        prop_assert_eq!(is_below(&a, &b), big(&a) < big(&b));
        let mut difference = a.clone();
        prop_assert_eq!(subtract(&mut difference, &b), big(&a) < big(&b));
        prop_assert!(!subtract(&mut a.clone(), &a));
        let modulo = if big(&a) < big(&b) { radix(a.len()) } else { BigUint::ZERO };
        prop_assert_eq!(big(&difference), big(&a) + modulo - big(&b));
    }
}

#[test]
fn moduli_that_do_not_fit_are_refused() {
    assert!(Modulus::new(&[]).is_none());
    assert!(Modulus::new(&[1, 1]).is_none());
    assert!(Modulus::new(&[2, 1 << 63]).is_none());
    assert!(Modulus::new(&[1, 1 << 63]).is_some());
}
