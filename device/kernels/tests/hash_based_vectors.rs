//! Tests with public test vectors of LMS, HSS, XMSS and XMSS^MT from the folder in the environment variable
//! `HARTLOCK_VECTORS`, which must exist. Without the variable these tests print a message and pass.

#![cfg(all(feature = "lms", feature = "xmss"))]

use std::collections::BTreeMap;

use crate::vectors::{folder, read, skip};
use hartlock_kernels::Kernels;
use hartlock_kernels::lms::{self, hss};
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::xmss::{self, Scheme, Sets, XmssParameterSet};
use serde_json::Value;

const KERNELS: &Kernels = &Kernels::PORTABLE;

/// Returns the files of a folder whose names have this start and end.
fn files(path: &str, start: &str, end: &str) -> Vec<String> {
    let Some(folder) = folder() else {
        skip(&format!("{path}/{start}*{end}"));
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder.join(path)).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with(start) && name.ends_with(end));
    names.sort();
    assert!(!names.is_empty(), "no {path}/{start}*{end}");
    names
}

/// Splits lines `field = value` or `field: value` into records, which empty lines separate.
fn records(file: &str) -> Vec<BTreeMap<String, String>> {
    let mut records = vec![BTreeMap::new()];
    for line in file.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            records.push(BTreeMap::new());
        } else if let Some((field, value)) = line.split_once(" =").or(line.split_once(':')) {
            let value = value.trim().trim_matches('"').to_owned();
            records.last_mut().unwrap().insert(field.to_owned(), value);
        }
    }
    records.retain(|record| !record.is_empty());
    records
}

fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

/// Verifies an XMSS signature. The message is split into two pieces, which must not change the result.
fn verify_xmss(
    scheme: Scheme,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    let (front, back) = message.split_at(message.len() / 3);
    xmss::verify(KERNELS, scheme, Sets::Every, key, &[front, back], signature)
}

/// Checks that a signature is valid, and that it is accepted only if the policy accepts its parameter set.
fn accepts_xmss(scheme: Scheme, key: &[u8], message: &[u8], signature: &[u8]) {
    let oid = u32::from_be_bytes(key[..4].try_into().unwrap());
    let set = XmssParameterSet::of(scheme, oid).unwrap();
    assert_eq!(verify_xmss(scheme, key, message, signature), Ok(()), "{scheme:?} {oid:#x}");
    let expected = if set.is_approved() { Ok(()) } else { Err(Rejection::UnsupportedKey) };
    let by_default = xmss::verify(KERNELS, scheme, Sets::default(), key, &[message], signature);
    assert_eq!(by_default, expected, "{scheme:?} {oid:#x}");
}

fn is_hss(key: &[u8]) -> bool {
    // HSS keys have a number of levels before an LMS key of 56 or 48 bytes, and therefore 60 or 52 bytes.
    matches!(key.len(), 60 | 52)
}

fn verify_lms(key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), Rejection> {
    let (front, back) = message.split_at(message.len() / 3);
    let verify = if is_hss(key) { hss::verify } else { lms::verify };
    verify(KERNELS, key, &[front, back], signature)
}

#[test]
fn xmss_agrees_with_botan() {
    let Some(file) = read("xmss/botan_xmss_verify.vec") else { return };
    let mut count = 0;
    for record in records(&file) {
        let field = |name: &str| unhex(&record[name]);
        accepts_xmss(Scheme::Xmss, &field("PublicKey"), &field("Msg"), &field("Signature"));
        count += 1;
    }
    println!("botan_xmss_verify.vec: {count} valid");
    assert_eq!(count, 40);
}

#[test]
fn xmss_agrees_with_liboqs() {
    let mut count = 0;
    for (start, scheme) in [("liboqs_XMSS-", Scheme::Xmss), ("liboqs_XMSSMT-", Scheme::XmssMt)] {
        for name in files("xmss", start, ".rsp") {
            let file = read(&format!("xmss/{name}")).unwrap();
            // The file has two records: the key, and the message with its signature.
            let fields: BTreeMap<_, _> = records(&file).into_iter().flatten().collect();
            let field = |name: &str| unhex(&fields[name]);
            accepts_xmss(scheme, &field("pk"), &field("msg"), &field("sm"));
            count += 1;
        }
    }
    println!("liboqs_XMSS*: {count} valid");
    assert!(folder().is_none() || count == 25);
}

#[test]
fn xmss_refuses_derived_faults() {
    let Some(file) = read("xmss/derived_xmss_invalid.json") else { return };
    let file: Value = serde_json::from_str(&file).unwrap();
    let mut count = 0;
    for group in file["testGroups"].as_array().unwrap() {
        let scheme = match text(group, "type") {
            "XmssVerify" => Scheme::Xmss,
            "XmssMtVerify" => Scheme::XmssMt,
            other => panic!("unknown type {other}"),
        };
        for test in group["tests"].as_array().unwrap() {
            assert_eq!(text(test, "result"), "invalid");
            // The test case states the faulty key, if there is one.
            let key = test["publicKeyOverride"].as_str().unwrap_or(text(group, "publicKey"));
            let [key, message, signature] = [key, text(test, "msg"), text(test, "sig")].map(unhex);
            let expected = match text(test, "comment") {
                "truncated by 1" | "extended by 1" | "empty signature" => {
                    Rejection::SignatureLength
                }
                "public key short" => Rejection::InvalidKey,
                "unknown OID 0" | "unknown OID ffffffff" => Rejection::UnsupportedKey,
                "idx >= 2^h aliasing the same leaf" => Rejection::IndexOutOfRange,
                _ => Rejection::Mismatch,
            };
            let result = verify_xmss(scheme, &key, &message, &signature);
            assert_eq!(
                result,
                Err(expected),
                "{} {}",
                text(group, "params"),
                text(test, "comment")
            );
            count += 1;
        }
    }
    println!("derived_xmss_invalid.json: {count} invalid");
    assert_eq!(count, 186);
}

