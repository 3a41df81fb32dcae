//! `cargo xtask test` runs every check of the project as a list of steps (`test/steps.rs`), in three tiers.
//!
//! Steps run at the same time (`test/schedule.rs`). The first tier runs with every change. A step of the second tier
//! runs if its inputs (`test/inputs.rs`) differ from those of its recorded pass (`test/passes.rs`). The third tier runs
//! on demand.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use xtask::output::Stdout;
use xtask::tools::Extent;
use xtask::{Outcome, Verdict, project, run, tools};

use crate::runners;

mod inputs;
mod passes;
mod published;
mod schedule;
mod steps;

use inputs::Reader;
pub use passes::today;
use passes::{Passes, RunDecision, Takes};
use schedule::{Plan, Tally};
use steps::{Action, BUILD, MORE_TOOLS, SERVICES, STEPS, TOOLS, TestStep, Tier};

#[derive(clap::Args)]
pub struct TestArgs {
    /// Set of steps to run
    #[arg(long, value_enum, default_value_t = Tier::First)]
    tier: Tier,
    /// Run only this step, of any tier; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "tier")]
    only: Vec<String>,
    /// Run only the steps that read public test vectors, with the folder named by HARTLOCK_VECTORS
    #[arg(long, conflicts_with_all = ["tier", "only"])]
    vectors: bool,
    /// List all steps with tier, name and description
    #[arg(long)]
    list: bool,
    /// Start no further step after a failure
    #[arg(long)]
    fail_fast: bool,
    /// Run steps even if they passed before with the same inputs
    #[arg(long)]
    fresh: bool,
    /// Number of steps that run at the same time [default: number of cores, at most 4]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Store the time of each step in verif/runs/steps-NAME.toml
    #[arg(long, value_name = "NAME", conflicts_with_all = ["only", "vectors"])]
    store: Option<String>,
}

