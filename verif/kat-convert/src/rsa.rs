//! Converts cases of RSA: keys of all file formats become SubjectPublicKeyInfo, and our rule gives the
//! expected answer.
//!
//! The rule: the exponent is 65537, and a well-formed key with another exponent is `unsupported`, whatever
//! the signature is. PKCS #1 v1.5 compares the whole encoded block, so a missing NULL is `invalid`. The
//! rule does not restrict sizes and hashes: an engine supports them or answers `unsupported`.

use anyhow::{Context, Result, ensure};
use hartlock_kat::Engine;
use hartlock_kat::hash::{self, Name};
use num_bigint::BigUint;

use crate::case::{Ask, Collection, Expected, array, bytes, flags, hash_name, number, text};
use crate::records::{Record, records};
use crate::{Vectors, wycheproof_json::is_valid};

/// A public key.
pub struct Key {
    pub n: BigUint,
    pub e: BigUint,
}

impl Key {
    pub fn new(n: &[u8], e: &[u8]) -> Self {
        Self { n: BigUint::from_bytes_be(n), e: BigUint::from_bytes_be(e) }
    }

    /// Reads the key of a Botan record. Numbers are decimal, or hexadecimal with `0x`; the modulus is given
    /// as `N` or by its primes.
    fn of_record(record: &Record) -> Result<Self> {
        let number = |name: &str| -> Result<BigUint> {
            let text = record.text(name)?;
            let number = match text.strip_prefix("0x") {
                Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
                None => BigUint::parse_bytes(text.as_bytes(), 10),
            };
            number.with_context(|| format!("`{name}` is no number"))
        };
        let n = match record.get("N") {
            Some(_) => number("N")?,
            None => number("P")? * number("Q")?,
        };
        Ok(Self { n, e: number("E")? })
    }

    pub fn size(&self) -> usize {
        self.n.bits().div_ceil(8) as usize
    }

    /// Encodes the key as SubjectPublicKeyInfo with rsaEncryption and NULL (RFC 3279 §2.3.1), in DER.
    pub fn spki(&self) -> Vec<u8> {
        spki_around(&tagged(0x30, &[integer(&self.n), integer(&self.e)].concat()))
    }

    /// Computes `value` to the power of the exponent, with the length of the modulus. Returns `None` if
    /// `value` is not less than the modulus.
    fn power(&self, value: &[u8]) -> Option<Vec<u8>> {
        let value = BigUint::from_bytes_be(value);
        (value < self.n).then(|| padded(&value.modpow(&self.e, &self.n).to_bytes_be(), self.size()))
    }

    /// Returns the answer that our rule expects for a published verdict.
    pub fn expected(&self, is_valid: bool) -> Expected {
        if self.e == BigUint::from(65537_u32) {
            Expected::of(is_valid)
        } else {
            Expected::Unsupported
        }
    }
}

/// Encodes an RSAPublicKey as SubjectPublicKeyInfo, in DER.
pub fn spki_around(key: &[u8]) -> Vec<u8> {
    const ALGORITHM: [u8; 15] =
        [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
    let bits = tagged(0x03, &[&[0], key].concat());
    tagged(0x30, &[&ALGORITHM[..], &bits].concat())
}

fn integer(value: &BigUint) -> Vec<u8> {
    let mut bytes = value.to_bytes_be();
    if bytes.first().is_some_and(|byte| byte & 0x80 != 0) {
        bytes.insert(0, 0);
    }
    tagged(0x02, &bytes)
}

fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let mut bytes = vec![tag];
    match len {
        0..0x80 => bytes.push(len as u8),
        0x80..0x100 => bytes.extend([0x81, len as u8]),
        _ => bytes.extend([0x82, (len >> 8) as u8, len as u8]),
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Pads the bytes on the left with zeros.
pub fn padded(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut padded = vec![0; len.saturating_sub(bytes.len())];
    padded.extend_from_slice(bytes);
    padded
}

/// Converts a group of Wycheproof: signatures under the key of the group.
pub fn wycheproof(out: &mut Collection, group: &serde_json::Value) -> Result<()> {
    let is_pss = text(group, "type")? == "RsassaPssVerify";
    // Groups for signature generation name their fields differently.
    let (spki, key) = match group["publicKeyDer"].as_str() {
        Some(_) => (bytes(group, "publicKeyDer")?, &group["publicKey"]),
        None => (bytes(group, "keyDer")?, &group["privateKey"]),
    };
    let key = Key::new(&bytes(key, "modulus")?, &bytes(key, "publicExponent")?);
    ensure!(key.spki() == spki, "another encoding of the key");
    let hash = hash_name(text(group, "sha")?).context("a hash without a name")?;
    for test in array(group, "tests")? {
        let alg = if is_pss { "rsa-pss" } else { "rsa-pkcs1" };
        let (message, signature) = (bytes(test, "msg")?, bytes(test, "sig")?);
        let mut ask = Ask::verify(alg, &spki[..], message, signature).with("hash", hash);
        if is_pss {
            let mgf = match text(group, "mgf")? {
                "MGF1" => text(group, "mgfSha")?,
                xof => xof,
            };
            let mgf = hash_name(mgf).context("a mask without a name")?;
            ask = ask.with("mgf_hash", mgf).with("salt_len", number(group, "sLen")?);
        }
        let flags = flags(test);
        // The result `acceptable` depends on policy: a missing NULL is another encoding than ours, whereas
        // small keys and weak hashes are not faults of the signature.
        let is_valid = match text(test, "result")? {
            "acceptable" => !flags.contains("MissingNull"),
            _ => is_valid(test)?,
        };
        let name = format!("{}", test["tcId"]);
        out.add("rsa", name, &format!("{hash} {flags}"), ask, key.expected(is_valid));
    }
    Ok(())
}

/// Converts the folder `rsa`.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    for file in ["RSA-SigVer-FIPS186-2.json", "RSA-SigVer-FIPS186-5.json"] {
        acvp(vectors, out, &format!("rsa/{file}"))?;
    }
    primitive(vectors, out)?;
    raw(vectors, out)?;
    for (file, last, is_valid) in [
        ("botan_rsa_verify.vec", "Signature", true),
        ("botan_rsa_sig.vec", "Signature", true),
        ("botan_rsa_pss.vec", "Signature", true),
        ("botan_rsa_invalid.vec", "InvalidSignature", false),
    ] {
        let path = format!("rsa/{file}");
        let text = vectors.read(out, &path)?;
        for (index, record) in records(&text, last).iter().enumerate() {
            botan(out, index, record, last, is_valid).with_context(|| format!("{path} {index}"))?;
        }
    }
    Ok(())
}

