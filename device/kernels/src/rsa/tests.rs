//! These tests check only the decoding of the encoded message, because the keys of ACVP have exponents that the
//! verifier refuses.

use super::pss::{Mask, Mgf1, decode};
use super::*;
use crate::Hash;
use crate::sha3::{Sha3_256, Shake128, Shake256};
use num_bigint::BigUint;
use serde_json::Value;
use shake::{ExtendableOutput, Update, XofReader};
use std::{println, vec::Vec};

/// A SHAKE as the mask generation function (RFC 8702 §3.1).
struct ShakeMask<T>(fn() -> T);

impl<T: Update + ExtendableOutput> Mask for ShakeMask<T> {
    fn apply(&self, seed: &[u8], data: &mut [u8]) {
        let mut hash = (self.0)();
        hash.update(seed);
        let mut mask = std::vec![0; data.len()];
        hash.finalize_xof().read(&mut mask);
        data.iter_mut().zip(mask).for_each(|(data, mask)| *data ^= mask);
    }
}

fn bytes(value: &Value, field: &str) -> Vec<u8> {
    let hex = value[field].as_str().unwrap();
    let hex = std::format!("{}{hex}", if hex.len() % 2 == 1 { "0" } else { "" });
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn accepts(group: &Value, test: &Value) -> bool {
    let open = || {
        let numbers = [bytes(test, "signature"), bytes(group, "e"), bytes(group, "n")];
        let [s, e, n] = numbers.map(|bytes| BigUint::from_bytes_be(&bytes));
        let encoded = s.modpow(&e, &n).to_bytes_be();
        let mut padded = std::vec![0; bytes(group, "n").len() - encoded.len()];
        padded.extend(encoded);
        padded
    };
    let (hash, digest): (&dyn Digester, Vec<u8>) = {
        fn of<H: Hash>(message: &[u8]) -> Vec<u8> {
            let mut hash = H::new();
            hash.update(message);
            hash.finalize().as_ref().to_vec()
        }
        let message = bytes(test, "message");
        match group["hashAlg"].as_str().unwrap() {
            "SHAKE-128" => {
                (&KernelHasher::<Shake128>::new(&Kernels::PORTABLE), of::<Shake128>(&message))
            }
            "SHAKE-256" => {
                (&KernelHasher::<Shake256>::new(&Kernels::PORTABLE), of::<Shake256>(&message))
            }
            "SHA3-256" => {
                (&KernelHasher::<Sha3_256>::new(&Kernels::PORTABLE), of::<Sha3_256>(&message))
            }
            other => panic!("unknown hash {other}"),
        }
    };
    let mask: &dyn Mask = match group["maskFunction"].as_str().unwrap() {
        "mgf1" => &Mgf1(hash),
        "shake-128" => &ShakeMask(shake::Shake128::default),
        "shake-256" => &ShakeMask(shake::Shake256::default),
        other => panic!("unknown mask {other}"),
    };
    let salt_len = group["saltLen"].as_u64().unwrap() as usize;
    let mut computed = [0; MAX_DIGEST_LEN];
    decode(&mut open(), hash, mask, &digest, salt_len, &mut computed)
        .is_some_and(|(claimed, computed)| claimed == computed)
}

#[test]
fn pss_padding_agrees_with_acvp() {
    let Some(folder) = std::env::var_os("HARTLOCK_VECTORS").map(std::path::PathBuf::from) else {
        use std::io::Write;
        let line = "SKIPPED: public vectors: rsa/RSA-SigVer-FIPS186-5.json";
        // The line is not written with a macro, because the test harness would capture it.
        let _ = writeln!(std::io::stderr(), "{line}");
        return;
    };
    let file = std::fs::read_to_string(folder.join("rsa/RSA-SigVer-FIPS186-5.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in file["testGroups"].as_array().unwrap().iter().filter(|it| it["sigType"] == "pss") {
        for test in group["tests"].as_array().unwrap() {
            let expected = test["testPassed"].as_bool().unwrap();
            assert_eq!(accepts(group, test), expected, "{} {test}", group["tgId"]);
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("ACVP PSS: {valid} valid, {invalid} invalid");
    assert!(valid > 15 && invalid > 80);
}

#[test]
fn known_answers_are_right() {
    assert!(pkcs1::self_test());
    assert!(pss::self_test());
}
