//! These tests compare ECDSA with public test vectors (see `vectors`). Without vectors they print a
//! message and pass.

use crate::vectors::{array, bytes, read_json, text, unhex};
use hartlock_kernels::Hash;
use hartlock_kernels::ecdsa::{Curve, EcdsaPublicKey, MAX_SIGNATURE_LEN, compare, from_der};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use hartlock_kernels::signature::{ParameterSet, Rejection};
use serde_json::Value;
use sha2::Digest;

fn ours<H: Hash>(message: &[u8]) -> Vec<u8> {
    let mut hash = H::new();
    hash.update(message);
    hash.finalize().as_ref().to_vec()
}

/// Hashes a message. A SHAKE digest has 32 or 64 bytes (FIPS 186-5 §6.1.1, RFC 8702).
fn digest(hash: &str, message: &[u8]) -> Vec<u8> {
    match hash.replace("SHA2-", "SHA-").as_str() {
        "SHA-256" => ours::<hartlock_kernels::sha2::Sha256>(message),
        "SHA-384" => ours::<hartlock_kernels::sha2::Sha384>(message),
        "SHA-512" => ours::<hartlock_kernels::sha2::Sha512>(message),
        "SHA-512/256" => sha2::Sha512_256::digest(message).to_vec(),
        "SHA3-256" => ours::<Sha3_256>(message),
        "SHA3-384" => ours::<Sha3_384>(message),
        "SHA3-512" => ours::<Sha3_512>(message),
        "SHAKE-128" => ours::<Shake128>(message),
        "SHAKE-256" => ours::<Shake256>(message),
        other => panic!("unknown hash {other}"),
    }
}

fn verify(key: &EcdsaPublicKey, digest: &[u8], signature: &[u8]) -> Result<(), Rejection> {
    compare(key, digest, signature)?.check()
}

fn verify_der(key: &EcdsaPublicKey, digest: &[u8], signature: &[u8]) -> Result<(), Rejection> {
    let mut buffer = [0xaa; MAX_SIGNATURE_LEN];
    verify(key, digest, from_der(key.curve(), signature, &mut buffer)?)
}

/// Converts hexadecimal digits of any length to a number with the length of a coordinate.
fn fixed(hex: &str, len: usize) -> Vec<u8> {
    unhex(&format!("{hex:0>width$}", width = 2 * len))
}

fn curve_of(name: &str) -> Curve {
    match name {
        "P-256" | "secp256r1" => Curve::P256,
        "P-384" | "secp384r1" => Curve::P384,
        other => panic!("unknown curve {other}"),
    }
}

fn check_wycheproof(path: &str) {
    let Some(file) = read_json(path) else { return };
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let curve = curve_of(text(&group["publicKey"], "curve"));
        let key =
            EcdsaPublicKey::from_sec1(curve, &bytes(&group["publicKey"], "uncompressed")).unwrap();
        let same = EcdsaPublicKey::from_spki_der(&bytes(group, "publicKeyDer")).unwrap();
        assert_eq!(format!("{key:?}"), format!("{same:?}"));
        for test in array(&group["tests"]) {
            let digest = digest(text(group, "sha"), &bytes(test, "msg"));
            let signature = bytes(test, "sig");
            let verdict = match text(group, "type") {
                "EcdsaVerify" => verify_der(&key, &digest, &signature),
                "EcdsaP1363Verify" => verify(&key, &digest, &signature),
                other => panic!("unknown type {other}"),
            };
            let expected = match text(test, "result") {
                "valid" => true,
                "invalid" => false,
                other => panic!("unknown result {other}"),
            };
            assert_eq!(verdict.is_ok(), expected, "{path} {verdict:?} {test}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("{path}: {valid} valid, {invalid} invalid");
    assert!(valid > 100 && invalid > 50);
}

#[test]
fn ecdsa_agrees_with_wycheproof() {
    for name in [
        "secp256r1_sha256",
        "secp256r1_sha256_p1363",
        "secp256r1_sha3_256",
        "secp256r1_sha512",
        "secp384r1_sha256",
        "secp384r1_sha384",
        "secp384r1_sha384_p1363",
        "secp384r1_sha3_384",
        "secp384r1_sha512",
    ] {
        check_wycheproof(&format!("wycheproof/ecdsa_{name}_test.json"));
    }
}

/// Returns the verdict on an ACVP case. One of its faults is a key that is not on the curve.
fn judge_acvp(curve: Curve, hash: &str, test: &Value) -> Result<(), Rejection> {
    let len = curve.signature_size().unwrap() / 2;
    let field = |name| fixed(text(test, name), len);
    let key = [vec![4], field("qx"), field("qy")].concat();
    let key = EcdsaPublicKey::from_sec1(curve, &key)?;
    let signature = [field("r"), field("s")].concat();
    verify(&key, &digest(hash, &bytes(test, "message")), &signature)
}

#[test]
fn ecdsa_agrees_with_acvp() {
    let Some(file) = read_json("ecdsa/ECDSA-SigVer-FIPS186-5.json") else { return };
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let curve = curve_of(text(group, "curve"));
        for test in array(&group["tests"]) {
            let verdict = judge_acvp(curve, text(group, "hashAlg"), test);
            let expected = test["testPassed"].as_bool().unwrap();
            assert_eq!(verdict.is_ok(), expected, "{verdict:?} {test}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("ACVP: {valid} valid, {invalid} invalid");
    assert_eq!((valid, invalid), (10, 55));
}
