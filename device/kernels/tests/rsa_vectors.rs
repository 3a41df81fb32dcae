//! These tests compare RSA with public test vectors (see `vectors`). Without vectors they print a
//! message and pass.

use crate::vectors::{array, bytes, read, read_json, records, text, unhex};
use hartlock_kernels::rsa::pss::{Mask, Mgf1};
use hartlock_kernels::rsa::{Digester, RsaPublicKey, pkcs1, pss};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::{Hash, Kernels};
use num_bigint::BigUint;
use serde_json::Value;
use shake::{ExtendableOutput, Update, XofReader};

/// A function that hashes a message.
type DigestOf = fn(&[u8]) -> Vec<u8>;

/// A hash of another crate, such as a workstation supplies.
struct Foreign {
    output_len: usize,
    digest: DigestOf,
    /// Bytes before the digest in DigestInfo (RFC 8017 §9.2, note 1).
    digest_info: Vec<u8>,
}

impl Digester for Foreign {
    fn output_len(&self) -> usize {
        self.output_len
    }

    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]) {
        digest.copy_from_slice(&(self.digest)(&parts.concat()));
    }
}

fn foreign(name: &str) -> Foreign {
    fn of<D: sha2::Digest>(message: &[u8]) -> Vec<u8> {
        D::digest(message).to_vec()
    }
    fn xof(mut hash: impl ExtendableOutput, message: &[u8], len: usize) -> Vec<u8> {
        let mut digest = vec![0; len];
        hash.update(message);
        hash.finalize_xof().read(&mut digest);
        digest
    }
    let (output_len, number, digest): (_, _, DigestOf) = match name {
        "SHA-1" => (20, 0, of::<sha1::Sha1>),
        "SHA-256" => (32, 1, of::<sha2::Sha256>),
        "SHA-384" => (48, 2, of::<sha2::Sha384>),
        "SHA-512" => (64, 3, of::<sha2::Sha512>),
        "SHA-224" => (28, 4, of::<sha2::Sha224>),
        "SHA-512/224" => (28, 5, of::<sha2::Sha512_224>),
        "SHA-512/256" => (32, 6, of::<sha2::Sha512_256>),
        "SHA3-224" => (28, 7, of::<sha3::Sha3_224>),
        "SHA3-256" => (32, 8, of::<sha3::Sha3_256>),
        "SHA3-384" => (48, 9, of::<sha3::Sha3_384>),
        "SHA3-512" => (64, 10, of::<sha3::Sha3_512>),
        "SHAKE128" => (32, 11, |message| xof(shake::Shake128::default(), message, 32)),
        "SHAKE256" => (64, 12, |message| xof(shake::Shake256::default(), message, 64)),
        other => panic!("unknown hash {other}"),
    };
    let len = output_len as u8;
    let identifier = match number {
        0 => unhex("06052b0e03021a"),
        _ => [unhex("06096086480165030402"), vec![number]].concat(),
    };
    let algorithm = [identifier, vec![5, 0]].concat();
    let info = [vec![0x30, algorithm.len() as u8], algorithm, vec![4, len]].concat();
    let digest_info = [vec![0x30, info.len() as u8 + len], info].concat();
    Foreign { output_len, digest, digest_info }
}

