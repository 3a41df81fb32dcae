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

/// Causes of which another test checks cause and hint, by their code and the beginning of the hint. Those of devices are
/// followed on an emulated board (`cargo xtask boots refusal/hint`).
const ELSEWHERE: [(&str, &str); 12] = [
    // boot.rs.
    ("E0103", "Swap the files"),
    ("E0103", "Give a … bundle"),
    ("E0304", "Sign with a root key"),
    ("E0304", "Sign the boot bundle"),
    ("E0304", "Sign the system bundle"),
    ("E0307", "Build a ROM"),
    ("E0906", "Use the boot device tree"),
    // host/bundle/tests/system_tree.rs, which makes such trees and right ones.
    ("E0908", "Take the tree from before a boot loader"),
    ("E0908", "Delete the reservation"),
    ("E0908", "Take the tree from before it was edited"),
    ("E0908", "Compile the tree without padding"),
    // verbs.rs, which follows it: the size of a compressed kernel depends on the compressor.
    ("E1204", "Decompress the kernel"),
];

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

/// Returns true if `text` is `pattern`, in which … stands for anything but nothing.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('…') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    rest.char_indices().skip(1).map(|(at, _)| &rest[at..]).chain([""]).any(|rest| fits(after, rest))
}

#[test]
fn each_cause_of_a_code_has_a_hint_that_is_followed() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/errors.toml");
    let list: toml::Table = fs::read_to_string(list).unwrap().parse().unwrap();
    // Each command that fails with a code, its hint, and whether the next command does what the hint says.
    let mut seen = Vec::new();
    for path in walks() {
        let text = fs::read_to_string(path).unwrap();
        let blocks = text.split("\n$ ").skip(1);
        seen.extend(blocks.filter_map(|block| {
            let (_, code) = block.split_once("\n  error: ")?;
            let hint = block.lines().find_map(|line| line.trim().strip_prefix("hint: "))?;
            let mut later = block.lines().skip(1);
            let is_followed = later.any(|line| line.starts_with("+ "));
            Some((code[..5].to_owned(), hint.to_owned(), is_followed))
        }));
    }
    let mut missing = Vec::new();
    let mut count = 0;
    for reason in list["reason"].as_array().unwrap() {
        let code = reason["code"].as_str().unwrap();
        for cause in reason.get("cause").and_then(|it| it.as_array()).into_iter().flatten() {
            count += 1;
            let hint = cause["hint"].as_str().unwrap();
            let is_it = |it: &&(String, String, bool)| it.0 == code && fits(hint, &it.1) && it.2;
            let is_elsewhere = ELSEWHERE.iter().any(|it| it.0 == code && hint.starts_with(it.1));
            if seen.iter().find(is_it).is_none() && !is_elsewhere {
                missing.push(format!("{code}: {}", cause["when"].as_str().unwrap()));
            }
        }
    }
    assert!(missing.is_empty() && count > 20, "{count}\n{}", missing.join("\n"));
}