fn acvp(vectors: &Vectors, out: &mut Collection, path: &str) -> Result<()> {
    let file = vectors.read_json(out, path)?;
    for group in array(&file, "testGroups")? {
        let key = Key::new(&bytes(group, "n")?, &bytes(group, "e")?);
        let hash = hash_name(text(group, "hashAlg")?).context("a hash without a name")?;
        for test in array(group, "tests")? {
            let (message, signature) = (bytes(test, "message")?, bytes(test, "signature")?);
            let is_pss = text(group, "sigType")? == "pss";
            let alg = if is_pss { "rsa-pss" } else { "rsa-pkcs1" };
            let mut ask = Ask::verify(alg, key.spki(), message, signature).with("hash", hash);
            if is_pss {
                // The older files do not name a mask function: it is MGF1 with the hash of the message.
                match (group["maskFunction"].as_str().unwrap_or("mgf1"), hash) {
                    ("mgf1", "shake128" | "shake256") => {
                        out.leave_out("MGF1 over SHAKE: mgf_hash has no name for it");
                        continue;
                    }
                    ("mgf1", _) => {}
                    (xof, _) => ask = ask.with("mgf_hash", xof.replace('-', "")),
                }
                ask = ask.with("salt_len", number(group, "saltLen")?);
            }
            let is_valid = test["testPassed"] == true;
            let reason = test["reason"].as_str().unwrap_or_default();
            let flags = format!("{alg} {hash} {} {reason}", group["modulo"]);
            out.add("rsa", &test["tcId"], &flags, ask, key.expected(is_valid));
        }
    }
    Ok(())
}

fn operation(op: &str, key: &Key, exponent: Vec<u8>, message: &[u8]) -> Ask {
    let modulus = padded(&key.n.to_bytes_be(), key.size());
    Ask::new(op, "rsa").with("modulus", modulus).with("exponent", exponent).with("message", message)
}

/// Converts raw private-key operations, m^d mod n. In a case that must fail, m is not less than the modulus.
fn primitive(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "rsa/RSA-SignaturePrimitive-2.0.json")?;
    for group in array(&file, "testGroups")? {
        for test in array(group, "tests")? {
            let key = Key::new(&bytes(test, "n")?, &bytes(test, "e")?);
            let message = bytes(test, "message")?;
            let ask = operation("rsa-private", &key, bytes(test, "d")?, &message);
            let expected = match test["testPassed"] == true {
                true => Expected::Output(padded(&bytes(test, "signature")?, key.size())),
                false => Expected::Invalid,
            };
            let flags = format!("{} {}", group["modulo"], group["keyMode"]);
            out.add("rsa", &test["tcId"], &flags, ask, expected);
        }
    }
    Ok(())
}

fn raw(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "rsa/rsa_raw_512_1024.json")?;
    for (index, group) in array(&file, "testGroups")?.iter().enumerate() {
        let key = Key::new(&bytes(group, "n")?, &bytes(group, "e")?);
        for test in array(group, "tests")? {
            for (op, exponent, output) in [("rsa-public", "e", "enc"), ("rsa-private", "d", "sig")]
            {
                let ask = operation(op, &key, bytes(group, exponent)?, &bytes(test, "msg")?);
                let expected = match text(test, "result")? {
                    "valid" => Expected::Output(bytes(test, output)?),
                    _ => Expected::Invalid,
                };
                let name = format!("{index}.{}.{exponent}", test["tcId"]);
                let flags = format!("{} {}", group["keySize"], text(test, "comment")?);
                out.add("rsa", name, &flags, ask, expected);
            }
        }
    }
    Ok(())
}

