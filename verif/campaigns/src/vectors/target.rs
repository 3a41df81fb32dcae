//! Verifies the vectors on the emulated board: makes a pack, runs the bench, and reads the answers
//! on its console.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_jobs::pack::{Header, JOB_VECTORS};

use hartlock_testkit::generator::{BundleVector, SETS};

use super::comparison::{compare, outcome_of};
use super::judge;
use crate::bench;
use xtask::Outcome;
use xtask::firmware;

pub fn step(root: &Path) -> Result<Outcome> {
    let mut all = Vec::new();
    for set in &SETS {
        all.extend(set.load(root)?);
    }
    let stage = firmware::stage("jobs", &[])?;
    if firmware::has_panic_path(&stage.elf)? {
        return Ok(Outcome::Failed("the bench can reach a panic".into()));
    }
    let scratch = tempfile::tempdir()?;
    let pack_path = scratch.path().join("pack.bin");
    fs::write(&pack_path, pack(&all)?)?;
    let console = bench::emulate(&stage.bin, &pack_path, &["-cpu", "rv64"])?;
    Ok(outcome_of(&compare("the board", &all, &answers(&console)?)))
}

/// Encodes all vectors into one file (format: verif/programs/bench/src/vectors.rs).
fn pack(all: &[BundleVector]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for made in all {
        let vector = judge::vector(&made.expected.options, &made.bundle)?;
        // An entry has a header, up to eight keys, the bundle and its padding.
        let mut entry = vec![0; 128 + 8 * 64 + made.bundle.len() + 8];
        let size = vector.encode(&mut entry).context("the entry does not fit")?;
        body.extend_from_slice(&entry[..size]);
    }
    let header = Header { job: JOB_VECTORS, count: all.len() as u32, body_size: body.len() as u64 };
    Ok([&header.encode()[..], &body].concat())
}

/// Returns the answers in the order of the vectors.
fn answers(console: &str) -> Result<Vec<String>> {
    let lines = console.lines().filter_map(|line| line.strip_prefix("vector "));
    let answers = lines.enumerate().map(|(index, line)| {
        let (number, answer) = line.split_once(' ').context("a line without an answer")?;
        ensure!(number.parse() == Ok(index), "vector {number} is where {index} should be");
        Ok(answer.to_owned())
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_answers_and_misses_no_line() {
        let console = "noise\nvector 0 accepted\nvector 1 E0301\nbench: done\n";
        assert_eq!(answers(console).unwrap(), ["accepted", "E0301"]);
        answers("vector 1 accepted\n").unwrap_err();
        answers("vector 0\n").unwrap_err();
    }

    #[test]
    fn a_pack_holds_what_was_put_in() {
        let all: Vec<BundleVector> =
            SETS.iter().flat_map(hartlock_testkit::generator::Set::generate).collect();
        let bytes = pack(&all).unwrap();
        let header = Header::parse(&bytes).unwrap();
        let mut body = &bytes[32..];
        assert_eq!(header.body_size, body.len() as u64);
        for made in &all {
            let (vector, rest) = hartlock_jobs::vectors::Vector::parse(body).unwrap();
            let wanted = judge::vector(&made.expected.options, &made.bundle).unwrap();
            assert_eq!(format!("{vector:?}"), format!("{wanted:?}"));
            body = rest;
        }
        assert!(body.is_empty());
    }
}
