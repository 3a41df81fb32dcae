//! Converts cases of signatures other than RSA: files of NIST, Botan, liboqs, Bouncy Castle and others.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::Vectors;
use crate::case::{Ask, Collection, Expected, array, bytes, flags, hash_name, parse_hex, text};
use crate::records::{Record, colon_records, records, records_from};
use crate::rsa::padded;

/// Converts the folders `ecdsa`, `lms`, `xmss`, `ml-dsa`, `slh-dsa` and `walnut`.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "ecdsa/ECDSA-SigVer-FIPS186-5.json")?;
    ecdsa(out, &file)?;
    lms(vectors, out)?;
    xmss(vectors, out)?;
    ml_dsa(vectors, out)?;
    slh_dsa(vectors, out)?;
    for level in [128, 256] {
        let file = vectors.read_json(out, &format!("walnut/walnutdsa_{level}_verify.json"))?;
        walnut(out, level, &file)?;
    }
    Ok(())
}

fn passed(test: &Value) -> Expected {
    Expected::of(test["testPassed"] == true)
}

fn reason(test: &Value) -> &str {
    test["reason"].as_str().unwrap_or_default()
}

/// Converts ECDSA of NIST. r, s and the coordinates of the point may lack leading zeros.
fn ecdsa(out: &mut Collection, file: &Value) -> Result<()> {
    for group in array(file, "testGroups")? {
        let (alg, len) = match text(group, "curve")? {
            "P-256" => ("ecdsa-p256", 32),
            "P-384" => ("ecdsa-p384", 48),
            other => bail!("curve {other}"),
        };
        let hash = hash_name(text(group, "hashAlg")?).context("a hash without a name")?;
        for test in array(group, "tests")? {
            let pair = |first: &str, second: &str| -> Result<Vec<u8>> {
                let (first, second) = (bytes(test, first)?, bytes(test, second)?);
                Ok([padded(&first, len), padded(&second, len)].concat())
            };
            let key = [&[4], &pair("qx", "qy")?[..]].concat();
            let ask = Ask::verify(alg, key, bytes(test, "message")?, pair("r", "s")?);
            let ask = ask.with("hash", hash).with("encoding", "p1363");
            let flags = format!("{alg} {hash} {}", reason(test));
            out.add("ecdsa", &test["tcId"], &flags, ask, passed(test));
        }
    }
    Ok(())
}

/// Returns the algorithm of a key. An LMS key has 4 + 4 + 16 + n bytes, and an HSS key 4 bytes more at the
/// front.
fn lms_alg(key: &[u8]) -> Result<&'static str> {
    match key.len() {
        48 | 56 => Ok("lms"),
        52 | 60 => Ok("hss"),
        other => bail!("a key of {other} bytes"),
    }
}

