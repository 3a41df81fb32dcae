//! `cargo xtask lab`: measures, judges by a target that was set beforehand, and stores the run with
//! all of its samples (`spec/lab-run.md`).

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use xtask::Outcome;
use xtask::python::PackageSet;
use xtask::{Verdict, project};

mod host_speed;
pub mod machine;
#[path = "../papers/opentitan-accelerator/opentitan_accelerator.rs"]
mod opentitan_accelerator;
pub mod paper;
#[path = "../papers/parallel-verification/parallel_verification.rs"]
mod parallel_verification;
pub mod peers;
pub mod plot;
pub mod report;
pub mod run;
mod sample;
pub mod signatures;
pub mod stored;
#[path = "../papers/vector-crypto/vector_crypto.rs"]
mod vector_crypto;

#[derive(clap::Args)]
pub struct Args {
    /// What to measure; all of it if nothing is named
    #[arg(value_name = "KEY")]
    key: Option<Key>,
    /// A small version in less than a minute, into target/lab instead of lab/runs/latest
    #[arg(long)]
    quick: bool,
    /// Seconds to wait in all for other programs to leave the processor alone
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    patience: u64,
    /// Measure nothing: make the pages of runs that are stored
    #[arg(long)]
    pages: bool,
}

/// What can be measured.
#[derive(Clone, Copy, ValueEnum)]
enum Key {
    /// `hartlock sign` and `verify` of 1 GiB, against `openssl dgst`
    HostSpeed,
    /// The first paper: blocks on one hart and on four, cycle by cycle; hours, or minutes with --quick
    ParallelVerification,
    /// The fifth paper: a root of trust as accelerator, instruction by instruction, against software
    OpentitanAccelerator,
    /// Instructions for each byte of every hash kernel, beside other projects' and the fourth paper
    VectorCrypto,
}

impl Args {
    /// Where the run is stored. A quick one replaces no other: its numbers say less.
    fn folder(&self) -> PathBuf {
        let top = if self.quick { project::target_dir() } else { project::root() };
        top.join("lab/runs/latest")
    }

    /// Makes the page of one run, or of all that are stored, and says where they are.
    fn pages(&self, key: Option<&str>) -> Result<()> {
        let suffix = if self.quick { "-quick" } else { "" };
        for page in report::pages(&self.folder(), key, suffix)? {
            println!("page {}", page.display());
        }
        Ok(())
    }
}

/// A step of `cargo xtask test`: the first paper's evaluation in small keeps its bounds.
pub fn step(_: &Path) -> Result<Outcome> {
    match xtask::python::without_packages(PackageSet::Machine)? {
        Some(skipped) => Ok(skipped),
        None => parallel_verification::step(),
    }
}

/// A step of `cargo xtask test`: the fifth paper's measurement for its largest payload.
pub fn accelerator_step(_: &Path) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Soc, PackageSet::Cva6] {
        if let Some(skipped) = xtask::python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    opentitan_accelerator::step()
}

/// A miss is a finding, not a failure of the measurement: the answer is always yes.
pub fn main(args: &Args) -> Result<Verdict> {
    if args.pages {
        let name = args.key.and_then(|key| key.to_possible_value());
        args.pages(name.as_ref().map(|name| name.get_name()))?;
        return Ok(Verdict::Yes);
    }
    let keys = args.key.map_or_else(|| Key::value_variants().to_vec(), |key| vec![key]);
    for key in keys {
        match key {
            Key::HostSpeed => host_speed::measure(args)?,
            Key::ParallelVerification => parallel_verification::measure(args)?,
            Key::OpentitanAccelerator => opentitan_accelerator::measure(args)?,
            Key::VectorCrypto => vector_crypto::measure(args)?,
        }
        args.pages(key.to_possible_value().as_ref().map(|name| name.get_name()))?;
    }
    Ok(Verdict::Yes)
}
