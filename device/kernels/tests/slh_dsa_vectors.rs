//! These tests compare SLH-DSA with public test vectors (see `vectors`). Without vectors they print a message and
//! pass. A crate also contains the vectors of NIST.

use crate::vectors::{
    SLH_DSA_OF_NIST, array, bytes, of_crates, read, read_json, records, skip, text, unhex,
};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::sha3::Shake128;
use hartlock_kernels::signature::{ParameterSet, Rejection};
use hartlock_kernels::slh_dsa::{SlhDsaMessage, SlhDsaSet, verify};
use hartlock_kernels::{Hash, Kernels};
use serde_json::Value;
use std::collections::BTreeSet;

fn digest<H: Hash>(message: &[u8]) -> H::Output {
    let mut hash = H::new();
    hash.update(message);
    hash.finalize()
}

fn set_of(name: &str) -> SlhDsaSet {
    SlhDsaSet::from_name(&name.to_ascii_lowercase()).unwrap_or_else(|| panic!("unknown set {name}"))
}

fn judge(
    set: SlhDsaSet,
    key: &[u8],
    message: SlhDsaMessage,
    signature: &[u8],
) -> Result<(), Rejection> {
    verify(&Kernels::PORTABLE, set, key, message, signature)
}

/// Returns the DER object identifier of a hash function (FIPS 205 §10.2.2, and the register of NIST for its last
/// number).
fn oid_of(hash: &str) -> Vec<u8> {
    let last = match hash {
        "sha256" => 1,
        "sha512" => 3,
        "shake128" => 11,
        "shake256" => 12,
        other => panic!("unknown hash {other}"),
    };
    [unhex("06096086480165030402"), vec![last]].concat()
}

/// Runs a file and counts valid and invalid signatures. The file is for the internal interface, although it does not
/// state this.
fn check_acvp(file: &Value) -> (usize, usize) {
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let set = set_of(text(group, "parameterSet"));
        for test in array(&group["tests"]) {
            let (key, message) = (bytes(test, "pk"), bytes(test, "message"));
            let signature = bytes(test, "signature");
            let verdict = judge(set, &key, SlhDsaMessage::Internal(&message), &signature);
            let expected = test["testPassed"].as_bool().unwrap();
            assert_eq!(verdict.is_ok(), expected, "{set:?} {} {}", test["tcId"], test["reason"]);
            if signature.len() != set.signature_len() {
                assert_eq!(verdict, Err(Rejection::SignatureLength));
            }
            // As a message of the external interface, it is a different message.
            let pure = SlhDsaMessage::Pure { context: b"", message: &message };
            assert!(judge(set, &key, pure, &signature).is_err());
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    (valid, invalid)
}

#[test]
fn slh_dsa_agrees_with_acvp() {
    let Some(file) = read_json(SLH_DSA_OF_NIST) else { return };
    let (valid, invalid) = check_acvp(&file);
    println!("{SLH_DSA_OF_NIST}: {valid} valid, {invalid} invalid");
    assert!(valid > 0 && invalid > 0);
}

#[test]
fn slh_dsa_agrees_with_acvp_out_of_a_crate() {
    // If only this package is built, cargo does not download the crate.
    let Some(file) = of_crates(SLH_DSA_OF_NIST) else { return skip("ACVP's of the crate fips205") };
    assert_eq!(check_acvp(&serde_json::from_str(&file).unwrap()), (15, 30));
}

#[test]
fn slh_dsa_agrees_with_bouncy_castle() {
    const FILES: [&str; 12] = [
        "sha2-128f",
        "sha2-128f-sha256",
        "sha2-128s",
        "sha2-128s-sha256",
        "sha2-192s",
        "sha2-192s-sha512",
        "shake-128f",
        "shake-128f-shake128",
        "shake-128s",
        "shake-128s-shake128",
        "shake-192s",
        "shake-192s-shake256",
    ];
    let mut interfaces = BTreeSet::new();
    for name in FILES {
        let Some(file) = read(&format!("slh-dsa/bc_{name}.rsp")) else { return };
        let mut parts = name.splitn(3, '-');
        let (family, size, hash) = (parts.next().unwrap(), parts.next().unwrap(), parts.next());
        let set = set_of(&format!("SLH-DSA-{family}-{size}"));
        let mut count = 0;
        for record in records(&file) {
            let (key, message) = (unhex(&record["pk"]), unhex(&record["msg"]));
            // This field contains only the signature, although other files use the name for signature and message.
            let signature = unhex(&record["sm"]);
            let context = match record["context"].as_str() {
                "none" => None,
                "zero_length" => Some(Vec::new()),
                context => Some(unhex(context)),
            };
            let oid = hash.map(oid_of);
            let digest = record.get("message_hash").map(|digest| unhex(digest));
            let (interface, message) = match (&context, &oid) {
                // Files of the pure interface also have records of the internal interface.
                (None, None) => ("internal", SlhDsaMessage::Internal(&message)),
                (Some(context), None) => {
                    ("pure", SlhDsaMessage::Pure { context, message: &message })
                }
                (context, Some(oid)) => {
                    let context = context.as_deref().unwrap_or_default();
                    let digest = digest.as_deref().expect("a digest");
                    ("pre-hashed", SlhDsaMessage::PreHashed { context, oid, digest })
                }
            };
            interfaces.insert(interface);
            let verdict = judge(set, &key, message, &signature);
            assert_eq!(verdict, Ok(()), "{name} {} {interface}", record["count"]);
            count += 1;
        }
        println!("bc_{name}.rsp: {count} records");
        assert!(count > 0);
    }
    assert_eq!(interfaces.len(), 3);
}

#[test]
fn slh_dsa_refuses_what_was_made_invalid() {
    let path = "slh-dsa/derived_slhdsa_invalid.json";
    let Some(file) = read_json(path) else { return };
    let tests = array(&file["tests"]);
    for test in tests {
        let set = set_of(text(test, "parameterSet"));
        let (key, signature) = (bytes(test, "pk"), bytes(test, "sig"));
        let (message, context) = (bytes(test, "msg"), bytes(test, "context"));
        let pre_hash = |hash, digest: &[u8]| (oid_of(hash), digest.to_vec());
        let pre_hashed = match text(test, "preHash") {
            "pure" => None,
            "SHA2-256" => Some(pre_hash("sha256", &digest::<Sha256>(&message))),
            "SHAKE-128" => Some(pre_hash("shake128", &digest::<Shake128>(&message))),
            other => panic!("{path}: unknown interface {other}"),
        };
        let context = &context;
        let message = match &pre_hashed {
            None => SlhDsaMessage::Pure { context, message: &message },
            Some((oid, digest)) => SlhDsaMessage::PreHashed { context, oid, digest },
        };
        assert_eq!(text(test, "result"), "invalid");
        let verdict = judge(set, &key, message, &signature);
        assert!(verdict.is_err(), "{} {}", test["tcId"], test["comment"]);
    }
    println!("{path}: {} invalid", tests.len());
    assert!(!tests.is_empty());
}
