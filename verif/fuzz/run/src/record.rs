//! The result of a fuzzer run, as a text and in the form of `verif/runs/fuzz`.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use hartlock_results::fuzz::{FuzzFigures, FuzzRun};
use xtask::run;

/// Reads the end of a target's run from the output of the fuzzer and the folder of inputs that it found.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(target: &str, seconds: f64, output: &Output, found: &Path) -> Result<FuzzFigures> {
    let text = String::from_utf8_lossy(&output.stderr);
    // The last line of progress: `#3000 DONE cov: 21 ft: 21 corp: 2/257b …`.
    let progress = text.lines().rev().find(|line| line.contains(" cov: "));
    let progress = progress.unwrap_or_default();
    let number = |text: &str, key: &str| -> u64 {
        let rest = text.split_once(key).map_or("", |(_, rest)| rest).trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().unwrap_or(0)
    };
    let (mut found_files, mut found_bytes) = (0, 0);
    for entry in fs::read_dir(found)? {
        found_files += 1;
        found_bytes += entry?.metadata()?.len();
    }
    let is_crash = !output.status.success();
    Ok(FuzzFigures {
        target: target.into(),
        seconds: (seconds * 10.0).round() / 10.0,
        executions: number(&text, "stat::number_of_executed_units:").max(number(progress, "#")),
        coverage: number(progress, " cov:"),
        features: number(progress, " ft:"),
        corpus: number(progress, " corp:"),
        found_files,
        found_bytes,
        peak_memory_mib: number(&text, "stat::peak_rss_mb:"),
        crashes: is_crash.into(),
        accepted: text.contains(ACCEPTED).then(|| number(&text, ACCEPTED)),
        refused: text.contains(REFUSED).then(|| number(&text, REFUSED)),
        crash: is_crash.then(|| describe(target, &text)),
    })
}

/// A target that never sees one of the verdicts compares nothing, and has failed.
pub fn expect_both_verdicts(figures: &mut FuzzFigures) {
    if figures.crash.is_none()
        && [figures.accepted, figures.refused].iter().any(|it| it.is_none_or(|it| it == 0))
    {
        figures.crashes = 1;
        figures.crash = Some(format!(
            "{}: {} signatures accepted and {} refused; there have to be some of both",
            figures.target,
            figures.accepted.unwrap_or_default(),
            figures.refused.unwrap_or_default()
        ));
    }
}

/// Text that `verif/fuzz/targets/src/signed.rs` prints at the end.
pub const ACCEPTED: &str = "stat::accepted:";
pub const REFUSED: &str = "stat::refused:";

/// Returns the panic message and the command that runs the failing input again.
fn describe(target: &str, text: &str) -> String {
    let panic = text.lines().skip_while(|line| !line.contains("panicked at"));
    let panic: Vec<&str> =
        panic.take_while(|line| !line.starts_with("stack backtrace")).take(12).collect();
    let saved = text.lines().find_map(|line| line.split_once("Test unit written to "));
    let what = match panic.as_slice() {
        [] => {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(12)..].join("\n")
        }
        lines => lines.join("\n"),
    };
    match saved {
        Some((_, file)) => {
            format!("{target}: {what}\nto see it again: cargo xtask fuzz {target} --input {file}")
        }
        None => format!("{target}: {what}"),
    }
}

/// Returns a table with a line for each target.
pub fn table(results: &[FuzzFigures]) -> String {
    let mut lines =
        vec!["target             executions  coverage  features  corpus  seconds".to_owned()];
    for it in results {
        lines.push(format!(
            "{:<18} {:>10} {:>9} {:>9} {:>7} {:>8.1}{}{}",
            it.target,
            it.executions,
            it.coverage,
            it.features,
            it.corpus,
            it.seconds,
            match (it.accepted, it.refused) {
                (Some(accepted), Some(refused)) => {
                    format!("  {accepted} accepted, {refused} refused")
                }
                _ => String::new(),
            },
            if it.crashes > 0 { "  CRASH" } else { "" }
        ));
    }
    lines.join("\n")
}

/// Writes figures to a file of their own: what was stored stays what it was.
pub fn store(root: &Path, seed: u32, results: &[FuzzFigures]) -> Result<PathBuf> {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-c").arg(format!("safe.directory={}", root.display())).args(words);
        run::quietly(git.current_dir(root)).map(|text| text.trim().to_owned())
    };
    let ended = now();
    let run = FuzzRun {
        schema: 1,
        commit: git(&["rev-parse", "HEAD"])?,
        is_modified: !git(&[
            "status",
            "--porcelain",
            "--",
            "device",
            "host",
            "spec",
            "verif/fuzz",
        ])?
        .is_empty(),
        date: date_of(ended / 86_400),
        ended,
        rustc: run::quietly(Command::new("rustc").arg("--version").current_dir(root))?
            .trim()
            .into(),
        libfuzzer_sys: version_of(root, "libfuzzer-sys")?,
        seed,
        targets: results.to_vec(),
    };
    write_new(&root.join("verif/runs/fuzz"), &run)
}