pub fn main(args: &TestArgs) -> Result<Verdict> {
    if args.list {
        let named = select(&args.only)?;
        let is_listed =
            |step: &&TestStep| named.is_empty() || named.iter().any(|it| it.name == step.name);
        for step in STEPS.iter().filter(is_listed) {
            println!("{:<6} {:<18} {}", tier_name(step.tier), step.name, step.about);
        }
        return Ok(Verdict::Yes);
    }
    let root = project::root();
    let reader = Reader::new(&root);
    let passes = Passes::load(&root, project::target_dir().join("test-results"))?;
    let logs = project::target_dir().join("test-logs");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let sorted = sort(args, &reader, &passes)?;
    sorted.show(args);
    let steps = sorted.run;
    // Consent is requested before the first step, not in the middle of a long run.
    let needs =
        |tools: &str| steps.iter().any(|step| step.name == tools || step.after.contains(&tools));
    if needs(MORE_TOOLS) {
        tools::agree(Extent::All)?;
    } else if needs(TOOLS) {
        tools::agree(Extent::First)?;
    }
    let is_built = steps.iter().any(|step| step.name == BUILD);
    let lanes = args.jobs.unwrap_or_else(lanes);
    let expected = expected(&root);
    let plan = Plan {
        steps: &steps,
        lanes,
        fail_fast: args.fail_fast,
        known: Some((&reader, &passes)),
        expected: &|step| expected.get(step.name).copied(),
        progress: Some(Duration::from_secs(if std::io::stderr().is_terminal() { 15 } else { 60 })),
    };
    let start = Instant::now();
    let execute = |step: &TestStep| execute(step, &root, &logs.join(step.name), is_built);
    let tally = schedule::run(&plan, &execute, &mut Stdout)?;
    let seconds = start.elapsed().as_secs_f64();
    // The log of a step that passed before is still stored.
    let missing = steps
        .iter()
        .chain(&sorted.unchanged)
        .map(|step| missing_vectors(&skipped(&logs.join(step.name).with_extension("log"))))
        .sum();
    if missing > 0 {
        println!(
            "{missing} files of public test vectors are missing (set HARTLOCK_VECTORS to a folder that has them)"
        );
    }
    if args.tier >= Tier::Full
        && let Some(warning) = published::warning(&root)?
    {
        println!("{warning}");
    }
    if let Some(name) = &args.store {
        let time = Time { seconds, processor_seconds: processor_seconds(), lanes };
        store(&root, name, args.tier, &time, missing, &tally)?;
    }
    println!(
        "{} passed, {} failed, {} skipped",
        tally.passed + sorted.unchanged.len(),
        tally.failed.len(),
        tally.skipped
    );
    Ok(if tally.failed.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// The steps of a run, grouped by the decision about them.
#[derive(Default)]
struct Sorted {
    run: Vec<&'static TestStep>,
    /// Steps that passed on this machine with the same inputs.
    unchanged: Vec<&'static TestStep>,
    /// Lines about the steps whose recorded pass the run relies on.
    relied_on: Vec<String>,
    /// Lines about the steps of the last tier, which no other tier runs.
    left_out: Vec<String>,
}

/// Decides about each step. A step that is named runs unless it passed on this machine; the tier decides about the
/// others.
fn sort(args: &TestArgs, reader: &Reader, passes: &Passes) -> Result<Sorted> {
    if args.vectors {
        ensure!(
            std::env::var_os("HARTLOCK_VECTORS").is_some(),
            "set HARTLOCK_VECTORS to a folder of public test vectors"
        );
    }
    let named = select(&args.only)?;
    let is_chosen = |step: &TestStep| match (args.vectors, args.tier) {
        _ if !named.is_empty() => named.iter().any(|it| it.name == step.name),
        (true, _) => step.vectors && step.tier == Tier::First,
        (_, Tier::Long) => step.tier == Tier::Long,
        (_, Tier::Full) => step.tier <= Tier::Full,
        // A step of the second tier without a key depends on more than the tree, so it has no record that could be out
        // of date.
        (_, Tier::First) => step.tier == Tier::First || step.tier == Tier::Full && step.has_key(),
    };
    let is_by_tier = named.is_empty() && !args.vectors;
    let tree = reader.read()?;
    let mut sorted = Sorted::default();
    for step in STEPS.iter().filter(|step| !SERVICES.contains(&step.name)) {
        if !is_chosen(step) {
            if is_by_tier && step.tier == Tier::Long {
                sorted.left_out.push(match passes.recorded(step, &tree) {
                    Some(pass) => format!("{:<18} passed on {}", step.name, pass.date),
                    None => format!(
                        "{:<18} inputs changed since it passed; run cargo xtask test --only {}",
                        step.name, step.name
                    ),
                });
            }
            continue;
        }
        let is_beyond = step.tier > args.tier || step.tier == Tier::Long;
        let takes = Takes { local: !args.fresh, record: is_by_tier && is_beyond && !args.fresh };
        match passes.decide(step, &tree, takes) {
            RunDecision::Run => sorted.run.push(step),
            RunDecision::Unchanged(seconds) => {
                if step.tier > Tier::First && passes.recorded(step, &tree).is_none() {
                    passes.record(step, &tree, seconds)?;
                }
                sorted.unchanged.push(step);
            }
            RunDecision::Recorded(pass) => sorted.relied_on.push(format!(
                "{:<18} {} in {} ({})",
                step.name,
                pass.date,
                schedule::span(pass.seconds),
                pass.machine
            )),
        }
    }
    // Steps that make tools and programs are added at their place in the list if a step needs them.
    let runs = |name: &str| sorted.run.iter().any(|step| step.name == name);
    let is_needed = |name: &str| {
        sorted.run.iter().any(|step| step.after.contains(&name))
            || named.iter().any(|step| step.name == name)
    };
    let is_run =
        |step: &&TestStep| runs(step.name) || SERVICES.contains(&step.name) && is_needed(step.name);
    sorted.run = STEPS.iter().filter(is_run).collect();
    Ok(sorted)
}

impl Sorted {
    fn show(&self, args: &TestArgs) {
        if !self.relied_on.is_empty() {
            println!("passed before with the same inputs, by record ({}):", passes::RECORD);
            self.relied_on.iter().for_each(|line| println!("  {line}"));
        }
        if !self.left_out.is_empty() {
            println!("not part of this tier:");
            self.left_out.iter().for_each(|line| println!("  {line}"));
        }
        if !self.unchanged.is_empty() {
            let names: Vec<_> = self.unchanged.iter().map(|step| step.name).collect();
            println!(
                "passed before on this machine with the same inputs (--fresh runs them again):"
            );
            names.chunks(8).for_each(|names| println!("  {}", names.join(", ")));
        }
        let full = self.run.iter().filter(|step| step.tier == Tier::Full).count();
        if full > 0 && args.tier == Tier::First && args.only.is_empty() && !args.vectors {
            println!(
                "{full} steps of the tier `full` run as well, because their inputs changed since they passed"
            );
        }
    }
}

const fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::First => "first",
        Tier::Full => "full",
        Tier::Long => "long",
    }
}

