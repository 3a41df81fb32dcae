//! Converts cases of AES of NIST, and boot images that other projects signed.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::Vectors;
use crate::case::{Ask, Collection, Expected, array, bytes, number, text};
use crate::rsa::Key;

/// Converts the folders `aes` and `bootimages`.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    let file = vectors.read_json(out, "aes/ACVP-AES-CBC-1.0.json")?;
    cbc(out, &file)?;
    let file = vectors.read_json(out, "aes/ACVP-AES-GCM-1.0.json")?;
    gcm(out, &file)?;
    let file = vectors.read_json(out, "bootimages/expected.json")?;
    for entry in file.as_array().context("no array")? {
        let path = vectors.folder.join("bootimages").join(text(entry, "file")?);
        let image = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        boot_image(out, entry, &image).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn cbc(out: &mut Collection, file: &Value) -> Result<()> {
    for group in array(file, "testGroups")? {
        let direction = text(group, "direction")?;
        let alg = format!("aes-{}-cbc", number(group, "keyLen")?);
        for test in array(group, "tests")? {
            if group["testType"] == "MCT" {
                out.leave_out("a Monte Carlo test of a cipher");
                continue;
            }
            let (from, to) = if direction == "encrypt" { ("pt", "ct") } else { ("ct", "pt") };
            let ask = Ask::new("cipher", &alg)
                .with("direction", direction)
                .with("padding", "none")
                .with("key", bytes(test, "key")?)
                .with("iv", bytes(test, "iv")?)
                .with("message", bytes(test, from)?);
            let flags = format!("{direction} {}", group["internalTestType"]);
            out.add("aes", &test["tcId"], &flags, ask, Expected::Output(bytes(test, to)?));
        }
    }
    Ok(())
}

/// Converts AES-GCM. Cases of encryption become cases of decryption: the output must be the
/// plaintext.
fn gcm(out: &mut Collection, file: &Value) -> Result<()> {
    for group in array(file, "testGroups")? {
        let alg = format!("aes-{}-gcm", number(group, "keyLen")?);
        for test in array(group, "tests")? {
            let mut ask = Ask::new("aead-decrypt", &alg).with("ciphertext", bytes(test, "ct")?);
            for field in ["key", "iv", "aad", "tag"] {
                ask = ask.with(field, bytes(test, field)?);
            }
            let expected = match test["testPassed"] == false {
                true => Expected::Invalid,
                false => Expected::Output(bytes(test, "pt")?),
            };
            let flags = format!("{} {} {}", group["direction"], group["ivLen"], group["tagLen"]);
            out.add("aes", &test["tcId"], &flags, ask, expected);
        }
    }
    Ok(())
}

/// Converts a boot image. The image contains the signature in the byte order of its project; the
/// key is in `expected.json`.
fn boot_image(out: &mut Collection, entry: &Value, image: &[u8]) -> Result<()> {
    let region = array(entry, "signedRegion")?;
    let bound = |index: usize| region.get(index).and_then(Value::as_u64).context("no region");
    let message = image.get(bound(0)? as usize..bound(1)? as usize).context("a short image")?;
    let part = |at: usize, len: usize| -> Result<Vec<u8>> {
        Ok(image.get(at..at + len).context("a short image")?.to_vec())
    };
    let reversed = |mut bytes: Vec<u8>| {
        bytes.reverse();
        bytes
    };
    let ask = match text(entry, "algorithm")? {
        "ECDSA P-256" => {
            let key = [vec![4], bytes(entry, "qx")?, bytes(entry, "qy")?].concat();
            let signature = [reversed(part(0, 32)?), reversed(part(32, 32)?)].concat();
            let given = [bytes(entry, "r")?, bytes(entry, "s")?].concat();
            ensure!(signature == given, "the signature is not where it should be");
            Ask::verify("ecdsa-p256", key, message, signature).with("encoding", "p1363")
        }
        "RSA-3072 PKCS#1 v1.5" => {
            let key = Key::new(&bytes(entry, "n")?, &[1, 0, 1]);
            Ask::verify("rsa-pkcs1", key.spki(), message, reversed(part(0, 384)?))
        }
        "RSA-2048 PKCS#1 v1.5" => {
            let key = Key::new(&bytes(entry, "n")?, &[1, 0, 1]);
            Ask::verify("rsa-pkcs1", key.spki(), message, part(3848, 256)?)
        }
        other => bail!("{other}"),
    };
    let ask = ask.with("hash", "sha256");
    let family = if text(entry, "algorithm")?.starts_with("RSA") { "rsa" } else { "ecdsa" };
    let expected = Expected::of(text(entry, "expected")? == "valid");
    out.add(family, text(entry, "file")?, "", ask, expected);
    Ok(())
}
