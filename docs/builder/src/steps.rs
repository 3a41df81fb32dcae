//! The page of the test run: the time of each step, from runs that `cargo xtask test --store` kept.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Characters of the longest bar.
const WIDTH: f64 = 24.0;

/// A stored run (`xtask/src/test.rs`).
#[derive(Deserialize)]
struct Run {
    name: String,
    date: String,
    commit: String,
    cores: usize,
    lanes: usize,
    seconds: f64,
    passed: usize,
    failed: usize,
    /// Files of public vectors that tests had to do without. A run of an earlier form does not say.
    vectors_missing: Option<usize>,
    step: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    seconds: f64,
    outcome: String,
}

/// A section for each stored run, in the order of their names.
///
/// # Errors
/// If a run cannot be read.
pub fn page(folder: &Path) -> Result<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("steps-") && name.ends_with(".toml") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Ok("No run is stored.\n".into());
    }
    paths.sort_unstable();
    let mut page = String::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        section(&toml::from_str(&text).with_context(|| path.display().to_string())?, &mut page);
    }
    Ok(page)
}

fn section(run: &Run, page: &mut String) {
    let Run { name, date, commit, cores, lanes, seconds, passed, failed, vectors_missing, step } =
        run;
    let vectors = match vectors_missing {
        None => String::new(),
        Some(0) => ", with all public vectors".to_owned(),
        Some(files) => format!(", without {files} files of public vectors"),
    };
    let commit = commit.get(..12).unwrap_or(commit);
    let _ = writeln!(
        page,
        "## With {name} caches: {}\n\n{passed} passed, {failed} failed{vectors}; {cores} cores, {lanes} steps at the same \
         time; commit `{commit}` of {date}.\n\n| step | time | |\n|---|---:|---|",
        minutes(*seconds)
    );
    let longest = step.iter().map(|step| step.seconds).fold(1.0, f64::max);
    let mut steps: Vec<&Step> = step.iter().collect();
    steps.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    for Step { name, seconds, outcome } in steps {
        let bar = "█".repeat((seconds / longest * WIDTH).round() as usize);
        let outcome = if outcome == "passed" { String::new() } else { format!(" ({outcome})") };
        let _ = writeln!(page, "| `{name}`{outcome} | {} | {bar} |", minutes(*seconds));
    }
    page.push('\n');
}

fn minutes(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {:02} s", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "name = \"empty\"\ndate = \"2026-01-02\"\ncommit = \"0123456789abcdef\"\ncores = 2\nlanes = 2\n\
                       seconds = 1799.6\npassed = 1\nfailed = 0\nvectors_missing = 3\n\
                       [[step]]\nname = \"fmt\"\nseconds = 1.5\noutcome = \"passed\"\n\
                       [[step]]\nname = \"unit\"\nseconds = 300.0\noutcome = \"skipped\"\n";

    #[test]
    fn shows_the_longest_step_first_and_what_did_not_pass() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(page(dir.path()).unwrap(), "No run is stored.\n");
        fs::write(dir.path().join("steps-empty.toml"), RUN).unwrap();
        let text = page(dir.path()).unwrap();
        assert!(text.contains("## With empty caches: 30 min 00 s"), "{text}");
        assert!(text.contains("commit `0123456789ab`"), "{text}");
        assert!(text.contains("1 passed, 0 failed, without 3 files of public vectors;"), "{text}");
        let (unit, fmt) =
            (text.find("| `unit` (skipped) | 5 min 00 s | ████"), text.find("| `fmt` |"));
        assert!(unit.unwrap() < fmt.unwrap(), "{text}");
        fs::write(dir.path().join("steps-warm.toml"), "name = 1").unwrap();
        assert!(page(dir.path()).is_err(), "a run that is not one");
    }
}
