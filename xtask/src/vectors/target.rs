//! The vectors on the emulated board: a pack, the bench, and what it says on its console.

use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hartlock_bench::pack::{Header, JOB_VECTORS};

use super::{Made, SETS, compare, outcome_of};
use crate::test::Outcome;
use crate::{firmware, run, tools};

/// Only ends a hang; a slow machine is no failure.
const HANG: Duration = Duration::from_secs(300);
/// Where the bench looks for its pack (firmware/bench/src/main.rs).
const PACK_ADDRESS: u64 = 0x9000_0000;

pub fn step(root: &Path) -> Result<Outcome> {
    let mut all = Vec::new();
    for set in &SETS {
        all.extend(set.load(root)?);
    }
    let bench = firmware::stage("bench", &[])?;
    if firmware::has_panic_path(&bench.elf)? {
        return Ok(Outcome::Failed("the bench can reach a panic".into()));
    }
    let scratch = tempfile::tempdir()?;
    let pack_path = scratch.path().join("pack.bin");
    fs::write(&pack_path, pack(&all)?)?;
    let console = emulate(&bench.bin, &pack_path)?;
    Ok(outcome_of(&compare("the board", &all, &answers(&console)?)))
}

/// All vectors in one file (firmware/bench/src/vectors.rs).
fn pack(all: &[Made]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for made in all {
        let vector = made.expected.options.vector(&made.bundle)?;
        // An entry's header, eight keys, the bundle and its padding.
        let mut entry = vec![0; 128 + 8 * 64 + made.bundle.len() + 8];
        let size = vector.encode(&mut entry).context("the entry does not fit")?;
        body.extend_from_slice(&entry[..size]);
    }
    let header = Header { job: JOB_VECTORS, count: all.len() as u32, body_size: body.len() as u64 };
    Ok([&header.encode()[..], &body].concat())
}

/// Runs the bench to the end of the machine and returns its console.
fn emulate(bench: &Path, pack: &Path) -> Result<String> {
    let mut qemu = Command::new(tools::locate()?.qemu);
    qemu.args(["-machine", "virt", "-cpu", "rv64", "-smp", "1", "-m", "512M", "-nographic"]);
    qemu.args(["-monitor", "none", "-serial", "stdio", "-bios"]).arg(bench);
    let pack = pack.to_str().context("the path of the pack is not UTF-8")?.replace(',', ",,");
    qemu.arg("-device");
    qemu.arg(format!("loader,file={pack},addr={PACK_ADDRESS:#x},force-raw=on"));
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = qemu.spawn().map_err(|error| run::not_started(&qemu, &error))?;
    let output = child.stdout.take().context("the pipe was just made")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let result = BufReader::new(output).read_to_end(&mut text);
        // Nobody listens any more after a hang; then there is nothing left to tell.
        let _ = sender.send(result.map(|_| text));
    });
    let Ok(answer) = receiver.recv_timeout(HANG) else {
        child.kill()?;
        child.wait()?;
        bail!("the bench did not end within {HANG:?}");
    };
    let text = String::from_utf8_lossy(&answer?).replace('\r', "");
    let status = child.wait()?;
    ensure!(status.success(), "the bench failed ({status})\n{text}");
    Ok(text)
}

/// The answers, in the order of the vectors.
fn answers(console: &str) -> Result<Vec<String>> {
    let lines = console.lines().filter_map(|line| line.strip_prefix("vector "));
    let answers = lines.enumerate().map(|(index, line)| {
        let (number, answer) = line.split_once(' ').context("a line without an answer")?;
        ensure!(number.parse() == Ok(index), "vector {number} stands where {index} should");
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
        let all: Vec<Made> = SETS.iter().flat_map(super::super::Set::generate).collect();
        let bytes = pack(&all).unwrap();
        let header = Header::parse(&bytes).unwrap();
        let mut body = &bytes[32..];
        assert_eq!(header.body_size, body.len() as u64);
        for made in &all {
            let (vector, rest) = hartlock_bench::vectors::Vector::parse(body).unwrap();
            let wanted = made.expected.options.vector(&made.bundle).unwrap();
            assert_eq!(format!("{vector:?}"), format!("{wanted:?}"));
            body = rest;
        }
        assert!(body.is_empty());
    }
}
