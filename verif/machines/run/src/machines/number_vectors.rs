//! Runs public vectors of RSA and ECDSA on the root of trust. With its engine, a verifier must give the same verdict as
//! in software.
//!
//! The vectors are read from the folder that `HARTLOCK_VECTORS` names.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_image::Algorithm;
use hartlock_kernels::signature::Rejection;
use serde_json::Value;

use super::numbers::{self, BignumCase, BignumVerifier};
use super::rot::Rot;
use super::signature_vectors::{chosen, public_vectors, unhex};
use crate::parallel::in_parallel;

/// The public exponent of RSA keys that are supported, as vectors write it.
const EXPONENT: &str = "010001";

/// Algorithms of the image format (§2.2), and the file with vectors of each. Long ones come first, so that the cores
/// finish at about the same time.
const SOURCES: [(&str, &str); 17] = [
    ("rsa-pss-4096-sha512", "rsa_pss_4096_sha512_mgf1_64_test.json"),
    ("rsa-pss-4096-sha384", "rsa_pss_4096_sha384_mgf1_48_test.json"),
    ("rsa-pss-4096-sha256", "rsa_pss_4096_sha256_mgf1_32_test.json"),
    ("rsa-pkcs1-4096-sha512", "rsa_signature_4096_sha512_test.json"),
    ("rsa-pkcs1-4096-sha384", "rsa_signature_4096_sha384_test.json"),
    ("rsa-pkcs1-4096-sha256", "rsa_signature_4096_sha256_test.json"),
    ("ecdsa-p384", "ecdsa_secp384r1_sha384_p1363_test.json"),
    ("rsa-pss-3072-sha256", "rsa_pss_3072_sha256_mgf1_32_test.json"),
    ("rsa-pkcs1-3072-sha512", "rsa_signature_3072_sha512_test.json"),
    ("rsa-pkcs1-3072-sha384", "rsa_signature_3072_sha384_test.json"),
    ("rsa-pkcs1-3072-sha256", "rsa_signature_3072_sha256_test.json"),
    ("rsa-pss-2048-sha384", "rsa_pss_2048_sha384_mgf1_48_test.json"),
    ("rsa-pss-2048-sha256", "rsa_pss_2048_sha256_mgf1_32_test.json"),
    ("rsa-pkcs1-2048-sha512", "rsa_signature_2048_sha512_test.json"),
    ("rsa-pkcs1-2048-sha384", "rsa_signature_2048_sha384_test.json"),
    ("rsa-pkcs1-2048-sha256", "rsa_signature_2048_sha256_test.json"),
    ("ecdsa-p256", "ecdsa_secp256r1_sha256_p1363_test.json"),
];
/// The algorithms of a sample.
const SAMPLED: [&str; 4] =
    ["rsa-pkcs1-2048-sha256", "rsa-pss-3072-sha256", "ecdsa-p256", "ecdsa-p384"];

/// The result for the vectors of an algorithm.
pub struct Verified {
    pub algorithm: &'static str,
    pub count: usize,
    /// The cycles of the first valid vector, from the call of the verifier to its verdict.
    pub cycles: u64,
}

/// Verifies vectors with the engine, on all cores. By default these are a sample, because all of them take hours;
/// `HARTLOCK_ALL_VECTORS` selects all. `report` is called for each algorithm at its end.
///
/// Returns true if the folder of vectors exists.
///
/// # Errors
/// If a verdict or a reason differs from that of software, or the engine was not used.
pub fn run(machine: Rot, report: impl Fn(Verified) + Sync) -> Result<bool> {
    let Some(folder) = public_vectors()? else { return Ok(false) };
    let is_sample = env::var_os("HARTLOCK_ALL_VECTORS").is_none();
    let chosen = SOURCES.into_iter().filter(|(name, _)| !is_sample || SAMPLED.contains(name));
    let verified = in_parallel(&chosen.collect::<Vec<_>>(), |&(name, file)| {
        report(verify(machine, name, &folder.join("wycheproof").join(file), is_sample)?);
        Ok(())
    });
    verified.into_iter().collect::<Result<()>>().map(|()| true)
}

/// Verifies the vectors of a file: all of them, or as a sample some that are valid and some that are not.
fn verify(machine: Rot, algorithm: &'static str, file: &Path, is_sample: bool) -> Result<Verified> {
    let (valid, invalid) = read(algorithm, file)?.into_iter().partition(|(_, is)| *is);
    let vectors = [valid, invalid].map(|group| chosen(group, is_sample)).concat();
    let cases: Vec<_> = vectors.into_iter().map(|(case, _)| case).collect();
    let folder = format!("crypto-vectors/{algorithm}");
    let cycles = numbers::run_on(machine, BignumVerifier::Engine, &folder, &cases)?;
    let first = *cycles.first().context("no vector of the algorithm")?;
    Ok(Verified { algorithm, count: cases.len(), cycles: first })
}

/// Reads the vectors of a file, each with its verdict in software, which must agree with the file.
fn read(algorithm: &str, path: &Path) -> Result<Vec<(BignumCase, bool)>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: Value = serde_json::from_str(&text)?;
    let algorithm = Algorithm::from_name(algorithm).context("an algorithm of the image format")?;
    let mut vectors = Vec::new();
    for group in file["testGroups"].as_array().context("no groups")? {
        let key = group["publicKeyAsn"].as_str().or(group["publicKey"]["uncompressed"].as_str());
        let key = unhex(key.context("no key")?)?;
        // The verifier does not support RSA keys with another exponent.
        let exponent = group["publicKey"]["publicExponent"].as_str();
        let is_supported = exponent.is_none_or(|exponent| exponent == EXPONENT);
        for test in group["tests"].as_array().context("no tests")? {
            let bytes =
                |name: &str| unhex(test[name].as_str().with_context(|| format!("no {name}"))?);
            let case = BignumCase {
                algorithm,
                key: key.clone(),
                message: bytes("msg")?,
                signature: bytes("sig")?,
            };
            let verdict = case.verdict();
            let is_valid = verdict.is_ok();
            // For an `acceptable` vector, either verdict is right.
            let expected = test["result"].as_str().context("no result")?;
            ensure!(
                if is_supported {
                    expected == "acceptable" || is_valid == (expected == "valid")
                } else {
                    verdict == Err(Rejection::UnsupportedKey)
                },
                "software says otherwise of vector {} in {}",
                test["tcId"],
                path.display()
            );
            vectors.push((case, is_valid));
        }
    }
    ensure!(!vectors.is_empty(), "no vector in {}", path.display());
    Ok(vectors)
}
