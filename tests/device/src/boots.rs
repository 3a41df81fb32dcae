//! `cargo xtask boots`: real boots on the emulated board, good ones and refused ones.
//!
//! A case boots a device that differs from a working one in exactly one thing and says what has
//! to come out. No case judges by time.

mod algorithms;
pub mod board;
mod case;
mod command;
mod device;
mod dma;
mod flash;
mod harts;
mod kernels;
mod linux;
mod lying_disk;
pub mod port;
mod protection;
mod refusals;
mod tee;
mod traps;
mod verdict;

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use board::Bench;
use case::Case;
use xtask::Outcome;
use xtask::Verdict;

/// The board of the step `iommu`.
const IOMMU: &str = "qemu-virt-iommu";

#[derive(clap::Args)]
pub struct Args {
    /// Run only cases whose name contains this
    #[arg(value_name = "NAME")]
    filter: Option<String>,
    /// Board of boards/ to boot Linux on; other cases are made for qemu-virt
    #[arg(long, value_name = "NAME", default_value = "qemu-virt")]
    board: String,
    /// Print the names of all cases
    #[arg(long)]
    list: bool,
    /// Show the console of every device
    #[arg(short, long)]
    verbose: bool,
}

fn cases() -> Vec<Case> {
    if !port::is_default() {
        return [linux::cases(), protection::everywhere(), dma::cases()]
            .into_iter()
            .flatten()
            .collect();
    }
    [
        linux::cases(),
        refusals::cases(),
        device::cases(),
        flash::cases(),
        lying_disk::cases(),
        traps::cases(),
        command::cases(),
        harts::cases(),
        kernels::cases(),
        protection::everywhere(),
        protection::cases(),
        dma::cases(),
        verdict::cases(),
        algorithms::cases(),
        tee::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub fn main(args: &Args) -> Result<Verdict> {
    if let Some(verdict) = port::run_for(&args.board)? {
        return Ok(verdict);
    }
    let is_wanted =
        |case: &Case| args.filter.as_ref().is_none_or(|filter| case.name.contains(filter));
    let cases: Vec<Case> = cases().into_iter().filter(is_wanted).collect();
    if args.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(Verdict::Yes);
    }
    if cases.is_empty() {
        bail!("no case has this in its name; `cargo xtask boots --list` names them");
    }
    let bench = Bench::prepare(args.verbose)?;
    let mut failed = 0;
    for case in &cases {
        let start = Instant::now();
        let result = (case.run)(&bench);
        let time = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => println!("{} … ok ({time:.1} s)", case.name),
            Err(error) => {
                failed += 1;
                println!("{} … FAILED ({time:.1} s)\n{error:#}\n", case.name);
            }
        }
    }
    println!("{} passed, {failed} failed", cases.len() - failed);
    Ok(if failed == 0 { Verdict::Yes } else { Verdict::No })
}

/// A step of `cargo xtask test`: all cases of one group.
fn group(name: &str) -> Result<Outcome> {
    let bench = Bench::prepare(false)?;
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases() {
        if case.name.split('/').next() != Some(name) {
            continue;
        }
        count += 1;
        if let Err(error) = (case.run)(&bench).with_context(|| case.name.clone()) {
            failures.push(format!("{error:#}"));
        }
    }
    Ok(match failures.as_slice() {
        [] if count == 0 => Outcome::Failed("the group has no cases".into()),
        [] => Outcome::Passed,
        failures => Outcome::Failed(format!(
            "{} of {count} boots came out wrong\n{}",
            failures.len(),
            failures.join("\n\n")
        )),
    })
}

pub fn linux_step(_: &Path) -> Result<Outcome> {
    group("linux")
}

/// The board with an IOMMU: Linux, and what a disk reaches there.
pub fn iommu_step(_: &Path) -> Result<Outcome> {
    let mut boots = Command::new(env::current_exe()?);
    let output = boots.args(["boots", "--board", IOMMU]).output().context("cannot start itself")?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(match output.status.code() {
        Some(0) => Outcome::Passed,
        Some(1) => Outcome::Failed(said.into_owned()),
        _ => bail!("{said}{}", String::from_utf8_lossy(&output.stderr)),
    })
}

pub fn refusals_step(_: &Path) -> Result<Outcome> {
    group("refusal")
}

pub fn harts_step(_: &Path) -> Result<Outcome> {
    group("harts")
}

pub fn kernels_step(_: &Path) -> Result<Outcome> {
    group("kernels")
}

pub fn protection_step(_: &Path) -> Result<Outcome> {
    group("protection")
}

pub fn verdict_step(_: &Path) -> Result<Outcome> {
    group("verdict")
}

pub fn algorithms_step(_: &Path) -> Result<Outcome> {
    group("algorithms")
}

pub fn tee_step(_: &Path) -> Result<Outcome> {
    group("tee")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_belong_to_a_step() {
        let mut names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
        for name in &names {
            let group = name.split('/').next().unwrap();
            let groups = [
                "linux",
                "refusal",
                "harts",
                "kernels",
                "protection",
                "verdict",
                "algorithms",
                "tee",
            ];
            assert!(groups.contains(&group), "{name} is run by no step");
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a name is given twice");
    }
}
