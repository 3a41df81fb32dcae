//! `cargo xtask test`: every check of the project as a list of steps (`test/steps.rs`).
//!
//! Steps run side by side (`test/schedule.rs`). One whose inputs did not change since it passed is not run
//! again (`test/inputs.rs`); a clean checkout knows of no pass, so there all of them run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use xtask::consent::Consent;
use xtask::output::Stdout;
use xtask::{Outcome, Verdict, project, run, tools};

use crate::runners;

mod inputs;
mod schedule;
mod steps;

use inputs::{Inputs, Passes};
use schedule::{Plan, Tally};
use steps::{Action, BUILD, STEPS, Step, TOOLS};

#[derive(clap::Args)]
pub struct Args {
    /// Run only this step; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print the names of all steps and what they do
    #[arg(long)]
    list: bool,
    /// Start nothing after a failure
    #[arg(long)]
    fail_fast: bool,
    /// Run steps again whose inputs did not change since they passed
    #[arg(long)]
    fresh: bool,
    /// Steps at the same time; without it, one for each core, four at most
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Store the time of each step in lab/runs/steps-NAME.toml
    #[arg(long, value_name = "NAME", conflicts_with = "only")]
    store: Option<String>,
}

pub fn main(args: &Args) -> Result<Verdict> {
    if args.list {
        for step in STEPS {
            println!("{:<15} {}", step.name, step.about);
        }
        return Ok(Verdict::Yes);
    }
    let steps = select(STEPS, &args.only)?;
    // Consent is requested before the first step, not in the middle of a long run.
    if steps.iter().any(|step| step.name == TOOLS) {
        tools::agree()?;
    } else if steps.iter().any(|step| step.after.contains(&TOOLS)) {
        tools::ensure_all(Consent::Ask)?;
    }
    let root = project::root();
    let logs = project::target_dir().join("test-logs");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let is_built = steps.iter().any(|step| step.name == BUILD);
    let passes = Passes::in_folder(project::target_dir().join("test-results"));
    let inputs = Inputs::read(&root).ok();
    let known = inputs.as_ref().map(|inputs| (inputs, &passes));
    let lanes = args.jobs.unwrap_or_else(lanes);
    // Of a step that passed before, the log is still there.
    let missing = || {
        let logs = steps.iter().map(|step| logs.join(step.name).with_extension("log"));
        logs.map(|log| missing_vectors(&skipped(&log))).sum()
    };
    let plan = Plan {
        steps: &steps,
        lanes,
        fail_fast: args.fail_fast,
        known,
        fresh: args.fresh,
        missing: &missing,
    };
    let start = Instant::now();
    let execute = |step: &Step| execute(step, &root, &logs.join(step.name), is_built);
    let tally = schedule::run(&plan, &execute, &mut Stdout)?;
    if let Some(name) = &args.store {
        store(&root, name, start.elapsed().as_secs_f64(), lanes, &tally)?;
    }
    Ok(if tally.failed.is_empty() { Verdict::Yes } else { Verdict::No })
}

fn lanes() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}

fn select<'a>(steps: &'a [Step], only: &[String]) -> Result<Vec<&'a Step>> {
    for name in only {
        if !steps.iter().any(|step| step.name == name) {
            let names: Vec<_> = steps.iter().map(|step| step.name).collect();
            bail!("no step {name}; there are {}", names.join(", "));
        }
    }
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(steps.iter().filter(wanted).collect())
}

/// Runs a step. Those of runners take the programs of the step `build`, if that is part of the run.
fn execute(step: &Step, root: &Path, log: &Path, is_built: bool) -> Result<Outcome> {
    let log = log.with_extension("log");
    let outcome = match step.action {
        Action::Command(words) => run_command(words, root, &log)?,
        Action::Function(function) => return function(root),
        Action::Runner(runner) => {
            let program = if is_built { runners::built(runner) } else { runners::program(runner)? };
            run_runner(&program, step.name, root, &log)?
        }
    };
    // What tests of a passed step had to skip is listed beside it.
    let lines = skipped(&log);
    let files = missing_vectors(&lines);
    if files > 0 {
        println!("      {}: {files} files of public vectors are not there", step.name);
    }
    for line in lines.iter().filter(|line| !line.starts_with(NO_VECTORS)) {
        println!("      {}: {line}", step.name);
    }
    Ok(outcome)
}

/// Before the name of each file of public vectors that a test had to do without.
const NO_VECTORS: &str = "SKIPPED: public vectors: ";

fn missing_vectors(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with(NO_VECTORS)).count()
}

/// The inputs that tests of a step report as missing, each once.
fn skipped(log: &Path) -> Vec<String> {
    const MARK: &str = "SKIPPED: ";
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // The line may begin with the name of a test that was running.
    let mut lines: Vec<String> =
        text.lines().filter_map(|line| Some(line[line.find(MARK)?..].to_owned())).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Keys of tests are used once, so a checkout may be on any file system.
const ANY_FILE_SYSTEM: (&str, &str) = ("HARTLOCK_ANY_FILE_SYSTEM", "1");

/// Runs a command with both streams in one log, in the order in which they were written.
fn run_command(words: &[&str], root: &Path, log: &Path) -> Result<Outcome> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let [program, arguments @ ..] = words else { bail!("a step without a command") };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    command.stdout(file.try_clone()?).stderr(file).env(ANY_FILE_SYSTEM.0, ANY_FILE_SYSTEM.1);
    let status = command.status().map_err(|error| run::not_started(&command, &error))?;
    if status.success() {
        return Ok(Outcome::Passed);
    }
    let text = fs::read(log)?;
    Ok(Outcome::Failed(format!(
        "{}\n{} ended with {status}",
        String::from_utf8_lossy(&text),
        run::describe(&command)
    )))
}

