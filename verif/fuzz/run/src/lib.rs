//! `cargo xtask fuzz`: builds the fuzz targets of `verif/fuzz/`, runs them, and stores the results.
//!
//! The smoke run is deterministic: a fixed number of executions for each target, from the same seed. A long run
//! has a time limit in seconds and writes its figures to `verif/runs/fuzz`. The pinned toolchain is used: the
//! compiler flags for instrumentation are stable, and the C++ compiler builds libFuzzer from source.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use xtask::Outcome;
use xtask::{Verdict, project, run};

pub mod packs;
pub mod record;
mod replay;
mod seeds;

use hartlock_results::fuzz::FuzzFigures;

#[derive(clap::Args)]
pub struct Args {
    /// Targets to run [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Run each target for this many seconds, and store the figures in verif/runs/fuzz
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "input", "minimise"])]
    seconds: Option<u64>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Run only the stored corpus, without instrumentation
    #[arg(long, conflicts_with_all = ["seconds", "input", "minimise", "list"])]
    replay: bool,
    /// Run one target on this file only, to reproduce a crash
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Replace the stored corpus with the smallest one that has the same coverage
    #[arg(long, conflicts_with = "input")]
    minimise: bool,
    /// List all targets with a description
    #[arg(long)]
    list: bool,
}

/// A fuzz target and its limits.
struct Target {
    name: &'static str,
    about: &'static str,
    /// Number of executions in the smoke run, which take about two seconds.
    smoke_runs: u32,
    /// Maximum length of an input in bytes.
    max_len: u32,
    /// True if the target compares verdicts about signatures. Such a target must see both accepted and refused
    /// ones.
    is_of_signatures: bool,
}

impl Target {
    /// Returns the name of the target's corpus.
    fn corpus(&self) -> &'static str {
        // An input means the same bundle in both targets, and the corpus of `bundle` reaches every reason.
        if self.name == "differential" { "bundle" } else { self.name }
    }
}

const fn target(name: &'static str, about: &'static str, smoke_runs: u32, max_len: u32) -> Target {
    Target { name, about, smoke_runs, max_len, is_of_signatures: false }
}

const fn signatures(name: &'static str, about: &'static str, smoke_runs: u32) -> Target {
    Target { name, about, smoke_runs, max_len: 512, is_of_signatures: true }
}

/// The targets in the order of `verif/fuzz/targets/src/targets.rs`, which contains their code.
const TARGETS: &[Target] = &[
    target("head", "the sizes in front of the signature", 500_000, 300),
    target("signature-blocks", "the signature area", 300_000, 1024),
    target("manifest", "the signed region, any bytes", 200_000, 2048),
    target("manifest-built", "the signed region, by its fields", 12_000, 512),
    target("looks", "the first look and the second accept the same", 15_000, 512),
    target("bundle", "whole bundles after their signatures", 6_000, 512),
    target("differential", "the library and spec/verify.py agree", 3_000, 512),
    target("inspect", "hartlock inspect of any file", 3_000, 4096),
    target("first-stage", "first stages, and spec/first_stage.py agrees", 300, 2048),
    target("keys", "key files", 40_000, 512),
    target("spec", "bundle.toml", 2_500, 2048),
    target("root-of-trust", "the root-of-trust block", 60_000, 512),
    target("state", "both copies of the state record", 120_000, 512),
    target("class-keys", "the class-key store, and RustCrypto unwraps the same keys", 20_000, 512),
    target("handoff", "the hand-off block", 30_000, 2048),
    target("log", "the measurement log", 120_000, 2048),
    target("fdt", "device tree edits, any bytes", 300_000, 2048),
    target("fdt-built", "device tree edits, by tokens", 80_000, 512),
    target("timeline", "a log as table, chart, JSON and page", 5_000, 1024),
    target("console", "what a device prints", 20_000, 2048),
    target("virtio", "the block driver and a lying device", 20_000, 1024),
    signatures("ed25519", "Ed25519 and its variants agree with ed25519-dalek", 6_000),
    signatures("ecdsa", "ECDSA agrees with p256 and p384", 500),
    signatures("rsa", "RSA agrees with rsa", 300),
    signatures("lms", "LMS and HSS agree with lms-signature and hbs-lms", 600),
    signatures("xmss", "XMSS and XMSS^MT agree with xmss", 160),
    signatures("ml-dsa", "ML-DSA agrees with ml-dsa and fips204", 600),
    signatures("slh-dsa", "SLH-DSA agrees with fips205", 120),
];

/// Compiler flags that instrument every crate of the targets.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // cargo-fuzz sets this flag too. Crates may use it to leave out checks that no fuzzer can pass.
    "--cfg=fuzzing",
];