#[test]
fn lms_agrees_with_acvp() {
    let Some(file) = read("lms/LMS-sigVer-1.0.json") else { return };
    let file: Value = serde_json::from_str(&file).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in file["testGroups"].as_array().unwrap() {
        let key = unhex(text(group, "publicKey"));
        for test in group["tests"].as_array().unwrap() {
            let [message, signature] =
                ["message", "signature"].map(|field| unhex(text(test, field)));
            let expected = test["testPassed"].as_bool().unwrap();
            assert_eq!(verify_lms(&key, &message, &signature).is_ok(), expected, "{test}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("LMS-sigVer-1.0.json: {valid} valid, {invalid} invalid");
    assert!(valid > 0 && invalid > 0);
}

#[test]
fn lms_agrees_with_liboqs() {
    let mut count = 0;
    for name in files("lms", "liboqs_", ".rsp") {
        let file = read(&format!("lms/{name}")).unwrap();
        let fields: BTreeMap<_, _> = records(&file).into_iter().flatten().collect();
        let field = |name: &str| unhex(&fields[name]);
        assert_eq!(verify_lms(&field("pk"), &field("msg"), &field("sm")), Ok(()), "{name}");
        count += 1;
    }
    println!("liboqs_LMS*: {count} valid");
    assert!(folder().is_none() || count == 12);
}

#[test]
fn lms_agrees_with_botan() {
    let mut count = [0; 2];
    for path in ["lms/botan_hss_lms_verify.vec", "lms/botan_hss_lms_invalid.vec"] {
        let Some(file) = read(path) else { return };
        for record in records(&file) {
            let field = |name: &str| unhex(&record[name]);
            let (key, message) = (field("PublicKey"), field("Msg"));
            if record.contains_key("InvalidSignature") {
                let result = verify_lms(&key, &message, &field("InvalidSignature"));
                assert_eq!(result, Err(Rejection::SignatureLength), "{record:?}");
                count[1] += 1;
            } else {
                let result = verify_lms(&key, &message, &field("Signature"));
                // One key uses SHAKE256/192. Its type follows the number of levels.
                let is_shake = key[7] == 0x14;
                let expected = if is_shake { Err(Rejection::UnsupportedKey) } else { Ok(()) };
                assert_eq!(result, expected, "{record:?}");
                count[0] += 1;
            }
        }
    }
    println!("botan_hss_lms_*.vec: {} valid, {} invalid", count[0], count[1]);
    assert!(count[0] > 0 && count[1] > 0);
}

#[test]
fn lms_agrees_with_bouncy_castle() {
    let Some(file) = read("lms/bc_depth_1.txt") else { return };
    let mut count = 0;
    for record in records(&file).iter().filter(|record| record.contains_key("Signature")) {
        let [key, message, signature] =
            ["HSSPublicKey", "Message", "Signature"].map(|field| unhex(&record[field]));
        assert_eq!(verify_lms(&key, &message, &signature), Ok(()), "{record:?}");
        count += 1;
    }
    println!("bc_depth_1.txt: {count} valid");
    assert_eq!(count, 7);

    // The file has one key, one message, and one signature in each line.
    let file = read("lms/bc_expansion.txt").unwrap();
    let values = |name: &str| -> Vec<Vec<u8>> {
        let lines = file.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(|value| unhex(value.trim_start_matches(": "))).collect()
    };
    let (keys, messages) = (values("HSSPublicKey"), values("Message"));
    let signatures = values("Signature");
    for signature in &signatures {
        assert_eq!(verify_lms(&keys[0], &messages[0], signature), Ok(()));
    }
    println!("bc_expansion.txt: {} valid", signatures.len());
    assert_eq!((keys.len(), messages.len(), signatures.len()), (1, 1, 17));
}

#[test]
fn hss_agrees_with_rfc_8554() {
    // The listing has words before each value. The values are the key, message and signature.
    let Some(file) = read("lms/rfc8554_testcase_1.txt") else { return };
    let mut values: Vec<Vec<u8>> = Vec::new();
    for line in file.lines() {
        if line.starts_with('!') {
            values.push(Vec::new());
        } else if let Some((_, value)) = line.split_once('$') {
            let hex: String = value.chars().take_while(char::is_ascii_hexdigit).collect();
            values.last_mut().unwrap().extend(unhex(&hex));
        }
    }
    let [key, message, signature] = values.try_into().unwrap();
    assert_eq!(verify_lms(&key, &message, &signature), Ok(()));
}
