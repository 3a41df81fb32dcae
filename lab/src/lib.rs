//! `cargo xtask lab`: measures, judges by a target that was set beforehand, and stores the run with
//! all of its samples (`spec/lab-run.md`).

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::path::Path;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use xtask::Outcome;
use xtask::Verdict;
use xtask::project;
use xtask::python::PackageSet;

mod args;
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

pub use args::Args;
use args::Key;
use hartlock_results::run::{Row, Run, Status};

/// A step of `cargo xtask test`: the first paper's evaluation in small keeps its bounds.
pub fn step(_: &Path) -> Result<Outcome> {
    quick(Key::ParallelVerification, &[PackageSet::Machine])
}

/// A step of `cargo xtask test`: the fifth paper's measurement for its largest payload.
pub fn accelerator_step(_: &Path) -> Result<Outcome> {
    let sets = [PackageSet::Machine, PackageSet::Soc, PackageSet::Cva6];
    quick(Key::OpentitanAccelerator, &sets)
}

/// A step of `cargo xtask test`: the fourth paper's rows, and every hash kernel beside its peers.
pub fn vector_step(_: &Path) -> Result<Outcome> {
    quick(Key::VectorCrypto, &[])
}

/// A step of `cargo xtask test`: the third paper's rows for SHA-3, and the boot of a TEE by engines.
pub fn quick_boot_step(_: &Path) -> Result<Outcome> {
    quick(Key::QuickBootTee, &[PackageSet::Machine, PackageSet::Soc])
}

/// A step of `cargo xtask test`: the second paper's engine at one point, which keeps its bound.
pub fn post_quantum_step(_: &Path) -> Result<Outcome> {
    quick(Key::PostQuantumXmss, &[PackageSet::Machine, PackageSet::Ip])
}

/// A step of `cargo xtask test`: `hartlock` beside openssl runs to its end. Nothing is judged by a time.
pub fn speed_step(_: &Path) -> Result<Outcome> {
    quick(Key::HostSpeed, &[])
}

/// What `make lab PAPER=<key> QUICK=1` does, page included; then nothing may miss its target.
fn quick(key: Key, sets: &[PackageSet]) -> Result<Outcome> {
    for set in sets {
        if let Some(skipped) = xtask::python::without_packages(*set)? {
            return Ok(skipped);
        }
    }
    let args = Args { key: Some(key), quick: true, patience: 0, pages: false, stale: false };
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

/// A miss is a finding, not a failure of the measurement: the answer is yes. With `--stale` it is whether the
/// stored runs are up to date.
pub fn main(args: &Args) -> Result<Verdict> {
    if args.pages {
        args.pages(args.key.map(Key::name).as_deref())?;
        return Ok(Verdict::Yes);
    }
    let keys = args.key.map_or_else(|| Key::value_variants().to_vec(), |key| vec![key]);
    if args.stale {
        return stale(&args.folder(), &keys);
    }
    for key in keys {
        measured(key, args)?;
    }
    Ok(Verdict::Yes)
}

/// Measures, stores, and makes the page.
fn measured(key: Key, args: &Args) -> Result<Run> {
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

/// Says of each stored run whether its sources have changed since.
fn stale(folder: &Path, keys: &[Key]) -> Result<Verdict> {
    let mut verdict = Verdict::Yes;
    for key in keys {
        let run = Run::read(&folder.join(key.name()).with_extension("json"))?;
        match run.stale(&project::root(), &key.name())? {
            None => println!("{}: as its sources are", key.name()),
            Some(text) => {
                println!("{}: {text}", key.name());
                verdict = Verdict::No;
            }
        }
    }
    Ok(verdict)
}
