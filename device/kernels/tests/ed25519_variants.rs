//! These tests check that each variant of Ed25519 accepts its own signatures and refuses those of the others. Public
//! vectors are read from their folder (see `vectors`). Without vectors the tests print a message and pass.

#![cfg(all(feature = "ed25519-keystone", feature = "ed25519-contexts"))]

use crate::vectors::{array, bytes, read, read_json, records, text, unhex};
use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION};
use curve25519_dalek::{EdwardsPoint, Scalar};
use ed25519_dalek::{Signer, SigningKey};
use hartlock_kernels::ed25519::{self, Violation};
use hartlock_kernels::ed25519_contexts::{Context, verify_pre_hashed, verify_with_context};
use hartlock_kernels::{Hash, ed25519_keystone, sha2};
use proptest::prelude::*;
use sha3::{Digest, Sha3_512};

/// Returns the verdicts of all variants: plain, Keystone, with a context, pre-hashed.
fn verdicts(key: &[u8], context: &[u8], message: &[u8], signature: &[u8]) -> [bool; 4] {
    let (Ok(key), Ok(signature)) = (key.try_into(), signature.try_into()) else {
        return [false; 4];
    };
    let mut hash = sha2::Sha512::new();
    hash.update(message);
    let digest = hash.finalize();
    let context = Context::new(context).expect("a context of the right length");
    [
        ed25519::verify(key, message, signature).is_ok(),
        ed25519_keystone::verify(key, message, signature).is_ok(),
        verify_with_context(key, context, message, signature).is_ok(),
        verify_pre_hashed(key, context, &digest, signature).is_ok(),
    ]
}

const NONE: [bool; 4] = [false; 4];
const PLAIN: [bool; 4] = [true, false, false, false];
const KEYSTONE: [bool; 4] = [false, true, false, false];
const WITH_CONTEXT: [bool; 4] = [false, false, true, false];
const PRE_HASHED: [bool; 4] = [false, false, false, true];

fn scalar_of(parts: &[&[u8]]) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&Sha3_512::digest(parts.concat()).into())
}

/// Makes a Keystone signature whose key and nonce may have an additional point of small order.
fn sign_astray(
    message: &[u8],
    number: u8,
    key_torsion: EdwardsPoint,
    r_torsion: EdwardsPoint,
) -> ([u8; 32], [u8; 32], Scalar) {
    let secret = scalar_of(&[b"secret", &[number]]);
    let nonce = scalar_of(&[b"nonce", &[number], message]);
    let key = (B * secret + key_torsion).compress().to_bytes();
    let r = (B * nonce + r_torsion).compress().to_bytes();
    let k = scalar_of(&[&r, &key, message]);
    (key, r, nonce + k * secret)
}

fn join(r: &[u8; 32], s: &[u8; 32]) -> [u8; 64] {
    [*r, *s].concat().try_into().unwrap()
}

proptest! {
    // A verification without optimization takes milliseconds, and each case needs four.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_variant_accepts_what_is_anothers(
        seed: [u8; 32],
        message in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let key = SigningKey::from_bytes(&seed);
        let public = key.verifying_key().to_bytes();
        let plain = key.sign(&message).to_bytes();
        prop_assert_eq!(verdicts(&public, b"", &message, &plain), PLAIN);

        let identity = EIGHT_TORSION[0];
        let (public, r, s) = sign_astray(&message, seed[0], identity, identity);
        let keystone = join(&r, &s.to_bytes());
        prop_assert_eq!(verdicts(&public, b"", &message, &keystone), KEYSTONE);
    }

    #[test]
    fn keystone_refuses_one_flipped_bit(
        number: u8,
        message in prop::collection::vec(any::<u8>(), 1..100),
        place: prop::sample::Index,
    ) {
        let identity = EIGHT_TORSION[0];
        let (key, r, s) = sign_astray(&message, number, identity, identity);
        let mut all = [&key[..], &r, s.as_bytes(), &message].concat();
        let bit = place.index(8 * all.len());
        all[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(verdicts(&all[..32], b"", &all[96..], &all[32..96]), NONE);
    }
}

#[test]
fn keystone_keeps_the_strict_rule() {
    let identity = EIGHT_TORSION[0];
    let message = b"message";
    let (key, r, s) = sign_astray(message, 1, identity, identity);
    let verify = |key: &[u8; 32], r: &[u8; 32], s: &[u8; 32]| {
        ed25519_keystone::verify(key, message, &join(r, s))
    };
    let s = s.to_bytes();
    assert_eq!(verify(&key, &r, &s), Ok(()));

    // The signature has S + L, which Keystone's own verifier accepts.
    let order = (-Scalar::ONE).to_bytes();
    let mut carry = 1_u16; // L - 1 + 1
    let mut larger = s;
    for (byte, order) in larger.iter_mut().zip(order) {
        carry += u16::from(*byte) + u16::from(order);
        *byte = carry as u8;
        carry >>= 8;
    }
    assert_eq!(verify(&key, &r, &larger), Err(Violation::NonCanonicalS));

    for point in EIGHT_TORSION {
        let small = point.compress().to_bytes();
        assert_eq!(verify(&small, &r, &s), Err(Violation::SmallOrderKey));
        assert_eq!(verify(&key, &small, &s), Err(Violation::SmallOrderR));
    }
    let not_canonical = [0xff; 32];
    assert_eq!(verify(&not_canonical, &r, &s), Err(Violation::NonCanonicalKey));
    assert_eq!(verify(&key, &not_canonical, &s), Err(Violation::NonCanonicalR));
    let astray = (2_u8..).map(|y| [[y].as_slice(), &[0; 31]].concat().try_into().unwrap());
    let off_curve = astray
        .map(curve25519_dalek::edwards::CompressedEdwardsY)
        .find(|point| point.decompress().is_none())
        .unwrap();
    assert_eq!(verify(&off_curve.0, &r, &s), Err(Violation::KeyNotOnCurve));

    // The equation is cofactorless, so an R with an additional point of small order does not satisfy it.
    let (key, r, s) = sign_astray(message, 2, identity, EIGHT_TORSION[1]);
    assert_eq!(verify(&key, &r, &s.to_bytes()), Err(Violation::Mismatch));
}

