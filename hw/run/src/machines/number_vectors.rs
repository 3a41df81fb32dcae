//! Public vectors of RSA and ECDSA on the root of trust: with its engine a verifier says the same as without.
//!
//! They are read in place from `../shared/vectors` beside the workspace, or from the folder that `HARTLOCK_VECTORS` names.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_image::Algorithm;
use hartlock_kat::numbers::{HEAD_LEN, Head};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;
use serde_json::Value;

use super::End;
use super::rot::{self, Rot};
use super::signature_vectors::{chosen, public_vectors, unhex};
use super::signatures::CASES;
use xtask::firmware;

/// Of the keys of RSA that are verified with, as vectors have it.
const EXPONENT: &str = "010001";
/// More than all vectors take.
const MAX_CYCLES: &str = "4000000000";

/// Files, with the algorithm of the image format (§2.2) that they are of.
const SOURCES: [(&str, &str); 17] = [
    ("rsa-pkcs1-2048-sha256", "rsa_signature_2048_sha256_test.json"),
    ("rsa-pkcs1-2048-sha384", "rsa_signature_2048_sha384_test.json"),
    ("rsa-pkcs1-2048-sha512", "rsa_signature_2048_sha512_test.json"),
    ("rsa-pkcs1-3072-sha256", "rsa_signature_3072_sha256_test.json"),
    ("rsa-pkcs1-3072-sha384", "rsa_signature_3072_sha384_test.json"),
    ("rsa-pkcs1-3072-sha512", "rsa_signature_3072_sha512_test.json"),
    ("rsa-pkcs1-4096-sha256", "rsa_signature_4096_sha256_test.json"),
    ("rsa-pkcs1-4096-sha384", "rsa_signature_4096_sha384_test.json"),
    ("rsa-pkcs1-4096-sha512", "rsa_signature_4096_sha512_test.json"),
    ("rsa-pss-2048-sha256", "rsa_pss_2048_sha256_mgf1_32_test.json"),
    ("rsa-pss-2048-sha384", "rsa_pss_2048_sha384_mgf1_48_test.json"),
    ("rsa-pss-3072-sha256", "rsa_pss_3072_sha256_mgf1_32_test.json"),
    ("rsa-pss-4096-sha256", "rsa_pss_4096_sha256_mgf1_32_test.json"),
    ("rsa-pss-4096-sha384", "rsa_pss_4096_sha384_mgf1_48_test.json"),
    ("rsa-pss-4096-sha512", "rsa_pss_4096_sha512_mgf1_64_test.json"),
    ("ecdsa-p256", "ecdsa_secp256r1_sha256_p1363_test.json"),
    ("ecdsa-p384", "ecdsa_secp384r1_sha384_p1363_test.json"),
];
/// Of those that have one vector of either verdict every day.
const DAILY: [&str; 4] =
    ["rsa-pkcs1-2048-sha256", "rsa-pss-3072-sha256", "ecdsa-p256", "ecdsa-p384"];

