//! Public vectors of hash-based signatures on the root of trust: with its engine a verifier says the same as without.
//!
//! They are read in place from `../shared/vectors` beside the workspace, or from the folder that `HARTLOCK_VECTORS` names.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use hartlock_kat::roots::Scheme;
use serde_json::Value;

use super::rot::Rot;
use super::signatures::{By, Case, run_on};
use xtask::project;

/// A sample for every day, of each of valid and of changed signatures.
const SAMPLE: usize = 3;

/// The vectors of a scheme, and those of its parameter sets that the engine has.
struct Source {
    valid: &'static str,
    invalid: &'static str,
    /// Of a group of the second file.
    group: &'static str,
    scheme: Scheme,
    is_built_in: fn(key: &[u8]) -> bool,
}

const SOURCES: [Source; 1] = [Source {
    valid: "xmss/botan_xmss_verify.vec",
    invalid: "xmss/derived_xmss_invalid.json",
    group: "XmssVerify",
    scheme: Scheme::Xmss,
    // XMSS-SHA2_10_256, _16_256 and _20_256 (RFC 8391 §5.3).
    is_built_in: |key| matches!(key, [0, 0, 0, 1..=3, ..]),
}];

/// Verifies them with the engine: how many were valid and how many were not, or nothing without the folder. `HARTLOCK_ALL_VECTORS`
/// asks for all of them.
///
/// # Errors
/// If a root, or a reason why there is none, is another one than in software; if a verdict is not that of the vector.
pub fn run(machine: Rot) -> Result<Option<(usize, usize)>> {
    let named = env::var_os("HARTLOCK_VECTORS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| project::root().join("../shared/vectors"));
    if !folder.is_dir() {
        return Ok(None);
    }
    let is_sample = env::var_os("HARTLOCK_ALL_VECTORS").is_none();
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for source in &SOURCES {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let cases = source.valid(&read(source.valid)?)?;
        valid.extend(chosen(cases, is_sample));
        let cases = source.invalid(&serde_json::from_str(&read(source.invalid)?)?)?;
        invalid.extend(chosen(cases, is_sample));
    }
    ensure!(valid.iter().all(Case::is_valid), "software refuses a valid vector");
    ensure!(!invalid.iter().any(Case::is_valid), "software accepts a changed vector");
    let counts = (valid.len(), invalid.len());
    valid.append(&mut invalid);
    run_on(machine, By::Engine, &valid)?;
    Ok(Some(counts))
}

/// All of them, or some that are spread over all.
fn chosen(cases: Vec<Case>, is_sample: bool) -> Vec<Case> {
    let step = if is_sample { cases.len().div_ceil(SAMPLE) } else { 1 };
    cases.into_iter().step_by(step.max(1)).collect()
}

impl Source {
    fn case(&self, [key, message, signature]: [&str; 3]) -> Result<Option<Case>> {
        let [key, message, signature] = [key, message, signature].map(unhex);
        let key = key?;
        let case = Case { scheme: self.scheme, message: message?, signature: signature?, key };
        Ok((self.is_built_in)(&case.key).then_some(case))
    }

    /// Of a file with a record up to each empty line.
    fn valid(&self, text: &str) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for record in text.split("\n\n") {
            let field = |name: &str| {
                let line = record.lines().find_map(|line| line.strip_prefix(name));
                line.map(|rest| rest.trim_start_matches([' ', '=']).trim())
            };
            if let Some(key) = field("PublicKey") {
                let message = field("Msg").context("a record has no message")?;
                let signature = field("Signature").context("a record has no signature")?;
                cases.extend(self.case([key, message, signature])?);
            }
        }
        ensure!(!cases.is_empty(), "no vector of the engine");
        Ok(cases)
    }

    /// Of a file of changed ones.
    fn invalid(&self, file: &Value) -> Result<Vec<Case>> {
        let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        let list = |value: &Value, name: &str| value[name].as_array().cloned();
        let mut cases = Vec::new();
        for group in list(file, "testGroups").context("no groups")? {
            if text(&group, "type").as_deref() != Some(self.group) {
                continue;
            }
            let of_group = text(&group, "publicKey").context("no key")?;
            for test in list(&group, "tests").context("no tests")? {
                let key = text(&test, "publicKeyOverride").unwrap_or_else(|| of_group.clone());
                let message = text(&test, "msg").context("no message")?;
                let signature = text(&test, "sig").context("no signature")?;
                cases.extend(self.case([&key, &message, &signature])?);
            }
        }
        ensure!(!cases.is_empty(), "no changed vector of the engine");
        Ok(cases)
    }
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2) && text.is_ascii(), "no bytes: {text}");
    let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    Ok(bytes.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_the_parameters_are_taken() {
        let [source] = &SOURCES;
        let text = "# a\n\nPublicKey = 0000000255\nMsg = \nSignature = 0102\n\nPublicKey = 0000000d\nMsg =\nSignature =\n";
        let cases = source.valid(text).unwrap();
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].message.len(), &cases[0].signature[..]), (0, &[1, 2][..]));
        assert!(source.valid("Msg = 00").is_err());
        let tests = r#"{"testGroups": [{"type": "XmssVerify", "publicKey": "00000001", "tests": [
            {"msg": "00", "sig": ""}, {"msg": "00", "sig": "11", "publicKeyOverride": "0000000e"}]},
            {"type": "XmssMtVerify", "publicKey": "00000001", "tests": [{"msg": "", "sig": ""}]}]}"#;
        let cases = source.invalid(&serde_json::from_str(tests).unwrap()).unwrap();
        assert_eq!(cases.len(), 1);
        assert!(unhex("0").is_err() && unhex("0g").is_err());
    }

    #[test]
    fn a_sample_is_spread_over_all() {
        let case = |number| Case {
            scheme: Scheme::Xmss,
            key: vec![number],
            message: Vec::new(),
            signature: Vec::new(),
        };
        let some = |count: u8, is_sample| -> Vec<u8> {
            let cases = chosen((0..count).map(case).collect(), is_sample);
            cases.iter().map(|case| case.key[0]).collect()
        };
        assert_eq!(some(9, true), [0, 3, 6]);
        assert_eq!(some(2, true), [0, 1]);
        assert_eq!(some(4, false), [0, 1, 2, 3]);
    }
}