/// Runs a step of a runner: what it prints on standard output explains its end.
fn run_runner(program: &Path, name: &str, root: &Path, log: &Path) -> Result<Outcome> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(program);
    command.args(["step", name]).current_dir(root).stdin(Stdio::null()).stderr(file);
    // Steps at the same time work in folders of their own.
    command.env(ANY_FILE_SYSTEM.0, ANY_FILE_SYSTEM.1);
    command.env("HARTLOCK_STEP", name).env("CARGO_MANIFEST_DIR", root.join("xtask"));
    let output = command.output().map_err(|error| run::not_started(&command, &error))?;
    let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    Ok(match output.status.code() {
        Some(0) => Outcome::Passed,
        Some(1) => Outcome::Failed(said),
        Some(code) if code == i32::from(xtask::SKIPPED) => Outcome::Skipped(said),
        _ => {
            let text = fs::read(log)?;
            let text = String::from_utf8_lossy(&text);
            bail!("{said}{text}\n{name} ended with {}", output.status)
        }
    })
}

/// A stored run: where the time of `cargo xtask test` goes.
#[derive(Serialize)]
struct Stored<'a> {
    name: &'a str,
    date: String,
    commit: String,
    cores: usize,
    lanes: usize,
    seconds: f64,
    passed: usize,
    failed: usize,
    /// Files of public vectors that tests had to do without.
    vectors_missing: usize,
    step: Vec<StoredStep<'a>>,
}

#[derive(Serialize)]
struct StoredStep<'a> {
    name: &'a str,
    seconds: f64,
    outcome: &'a str,
}

/// Writes the run to `lab/runs/steps-NAME.toml`.
fn store(root: &Path, name: &str, seconds: f64, lanes: usize, tally: &Tally) -> Result<()> {
    let round = |seconds: f64| (seconds * 10.0).round() / 10.0;
    let git = |arguments: &[&str]| {
        run::quietly(Command::new("git").args(arguments).current_dir(root))
            .map(|text| text.trim().to_owned())
    };
    let days = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    let stored = Stored {
        name,
        date: git(&["log", "-1", "--format=%cs"]).unwrap_or_else(|_| days.to_string()),
        commit: git(&["rev-parse", "HEAD"])?,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        lanes,
        seconds: round(seconds),
        passed: tally.passed,
        failed: tally.failed.len(),
        vectors_missing: tally.missing,
        step: tally
            .times
            .iter()
            .map(|(name, seconds, outcome)| StoredStep { name, seconds: round(*seconds), outcome })
            .collect(),
    };
    let path: PathBuf = root.join("lab/runs").join(format!("steps-{name}.toml"));
    fs::write(&path, toml::to_string(&stored)?).with_context(|| path.display().to_string())?;
    println!("stored as {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_the_tests_of_a_passed_step_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("unit.log");
        let says = "echo 'test a ... SKIPPED: no tool' >&2; echo SKIPPED: no tool";
        run_command(&["sh", "-c", says], dir.path(), &log).unwrap();
        assert_eq!(skipped(&log), ["SKIPPED: no tool"]);
    }

    #[test]
    fn files_of_public_vectors_are_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("unit.log");
        let file = |name: &str| format!("test x ... {NO_VECTORS}{name}\n");
        fs::write(&log, [file("a"), file("b"), file("a"), "SKIPPED: no tool".into()].concat())
            .unwrap();
        assert_eq!(missing_vectors(&skipped(&log)), 2);
    }

    #[test]
    fn a_failed_command_shows_what_it_said() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("a.log");
        let outcome =
            run_command(&["sh", "-c", "echo the cause; exit 1"], dir.path(), &log).unwrap();
        let Outcome::Failed(why) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("the cause"), "{why}");
        assert!(run_command(&["no-such-tool"], dir.path(), &log).is_err());
    }

    #[test]
    fn a_runner_passes_fails_skips_or_cannot_decide() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let runner = |script: &str| {
            let program = dir.path().join("runner");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            run_runner(&program, "name", dir.path(), &dir.path().join("log"))
        };
        assert!(matches!(runner("exit 0"), Ok(Outcome::Passed)));
        assert!(matches!(runner("echo why; exit 1"), Ok(Outcome::Failed(why)) if why == "why"));
        assert!(matches!(runner("echo off; exit 77"), Ok(Outcome::Skipped(why)) if why == "off"));
        let error = runner("echo cause >&2; exit 2").unwrap_err();
        assert!(format!("{error:#}").contains("cause"), "{error:#}");
    }

    #[test]
    fn selects_by_name_and_refuses_unknown_names() {
        let chosen = select(STEPS, &["tidy".into()]).unwrap();
        assert_eq!(chosen.iter().map(|step| step.name).collect::<Vec<_>>(), ["tidy"]);
        assert_eq!(select(STEPS, &[]).unwrap().len(), STEPS.len());
        assert!(select(STEPS, &["worse".into()]).is_err());
    }

    #[test]
    fn step_names_are_unique_and_needs_are_steps() {
        let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
        assert!(STEPS.iter().flat_map(|step| step.after).all(|name| names.contains(name)));
    }

    #[test]
    fn the_readme_names_the_number_of_steps() {
        let readme = fs::read_to_string(project::root().join("README.md")).unwrap();
        assert!(readme.contains(&format!("\n{} passed, 0 failed\n", STEPS.len())));
    }
}