fn lms(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "lms/LMS-sigVer-1.0.json")?;
    for group in array(&file, "testGroups")? {
        let key = bytes(group, "publicKey")?;
        for test in array(group, "tests")? {
            let (message, signature) = (bytes(test, "message")?, bytes(test, "signature")?);
            let ask = Ask::verify("lms", &key[..], message, signature);
            out.add("lms", &test["tcId"], reason(test), ask, passed(test));
        }
    }
    for path in vectors.list("lms", "rsp")? {
        let text = vectors.read(out, &path)?;
        for (index, record) in records(&text, "pk").iter().enumerate() {
            let key = record.bytes("pk")?;
            let alg = lms_alg(&key)?;
            let ask = Ask::verify(alg, key, record.bytes("msg")?, record.bytes("sm")?);
            out.add("lms", index, alg, ask, Expected::Valid);
        }
    }
    for (file, last, expected) in [
        ("botan_hss_lms_verify.vec", "Signature", Expected::Valid),
        ("botan_hss_lms_invalid.vec", "InvalidSignature", Expected::Invalid),
    ] {
        let text = vectors.read(out, &format!("lms/{file}"))?;
        for (index, record) in records(&text, last).iter().enumerate() {
            let key = record.bytes("PublicKey")?;
            let ask = Ask::verify("hss", key, record.bytes("Msg")?, record.bytes(last)?);
            out.add("lms", index, &format!("{index}"), ask, expected.clone());
        }
    }
    let text = vectors.read(out, "lms/botan_hss_lms_sig.vec")?;
    for _ in records(&text, "Signature") {
        out.leave_out("a signer's case without a public key");
    }
    let text = vectors.read(out, "lms/bc_depth_1.txt")?;
    for (index, record) in colon_records(&text, "Signature").iter().enumerate() {
        let key = record.bytes("HSSPublicKey")?;
        let ask = Ask::verify("hss", key, record.bytes("Message")?, record.bytes("Signature")?);
        out.add("lms", index, &format!("{index}"), ask, Expected::Valid);
    }
    // This file has one key, one message and many signatures.
    let text = vectors.read(out, "lms/bc_expansion.txt")?;
    let all = colon_records(&text, "Signature");
    let first = all.first().context("no record")?;
    let (key, message) = (first.bytes("HSSPublicKey")?, first.bytes("Message")?);
    for (index, record) in all.iter().enumerate() {
        ensure!(index == 0 || record.get("HSSPublicKey").is_none(), "another key");
        let ask = Ask::verify("hss", &key[..], &message[..], record.bytes("Signature")?);
        out.add("lms", index, "", ask, Expected::Valid);
    }
    let text = vectors.read(out, "lms/rfc8554_testcase_1.txt")?;
    let [key, message, signature] = annotated(&text)?;
    out.add("lms", 1, "", Ask::verify("hss", key, message, signature), Expected::Valid);
    Ok(())
}

/// Parses the test case of RFC 8554 §F. It has three parts that begin with `!`, and each line has a value
/// after `$`.
fn annotated(text: &str) -> Result<[Vec<u8>; 3]> {
    let mut parts: [Vec<u8>; 3] = Default::default();
    let mut part = None;
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix('!') {
            let names = ["Public Key", "Message", "Signature"];
            part = names.iter().position(|name| title.contains(name));
        } else if let Some((_, rest)) = line.split_once('$') {
            let digits = rest.split_whitespace().next().unwrap_or_default();
            parts[part.context("a value in no part")?].extend(parse_hex(digits)?);
        }
    }
    Ok(parts)
}

fn xmss_alg(params: &str) -> &'static str {
    if params.contains("XMSSMT") { "xmssmt" } else { "xmss" }
}

fn xmss(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let text = vectors.read(out, "xmss/botan_xmss_verify.vec")?;
    for (index, record) in records(&text, "Signature").iter().enumerate() {
        let params = record.text("Params")?;
        let key = record.bytes("PublicKey")?;
        let signature = record.bytes("Signature")?;
        let ask = Ask::verify(xmss_alg(params), key, record.bytes("Msg")?, signature);
        out.add("xmss", index, params, ask, Expected::Valid);
    }
    for path in vectors.list("xmss", "rsp")? {
        let text = vectors.read(out, &path)?;
        for (index, record) in records(&text, "sm").iter().enumerate() {
            let key = record.bytes("pk")?;
            let ask = Ask::verify(xmss_alg(&path), key, record.bytes("msg")?, record.bytes("sm")?);
            out.add("xmss", index, "", ask, Expected::Valid);
        }
    }
    let file = vectors.read_json(out, "xmss/derived_xmss_invalid.json")?;
    for group in array(&file, "testGroups")? {
        let params = self::text(group, "params")?;
        for test in array(group, "tests")? {
            // Some cases use another key than their group.
            let key = match test.get("publicKeyOverride") {
                Some(_) => bytes(test, "publicKeyOverride")?,
                None => bytes(group, "publicKey")?,
            };
            let ask = Ask::verify(xmss_alg(params), key, bytes(test, "msg")?, bytes(test, "sig")?);
            let flags = format!("{params} {}", self::text(test, "comment")?);
            let expected = Expected::of(self::text(test, "result")? == "valid");
            out.add("xmss", format!("{params}.{}", test["tcId"]), &flags, ask, expected);
        }
    }
    Ok(())
}

