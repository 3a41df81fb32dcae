//! Tests of invalid input of every kind: the message, the exit code, and the effect of following the hint.
//!
//! Each file in `tests/wrong` is a script that is run in a folder of its own. `$` begins a command that must
//! fail, and the lines after it are its exit code and its complete output. `+` begins a command that must
//! succeed: it prepares the next commands, or follows the hint above it. With `UPDATE_WRONG=1` the actual
//! output is written into the files; a person must read it before it is committed.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Bench, Run};

/// Minimum number of commands that fail in all files together.
const LEAST_COMMANDS: usize = 290;

fn walks() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut walks: Vec<_> = entries.filter(|path| path.extension().is_some()).collect();
    walks.sort();
    walks
}

/// Replaces numbers that are different in each run.
fn without_key_ids(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_hex) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_hex(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let is_mixed = word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_ascii_alphabetic());
        let is_id = word.len() >= 12 && (is_mixed || after.starts_with('…'));
        out += before;
        out += if is_id { "KEY-ID" } else { word };
        rest = after;
    }
    out + rest
}

fn shell(bench: &Bench, command: &str) -> Run {
    let folder = Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(bench.folder()).env("PATH", path.unwrap());
    for name in ["SOURCE_DATE_EPOCH", "HARTLOCK_QEMU", "HARTLOCK_BENCH", "COLUMNS"] {
        shell.env_remove(name);
    }
    Run::of(shell.output().unwrap())
}

/// Runs a file, and returns the file with the actual output, and the number of commands that must fail.
fn walked(text: &str, faults: &mut Vec<String>) -> (String, usize) {
    let bench = Bench::with_bundle();
    let (mut out, mut count) = (String::new(), 0);
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            count += 1;
            let run = shell(&bench, command);
            let _ = writeln!(out, "{line}\nexit code {}", run.code);
            let folder = bench.folder().display().to_string();
            let text = (run.stdout + &run.stderr).replace(&folder, "FOLDER");
            let text = without_key_ids(&text);
            for line in text.lines().filter(|line| !line.is_empty()) {
                let _ = writeln!(out, "  {line}");
            }
            let hints = run.stderr.matches("hint: ").count() + run.stderr.matches("--help").count();
            if !matches!((run.code, hints), (1 | 2, 1..)) {
                faults.push(format!("{command}: exit code {} with {hints} hints", run.code));
            }
        } else if let Some(command) = line.strip_prefix("+ ") {
            let _ = writeln!(out, "{line}");
            let run = shell(&bench, command);
            if run.code != 0 {
                faults.push(format!("{command}: it should succeed, but {run:#?}"));
            }
        } else if line.is_empty() || line.starts_with('#') {
            let _ = writeln!(out, "{line}");
        }
    }
    (out, count)
}

#[test]
fn wrong_input_is_answered_as_it_was_reviewed() {
    let (mut faults, mut commands) = (Vec::new(), 0);
    for path in walks() {
        let text = fs::read_to_string(&path).unwrap();
        let (now, count) = walked(&text, &mut faults);
        commands += count;
        if std::env::var_os("UPDATE_WRONG").is_some() {
            fs::write(&path, now).unwrap();
        } else {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            for (line, (was, is)) in text.lines().zip(now.lines()).enumerate() {
                if was != is {
                    faults.push(format!("{name}:{}: was {was:?}, is {is:?}", line + 1));
                    break;
                }
            }
            if text.lines().count() != now.lines().count() {
                faults.push(format!("{name}: as many lines as before are expected"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(commands >= LEAST_COMMANDS, "{commands} commands");
}
