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

use anyhow::Result;
use clap::ValueEnum;

use xtask::Outcome;
use xtask::Verdict;
use xtask::python::PackageSet;

mod args;
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

pub use args::Args;
use args::Key;

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