/// Writes a run under the first name of its day and commit that is free.
fn write_new(folder: &Path, run: &FuzzRun) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let short = run.commit.get(..8).context("a commit id")?;
    let changes = if run.is_modified { "+changes" } else { "" };
    let stem = format!("{}-{short}{changes}", run.date);
    let text = serde_json::to_string_pretty(run)? + "\n";
    for number in 1u32.. {
        let name =
            if number == 1 { format!("{stem}.json") } else { format!("{stem}-{number}.json") };
        let path = folder.join(name);
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
    }
    bail!("{stem} has no free name")
}

/// Returns the version of a crate in the lock file.
fn version_of(root: &Path, name: &str) -> Result<String> {
    let lock = fs::read_to_string(root.join("Cargo.lock"))?;
    let (_, rest) =
        lock.split_once(&format!("name = \"{name}\"\nversion = \"")).context("a locked crate")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// Returns the seconds since 1970-01-01.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Returns the Gregorian date of a day that is counted from 1970-01-01. The calculation uses years that begin in March,
/// so that a leap day is the last day of a year.
fn date_of(day: u64) -> String {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    const GOOD: &str = "#2\tINITED cov: 10 ft: 11 corp: 1/4b exec/s: 0 rss: 29Mb\n\
        #3000\tDONE   cov: 21 ft: 34 corp: 5/257b lim: 1024 exec/s: 0 rss: 29Mb\n\
        stat::number_of_executed_units: 3000\nstat::peak_rss_mb:              31\n";
    const BAD: &str = "#80\tNEW    cov: 7 ft: 9 corp: 3/10b lim: 4 exec/s: 0 rss: 29Mb\n\n\
        thread '<unnamed>' (1) panicked at src/targets/spec.rs:22:17:\nthe rule\n\
        stack backtrace:\n   0: x\nartifact_prefix='a'; Test unit written to /x/crash-1\n";

    fn read(status: i32, text: &str) -> FuzzFigures {
        let output = Output {
            status: ExitStatus::from_raw(status << 8),
            stdout: Vec::new(),
            stderr: text.into(),
        };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "12345").unwrap();
        super::read("spec", 1.26, &output, folder.path()).unwrap()
    }

    #[test]
    fn figures_are_those_of_the_last_line() {
        let figures = read(0, GOOD);
        assert_eq!((figures.executions, figures.coverage, figures.features), (3000, 21, 34));
        assert_eq!((figures.corpus, figures.peak_memory_mib, figures.crashes), (5, 31, 0));
        assert_eq!((figures.found_files, figures.found_bytes), (1, 5));
        assert_eq!(figures.crash, None);
    }

    #[test]
    fn a_crash_says_what_broke_and_how_to_see_it_again() {
        let figures = read(77, BAD);
        assert_eq!((figures.crashes, figures.executions), (1, 80));
        let text = figures.crash.unwrap();
        assert!(text.contains("the rule") && !text.contains("0: x"), "{text}");
        assert!(text.ends_with("cargo xtask fuzz spec --input /x/crash-1"), "{text}");
    }

    #[test]
    fn verdicts_of_both_kinds_are_expected() {
        let counted = |accepted, refused| {
            let text = format!("{GOOD}stat::accepted: {accepted}\nstat::refused: {refused}\n");
            let mut figures = read(0, &text);
            assert_eq!((figures.accepted, figures.refused), (Some(accepted), Some(refused)));
            expect_both_verdicts(&mut figures);
            figures
        };
        assert_eq!(counted(1, 2).crash, None);
        assert!(table(&[counted(1, 2)]).contains("1 accepted, 2 refused"));
        for figures in [counted(0, 2), counted(2, 0)] {
            assert_eq!(figures.crashes, 1);
            assert!(figures.crash.unwrap().contains("some of both"));
        }
        let mut figures = read(0, GOOD);
        assert_eq!(figures.accepted, None);
        expect_both_verdicts(&mut figures);
        assert!(figures.crash.is_some(), "nothing was counted");
    }

    #[test]
    fn a_run_never_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let run = |is_modified| FuzzRun {
            schema: 1,
            commit: "0123456789abcdef".into(),
            is_modified,
            date: "2026-11-21".into(),
            ended: 7,
            rustc: "rustc 1".into(),
            libfuzzer_sys: "0.4".into(),
            seed: 1,
            targets: vec![read(0, GOOD)],
        };
        let name = |is_modified| {
            let path = write_new(folder.path(), &run(is_modified)).unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name(false), "2026-11-21-01234567.json");
        assert_eq!(name(false), "2026-11-21-01234567-2.json");
        assert_eq!(name(false), "2026-11-21-01234567-3.json");
        assert_eq!(name(true), "2026-11-21-01234567+changes.json");
        let text = fs::read(folder.path().join("2026-11-21-01234567.json")).unwrap();
        let read: FuzzRun = serde_json::from_slice(&text).unwrap();
        assert_eq!((read.ended, read.targets), (7, run(false).targets));
    }

    #[test]
    fn days_have_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_513, "2026-03-01"),
            (20_778, "2026-11-21"),
        ] {
            assert_eq!(date_of(day), date);
        }
    }
}
