//! `cargo xtask boots`: complete boots on the emulated board, successful ones and refused ones.
//!
//! Each case boots a device that differs from a working one in exactly one property, and states the expected result. No
//! result depends on elapsed time.

mod algorithms;
pub mod board;
mod case;
mod command;
mod device;
mod dma;
mod encrypted;
mod flash;
mod harts;
mod hints;
mod judged;
mod kernels;
mod linux;
mod lying_disk;
pub mod port;
mod protection;
mod refusals;
mod sbi;
mod tee;
mod traps;
mod verdict;
mod wiped;

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use board::TestBoard;
use case::Case;
use xtask::Outcome;
use xtask::Verdict;

/// The board that the test step `iommu` boots.
const IOMMU: &str = "qemu-virt-iommu";

#[derive(clap::Args)]
pub struct BootsArgs {
    /// Run only cases whose name contains this text
    #[arg(value_name = "NAME")]
    filter: Option<String>,
    /// Board of device/boards/ to boot Linux on; other cases need qemu-virt
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
        return [
            linux::cases(),
            protection::everywhere(),
            judged::everywhere(),
            sbi::everywhere(),
            dma::cases(),
        ]
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
        hints::cases(),
        harts::cases(),
        kernels::cases(),
        protection::everywhere(),
        protection::cases(),
        judged::everywhere(),
        sbi::everywhere(),
        sbi::cases(),
        dma::cases(),
        verdict::cases(),
        algorithms::cases(),
        tee::cases(),
        wiped::cases(),
        encrypted::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub fn main(args: &BootsArgs) -> Result<Verdict> {
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
    let bench = TestBoard::prepare(args.verbose)?;
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

/// Runs all cases of one group as a step of `cargo xtask test`.
fn group(name: &str) -> Result<Outcome> {
    let cases: Vec<Case> =
        cases().into_iter().filter(|it| it.name.split('/').next() == Some(name)).collect();
    if cases.is_empty() {
        return Ok(Outcome::Failed("the group has no cases".into()));
    }
    all_of(cases)
}

/// Runs the cases with these names as one test step.
fn named(names: &[&str]) -> Result<Outcome> {
    let cases: Vec<Case> =
        cases().into_iter().filter(|it| names.contains(&it.name.as_str())).collect();
    ensure!(cases.len() == names.len(), "there are not {} cases of these names", names.len());
    all_of(cases)
}

fn all_of(cases: Vec<Case>) -> Result<Outcome> {
    let bench = TestBoard::prepare(false)?;
    let mut failures = Vec::new();
    let count = cases.len();
    for case in cases {
        if let Err(error) = (case.run)(&bench).with_context(|| case.name.clone()) {
            failures.push(format!("{error:#}"));
        }
    }
    Ok(match failures.as_slice() {
        [] => Outcome::Passed,
        failures => Outcome::Failed(format!(
            "{} of {count} boots came out wrong\n{}",
            failures.len(),
            failures.join("\n\n")
        )),
    })
}

/// Test step: boots Linux once, on all harts, like the demo.
pub fn linux_first_step(_: &Path) -> Result<Outcome> {
    named(&["linux/reaches-userspace-on-5-harts"])
}

/// Test step: twenty refusals, which cover every kind of fault that a boot can report: payload, manifest, signature,
/// key, device, disk, hart.
pub fn refusals_first_step(_: &Path) -> Result<Outcome> {
    named(&FIRST_REFUSALS)
}

const FIRST_REFUSALS: [&str; 21] = [
    "refusal/without-a-fault-it-boots",
    "refusal/tampered-boot-manifest",
    "refusal/tampered-boot-signature",
    "refusal/tampered-opensbi",
    "refusal/tampered-system-manifest",
    "refusal/tampered-system-signature",
    "refusal/tampered-kernel",
    "refusal/tampered-initramfs",
    "refusal/wrong-key-for-the-rom",
    "refusal/wrong-key-for-the-loader",
    "refusal/another-board-for-the-rom",
    "refusal/overlapping-payloads-for-the-loader",
    "refusal/vector-signature_block_erased",
    "refusal/truncated-disk",
    "refusal/no-disk",
    "refusal/erased-flash",
    "refusal/root-of-trust-erased",
    "refusal/forged-state-record",
    "refusal/root-key-revoked",
    "refusal/rollback-across-two-boots",
    "refusal/disk-that-gives-another-kernel-later",
];

pub fn linux_step(_: &Path) -> Result<Outcome> {
    group("linux")
}

/// Test step: one write of a disk to memory that was judged. It has no effect on the board with an IOMMU, and has one on
/// the other.
pub fn judged_first_step(_: &Path) -> Result<Outcome> {
    let case = "judged/a-disk-writes-after-the-kernel-was-hashed";
    match named(&[case])? {
        Outcome::Passed => with_iommu(&[case]),
        outcome => Ok(outcome),
    }
}

/// Test step: all such writes. The step `iommu` has those on the board with an IOMMU.
pub fn judged_step(_: &Path) -> Result<Outcome> {
    group("judged")
}

/// Test step: the cases of the board with an IOMMU, which boot Linux and test the memory that a disk can access.
pub fn iommu_step(_: &Path) -> Result<Outcome> {
    with_iommu(&[])
}

/// Runs cases on the board with an IOMMU.
fn with_iommu(cases: &[&str]) -> Result<Outcome> {
    let mut boots = Command::new(env::current_exe()?);
    boots.args(["boots", "--board", IOMMU]).args(cases);
    let output = boots.output().context("cannot start itself")?;
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

pub fn sbi_step(_: &Path) -> Result<Outcome> {
    group("sbi")
}

pub fn verdict_step(_: &Path) -> Result<Outcome> {
    group("verdict")
}

pub fn algorithms_step(_: &Path) -> Result<Outcome> {
    group("algorithms")
}

/// Test step: a first-stage loader whose secrets are searched for after a boot.
pub fn wiped_first_step(_: &Path) -> Result<Outcome> {
    named(&["wiped/the-first-stage-leaves-no-secret-to-the-monitor"])
}

pub fn wiped_step(_: &Path) -> Result<Outcome> {
    group("wiped")
}

/// Test step: an encrypted bundle boots with the key of its class, and not without; no key is left.
pub fn encrypted_first_step(_: &Path) -> Result<Outcome> {
    named(&[
        "encrypted/harts-with-zvkned-decrypt",
        "encrypted/with-another-class-key-is-refused",
        "encrypted/keys-and-plain-text-are-gone-after-a-refusal",
    ])
}

pub fn encrypted_step(_: &Path) -> Result<Outcome> {
    group("encrypted")
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
                "judged",
                "sbi",
                "verdict",
                "algorithms",
                "tee",
                "wiped",
                "encrypted",
            ];
            assert!(groups.contains(&group), "{name} is run by no step");
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a name is given twice");
    }
}
