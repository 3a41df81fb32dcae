//! Verifies the vectors on this machine, with the library and with the second verifier.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use hartlock_image::{MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE};

use hartlock_testkit::expected;
use hartlock_testkit::first_stage;
use hartlock_testkit::generator::{BundleVector, SETS, Set};

use super::comparison::{compare, outcome_of};
use super::judge;
use xtask::Outcome;
use xtask::run;

pub fn step(root: &Path) -> Result<Outcome> {
    let mut findings = Vec::new();
    for set in &SETS {
        let all = set.load(root)?;
        findings.extend(compare("the library", &all, &library(&all)?));
        findings.extend(compare("spec/verify.py", &all, &second_verifier(root, set, &all)?));
    }
    findings.extend(first_stages(root)?);
    Ok(outcome_of(&findings))
}

/// Verifies the first-stage vectors, which no board verifies.
fn first_stages(root: &Path) -> Result<Vec<String>> {
    let all = first_stage::load(root)?;
    let names = all.iter().map(|made| made.expected.name.as_str());
    let folder = root.join("spec/vectors").join(first_stage::FOLDER);
    let second = answers_of_python(root, &folder, names)?;
    let mut findings = Vec::new();
    for (made, second) in all.iter().zip(second) {
        let library = made.expected.options.judge(&made.image)?;
        for (who, answer) in [("the library", library), ("spec/first_stage.py", second)] {
            let expected = made.expected.answer();
            if answer != expected {
                let name = &made.expected.name;
                findings.push(format!("{name}: {who} says {answer}, expected is {expected}"));
            }
        }
    }
    Ok(findings)
}

fn library(all: &[BundleVector]) -> Result<Vec<String>> {
    // The buffer is not filled with zeros, so that a result that depends on its old contents is
    // detected.
    let mut metadata = vec![0xa5; MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE];
    all.iter()
        .map(|made| {
            let vector = judge::vector(&made.expected.options, &made.bundle)?;
            Ok(expected::answer(vector.judge(&mut metadata).err()))
        })
        .collect()
}

fn second_verifier(root: &Path, set: &Set, all: &[BundleVector]) -> Result<Vec<String>> {
    let names = all.iter().map(|made| made.expected.name.as_str());
    answers_of_python(root, &set.folder(root), names)
}

/// Runs one process for a whole folder, because starting Python takes longer than verifying.
fn answers_of_python<'a>(
    root: &Path,
    folder: &Path,
    expected: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>> {
    let mut python = Command::new("python3");
    python.arg("-B").arg(root.join("spec/run_vectors.py")).arg("--all").arg(folder);
    let output = run::capture(&mut python)?;
    // Exit code 1 means that some vectors differ, which is compared again here.
    let last_words = run::tail(&output, 5);
    if !matches!(output.status.code(), Some(0 | 1)) {
        bail!("{} failed\n{last_words}", run::describe(&python));
    }
    let text = String::from_utf8(output.stdout)?;
    let answers = text.lines().filter_map(|line| line.split_once('\t'));
    let (names, answers): (Vec<&str>, Vec<String>) =
        answers.map(|(name, answer)| (name, answer.to_owned())).unzip();
    if names.into_iter().ne(expected) {
        bail!("spec/run_vectors.py took other vectors\n{last_words}");
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_testkit::catalogue::order;

    #[test]
    fn each_fault_of_a_pair_has_its_reason_alone() {
        let all: Vec<BundleVector> = order::alone().iter().map(|row| row.make()).collect();
        let findings = compare("the library", &all, &library(&all).unwrap());
        assert!(findings.is_empty(), "{findings:#?}");
    }
}
