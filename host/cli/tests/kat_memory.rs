//! Tests that `hartlock kat` uses no more memory than it states, for all kinds of input.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use hartlock_kat::host::line::MAX_LINE_LEN;
use hartlock_kat::host::stream::MAX_MEMORY;

use crate::common::Bench;

/// Returns the peak resident memory of a process in bytes; `None` if the process has ended.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// A case whose answer is larger than the buffer of a pipe. The command waits for its reader, and meanwhile
/// its memory can be measured.
const LAST: &str = r#"{"id":"","op":"digest","alg":"shake128","message":"","output_len":262144}"#;

/// Returns the number of answers to `cases` and to one more case, and the peak memory in bytes.
fn answered(cases: &[u8]) -> (usize, u64) {
    let bench = Bench::new();
    bench.write("cases.jsonl", &[cases, LAST.as_bytes()].concat());
    let mut child = Command::new(env!("CARGO_BIN_EXE_hartlock"))
        .args(["kat", "cases.jsonl"])
        .current_dir(bench.folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut answers = child.stdout.take().unwrap();
    let mut piece = vec![0; 1 << 16];
    let (mut lines, mut peak) = (0, 0);
    loop {
        peak = peak_memory(child.id()).unwrap_or(0).max(peak);
        match answers.read(&mut piece).unwrap() {
            0 => break,
            len => lines += piece[..len].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
    assert!(child.wait().unwrap().success());
    (lines, peak)
}

#[track_caller]
fn bounded(what: &str, cases: &[u8], lines: usize) {
    let (answers, peak) = answered(cases);
    println!("{what}: {} bytes of input, {} KiB of memory", cases.len(), peak >> 10);
    assert_eq!(answers, lines + 1, "{what}");
    assert!(peak > 1 << 20, "{what}: no memory was measured");
    assert!(peak <= MAX_MEMORY, "{what}: {} KiB of memory", peak >> 10);
}

#[test]
fn outputs_are_long_and_many() {
    let case = r#"{"id":"","op":"digest","alg":"shake128","message":"","output_len":4194304}"#;
    bounded("outputs", format!("{case}\n").repeat(18).as_bytes(), 18);
}

#[test]
fn lines_are_empty_and_many() {
    bounded("empty lines", &vec![b'\n'; 1 << 20], 1 << 20);
}

#[test]
fn a_line_is_long() {
    let line = |start: &str, unit: &str, end: &str| {
        let count = (MAX_LINE_LEN - start.len() - end.len()) / unit.len();
        format!("{start}{}{end}\n", unit.repeat(count)).into_bytes()
    };
    for (what, cases) in [
        ("a list that is ignored", line(r#"{"id":"","x":[0"#, ",0", "]}")),
        ("a list in place of text", line(r#"{"id":"","op":"digest","alg":[0"#, ",0", "]}")),
        ("an identifier", line(r#"{"id":""#, "a", r#""}"#)),
        ("an escaped identifier", line(r#"{"id":""#, r"\u0001", r#""}"#)),
        ("an operation", line(r#"{"id":"","alg":"","op":""#, "a", r#""}"#)),
        (
            "a name of a hash",
            line(
                r#"{"id":"","op":"verify","alg":"rsa-pss","public_key":"","message":"","signature":"","hash":""#,
                "a",
                r#""}"#,
            ),
        ),
        ("a message", line(r#"{"id":"","op":"digest","alg":"sha256","message":""#, "00", r#""}"#)),
        ("a field that is repeated", line(r#"{"id":"""#, r#","message":"00""#, "}")),
    ] {
        bounded(what, &cases, 1);
    }
}