/// As a program gets it (`crates/kat/src/numbers.rs`).
#[derive(Clone)]
struct Case {
    algorithm: Algorithm,
    key: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

impl Case {
    fn encode(&self) -> Vec<u8> {
        let (algorithm, parameters) = self.algorithm.numbers();
        let parts = [&self.key, &self.message, &self.signature];
        let lengths = parts.map(|part| part.len() as u32);
        let mut bytes: Vec<u8> = [algorithm, parameters]
            .into_iter()
            .chain(lengths)
            .chain([0])
            .flat_map(u32::to_le_bytes)
            .collect();
        for part in parts {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }

    /// What software says.
    fn verdict(&self) -> Result<(), Rejection> {
        let bytes = self.encode();
        let (head, body) = bytes.split_first_chunk::<HEAD_LEN>().expect("a head");
        Head::decode(head).expect("an algorithm").verify(&Kernels::PORTABLE, body)
    }
}

/// The vectors of an algorithm.
pub struct Verified {
    pub algorithm: &'static str,
    pub count: usize,
    /// Of the first of those that are valid: from the call of the verifier to its verdict.
    pub cycles: u64,
}

/// Verifies vectors with the engine; none without the folder. `HARTLOCK_ALL_VECTORS` asks for all of them.
///
/// # Errors
/// If a verdict or a reason is another one than in software, or the engine was not asked.
pub fn run(machine: Rot) -> Result<Vec<Verified>> {
    let Some(folder) = public_vectors() else { return Ok(Vec::new()) };
    let is_sample = env::var_os("HARTLOCK_ALL_VECTORS").is_none();
    let (mut cases, mut counts) = (Vec::new(), Vec::new());
    for (name, file) in SOURCES {
        if is_sample && !DAILY.contains(&name) {
            continue;
        }
        let (valid, invalid) =
            read(name, &folder.join("wycheproof").join(file))?.into_iter().partition(|(_, is)| *is);
        let vectors = [valid, invalid].map(|group| chosen(group, is_sample)).concat();
        counts.push((name, vectors.len()));
        cases.extend(vectors.into_iter().map(|(case, _)| case));
    }
    let cycles = verify(machine, &cases)?;
    let mut cycles = cycles.into_iter();
    let verified = counts.into_iter().map(|(algorithm, count)| {
        let first = cycles.next().context("no vector of the algorithm")?;
        cycles.by_ref().take(count - 1).for_each(drop);
        Ok(Verified { algorithm, count, cycles: first })
    });
    verified.collect()
}

/// The vectors of a file, and whether each is valid in software, which the file has to agree with.
fn read(algorithm: &str, path: &Path) -> Result<Vec<(Case, bool)>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: Value = serde_json::from_str(&text)?;
    let algorithm = Algorithm::from_name(algorithm).context("an algorithm of the image format")?;
    let mut vectors = Vec::new();
    for group in file["testGroups"].as_array().context("no groups")? {
        let key = group["publicKeyAsn"].as_str().or(group["publicKey"]["uncompressed"].as_str());
        let key = unhex(key.context("no key")?)?;
        // Keys of RSA with another exponent are none for a verifier.
        let exponent = group["publicKey"]["publicExponent"].as_str();
        let is_supported = exponent.is_none_or(|exponent| exponent == EXPONENT);
        for test in group["tests"].as_array().context("no tests")? {
            let bytes =
                |name: &str| unhex(test[name].as_str().with_context(|| format!("no {name}"))?);
            let case = Case {
                algorithm,
                key: key.clone(),
                message: bytes("msg")?,
                signature: bytes("sig")?,
            };
            let verdict = case.verdict();
            let is_valid = verdict.is_ok();
            // What is `acceptable` depends on the verifier.
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

fn verify(machine: Rot, cases: &[Case]) -> Result<Vec<u64>> {
    let program = firmware::rot_program("rot-crypto", &["vectors"])?;
    let folder = rot::folder(machine).join("crypto-vectors");
    fs::create_dir_all(&folder)?;
    let mut bytes = (cases.len() as u64).to_le_bytes().to_vec();
    bytes.extend(cases.iter().flat_map(Case::encode));
    let file = folder.join("cases.bin");
    fs::write(&file, bytes)?;
    let load = format!("{}@{CASES:#x}", file.display());
    let options = ["--max-cycles", MAX_CYCLES, "--load", &load];
    let (console, _, end) = rot::run_program(&rot::machine(machine)?, &program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    let verdicts: Vec<_> = cases.iter().map(Case::verdict).collect();
    judge(&console, &verdicts)
}

/// `sig <number> <cycles> <answers of the engine> <verdict>` for each case: the cycles of each.
fn judge(console: &str, verdicts: &[Result<(), Rejection>]) -> Result<Vec<u64>> {
    let lines: Vec<&str> = console.lines().filter(|line| line.starts_with("sig ")).collect();
    ensure!(lines.len() == verdicts.len(), "{} verdicts of {}", lines.len(), verdicts.len());
    let mut all = Vec::new();
    for (number, (line, verdict)) in lines.iter().zip(verdicts).enumerate() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [_, number_said, cycles, given, said] = words[..] else {
            anyhow::bail!("the program printed {line:?}")
        };
        ensure!(number_said == number.to_string(), "the order of cases: {line:?}");
        ensure!(said == format!("{verdict:?}"), "software says {verdict:?}: {line}");
        // What is no key or no signature is refused before.
        let is_asked = matches!(verdict, Ok(()) | Err(Rejection::Mismatch));
        ensure!(given == u8::from(is_asked).to_string(), "answers of the engine: {line}");
        all.push(cycles.parse().with_context(|| format!("no cycles: {line}"))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_that_is_wrong_or_missing_is_noticed() {
        let verdicts = [Ok(()), Err(Rejection::Mismatch), Err(Rejection::SignatureLength)];
        let good = "sig 0 70 1 Ok(())\nsig 1 7 1 Err(Mismatch)\nsig 2 7 0 Err(SignatureLength)\n";
        assert_eq!(judge(good, &verdicts).unwrap(), [70, 7, 7]);
        for (from, to) in [
            ("1 Ok(())", "0 Ok(())"),
            ("1 Err(Mismatch)", "1 Ok(())"),
            ("Err(SignatureLength)", "Err(InvalidKey)"),
            ("sig 2 7 0", "sig 2 7 1"),
            ("sig 1", "sig 3"),
            (" 70 ", " many "),
        ] {
            assert!(judge(&good.replace(from, to), &verdicts).is_err(), "{from}");
        }
        assert!(judge(good, &verdicts[..2]).is_err());
    }

    #[test]
    fn a_case_has_its_form() {
        let algorithm = Algorithm::from_name("ecdsa-p256").unwrap();
        let case =
            Case { algorithm, key: vec![4; 65], message: vec![1, 2, 3], signature: vec![0; 63] };
        assert_eq!(case.encode().len(), HEAD_LEN + 72 + 8 + 64);
        assert_eq!(case.verdict(), Err(Rejection::InvalidKey));
    }
}
