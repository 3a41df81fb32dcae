//! Compares the answers of verifiers with the expected ones.

use hartlock_testkit::generator::BundleVector;
use xtask::Outcome;

/// Compares answers, in the order of the vectors, with the expected ones. Returns a line for each
/// difference.
pub fn compare(who: &str, all: &[BundleVector], answers: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    if answers.len() != all.len() {
        findings.push(format!("{who}: {} answers to {} vectors", answers.len(), all.len()));
    }
    for (made, answer) in all.iter().zip(answers) {
        let expected = &made.expected;
        if answer != expected.answer() {
            findings.push(format!(
                "{}: {who} says {answer}, expected is {}",
                expected.name,
                expected.answer()
            ));
        }
    }
    findings
}

pub fn outcome_of(findings: &[String]) -> Outcome {
    if findings.is_empty() { Outcome::Passed } else { Outcome::Failed(findings.join("\n")) }
}
