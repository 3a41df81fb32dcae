//! `cargo xtask lab`: measures, judges the numbers by targets that were set beforehand, and stores the run
//! with all samples (`spec/lab-run.md`).

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::iter;
use std::path::Path;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use xtask::Outcome;
use xtask::Verdict;
use xtask::project;
use xtask::python::PackageSet;

mod args;
mod bearssl;
mod counts;
mod host_speed;
pub mod machine;
#[path = "../papers/opentitan-accelerator/opentitan_accelerator.rs"]
mod opentitan_accelerator;
#[path = "../papers/parallel-verification/parallel_verification.rs"]
mod parallel_verification;
pub mod peers;
#[path = "../papers/post-quantum-xmss/post_quantum_xmss.rs"]
mod post_quantum_xmss;
#[path = "../papers/quick-boot-tee/quick_boot_tee.rs"]
mod quick_boot_tee;
#[cfg(test)]
mod recompute_tests;
mod sample;
pub mod signatures;
#[path = "../papers/vector-crypto/vector_crypto.rs"]
mod vector_crypto;

use args::Key;
pub use args::LabArgs;
use hartlock_results::run::{Row, Run, Status};

/// Test step: a quick evaluation of the first paper meets its bounds.
pub fn step(_: &Path) -> Result<Outcome> {
    quick(Key::ParallelVerification, &[PackageSet::Machine])
}

/// Test step: the fifth paper's measurement for its largest payload meets its bounds.
pub fn accelerator_step(_: &Path) -> Result<Outcome> {
    let sets = [PackageSet::Machine, PackageSet::Soc, PackageSet::Cva6];
    quick(Key::OpentitanAccelerator, &sets)
}

/// Test step: the fourth paper's rows, and every hash kernel compared with other implementations, meet their
/// bounds.
pub fn vector_step(_: &Path) -> Result<Outcome> {
    quick(Key::VectorCrypto, &[])
}

/// Test step: the third paper's rows for SHA-3, and the boot of a TEE with engines, meet their bounds.
pub fn quick_boot_step(_: &Path) -> Result<Outcome> {
    quick(Key::QuickBootTee, &[PackageSet::Machine, PackageSet::Soc])
}

/// Test step: the second paper's engine in one configuration meets its bound.
pub fn post_quantum_step(_: &Path) -> Result<Outcome> {
    quick(Key::PostQuantumXmss, &[PackageSet::Machine, PackageSet::Ip])
}

/// Test step: the comparison of `hartlock` with openssl runs to its end. No time is judged.
pub fn speed_step(_: &Path) -> Result<Outcome> {
    quick(Key::HostSpeed, &[])
}

/// Runs the equivalent of `make lab PAPER=<key> QUICK=1`, including the page, and fails if a target is
/// missed.
fn quick(key: Key, sets: &[PackageSet]) -> Result<Outcome> {
    for set in sets {
        if let Some(skipped) = xtask::python::without_packages(*set)? {
            return Ok(skipped);
        }
    }
    let args = LabArgs {
        key: Some(key),
        quick: true,
        models: false,
        patience: 0,
        pages: false,
        stale: false,
    };
    let run = measured(key, &args)?;
    if key.is_timed() {
        return Ok(Outcome::Passed);
    }
    let is_missed = |row: &&Row| row.status == Status::Miss;
    let missed: Vec<Row> = run.rows.iter().filter(is_missed).cloned().collect();
    ensure!(run.rows.iter().any(|row| row.status == Status::Hit), "nothing was held to a bound");
    if missed.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(Run { rows: missed, ..run }.text()))
}

/// Measures and returns yes: a missed target is a finding and not a failure of the measurement. With
/// `--stale`, returns yes if the stored runs are up to date.
pub fn main(args: &LabArgs) -> Result<Verdict> {
    if args.pages {
        args.pages(args.key.map(Key::name).as_deref())?;
        // What others report is on a page of its own in the documentation; a file that is refused is an error here, too.
        hartlock_results::boards::page(&project::root().join("lab/runs/boards"))?;
        return Ok(Verdict::Yes);
    }
    let keys = args.key.map_or_else(|| Key::value_variants().to_vec(), |key| vec![key]);
    if args.stale {
        return stale(&args.folder(), &keys);
    }
    if args.models {
        let is_it = matches!(args.key, Some(Key::VectorCrypto));
        ensure!(
            is_it,
            "models are of vector-crypto alone: `cargo xtask lab vector-crypto --models`"
        );
        vector_crypto::ask_models(args)?;
        return Ok(Verdict::Yes);
    }
    for key in keys {
        measured(key, args)?;
    }
    Ok(Verdict::Yes)
}

/// Measures, stores the run, and makes its page.
fn measured(key: Key, args: &LabArgs) -> Result<Run> {
    let run = match key {
        Key::HostSpeed => host_speed::measure(args)?,
        Key::ParallelVerification => parallel_verification::measure(args)?,
        Key::OpentitanAccelerator => opentitan_accelerator::measure(args)?,
        Key::PostQuantumXmss => post_quantum_xmss::measure(args)?,
        Key::QuickBootTee => quick_boot_tee::measure(args)?,
        Key::VectorCrypto => vector_crypto::measure(args)?,
    };
    args.pages(Some(&key.name()))?;
    Ok(run)
}

/// Prints for each stored run if its sources have changed since.
fn stale(folder: &Path, keys: &[Key]) -> Result<Verdict> {
    let mut verdict = Verdict::Yes;
    let names = keys.iter().flat_map(|key| {
        let models = matches!(key, Key::VectorCrypto).then(|| vector_crypto::MODELS.to_owned());
        iter::once(key.name()).chain(models)
    });
    for name in names {
        let run = Run::read(&folder.join(&name).with_extension("json"))?;
        match run.stale(&project::root(), &name)? {
            None => println!("{name}: as its sources are"),
            Some(text) => {
                println!("{name}: {text}");
                verdict = Verdict::No;
            }
        }
    }
    Ok(verdict)
}