/// A SHAKE as the mask generation function (RFC 8702 §3.1).
struct NamedShakeMask(&'static str);

impl Mask for NamedShakeMask {
    fn apply(&self, seed: &[u8], data: &mut [u8]) {
        let mut mask = vec![0; data.len()];
        match self.0 {
            "SHAKE128" => {
                let mut hash = shake::Shake128::default();
                hash.update(seed);
                hash.finalize_xof().read(&mut mask);
            }
            "SHAKE256" => {
                let mut hash = shake::Shake256::default();
                hash.update(seed);
                hash.finalize_xof().read(&mut mask);
            }
            other => panic!("unknown mask {other}"),
        }
        data.iter_mut().zip(mask).for_each(|(data, mask)| *data ^= mask);
    }
}

fn judge_pkcs1(
    key: &RsaPublicKey,
    hash: &str,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    let foreign = foreign(hash);
    let verdict =
        pkcs1::compare(key, &foreign.digest_info, &(foreign.digest)(message), signature)?.check();
    // The hashes of this crate are also used through the public interface.
    fn front<H: pkcs1::Identified>(
        key: &RsaPublicKey,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Rejection> {
        pkcs1::verify::<H>(&Kernels::PORTABLE, key, message, signature)
    }
    let own = match hash {
        "SHA-256" => front::<Sha256>(key, message, signature),
        "SHA-384" => front::<Sha384>(key, message, signature),
        "SHA-512" => front::<Sha512>(key, message, signature),
        _ => verdict,
    };
    assert_eq!(own, verdict);
    verdict
}

fn judge_pss(
    key: &RsaPublicKey,
    [hash, mask]: [&str; 2],
    message: &[u8],
    salt_len: usize,
    signature: &[u8],
) -> Result<(), Rejection> {
    fn front<H: Hash, M: Hash>(
        key: &RsaPublicKey,
        message: &[u8],
        salt_len: usize,
        signature: &[u8],
    ) -> Result<(), Rejection> {
        pss::verify::<H, M>(&Kernels::PORTABLE, key, message, salt_len, signature)
    }
    let own = match [hash, mask] {
        ["SHA-256", "SHA-256"] => Some(front::<Sha256, Sha256>(key, message, salt_len, signature)),
        ["SHA-384", "SHA-384"] => Some(front::<Sha384, Sha384>(key, message, salt_len, signature)),
        ["SHA-512", "SHA-512"] => Some(front::<Sha512, Sha512>(key, message, salt_len, signature)),
        ["SHA-256", "SHA-512"] => Some(front::<Sha256, Sha512>(key, message, salt_len, signature)),
        _ => None,
    };
    let hash = foreign(hash);
    let digest = (hash.digest)(message);
    let verdict = match mask {
        "SHAKE128" => {
            pss::compare(key, &hash, &NamedShakeMask("SHAKE128"), &digest, salt_len, signature)
        }
        "SHAKE256" => {
            pss::compare(key, &hash, &NamedShakeMask("SHAKE256"), &digest, salt_len, signature)
        }
        _ => pss::compare(key, &hash, &Mgf1(&foreign(mask)), &digest, salt_len, signature),
    };
    let verdict = verdict.and_then(|comparison| comparison.check());
    assert!(own.is_none_or(|own| own == verdict));
    verdict
}

/// Returns the key of a Wycheproof group, which must be the same in every encoding.
fn wycheproof_key(group: &Value) -> Result<Vec<u8>, Rejection> {
    let (asn, der) = ["publicKeyAsn", "keyAsn"]
        .iter()
        .zip(["publicKeyDer", "keyDer"])
        .find(|(name, _)| group[**name].is_string())
        .map(|(asn, der)| (bytes(group, asn), bytes(group, der)))
        .unwrap();
    let numbers = if group["publicKey"].is_object() { "publicKey" } else { "privateKey" };
    let number = |name| {
        let number = bytes(&group[numbers], name);
        number[number.iter().position(|byte| *byte != 0).unwrap()..].to_vec()
    };
    let (modulus, exponent) = (number("modulus"), number("publicExponent"));
    let key = RsaPublicKey::new(&modulus, &exponent).map(|key| key.modulus().to_vec());
    for other in [RsaPublicKey::from_pkcs1_der(&asn), RsaPublicKey::from_spki_der(&der)] {
        assert_eq!(other.map(|key| key.modulus().to_vec()), key);
    }
    key
}

#[test]
fn pkcs1_agrees_with_wycheproof() {
    let (mut valid, mut invalid, mut unsupported) = (0, 0, 0);
    for name in [
        "rsa_pkcs1_1024_sig_gen",
        "rsa_pkcs1_2048_sig_gen",
        "rsa_signature_2048_sha256",
        "rsa_signature_2048_sha384",
        "rsa_signature_2048_sha3_256",
        "rsa_signature_2048_sha512",
        "rsa_signature_3072_sha256",
        "rsa_signature_3072_sha384",
        "rsa_signature_3072_sha512",
        "rsa_signature_4096_sha256",
        "rsa_signature_4096_sha384",
        "rsa_signature_4096_sha512",
    ] {
        let Some(file) = read_json(&format!("wycheproof/{name}_test.json")) else { return };
        for group in array(&file["testGroups"]) {
            let modulus = wycheproof_key(group);
            for test in array(&group["tests"]) {
                let Ok(modulus) = &modulus else {
                    // These groups have small keys or small exponents.
                    let small = group["keySize"] == 1024 || text(group, "sha") != "SHA-1";
                    assert!(small && modulus == Err(Rejection::UnsupportedKey));
                    unsupported += 1;
                    continue;
                };
                let key = RsaPublicKey::new(modulus, &[1, 0, 1]).unwrap();
                let (message, signature) = (bytes(test, "msg"), bytes(test, "sig"));
                let verdict = judge_pkcs1(&key, text(group, "sha"), &message, &signature);
                let is_weak_hash = array(&test["flags"]).iter().any(|flag| flag == "WeakHash");
                let expected = match text(test, "result") {
                    "valid" => true,
                    "invalid" => false,
                    // The other acceptable cases lack NULL, so this verifier refuses them.
                    "acceptable" => is_weak_hash,
                    other => panic!("unknown result {other}"),
                };
                assert_eq!(verdict.is_ok(), expected, "{name} {verdict:?} {test}");
                *(if expected { &mut valid } else { &mut invalid }) += 1;
            }
        }
    }
    println!("PKCS #1 v1.5: {valid} valid, {invalid} invalid, {unsupported} unsupported keys");
    assert!(valid > 60 && invalid > 1600 && unsupported > 25);
}

#[test]
fn pss_agrees_with_wycheproof() {
    let (mut valid, mut invalid) = (0, 0);
    for name in [
        "2048_sha256_mgf1_0",
        "2048_sha256_mgf1_32",
        "2048_sha256_mgf1sha1_20",
        "2048_sha384_mgf1_48",
        "2048_shake256",
        "3072_sha256_mgf1_32",
        "4096_sha256_mgf1_32",
        "4096_sha384_mgf1_48",
        "4096_sha512_mgf1_32",
        "4096_sha512_mgf1_64",
        "misc",
    ] {
        let Some(file) = read_json(&format!("wycheproof/rsa_pss_{name}_test.json")) else { return };
        for group in array(&file["testGroups"]) {
            let modulus = wycheproof_key(group).unwrap();
            let key = RsaPublicKey::new(&modulus, &[1, 0, 1]).unwrap();
            let mask = match text(group, "mgf") {
                "MGF1" => text(group, "mgfSha"),
                mask => mask,
            };
            let salt_len = group["sLen"].as_u64().unwrap() as usize;
            for test in array(&group["tests"]) {
                let (message, signature) = (bytes(test, "msg"), bytes(test, "sig"));
                let hashes = [text(group, "sha"), mask];
                let verdict = judge_pss(&key, hashes, &message, salt_len, &signature);
                let expected = match text(test, "result") {
                    "valid" => true,
                    "invalid" => false,
                    other => panic!("unknown result {other}"),
                };
                assert_eq!(verdict.is_ok(), expected, "{name} {verdict:?} {test}");
                *(if expected { &mut valid } else { &mut invalid }) += 1;
                // The length of the salt must match exactly.
                if expected {
                    for other in
                        [salt_len + 1, salt_len.saturating_sub(1) + usize::from(salt_len == 0)]
                    {
                        let verdict = judge_pss(&key, hashes, &message, other, &signature);
                        assert_eq!(verdict, Err(Rejection::Mismatch), "{name} {test}");
                    }
                }
            }
        }
    }
    println!("PSS: {valid} valid, {invalid} invalid");
    assert!(valid > 600 && invalid > 250);
}

#[test]
fn keys_of_acvp_are_refused_for_size_or_exponent() {
    let mut refused = 0;
    for path in ["rsa/RSA-SigVer-FIPS186-5.json", "rsa/RSA-SigVer-FIPS186-2.json"] {
        let Some(file) = read_json(path) else { return };
        for group in array(&file["testGroups"]) {
            let hex = |name| {
                let hex = text(group, name);
                unhex(&format!("{}{hex}", if hex.len() % 2 == 1 { "0" } else { "" }))
            };
            let (modulus, exponent) = (hex("n"), hex("e"));
            assert_eq!(
                RsaPublicKey::new(&modulus, &exponent).err(),
                Some(Rejection::UnsupportedKey)
            );
            refused += 1;
        }
    }
    assert!(refused > 50);
}

fn number(text: &str) -> BigUint {
    match text.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
        None => BigUint::parse_bytes(text.as_bytes(), 10),
    }
    .unwrap_or_else(|| panic!("no number: {text}"))
}

#[test]
fn rsa_agrees_with_botan() {
    let (mut valid, mut invalid, mut unsupported) = (0, 0, 0);
    for name in ["invalid", "pss", "sig", "verify"] {
        let Some(file) = read(&format!("rsa/botan_rsa_{name}.vec")) else { return };
        for record in records(&file) {
            let Some(exponent) = record.get("E") else { continue };
            let modulus = match record.get("N") {
                Some(modulus) => number(modulus),
                None => number(&record["P"]) * number(&record["Q"]),
            };
            let modulus = modulus.to_bytes_be();
            let exponent = number(exponent).to_bytes_be();
            let key = match RsaPublicKey::new(&modulus, &exponent) {
                Ok(key) => key,
                Err(rejection) => {
                    assert_eq!(rejection, Rejection::UnsupportedKey);
                    unsupported += 1;
                    continue;
                }
            };
            let (signature, expected) = match record.get("Signature") {
                Some(signature) => (unhex(signature), true),
                None => (unhex(&record["InvalidSignature"]), false),
            };
            let scheme = record.get("Hash").map(|hash| format!("[PSS({hash})]"));
            let scheme = scheme.as_ref().unwrap_or(&record["section"]);
            let message = unhex(&record["Msg"]);
            let verdict = match scheme.trim_matches(['[', ']']).split_once('(') {
                Some(("PKCS1v15", hash)) => {
                    judge_pkcs1(&key, hash.trim_end_matches(')'), &message, &signature)
                }
                Some(("PSS", hash)) => {
                    let hash = hash.trim_end_matches(')');
                    // The salt has the length of the digest unless it is given.
                    let salt_len = match record.get("Nonce") {
                        Some(salt) => salt.len() / 2,
                        None => foreign(hash).output_len,
                    };
                    judge_pss(&key, [hash, hash], &message, salt_len, &signature)
                }
                // Obsolete schemes, and records without a scheme, are skipped.
                _ => continue,
            };
            assert_eq!(verdict.is_ok(), expected, "{name} {verdict:?} {record:?}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    println!("Botan: {valid} valid, {invalid} invalid, {unsupported} unsupported keys");
    assert!(unsupported > 300);
}