/// Returns the seconds of each step in stored runs of this project.
fn expected(root: &Path) -> BTreeMap<String, f64> {
    #[derive(Deserialize)]
    struct Run {
        step: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        seconds: f64,
    }
    let read = |name: &str| {
        let text = fs::read_to_string(root.join(RUNS).join(name)).ok()?;
        toml::from_str::<Run>(&text).ok()
    };
    let runs = ["steps-full.toml", "steps-first.toml"].into_iter().filter_map(read);
    runs.flat_map(|run| run.step).map(|step| (step.name, step.seconds)).collect()
}

/// Returns the processor time in seconds of this program and of the child processes that ended (proc(5), `cutime`,
/// `cstime`).
fn processor_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: Option<Vec<f64>> = fields.get(11..15)?.iter().map(|it| it.parse().ok()).collect();
    Some(ticks?.iter().sum::<f64>() / TICKS_PER_SECOND)
}

fn lanes() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}

fn select(names: &[String]) -> Result<Vec<&'static TestStep>> {
    for name in names {
        if !STEPS.iter().any(|step| step.name == name) {
            let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            bail!("there is no step {name}; use one of {}", names.join(", "));
        }
    }
    Ok(STEPS.iter().filter(|step| names.iter().any(|name| name == step.name)).collect())
}

/// Runs a step. A step of a runner uses the program of the step `build`, if that is part of the run.
fn execute(step: &TestStep, root: &Path, log: &Path, is_built: bool) -> Result<Outcome> {
    let log = log.with_extension("log");
    let outcome = match step.action {
        Action::Command(words) => run_command(words, root, &log)?,
        Action::Function(function) => return function(root),
        Action::Runner(runner) => {
            let program = if is_built { runners::built(runner) } else { runners::program(runner)? };
            run_runner(&program, step.name, root, &log)?
        }
    };
    // Inputs that tests of a passed step did not find are listed after its line.
    let lines = skipped(&log);
    let files = missing_vectors(&lines);
    if files > 0 {
        println!("      {}: {files} files of public test vectors are missing", step.name);
    }
    for line in lines.iter().filter(|line| !line.starts_with(NO_VECTORS)) {
        println!("      {}: {line}", step.name);
    }
    Ok(outcome)
}

/// Where runs of this program are stored.
const RUNS: &str = "verif/runs";

/// Before the name of each file of public vectors that a test had to do without.
const NO_VECTORS: &str = "SKIPPED: public vectors: ";

fn missing_vectors(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with(NO_VECTORS)).count()
}

/// Returns the inputs that tests of a step report as missing, without duplicates.
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

/// The variable that allows any file system for the checkout, because the keys of tests are used only once.
const ANY_FILE_SYSTEM: (&str, &str) = ("HARTLOCK_ANY_FILE_SYSTEM", "1");

/// Runs a command with both streams in one log, in the order in which they are written.
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

/// Runs a step of a runner. Its standard output explains its outcome.
fn run_runner(program: &Path, name: &str, root: &Path, log: &Path) -> Result<Outcome> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(program);
    command.args(["step", name]).current_dir(root).stdin(Stdio::null()).stderr(file);
    // Steps that run at the same time work in folders of their own.
    command.env(ANY_FILE_SYSTEM.0, ANY_FILE_SYSTEM.1);
    command.env("HARTLOCK_STEP", name).env("CARGO_MANIFEST_DIR", root.join("tools/xtask"));
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

/// A stored run, which shows the time that each step of `cargo xtask test` takes.
#[derive(Serialize)]
struct Stored<'a> {
    name: &'a str,
    tier: &'a str,
    date: String,
    commit: String,
    cores: usize,
    lanes: usize,
    seconds: f64,
    /// The processor time of all processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_seconds: Option<f64>,
    passed: usize,
    failed: usize,
    /// Number of files of public vectors that tests did not find.
    vectors_missing: usize,
    step: Vec<StoredStep<'a>>,
}

#[derive(Serialize)]
struct StoredStep<'a> {
    name: &'a str,
    seconds: f64,
    outcome: &'a str,
}

/// The time of a run, and the number of steps at the same time.
struct Time {
    seconds: f64,
    processor_seconds: Option<f64>,
    lanes: usize,
}