fn ml_dsa(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    for path in vectors.list("ml-dsa", "json")? {
        let file = vectors.read_json(out, &path)?;
        nist_pq(out, "ml-dsa", &file, path.contains("internal")).with_context(|| path)?;
    }
    for path in vectors.list("ml-dsa", "rsp")? {
        let text = vectors.read(out, &path)?;
        let level = path.split('_').nth(2).context("no level in the name")?;
        let prehash = match level {
            "44" => "sha256",
            "65" => "sha384",
            _ => "sha512",
        };
        for record in records_from(&text, "count") {
            let message = record.bytes("msg")?;
            // The file has signature and message in one field.
            let signed = record.bytes("sm")?;
            let signature = signed.strip_suffix(&message[..]).context("not signature ‖ message")?;
            let alg = format!("ml-dsa-{level}");
            let mut ask = Ask::verify(&alg, record.bytes("pk")?, &message[..], signature);
            if path.contains("_raw") {
                ask = ask.with("interface", "internal");
            } else {
                ask = ask.with("context", record.bytes("ctx")?);
            }
            if path.contains("_hashed") {
                ask = ask.with("prehash", prehash);
            }
            out.add("ml-dsa", record.text("count")?, "", ask, Expected::Valid);
        }
    }
    Ok(())
}

/// Converts ML-DSA and SLH-DSA of NIST. The files of 2024 use only the internal interface.
fn nist_pq(
    out: &mut Collection,
    family: &'static str,
    file: &Value,
    is_internal: bool,
) -> Result<()> {
    for group in array(file, "testGroups")? {
        let alg = text(group, "parameterSet")?.to_lowercase();
        let interface = match group["signatureInterface"].as_str() {
            None if is_internal => "internal",
            None => bail!("no interface"),
            Some(_) if group["externalMu"] == true => "external-mu",
            Some(interface) => interface,
        };
        for test in array(group, "tests")? {
            let key = if test.get("pk").is_some() { test } else { group };
            let message = if interface == "external-mu" { "mu" } else { "message" };
            let message = bytes(test, message)?;
            let mut ask = Ask::verify(&alg, bytes(key, "pk")?, message, bytes(test, "signature")?);
            if interface != "external" {
                ask = ask.with("interface", interface);
            }
            if test.get("context").is_some() {
                ask = ask.with("context", bytes(test, "context")?);
            }
            let mut prehash = "";
            if group["preHash"] == "preHash" {
                let hash = text(test, "hashAlg")?;
                prehash = hash_name(hash).with_context(|| format!("hash {hash}"))?;
                ask = ask.with("prehash", prehash);
            }
            let flags = format!("{alg} {interface} {prehash} {}", reason(test));
            out.add(family, &test["tcId"], &flags, ask, passed(test));
        }
    }
    Ok(())
}

fn slh_dsa(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let path = "slh-dsa/SLH-DSA-sigVer-FIPS205-2024-internal.json";
    let file = vectors.read_json(out, path)?;
    slh_dsa_of_nist(out, &file).context(path)?;
    for path in vectors.list("slh-dsa", "rsp")? {
        let text = vectors.read(out, &path)?;
        for record in records_from(&text, "count") {
            bouncy_castle(out, &path, &record)
                .with_context(|| format!("{path} {}", record.text("count").unwrap_or_default()))?;
        }
    }
    let file = vectors.read_json(out, "slh-dsa/derived_slhdsa_invalid.json")?;
    for test in array(&file, "tests")? {
        let alg = self::text(test, "parameterSet")?.to_lowercase();
        let key = bytes(test, "pk")?;
        let ask = Ask::verify(&alg, key, bytes(test, "msg")?, bytes(test, "sig")?);
        let mut ask = ask.with("context", bytes(test, "context")?);
        let hash = self::text(test, "preHash")?;
        if hash != "pure" {
            ask = ask.with("prehash", hash_name(hash).context("a hash without a name")?);
        }
        let flags = format!("{alg} {hash} {}", self::text(test, "comment")?);
        let expected = Expected::of(self::text(test, "result")? == "valid");
        out.add("slh-dsa", &test["tcId"], &flags, ask, expected);
    }
    Ok(())
}

