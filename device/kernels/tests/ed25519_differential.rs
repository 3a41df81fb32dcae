//! These tests compare Ed25519 with `verify_strict` of dalek, for valid signatures, for damaged
//! ones, and for edge cases on which verifiers are known to disagree.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION};
use curve25519_dalek::{EdwardsPoint, Scalar};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use hartlock_kernels::ed25519::{Violation, self_test, verify};
use proptest::prelude::*;
use sha2::{Digest, Sha512};

fn dalek_accepts(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    VerifyingKey::from_bytes(key)
        .and_then(|key| key.verify_strict(message, &Signature::from_bytes(signature)))
        .is_ok()
}

/// Returns our verdict, after a check that dalek has the same verdict.
///
/// There is one known difference: dalek may decode a key that is not canonical. It has no effect,
/// because no signature for such a key is known unless the key also has a small order.
fn verdict(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), Violation> {
    let ours = verify(key, message, signature);
    assert_eq!(
        ours.is_ok(),
        dalek_accepts(key, message, signature),
        "{ours:?}: key {key:02x?} message {message:02x?} signature {signature:02x?}"
    );
    ours
}

fn scalar_of(parts: &[&[u8]]) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&Sha512::digest(parts.concat()).into())
}

fn join(r: &[u8; 32], s: &[u8; 32]) -> [u8; 64] {
    [*r, *s].concat().try_into().unwrap()
}

/// Makes a signature whose key and nonce may have an additional point of small order.
fn sign_astray(
    message: &[u8],
    number: u8,
    key_torsion: EdwardsPoint,
    r_torsion: EdwardsPoint,
) -> ([u8; 32], [u8; 64]) {
    let secret = scalar_of(&[b"secret", &[number]]);
    let nonce = scalar_of(&[b"nonce", &[number], message]);
    let key = (B * secret + key_torsion).compress().to_bytes();
    let r = (B * nonce + r_torsion).compress().to_bytes();
    let k = scalar_of(&[&r, &key, message]);
    (key, join(&r, &(nonce + k * secret).to_bytes()))
}

proptest! {
    // A verification without optimization takes milliseconds, and each case needs two.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn good_signatures_are_accepted(
        seed: [u8; 32],
        message in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let key = SigningKey::from_bytes(&seed);
        let signature = key.sign(&message).to_bytes();
        prop_assert_eq!(verdict(&key.verifying_key().to_bytes(), &message, &signature), Ok(()));
    }

    #[test]
    fn one_flipped_bit_is_refused(
        seed: [u8; 32],
        message in prop::collection::vec(any::<u8>(), 1..100),
        place: prop::sample::Index,
    ) {
        let key = SigningKey::from_bytes(&seed);
        let mut all = [
            key.verifying_key().to_bytes().as_slice(),
            key.sign(&message).to_bytes().as_slice(),
            message.as_slice(),
        ]
        .concat();
        let bit = place.index(all.len() * 8);
        all[bit / 8] ^= 1 << (bit % 8);
        let (public_key, rest) = all.split_first_chunk().unwrap();
        let (signature, message) = rest.split_first_chunk().unwrap();
        prop_assert!(verdict(public_key, message, signature).is_err());
    }

    #[test]
    fn random_bytes_are_refused(key: [u8; 32], r: [u8; 32], s: [u8; 32], message: [u8; 8]) {
        prop_assert!(verdict(&key, &message, &join(&r, &s)).is_err());
    }

    #[test]
    fn s_plus_order_is_refused(seed: [u8; 32], message: [u8; 16]) {
        let key = SigningKey::from_bytes(&seed);
        let mut signature = key.sign(&message).to_bytes();
        // This computes L = (L - 1) + 1, byte by byte.
        let mut order = (-Scalar::ONE).to_bytes();
        order[0] += 1;
        let mut carry = 0u16;
        for (byte, add) in signature[32..].iter_mut().zip(order) {
            carry += u16::from(*byte) + u16::from(add);
            *byte = carry as u8;
            carry >>= 8;
        }
        prop_assert_eq!(
            verdict(&key.verifying_key().to_bytes(), &message, &signature),
            Err(Violation::NonCanonicalS)
        );
    }
}

#[test]
fn small_order_keys_are_refused() {
    for key in EIGHT_TORSION {
        let key = key.compress().to_bytes();
        for r in EIGHT_TORSION {
            // With S = 0 the equation is R + [k]A = 0, which holds for many of these.
            for message in 0..4u8 {
                let signature = join(&r.compress().to_bytes(), &[0; 32]);
                assert_eq!(verdict(&key, &[message], &signature), Err(Violation::SmallOrderKey));
            }
        }
    }
}