pub fn main(args: &Args) -> Result<Verdict> {
    if args.list {
        for target in TARGETS {
            println!("{:<18}{}", target.name, target.about);
        }
        return Ok(Verdict::Yes);
    }
    let root = project::root();
    let targets = select(&args.targets)?;
    if args.replay {
        let failures = replay::run(&root, &targets)?;
        failures.iter().for_each(|failure| println!("{failure}"));
        return Ok(if failures.is_empty() { Verdict::Yes } else { Verdict::No });
    }
    let engine = Engine::build(&root)?;
    if let Some(input) = &args.input {
        let [target] = targets.as_slice() else { bail!("--input needs one target") };
        let mut command = engine.command(target);
        let status = command.arg(input).status().map_err(|it| run::not_started(&command, &it))?;
        return Ok(if status.success() { Verdict::Yes } else { Verdict::No });
    }
    if args.minimise {
        for target in targets.into_iter().filter(|target| target.name != "differential") {
            engine.minimise(target)?;
        }
        return Ok(Verdict::Yes);
    }
    let effort = args.seconds.map_or(Effort::Smoke, Effort::Seconds);
    let results = engine.run_all(&targets, effort, args.seed)?;
    println!("{}", record::table(&results));
    let crashes: Vec<_> = results.iter().filter_map(|figures| figures.crash.clone()).collect();
    if args.seconds.is_some() {
        let path = record::store(&root, args.seed, &results)?;
        eprintln!("figures in {}", path.display());
    }
    for crash in &crashes {
        println!("{crash}");
    }
    Ok(if crashes.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Test step: checks that a short run of every target finds no fault.
pub fn step(root: &Path) -> Result<Outcome> {
    let engine = Engine::build(root)?;
    let results = engine.run_all(&TARGETS.iter().collect::<Vec<_>>(), Effort::Smoke, 1)?;
    let crashes: Vec<_> = results.into_iter().filter_map(|figures| figures.crash).collect();
    Ok(if crashes.is_empty() { Outcome::Passed } else { Outcome::Failed(crashes.join("\n\n")) })
}

/// Test step: checks that no target finds a fault in the stored corpus.
pub fn replay_step(root: &Path) -> Result<Outcome> {
    let failures = replay::run(root, &TARGETS.iter().collect::<Vec<_>>())?;
    Ok(if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures.join("\n\n")) })
}

fn select(names: &[String]) -> Result<Vec<&'static Target>> {
    for name in names {
        if !TARGETS.iter().any(|target| target.name == name) {
            bail!("no target {name}; `cargo xtask fuzz --list` names them");
        }
    }
    let is_wanted =
        |target: &&Target| names.is_empty() || names.iter().any(|name| name == target.name);
    Ok(TARGETS.iter().filter(is_wanted).collect())
}

/// Unpacks the stored corpus into an empty folder and returns its path.
fn corpus(root: &Path, work: &Path, target: &Target) -> Result<PathBuf> {
    let folder = work.join("stored").join(target.name);
    packs::unpack(&packs::read(&packs::path(root, target.corpus()))?, &folder)?;
    Ok(folder)
}

/// Returns the folders with a target's initial inputs: its corpus, and its seeds if it has any.
fn inputs(root: &Path, work: &Path, target: &Target) -> Result<Vec<PathBuf>> {
    let mut folders = vec![corpus(root, work, target)?, seeds::prepare(root, work, target.name)?];
    folders.retain(|folder| folder.exists());
    Ok(folders)
}

/// Runs `work` on the targets in parallel, one thread per core, and returns the results in the order of the
/// targets.
fn side_by_side<T: Send>(
    targets: &[&Target],
    work: impl Fn(&Target) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let lane = || -> Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(target) = targets.get(index) else { return Ok(done) };
            done.push((index, work(target)?));
        }
    };
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(lane)).collect();
        workers.into_iter().map(|it| it.join().expect("no panic")).collect::<Result<_>>()
    })?;
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Duration of a target's run.
#[derive(Clone, Copy)]
enum Effort {
    /// The number of executions in the list of targets.
    Smoke,
    Seconds(u64),
}

/// The instrumented program with all targets, and its folders.
struct Engine {
    program: PathBuf,
    root: PathBuf,
    /// Folder outside the repository with the unpacked and the growing corpus, the seeds and the crashes.
    work: PathBuf,
}