fn botan(
    out: &mut Collection,
    index: usize,
    record: &Record,
    signature: &str,
    is_valid: bool,
) -> Result<()> {
    let section = record.section();
    let (message, signature) = (record.bytes("Msg")?, record.bytes(signature)?);
    let scheme = section.split_once('(').map_or(section, |(scheme, _)| scheme);
    let inside = section.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    let key = Key::of_record(record)?;
    // One file has a field for the hash instead of sections.
    let hash = record.get("Hash").or(inside).unwrap_or_default();
    let flags = format!("{section} {hash} {}", key.n.bits());
    if section == "Raw" {
        // The result of a private-key operation is checked with the public key.
        let ask =
            operation("rsa-public", &key, key.e.to_bytes_be(), &padded(&signature, key.size()));
        let output = padded(&message, key.size());
        ensure!(key.power(&signature).as_ref() == Some(&output), "the file contradicts itself");
        out.add("rsa", index, &flags, ask, Expected::Output(output));
        return Ok(());
    }
    let is_pss = scheme == "PSS" || record.get("Hash").is_some();
    if !is_pss && scheme != "PKCS1v15" {
        out.leave_out(&format!("obsolete scheme {scheme}"));
        return Ok(());
    }
    let Some(hash) = hash_name(hash) else {
        out.leave_out(&format!("{section}: a hash that no case can name"));
        return Ok(());
    };
    let alg = if is_pss { "rsa-pss" } else { "rsa-pkcs1" };
    let mut ask = Ask::verify(alg, key.spki(), message, &signature[..]).with("hash", hash);
    if is_pss {
        // Botan accepts a salt of any length. If the file does not state the length, it is computed from the
        // signature.
        let salt_len = match record.get("Nonce") {
            Some(_) => Some(record.bytes("Nonce")?.len()),
            None => salt_len(&key, &signature, hash),
        };
        ensure!(salt_len.is_some() || !is_valid, "a valid signature without a salt");
        if let Some(len) = salt_len {
            ask = ask.with("salt_len", len as u64);
        }
    }
    out.add("rsa", index, &flags, ask, key.expected(is_valid));
    Ok(())
}

/// Returns the length of the salt in a signature that uses MGF1 with the hash of the message (RFC 8017
/// §9.1.2, steps 4 to 11); `None` if the signature does not contain an encoded message.
fn salt_len(key: &Key, signature: &[u8], hash: &str) -> Option<usize> {
    let name = Name::parse(hash)?;
    let bits = key.n.bits() as usize - 1;
    let block = key.power(signature)?;
    let encoded = &block[block.len() - bits.div_ceil(8)..];
    let data_len = encoded.len().checked_sub(name.output_len() + 1)?;
    let (masked, rest) = encoded.split_at(data_len);
    let seed = &rest[..name.output_len()];
    let mut mask = Vec::new();
    for counter in 0_u32.. {
        if mask.len() >= data_len {
            break;
        }
        let digest = hash::digest(&Engine::PORTABLE, name, seed, &counter.to_be_bytes())?;
        mask.extend_from_slice(digest.as_ref());
    }
    let mut data: Vec<u8> = masked.iter().zip(&mask).map(|(byte, mask)| byte ^ mask).collect();
    data[0] &= 0xff >> (8 * encoded.len() - bits);
    let at = data.iter().position(|byte| *byte != 0)?;
    (data[at] == 1).then(|| data_len - at - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_encoded_as_others_do() {
        // A 512-bit key has lengths of one and of two bytes, and an integer whose top bit is set.
        let key = Key::new(&[0xcf; 64], &[1, 0, 1]);
        let spki = key.spki();
        assert_eq!(spki[..4], [0x30, 0x5c, 0x30, 0x0d]);
        assert_eq!(spki[spki.len() - 5..], [0x02, 0x03, 1, 0, 1]);
        assert_eq!(Key::new(&[0xcf; 256], &[3]).spki()[..4], [0x30, 0x82, 0x01, 0x20]);
    }

    #[test]
    fn another_exponent_is_unsupported_whatever_the_signature() {
        let key = |e: &[u8]| Key::new(&[0xcf; 64], e);
        assert_eq!(key(&[1, 0, 1]).expected(true), Expected::Valid);
        assert_eq!(key(&[0, 1, 0, 1]).expected(false), Expected::Invalid);
        for e in [&[3][..], &[1, 0, 0], &[1, 0, 1, 0, 1]] {
            assert_eq!(key(e).expected(true), Expected::Unsupported);
        }
    }
}