#[test]
fn small_order_r_is_refused_even_where_the_equation_holds() {
    let secret = scalar_of(&[b"secret"]);
    let key = (B * secret).compress().to_bytes();
    for torsion in EIGHT_TORSION {
        let r = torsion.compress().to_bytes();
        // If R is the neutral element, S = k * secret satisfies [S]B = R + [k]A.
        let s = scalar_of(&[&r, &key, b"message"]) * secret;
        let signature = join(&r, &s.to_bytes());
        assert_eq!(verdict(&key, b"message", &signature), Err(Violation::SmallOrderR));
    }
}

#[test]
fn small_order_components_pass_only_where_the_cofactorless_equation_holds() {
    let neutral = EIGHT_TORSION[0];
    let (mut accepted, mut refused) = (0, 0);
    for torsion in &EIGHT_TORSION[1..] {
        for number in 0..6 {
            let message = [number; 5];
            let (key, signature) = sign_astray(&message, number, *torsion, neutral);
            match verdict(&key, &message, &signature) {
                Ok(()) => accepted += 1,
                Err(rejection) => {
                    assert_eq!(rejection, Violation::Mismatch);
                    refused += 1;
                }
            }
            let (key, signature) = sign_astray(&message, number, neutral, *torsion);
            assert_eq!(verdict(&key, &message, &signature), Err(Violation::Mismatch));
            verdict_of_both_astray(&message, number, *torsion);
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

/// The additional points of key and R may cancel, so only the agreement with dalek is checked.
fn verdict_of_both_astray(message: &[u8], number: u8, torsion: EdwardsPoint) {
    let (key, signature) = sign_astray(message, number, torsion, -torsion);
    let _ = verdict(&key, message, &signature);
}

#[test]
fn encodings_that_are_not_canonical_are_refused() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let good_key = key.verifying_key().to_bytes();
    let good = key.sign(b"message").to_bytes();
    for above_p in 0..19u8 {
        for sign in [0x7f, 0xff] {
            let mut odd = [0xff; 32];
            odd[0] = 0xed + above_p;
            odd[31] = sign;
            assert_eq!(verdict(&odd, b"message", &good), Err(Violation::NonCanonicalKey));
            let mut signature = good;
            signature[..32].copy_from_slice(&odd);
            assert_eq!(verdict(&good_key, b"message", &signature), Err(Violation::NonCanonicalR));
        }
    }
    // This is the neutral element with the sign of an odd x. As a key, it would allow forgeries for
    // any message.
    let mut negative_zero = [0; 32];
    negative_zero[0] = 1;
    negative_zero[31] = 0x80;
    let mut neutral = negative_zero;
    neutral[31] = 0;
    assert_eq!(
        verdict(&negative_zero, b"any", &join(&neutral, &[0; 32])),
        Err(Violation::NonCanonicalKey)
    );
    let s = scalar_of(&[&negative_zero, &good_key, b"any"]) * key.to_scalar();
    assert_eq!(
        verdict(&good_key, b"any", &join(&negative_zero, &s.to_bytes())),
        Err(Violation::NonCanonicalR)
    );
}

#[test]
fn r_is_compared_in_every_bit() {
    let secret = scalar_of(&[b"secret"]);
    let nonce = scalar_of(&[b"nonce"]);
    let key = (B * secret).compress().to_bytes();
    for bit in 0..256 {
        // S matches the changed R, so the equation gives the unchanged R. Only the comparison of
        // the two detects the change.
        let mut r = (B * nonce).compress().to_bytes();
        r[bit / 8] ^= 1 << (bit % 8);
        let k = scalar_of(&[&r, &key, b"message"]);
        let signature = join(&r, &(nonce + k * secret).to_bytes());
        assert_eq!(verdict(&key, b"message", &signature), Err(Violation::Mismatch));
    }
}

#[test]
fn a_key_off_the_curve_is_named_as_such() {
    let signature = SigningKey::from_bytes(&[7; 32]).sign(b"message").to_bytes();
    let mut off_curve = 0;
    for y in 2..40u8 {
        let mut key = [0; 32];
        key[0] = y;
        let ours = verdict(&key, b"message", &signature);
        let decodes = VerifyingKey::from_bytes(&key).is_ok();
        assert_eq!(ours == Err(Violation::KeyNotOnCurve), !decodes);
        off_curve += u32::from(!decodes);
    }
    assert!(off_curve > 0);
}

#[test]
fn long_messages_are_verified() {
    let key = SigningKey::from_bytes(&[9; 32]);
    let message: Vec<u8> = (0..100_000u32).map(|i| (i * 31) as u8).collect();
    let signature = key.sign(&message).to_bytes();
    let public_key = key.verifying_key().to_bytes();
    assert_eq!(verdict(&public_key, &message, &signature), Ok(()));
    assert_eq!(verdict(&public_key, &message[1..], &signature), Err(Violation::Mismatch));
}

#[test]
fn the_self_test_passes() {
    assert!(self_test());
}
