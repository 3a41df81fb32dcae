//! These tests check published signatures, signatures of ed25519-dalek, extreme scalars, and
//! faults.

use std::vec::Vec;

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar as Judge;
use ed25519_dalek::{Signer as _, SigningKey};

use super::*;
use crate::ed25519::{keystone, verify};
use crate::sha2::Sha512;
use crate::sha3::Sha3_512;

fn sha512(bytes: &[u8]) -> [u8; 64] {
    let mut hash = Sha512::new();
    hash.update(bytes);
    hash.finalize()
}

fn product(k: &[u64; 4]) -> Result<[u8; 32], Error> {
    let mut encoded = [0; 32];
    base_product(k, &mut encoded).map(|()| encoded)
}

fn words(bytes: [u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Returns pseudorandom bytes, which are the hash of a counter.
fn random(number: u32) -> [u8; 64] {
    sha512(&number.to_le_bytes())
}

#[test]
fn keys_and_signatures_are_those_of_another_implementation() {
    for number in 0..40 {
        let seed = *random(number).first_chunk().unwrap();
        let message: Vec<u8> = (0..number as u8 * 5).collect();
        let expanded = sha512(&seed);
        let (ours, theirs) = (KeyPair::new(&expanded).unwrap(), SigningKey::from_bytes(&seed));
        assert_eq!(ours.public_key(), theirs.verifying_key().as_bytes());
        let signature = ours.sign(Sha512::new, &message).unwrap();
        assert_eq!(signature, theirs.sign(&message).to_bytes(), "{number}");
        assert_eq!(verify(ours.public_key(), &message, &signature), Ok(()));
    }
}

#[test]
fn a_published_signature_is_made_again() {
    // This is test 3 of RFC 8032 §7.1.
    let seed = *b"\xc5\xaa\x8d\xf4\x3f\x9f\x83\x7b\xed\xb7\x44\x2f\x31\xdc\xb7\xb1\
        \x66\xd3\x85\x35\x07\x6f\x09\x4b\x85\xce\x3a\x2e\x0b\x44\x58\xf7";
    let made = KeyPair::new(&sha512(&seed)).unwrap().sign(Sha512::new, &[0xaf, 0x82]).unwrap();
    assert_eq!(&made, super::super::KAT_SIGNATURE);
}

#[test]
fn the_variant_with_sha3_512_verifies_as_such_and_not_as_the_standard() {
    let expanded = random(7);
    let pair = KeyPair::new(&expanded).unwrap();
    let signature = pair.sign(Sha3_512::new, b"message").unwrap();
    assert_eq!(keystone::verify(pair.public_key(), b"message", &signature), Ok(()));
    assert!(verify(pair.public_key(), b"message", &signature).is_err());
}

/// Returns 0, 1, L - 1, powers of two, and sparse and dense numbers. All are below L.
fn edges() -> Vec<[u8; 32]> {
    let bit = |number: usize| {
        let mut bytes = [0; 32];
        bytes[number / 8] = 1 << (number % 8);
        bytes
    };
    let mut edges: Vec<[u8; 32]> = (0..252).map(bit).collect();
    let minus = |number: u64| (-Judge::from(number)).to_bytes();
    edges.extend([1, 2, 3].map(minus));
    let mut dense = [0xff; 32];
    dense[31] = 0x0f;
    edges.push(dense);
    edges
}

#[test]
fn products_of_the_base_point_are_right_for_edge_and_random_scalars() {
    let random =
        (0..200).map(|number| Judge::from_bytes_mod_order_wide(&random(number)).to_bytes());
    for bytes in edges().into_iter().chain(random) {
        let expected = EdwardsPoint::mul_base(&Judge::from_canonical_bytes(bytes).unwrap());
        let made = product(&words(bytes)).unwrap();
        assert_eq!(made, expected.compress().to_bytes(), "{bytes:02x?}");
    }
}

#[test]
fn zero_is_refused() {
    assert_eq!(product(&[0; 4]), Err(Error::Zero));
}

#[test]
fn each_entry_of_the_comb_is_its_sum_of_powers() {
    for (half, table) in COMB.iter().enumerate() {
        for (index, entry) in table.iter().enumerate() {
            let power = |tooth: usize| {
                let exponent = tooth * COLUMNS + half * HALF;
                (0..exponent).fold(Judge::ONE, |power, _| power + power)
            };
            let sum = (0..TEETH - 1).fold(power(TEETH - 1), |sum, tooth| {
                if index >> tooth & 1 == 1 { sum + power(tooth) } else { sum - power(tooth) }
            });
            let mut next = Completed::NEUTRAL;
            let mut projective = Projective::NEUTRAL;
            next.set_sum(&Extended::NEUTRAL, entry, None, false);
            next.project(&mut projective);
            let expected = EdwardsPoint::mul_base(&sum).compress().to_bytes();
            assert_eq!(projective.encode(), expected, "{half} {index}");
            // An addition to the neutral element does not use 2dt.
            let mut point = Extended::NEUTRAL;
            next.extend(&mut point);
            next.set_sum(&point, entry, None, false);
            next.project(&mut projective);
            let expected = EdwardsPoint::mul_base(&(sum + sum)).compress().to_bytes();
            assert_eq!(projective.encode(), expected, "{half} {index}, doubled");
        }
    }
}

#[test]
fn a_product_and_a_sum_are_those_of_integers_modulo_l() {
    for number in 0..200 {
        let [a, b, c] =
            [0, 1, 2].map(|offset| Judge::from_bytes_mod_order_wide(&random(3 * number + offset)));
        let made = multiply_add(&words(a.to_bytes()), &words(b.to_bytes()), &words(c.to_bytes()));
        assert_eq!(made.as_flattened(), (a * b + c).to_bytes(), "{number}");
    }
    let most = words((-Judge::ONE).to_bytes());
    let made = multiply_add(&most, &most, &most);
    assert_eq!(made.as_flattened(), Judge::ZERO.to_bytes());
}

#[test]
fn nothing_is_returned_for_a_public_key_that_belongs_to_another_scalar() {
    // A fault in the multiplication can have this result.
    let [one, other] = [1, 2].map(|seed| sha512(&[seed; 32]));
    let public_key = *KeyPair::new(&other).unwrap().public_key();
    let pair = KeyPair { expanded: &one, public_key };
    assert_eq!(pair.sign(Sha512::new, b"message"), Err(Error::NotVerified));
}

#[test]
fn every_flipped_bit_of_the_scalar_is_noticed_when_it_signs() {
    for bit in 3..254 {
        let mut expanded = sha512(&[3; 32]);
        let public_key = *KeyPair::new(&expanded).unwrap().public_key();
        expanded[bit / 8] ^= 1 << (bit % 8);
        let pair = KeyPair { expanded: &expanded, public_key };
        assert_eq!(pair.sign(Sha512::new, b"message"), Err(Error::NotVerified), "{bit}");
    }
}

#[test]
fn secrets_are_not_printed() {
    let text = std::format!("{:?}", KeyPair::new(&sha512(&[9; 32])).unwrap());
    assert!(text.starts_with("KeyPair { public_key: [") && text.ends_with("], .. }"), "{text}");
}