/// Converts a file of 2024 in the format of NIST's ACVP.
///
/// # Errors
/// If the file is not in this format.
pub fn slh_dsa_of_nist(out: &mut Collection, file: &Value) -> Result<()> {
    nist_pq(out, "slh-dsa", file, true)
}

/// Converts a record of Bouncy Castle. `bc_sha2-128s.rsp` has pure signatures, and `bc_sha2-128s-sha256.rsp`
/// signatures of pre-hashed messages. A signature without a context (`none`) uses the internal interface;
/// `zero_length` is an empty context.
fn bouncy_castle(out: &mut Collection, path: &str, record: &Record) -> Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.trim_start_matches("bc_").trim_end_matches(".rsp");
    let mut words = name.split('-');
    let (family, size) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let alg = format!("slh-dsa-{family}-{size}");
    let signature = record.bytes("sm")?;
    let mut ask = Ask::verify(&alg, record.bytes("pk")?, record.bytes("msg")?, signature);
    let prehash = words.next();
    if let Some(hash) = prehash {
        ask = ask.with("prehash", hash);
    }
    let interface = match record.get("context") {
        None | Some("none") => {
            ensure!(prehash.is_none(), "a hashed message without a context");
            ask = ask.with("interface", "internal");
            "internal"
        }
        Some("zero_length") => "empty",
        Some(_) => {
            ask = ask.with("context", record.bytes("context")?);
            "context"
        }
    };
    out.add("slh-dsa", record.text("count")?, interface, ask, Expected::Valid);
    Ok(())
}

/// Converts WalnutDSA. The buffer holds a braid (a count of 2 bytes, then 4 bits for each generator) and then
/// the message.
///
/// Cases that are `acceptable` have a braid that is written differently and is the same group element. Our
/// rule: only the equation decides, as in the description of the algorithm. A braid is malleable whatever
/// form a verifier requires, so requiring a form would give no protection.
fn walnut(out: &mut Collection, level: u32, file: &Value) -> Result<()> {
    for (index, group) in array(file, "testGroups")?.iter().enumerate() {
        for test in array(group, "tests")? {
            let key = match test.get("publicKeyOverride") {
                Some(_) => bytes(test, "publicKeyOverride")?,
                None => bytes(group, "publicKey")?,
            };
            let buffer = bytes(test, "sm")?;
            let braid_len = buffer.first_chunk::<2>().map_or(buffer.len(), |count| {
                2 + usize::from(u16::from_be_bytes(*count)).div_ceil(2)
            });
            let (braid, message) = buffer.split_at_checked(braid_len).unwrap_or((&buffer[..], &[]));
            let alg = format!("walnut-{level}");
            let ask = Ask::verify(&alg, key, message, braid);
            let is_valid = match text(test, "result")? {
                "invalid" => false,
                "valid" | "acceptable" => true,
                other => bail!("{other}"),
            };
            ensure!(test["modelVerdict"] == is_valid, "the model says otherwise");
            let name = format!("{index}.{}", test["tcId"]);
            let flags = flags(test);
            out.add("walnut", name, &flags, ask, Expected::of(is_valid));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotated_values_are_put_together() {
        let text =
            "! Public Key\n levels $00000002 # two\n!A Message\n $61\n $62\n! Signature\nq $05\n";
        let [key, message, signature] = annotated(text).unwrap();
        assert_eq!((key, message, signature), (vec![0, 0, 0, 2], b"ab".to_vec(), vec![5]));
        assert!(annotated("$00\n").is_err());
    }

    #[test]
    fn the_length_of_a_key_tells_hss_from_lms() {
        assert_eq!(lms_alg(&[0; 56]).unwrap(), "lms");
        assert_eq!(lms_alg(&[0; 52]).unwrap(), "hss");
        assert!(lms_alg(&[0; 57]).is_err());
    }
}