#[test]
fn keystone_passes_its_self_test() {
    assert!(ed25519_keystone::self_test());
}

#[test]
fn a_context_has_at_most_255_bytes() {
    assert!(Context::new(&[0; 255]).is_some());
    assert!(Context::new(&[0; 256]).is_none());
}

#[test]
fn keystone_agrees_with_endorsements() {
    let path = "ed25519-sha3/keystone_endorsement.json";
    let Some(file) = read_json(path) else { return };
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let device_key = bytes(group, "publicKey");
        for test in array(&group["tests"]) {
            let expected = match text(test, "result") {
                "valid" => KEYSTONE,
                // Some of these signatures use SHA-512.
                "invalid" if flag(test, "WrongHash") => PLAIN,
                "invalid" => NONE,
                other => panic!("unknown result {other}"),
            };
            let actual = verdicts(&device_key, b"", &bytes(test, "msg"), &bytes(test, "sig"));
            assert_eq!(actual, expected, "{} {}", test["tcId"], test["comment"]);
            *(if expected == KEYSTONE { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("{path}: {valid} valid, {invalid} invalid");
    assert!(valid > 0 && invalid > 0);
}

fn flag(test: &serde_json::Value, name: &str) -> bool {
    array(&test["flags"]).iter().any(|flag| flag == name)
}

#[test]
fn keystone_agrees_with_signatures_of_the_same_scheme() {
    // The lines have the form secret ‖ key : key : message : signature ‖ message.
    let path = "ed25519-sha3/sign.input.with.sha3.txt";
    let Some(file) = read(path) else { return };
    let mut count = 0;
    for line in file.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<_> = line.split(':').collect();
        let (key, message, signature) = (unhex(fields[1]), unhex(fields[2]), unhex(fields[3]));
        assert_eq!(verdicts(&key, b"", &message, &signature[..64]), KEYSTONE, "{line}");
        count += 1;
    }
    println!("{path}: {count} valid");
    assert!(count > 0);
}

#[test]
fn contexts_agree_with_rfc_8032() {
    for (path, expected) in [
        ("ed25519/rfc8032_ed25519.json", PLAIN),
        ("ed25519/rfc8032_ed25519ctx.json", WITH_CONTEXT),
        ("ed25519/rfc8032_ed25519ph.json", PRE_HASHED),
    ] {
        let Some(file) = read_json(path) else { return };
        for test in array(&file) {
            let context = test["context"].as_str().map(unhex).unwrap_or_default();
            let (key, message) = (bytes(test, "publicKey"), bytes(test, "message"));
            let signature = bytes(test, "signature");
            assert_eq!(verdicts(&key, &context, &message, &signature), expected, "{test}");
            let longer = [&context[..], b" "].concat();
            let other = if expected == PLAIN { PLAIN } else { NONE };
            assert_eq!(verdicts(&key, &longer, &message, &signature), other, "{test}");
        }
    }
}

#[test]
fn pre_hashed_agrees_with_acvp_and_botan() {
    let Some(file) = read_json("ed25519/EDDSA-SigVer-1.0.json") else { return };
    let mut count = 0;
    for group in array(&file["testGroups"]) {
        for test in array(&group["tests"]) {
            let is_valid = test["testPassed"].as_bool().unwrap();
            let expected = match (is_valid, group["preHash"].as_bool().unwrap()) {
                (false, _) => NONE,
                (true, false) => PLAIN,
                (true, true) => PRE_HASHED,
            };
            let (key, message) = (bytes(test, "q"), bytes(test, "message"));
            assert_eq!(verdicts(&key, b"", &message, &bytes(test, "signature")), expected);
            count += 1;
        }
    }
    assert!(count > 0);
    let Some(file) = read("ed25519/botan_ed25519_signinput.vec") else { return };
    for record in records(&file).iter().filter(|record| record["section"] == "[Ed25519ph]") {
        let (key, signature) = (unhex(&record["Pubkey"]), unhex(&record["Signature"]));
        let actual = verdicts(&key, b"", &unhex(&record["Msg"]), &signature);
        assert_eq!(actual, PRE_HASHED, "{record:?}");
    }
}
