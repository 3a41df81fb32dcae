//! Ed25519 and its variants.
//!
//! The rule is that of `hartlock_kernels::ed25519`: S is less than L, A and R are canonical and not of small
//! order, the cofactorless equation holds, and R is compared byte by byte. For cases without a published
//! verdict, this gives:
//!
//! * CCTV: `valid` unless a flag is `low_order_A`, `low_order_R`, `non_canonical_A`, `non_canonical_R` or
//!   `low_order_residue` (the cofactorless equation does not hold). A point that only has a component of low
//!   order is accepted.
//! * Speccheck (Chalkias, Garillot, Nikolaenko): only case 3 is `valid`: A and R are of mixed order and the
//!   cofactorless equation holds. Cases 0 and 1 have an A of small order, case 2 an R of small order, cases 4
//!   and 5 need the cofactor, in cases 6 and 7 S is not less than L, cases 8 and 9 have a non-canonical R,
//!   cases 10 and 11 a non-canonical A.
//! * Keystone: cases that only its own verifier accepts (`KeystoneAccepts`, S + L) are `invalid`.

use anyhow::{Context, Result, ensure};

use crate::Vectors;
use crate::case::{Ask, Collection, Expected, array, bytes, flags, parse_hex, text};
use crate::records::records;

/// The flags of CCTV that our rule refuses.
const REFUSED: [&str; 5] =
    ["low_order_A", "low_order_R", "non_canonical_A", "non_canonical_R", "low_order_residue"];
/// The index of the only case of speccheck that our rule accepts.
const SPECCHECK_VALID: usize = 3;

/// Converts the folders `ed25519` and `ed25519-sha3`.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "ed25519/EDDSA-SigVer-1.0.json")?;
    for group in array(&file, "testGroups")? {
        let alg = if group["preHash"] == true { "ed25519ph" } else { "ed25519" };
        for test in array(group, "tests")? {
            let (key, message) = (bytes(test, "q")?, bytes(test, "message")?);
            let ask = Ask::verify(alg, key, message, bytes(test, "signature")?);
            let expected = Expected::of(test["testPassed"] == true);
            let flags = format!("{alg} {}", text(test, "reason")?);
            out.add("ed25519", &test["tcId"], &flags, ask, expected);
        }
    }
    for (file, alg) in [
        ("rfc8032_ed25519.json", "ed25519"),
        ("rfc8032_ed25519ctx.json", "ed25519ctx"),
        ("rfc8032_ed25519ph.json", "ed25519ph"),
    ] {
        let file = vectors.read_json(out, &format!("ed25519/{file}"))?;
        for (index, test) in file.as_array().context("no array")?.iter().enumerate() {
            let (key, message) = (bytes(test, "publicKey")?, bytes(test, "message")?);
            let mut ask = Ask::verify(alg, key, message, bytes(test, "signature")?);
            if test.get("context").is_some() {
                ask = ask.with("context", bytes(test, "context")?);
            }
            out.add("ed25519", index, "", ask, Expected::Valid);
        }
    }
    botan(vectors, out)?;
    edges(vectors, out)?;
    keystone(vectors, out)
}

fn botan(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    for file in ["botan_ed25519_verify.vec", "botan_ed25519_signinput.vec"] {
        let text = vectors.read(out, &format!("ed25519/{file}"))?;
        for (index, record) in records(&text, "Signature").iter().enumerate() {
            let alg = match record.section() {
                "Pure" => "ed25519",
                "Ed25519ph" => "ed25519ph",
                other => anyhow::bail!("section {other}"),
            };
            let is_valid = record.get("Valid") != Some("0");
            let (key, message) = (record.bytes("Pubkey")?, record.bytes("Msg")?);
            let ask = Ask::verify(alg, key, message, record.bytes("Signature")?);
            out.add("ed25519", index, alg, ask, Expected::of(is_valid));
        }
    }
    Ok(())
}

/// Converts the cases without a published verdict.
fn edges(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "ed25519/cctv_ed25519vectors.json")?;
    for test in file.as_array().context("no array")? {
        let flags = flags(test);
        let is_valid = !flags.split(',').any(|flag| REFUSED.contains(&flag));
        // This file has the message as text, and not in hexadecimal digits.
        let message = text(test, "msg")?.as_bytes();
        let ask = Ask::verify("ed25519", bytes(test, "key")?, message, bytes(test, "sig")?);
        out.add("ed25519", &test["number"], &flags, ask, Expected::of(is_valid));
    }
    let file = vectors.read_json(out, "ed25519/speccheck_cases.json")?;
    let cases = file.as_array().context("no array")?;
    ensure!(cases.len() == 12, "speccheck has {} cases", cases.len());
    for (index, test) in cases.iter().enumerate() {
        let (key, message) = (bytes(test, "pub_key")?, bytes(test, "message")?);
        let ask = Ask::verify("ed25519", key, message, bytes(test, "signature")?);
        let expected = Expected::of(index == SPECCHECK_VALID);
        out.add("ed25519", index, &index.to_string(), ask, expected);
    }
    Ok(())
}

/// Converts the cases of Keystone's variant, which uses SHA3-512 instead of SHA-512.
fn keystone(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    const ALG: &str = "ed25519-keystone";
    let file = vectors.read_json(out, "ed25519-sha3/keystone_endorsement.json")?;
    for group in array(&file, "testGroups")? {
        for test in array(group, "tests")? {
            let key = if test.get("publicKey").is_some() { test } else { group };
            let key = bytes(key, "publicKey")?;
            let ask = Ask::verify(ALG, key, bytes(test, "msg")?, bytes(test, "sig")?);
            let expected = Expected::of(text(test, "result")? == "valid");
            out.add("ed25519-sha3", &test["tcId"], &flags(test), ask, expected);
        }
    }
    // The fields of a line are: secret ‖ key : key : message : signature ‖ message
    let text = vectors.read(out, "ed25519-sha3/sign.input.with.sha3.txt")?;
    for (index, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let parts: Vec<&str> = line.trim().split(':').collect();
        let [_, key, message, signed, ..] = parts[..] else { anyhow::bail!("line {index}") };
        let (message, signed) = (parse_hex(message)?, parse_hex(signed)?);
        let signature = signed.strip_suffix(&message[..]).context("not signature ‖ message")?;
        let ask = Ask::verify(ALG, parse_hex(key)?, &message[..], signature);
        out.add("ed25519-sha3", index, "", ask, Expected::Valid);
    }
    Ok(())
}