/// Writes the run to `verif/runs/steps-NAME.toml`.
fn store(
    root: &Path,
    name: &str,
    tier: Tier,
    time: &Time,
    missing: usize,
    tally: &Tally,
) -> Result<()> {
    let round = |seconds: f64| (seconds * 10.0).round() / 10.0;
    let mut git = Command::new("git");
    let commit = run::quietly(git.args(["rev-parse", "HEAD"]).current_dir(root))?;
    let stored = Stored {
        name,
        tier: tier_name(tier),
        date: passes::today()?,
        commit: commit.trim().to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        lanes: time.lanes,
        seconds: round(time.seconds),
        processor_seconds: time.processor_seconds.map(round),
        passed: tally.passed,
        failed: tally.failed.len(),
        vectors_missing: missing,
        step: tally
            .times
            .iter()
            .map(|(name, seconds, outcome)| StoredStep { name, seconds: round(*seconds), outcome })
            .collect(),
    };
    let path: PathBuf = root.join(RUNS).join(format!("steps-{name}.toml"));
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
        let chosen = select(&["tidy".into()]).unwrap();
        assert_eq!(chosen.iter().map(|step| step.name).collect::<Vec<_>>(), ["tidy"]);
        assert!(select(&["worse".into()]).is_err());
    }

    /// Returns the names of the steps that run, and the numbers of steps that are relied on and left out.
    fn sorted(args: TestArgs, passes: &Passes) -> (Vec<&'static str>, usize, usize) {
        let sorted = sort(&args, &Reader::new(&project::root()), passes).unwrap();
        let names = sorted.run.iter().map(|step| step.name).collect();
        (names, sorted.relied_on.len(), sorted.left_out.len())
    }

    fn args(tier: Tier, only: &[&str]) -> TestArgs {
        let only = only.iter().map(|name| (*name).to_owned()).collect();
        let (vectors, list, fail_fast, fresh) = (false, false, false, false);
        TestArgs { tier, only, vectors, list, fail_fast, fresh, jobs: None, store: None }
    }

    #[test]
    fn a_tier_runs_its_steps_and_relies_on_recorded_ones_of_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let long = STEPS.iter().filter(|step| step.tier == Tier::Long).count();
        let none = || Passes::empty(dir.path());
        // Without a record both tiers run, except for the step that depends on more than the tree.
        let (names, relied_on, left_out) = sorted(args(Tier::First, &[]), &none());
        assert_eq!((relied_on, left_out), (0, long));
        assert_eq!(names.len(), STEPS.len() - long - 1);
        assert!(!names.contains(&"advisories") && names.contains(&MORE_TOOLS));
        let (names, ..) = sorted(args(Tier::Full, &[]), &none());
        assert_eq!(names.len(), STEPS.len() - long);
        let (names, _, left_out) = sorted(args(Tier::Long, &[]), &none());
        let own = names.iter().filter(|name| !SERVICES.contains(name)).count();
        assert_eq!((own, left_out), (long, 0));
        let (names, ..) = sorted(args(Tier::First, &["soc"]), &none());
        assert_eq!(names, [TOOLS, BUILD, MORE_TOOLS, "soc"]);

        // With a record of all steps, only the first tier runs, without the tools of the others.
        let full = Passes::empty(dir.path());
        let tree = Reader::new(&project::root()).read().unwrap();
        for step in STEPS.iter().filter(|step| step.tier != Tier::First) {
            full.keep(step, &tree, 1.0).unwrap();
        }
        // An empty folder has no passes of this machine.
        let dir = tempfile::tempdir().unwrap();
        let full = full.with_folder(dir.path());
        let (names, relied_on, _) = sorted(args(Tier::First, &[]), &full);
        // If a variable changes what a step builds or runs, such as that of the public vectors, the record of the step
        // is not used.
        let of_full = || STEPS.iter().filter(|step| step.tier == Tier::Full && step.has_key());
        let kept: Vec<_> = of_full().filter(|it| inputs::variables(it).is_empty()).collect();
        assert_eq!(relied_on, kept.len());
        assert!(kept.iter().all(|step| !names.contains(&step.name)), "{names:?}");
        let mut first = STEPS.iter().filter(|step| step.tier == Tier::First);
        assert!(first.all(|step| names.contains(&step.name)), "{names:?}");
        assert_eq!(names.contains(&MORE_TOOLS), kept.len() < of_full().count());
        let (names, relied_on, _) = sorted(args(Tier::Full, &[]), &full);
        assert_eq!((names.len(), relied_on), (STEPS.len() - long, 0), "a release runs all of them");
        let fresh = TestArgs { fresh: true, ..args(Tier::First, &[]) };
        assert_eq!(sorted(fresh, &full).1, 0);
    }

    #[test]
    fn step_names_are_unique_and_needs_are_steps_of_no_later_tier() {
        let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
        for step in STEPS {
            for name in step.after {
                let needed = STEPS.iter().find(|it| it.name == *name).unwrap();
                assert!(needed.tier <= step.tier, "{} needs {name}", step.name);
            }
        }
    }
}