impl Engine {
    fn build(root: &Path) -> Result<Engine> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let found = run::capture(Command::new(&compiler).arg("--version"));
        ensure!(
            found.is_ok_and(|output| output.status.success()),
            "{compiler} is missing, which libFuzzer is compiled with; install g++"
        );
        let host = run::quietly(Command::new("rustc").arg("-vV").current_dir(root))?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc names no host")?;
        let work = project::target_dir().join("fuzz");
        let mut cargo = Command::new("cargo");
        // With an explicit target triple, cargo does not instrument build scripts and procedural macros.
        cargo.args(["build", "--quiet", "--locked", "--package", "hartlock-fuzz"]);
        cargo.args(["--profile", "fuzz", "--target", host]).current_dir(root);
        cargo.env("CARGO_TARGET_DIR", &work).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
        run::quietly(&mut cargo)?;
        let program = work.join(host).join("fuzz/hartlock-fuzz");
        let engine = Engine { program, root: root.to_owned(), work };
        engine.check_names()?;
        Ok(engine)
    }

    /// Checks that program and driver have the same list of targets.
    fn check_names(&self) -> Result<()> {
        let mut list = Command::new(&self.program);
        let names = run::quietly(list.env("HARTLOCK_FUZZ_TARGET", "list"))?;
        let ours = TARGETS.iter().map(|target| target.name);
        ensure!(
            names.split_whitespace().eq(ours),
            "verif/fuzz/targets/src/targets.rs and verif/fuzz/run/src/lib.rs list different targets"
        );
        Ok(())
    }

    fn command(&self, target: &Target) -> Command {
        let mut command = Command::new(&self.program);
        command.env("HARTLOCK_FUZZ_TARGET", target.name).current_dir(&self.work);
        let artifacts = self.work.join("crashes").join(format!("{}-", target.name));
        command.arg(format!("-artifact_prefix={}", artifacts.display()));
        command.arg(format!("-max_len={}", target.max_len));
        // Inputs take about a millisecond. The limit of 20 seconds leaves room for a slow machine.
        command.args(["-timeout=20", "-rss_limit_mb=2048"]);
        command
    }

    fn run_all(&self, targets: &[&Target], effort: Effort, seed: u32) -> Result<Vec<FuzzFigures>> {
        fs::create_dir_all(self.work.join("crashes"))?;
        side_by_side(targets, |target| self.run(target, effort, seed))
    }

    fn run(&self, target: &Target, effort: Effort, seed: u32) -> Result<FuzzFigures> {
        let found = self.work.join("corpus").join(target.name);
        if matches!(effort, Effort::Smoke) && found.exists() {
            // Inputs that an earlier run found would change this run, so they are moved to another folder.
            let kept = self.work.join("corpus-kept").join(target.name);
            fs::create_dir_all(&kept)?;
            for entry in fs::read_dir(&found)? {
                let entry = entry?;
                fs::rename(entry.path(), kept.join(entry.file_name()))?;
            }
        }
        fs::create_dir_all(&found)?;
        let mut command = self.command(target);
        command.arg(format!("-seed={seed}")).args(["-print_final_stats=1", "-len_control=0"]);
        match effort {
            Effort::Smoke => command.arg(format!("-runs={}", target.smoke_runs)),
            Effort::Seconds(seconds) => command.arg(format!("-max_total_time={seconds}")),
        };
        command.arg(&found);
        command.args(inputs(&self.root, &self.work, target)?);
        let start = std::time::Instant::now();
        let output = run::capture(&mut command)?;
        let seconds = start.elapsed().as_secs_f64();
        let mut figures = record::read(target.name, seconds, &output, &found)?;
        if target.is_of_signatures {
            record::expect_both_verdicts(&mut figures);
        }
        Ok(figures)
    }

    /// Replaces the stored corpus by the inputs, old and newly found, that cover more than the seeds do.
    fn minimise(&self, target: &Target) -> Result<()> {
        let pack = packs::path(&self.root, target.corpus());
        // A new target has no corpus yet.
        if !pack.exists() {
            packs::write(&pack, &packs::Inputs::new())?;
        }
        let corpus = corpus(&self.root, &self.work, target)?;
        let scratch = tempfile::tempdir_in(&self.work)?;
        let seeds = seeds::prepare(&self.root, &self.work, target.name)?;
        if seeds.exists() {
            packs::unpack(&packs::collect(&seeds, |_| true)?, scratch.path())?;
        }
        let mut command = self.command(target);
        // Only covered code counts and not how often it ran, which keeps the corpus small.
        command.args(["-merge=1", "-use_counters=0"]).arg(scratch.path()).arg(&corpus);
        for name in ["corpus", "corpus-kept"] {
            let folder = self.work.join(name).join(target.name);
            if folder.exists() {
                command.arg(folder);
            }
        }
        run::quietly(&mut command)?;
        let kept = packs::collect(scratch.path(), |name| !seeds.join(name).exists())?;
        packs::write(&pack, &kept)?;
        let size: usize = kept.values().map(Vec::len).sum();
        println!("{:<18}{} inputs, {size} bytes", target.name, kept.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_corpus_is_small_and_each_target_has_one() {
        let root = project::root();
        let folder = fs::read_dir(root.join("verif/fuzz/corpus")).unwrap();
        let found: BTreeSet<_> = folder.map(|entry| entry.unwrap().path()).collect();
        let packs: BTreeSet<_> =
            TARGETS.iter().map(|target| packs::path(&root, target.corpus())).collect();
        assert_eq!(found, packs);
        let read = packs.iter().flat_map(|pack| packs::read(pack).unwrap().into_values());
        let size: usize = read.map(|input| input.len()).sum();
        assert!(size < 1_000_000, "{size} bytes");
    }

    #[test]
    fn targets_are_chosen_by_name() {
        assert_eq!(select(&[]).unwrap().len(), TARGETS.len());
        assert_eq!(select(&["keys".into(), "fdt".into()]).unwrap().len(), 2);
        assert!(select(&["no-such".into()]).is_err());
    }
}
