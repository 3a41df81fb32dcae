//! Shows the runs of the test suite that `cargo xtask test --store` stored: on a page of their own, and in README.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use xtask::run;

/// Where the runs are, from the root of the checkout.
const FOLDER: &str = "verif/runs";
/// The run that README quotes, if it is there; else it quotes the newest one.
const QUOTED: &str = "first";
const README: &str = "README.md";
/// The markers around the text of README that is generated here.
const MARKS: [&str; 2] = ["<!-- made by `cargo xtask docs` -->\n", "<!-- end -->"];

/// The length of the longest bar in characters.
const WIDTH: f64 = 24.0;

/// A stored run (`tools/xtask/src/test.rs`).
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
    step: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    seconds: f64,
    outcome: String,
}

/// Returns a section for each stored run, the newest first.
///
/// # Errors
/// If a run cannot be read.
pub fn page(root: &Path) -> Result<String> {
    let mut page = String::new();
    for run in stored(root)? {
        section(&run, &commits_since(root, &run.commit), &mut page);
    }
    Ok(if page.is_empty() { "No run is stored.\n".into() } else { page })
}

/// Returns README with the figures of the stored run, or nothing if it has these figures already.
///
/// # Errors
/// If a run cannot be read, or README has no place for its figures.
pub fn changed_readme(root: &Path) -> Result<Option<String>> {
    let runs = stored(root)?;
    let Some(run) = runs.iter().find(|run| run.name == QUOTED).or(runs.first()) else {
        return Ok(None);
    };
    let readme = fs::read_to_string(root.join(README)).context(README)?;
    let parts = readme.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS[1])?;
        Some((before, after))
    });
    let (before, after) = parts.context("README.md has no place for a stored run")?;
    let new = [before, MARKS[0], &quote(run), MARKS[1], after].concat();
    Ok((new != readme).then_some(new))
}

fn quote(run: &Run) -> String {
    let Run { name, date, cores, seconds, passed, failed, .. } = run;
    format!(
        "The stored run *{name}* of {date} took {} on {cores} cores: {passed} steps passed, {failed} failed.\n",
        minutes(*seconds)
    )
}

fn stored(root: &Path) -> Result<Vec<Run>> {
    let mut runs = Vec::<Run>::new();
    for entry in fs::read_dir(root.join(FOLDER)).context(FOLDER)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("steps-") && name.ends_with(".toml") {
            let text = fs::read_to_string(&path)?;
            runs.push(toml::from_str(&text).with_context(|| path.display().to_string())?);
        }
    }
    runs.sort_by(|a, b| b.date.cmp(&a.date).then(a.name.cmp(&b.name)));
    Ok(runs)
}

/// Returns the number of commits since this one, or nothing if the checkout does not contain the commit.
fn commits_since(root: &Path, commit: &str) -> Option<usize> {
    let mut git = Command::new("git");
    git.arg("-c").arg(format!("safe.directory={}", root.display())).current_dir(root);
    let count = run::quietly(git.args(["rev-list", "--count", &format!("{commit}..HEAD")]));
    count.ok()?.trim().parse().ok()
}

fn section(run: &Run, commits: &Option<usize>, page: &mut String) {
    let Run { name, date, commit, cores, lanes, seconds, passed, failed, step } = run;
    let commit = commit.get(..12).unwrap_or(commit);
    let stale = match commits {
        Some(0) => String::new(),
        Some(1) => "**Stale:** there is one commit since this run.\n\n".into(),
        Some(count) => format!("**Stale:** there are {count} commits since this run.\n\n"),
        None => "**Stale:** this checkout does not have the commit of this run.\n\n".into(),
    };
    let _ = writeln!(
        page,
        "## Run *{name}* of {date}: {}\n\n{stale}{passed} passed, {failed} failed; {cores} cores, {lanes} steps at the \
         same time; commit `{commit}`.\n\n| step | time | |\n|---|---:|---|",
        minutes(*seconds)
    );
    let longest = step.iter().map(|step| step.seconds).fold(1.0, f64::max);
    let mut steps: Vec<&Step> = step.iter().collect();
    steps.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    for Step { name, seconds, outcome } in steps {
        let bar = "█".repeat((seconds / longest * WIDTH).round() as usize);
        let outcome = if outcome == "passed" { String::new() } else { format!(" (**{outcome}**)") };
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
                       seconds = 1799.6\npassed = 1\nfailed = 0\n\
                       [[step]]\nname = \"fmt\"\nseconds = 1.5\noutcome = \"passed\"\n\
                       [[step]]\nname = \"unit\"\nseconds = 300.0\noutcome = \"skipped\"\n";

    #[test]
    fn shows_the_newest_run_first_and_that_it_is_stale() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(page(dir.path()).unwrap(), "No run is stored.\n");
        fs::write(folder.join("steps-empty.toml"), RUN).unwrap();
        let newer = RUN.replace("empty", "first").replace("01-02", "02-01");
        fs::write(folder.join("steps-first.toml"), newer).unwrap();
        let text = page(dir.path()).unwrap();
        assert!(
            text.starts_with("## Run *first* of 2026-02-01: 30 min 00 s\n\n**Stale:**"),
            "{text}"
        );
        assert!(text.contains("commit `0123456789ab`"), "{text}");
        let (unit, fmt) =
            (text.find("| `unit` (**skipped**) | 5 min 00 s | ████"), text.find("| `fmt` |"));
        assert!(unit.unwrap() < fmt.unwrap(), "{text}");
        fs::write(folder.join("steps-warm.toml"), "name = 1").unwrap();
        assert!(page(dir.path()).is_err(), "a run that is not one");
    }

    #[test]
    fn a_run_is_stale_after_a_commit() {
        let text = |commits| {
            let mut text = String::new();
            section(&toml::from_str(RUN).unwrap(), &commits, &mut text);
            text
        };
        assert!(!text(Some(0)).contains("Stale"));
        assert!(text(Some(3)).contains("**Stale:** there are 3 commits"));
        assert!(text(None).contains("does not have the commit"));
    }

    #[test]
    fn readme_quotes_a_run() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(FOLDER)).unwrap();
        fs::write(dir.path().join(FOLDER).join("steps-empty.toml"), RUN).unwrap();
        let readme = |inside: &str| ["a\n", MARKS[0], inside, MARKS[1], "\nb\n"].concat();
        let write = |text: String| fs::write(dir.path().join(README), text).unwrap();
        write(readme("old\n"));
        let new = changed_readme(dir.path()).unwrap().unwrap();
        let expected = "The stored run *empty* of 2026-01-02 took 30 min 00 s on 2 cores: \
                        1 steps passed, 0 failed.\n";
        assert_eq!(new, readme(expected));
        write(new);
        assert_eq!(changed_readme(dir.path()).unwrap(), None);
        write("no marks".into());
        assert!(changed_readme(dir.path()).is_err());
    }
}
