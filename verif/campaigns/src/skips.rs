//! `cargo xtask skips`: skips instructions of a stage, one or two per boot, and checks that everything that must be
//! refused is still refused (boot flow §7).
//!
//! ROM and loader run on the project's own interpreter ([`interpreted`]). There, every instruction that they execute
//! can be skipped, each time that it is executed, and an attacker has filled memory with instructions. The loader has
//! only one hart there; with five harts and OpenSBI it runs on QEMU ([`emulated`]), where each instruction that may
//! decide is skipped at its first execution. The ROM of the root of trust ([`rot`]) runs on the interpreter in the
//! form in which it ships. A ROM whose redundant check finds nothing must be detected, on the board and on the root of
//! trust.

mod bundles;
mod emulated;
mod interpreted;
mod judge;
mod rot;
mod rtl;
mod session;
mod store;
pub mod symbols;

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hartlock_emulator::Stage;
use hartlock_fault::campaign::SLACK;
use hartlock_image::Reason;
use hartlock_maps::qemu_virt;

use crate::boots::board::{Setup, TestBoard};
use bundles::{BoardTarget, TARGETS};
use interpreted::{BootPart, Choice, RecordedBoot};
use xtask::Outcome;
use xtask::python::{self, PackageSet};
use xtask::{Verdict, firmware};

/// Number of instructions of a boot that are skipped by default.
const SAMPLES: usize = 400;
/// Same for the loader on QEMU, where each skip takes a second.
const LOADER_SAMPLES: usize = 12;
/// The redundant checks, and for each the bundle with which the campaign must find a ROM that lacks this check alone. The
/// check of parsed values refuses no bundle: it is for faults in the parser, and unit tests of `device/verify` show it.
const BLIND: [(&str, &str); 3] = [
    ("signers", "second-signer-missing"),
    ("device", "below-the-floor"),
    ("placement", "payload-over-"),
];
/// The redundant checks that the option `--blind` removes together.
const REDUNDANT: [&str; 4] = ["signers", "parsed", "device", "placement"];
/// The bundles with which the interpreter is compared with QEMU and with the simulation.
const JUDGED_ROM: &str = "rom/below-the-floor";
const JUDGED_ROT: &str = "rot/below-the-floor";
/// The loader's bundle with which interpreter and QEMU are compared.
const JUDGED_LOADER: &str = "loader/below-the-floor";
/// Machine code of `li a0, 0` and `ret`, which reports no defect, whatever the arguments.
const NO_DEFECT: [u8; 4] = [0x01, 0x45, 0x82, 0x80];

#[derive(clap::Args)]
pub struct SkipsArgs {
    /// Run only bundles whose name contains this text
    #[arg(value_name = "NAME")]
    filter: Option<String>,
    /// Print the names of all bundles
    #[arg(long)]
    list: bool,
    /// Skip every instruction, each time it runs; takes hours of CPU time for each bundle
    #[arg(long, conflicts_with = "samples")]
    all: bool,
    /// Number of instructions to skip for each bundle, spread evenly
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Skip only instructions that run after the last signature was verified
    #[arg(long)]
    after_signatures: bool,
    /// Skip only instructions that run before the bundle is read
    #[arg(long, conflicts_with = "after_signatures")]
    before_bundle: bool,
    /// Skip only instructions that run after the last comparison of two digests
    #[arg(long, conflicts_with_all = ["after_signatures", "before_bundle"])]
    after_comparison: bool,
    /// Skip a second instruction as well, at each distance from 1 to N after the first
    #[arg(long, value_name = "N", default_value_t = 0)]
    second_within: u32,
    /// Start at this position in the boot
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    from: usize,
    /// Stop after this many minutes, and print the position to continue from
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,
    /// Number of additional instructions after which a boot with a skip counts as hanging
    #[arg(long, value_name = "N", default_value_t = SLACK)]
    slack: u64,
    /// Number of threads
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Append the counts to this file (verif/runs/skips.toml)
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Only check the interpreter: compare console and registers with QEMU, or every instruction of the root of
    /// trust with the simulation of the RTL
    #[arg(long)]
    judge: bool,
    /// Run the loader on QEMU with five harts instead, and skip instructions that may decide, the first time they run
    #[arg(long)]
    qemu: bool,
    /// Disable the redundant check, to show that the campaign then finds wrong verdicts
    #[arg(long)]
    blind: bool,
}

pub fn main(args: &SkipsArgs) -> Result<Verdict> {
    let is_wanted = |name: &str| args.filter.as_ref().is_none_or(|filter| name.contains(filter));
    let targets: Vec<&BoardTarget> = TARGETS.iter().filter(|it| is_wanted(it.name)).collect();
    let roots: Vec<&rot::RotTarget> = rot::TARGETS.iter().filter(|it| is_wanted(it.name)).collect();
    if args.list {
        targets.iter().for_each(|target| println!("{}", target.name));
        roots.iter().for_each(|target| println!("{}", target.name));
        return Ok(Verdict::Yes);
    }
    if targets.is_empty() && roots.is_empty() {
        bail!("no bundle has this in its name; `cargo xtask skips --list` names them");
    }
    let mut is_turned = false;
    if !targets.is_empty() {
        let bench = TestBoard::prepare(false)?;
        for target in targets {
            is_turned |= on_board(args, &bench, target)?;
        }
    }
    for target in roots {
        is_turned |= on_root_of_trust(args, target)?;
    }
    Ok(if is_turned { Verdict::No } else { Verdict::Yes })
}

/// Tests one bundle of the board. Returns true if a skip turned the refusal into a boot.
fn on_board(args: &SkipsArgs, bench: &TestBoard, target: &BoardTarget) -> Result<bool> {
    let blinded: &[&str] = if args.blind { &REDUNDANT } else { &[] };
    let setup = make(bench, target, blinded)?;
    if args.judge {
        judged(bench, target)?;
        return Ok(false);
    }
    if args.qemu && target.stage == Stage::Loader {
        return emulated::campaign(bench, target, &setup, args.loader_samples());
    }
    let recorded_boot = RecordedBoot::record(bench, &setup, target.stage)?;
    args.campaign(&recorded_boot, target.name)
}

/// Same as [`on_board`], for a bundle of the root of trust.
fn on_root_of_trust(args: &SkipsArgs, target: &rot::RotTarget) -> Result<bool> {
    let mut device = target.make()?;
    if args.judge {
        let compared = rtl::judge(&device).context(target.name)?;
        println!("{}: the RTL agrees, {compared} instructions", target.name);
        return Ok(false);
    }
    if args.blind {
        device.blind(&REDUNDANT)?;
    }
    args.campaign(&device.recorded_boot()?, target.name)
}

impl SkipsArgs {
    fn choice(&self) -> Choice {
        let part = match (self.before_bundle, self.after_signatures, self.after_comparison) {
            (true, ..) => BootPart::BeforeBundle,
            (_, true, _) => BootPart::AfterSignatures,
            (.., true) => BootPart::AfterComparison,
            _ => BootPart::WholeBoot,
        };
        let is_every_one = self.all || part != BootPart::WholeBoot || self.second_within > 0;
        let minutes = |minutes: u64| Instant::now() + Duration::from_secs(60 * minutes);
        Choice {
            samples: self.samples.or((!is_every_one).then_some(SAMPLES)),
            part,
            from: self.from,
            second_within: self.second_within,
            slack: self.slack,
            jobs: self.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
            until: self.minutes.map(minutes),
        }
    }

    /// Skips the selected instructions, stores the counts, and returns true if a skip turned the refusal.
    fn campaign(&self, recorded_boot: &RecordedBoot, name: &str) -> Result<bool> {
        let counts = interpreted::campaign(recorded_boot, name, &self.choice())?;
        if let Some(file) = &self.store {
            store::append(file, &counts)?;
        }
        Ok(!counts.report.is_clean())
    }

    fn loader_samples(&self) -> Option<usize> {
        self.samples.or((!self.all).then_some(LOADER_SAMPLES))
    }
}

/// Makes the device, whose ROM lacks the redundant checks in `blinded`.
fn make(bench: &TestBoard, target: &BoardTarget, blinded: &[&str]) -> Result<Setup> {
    let mut setup = (target.make)(bench)?;
    // If all harts exist, the ROM does not wait for missing ones.
    setup.harts = 5;
    if target.stage == Stage::Rom {
        setup.cpu = Some(judge::CPU.to_owned());
    }
    if !blinded.is_empty() {
        blind(&mut setup, &bench.firmware.rom.elf, target, blinded)?;
    }
    Ok(setup)
}

/// Compares the interpreter with QEMU. The loader runs on one hart in both.
fn judged(bench: &TestBoard, target: &BoardTarget) -> Result<()> {
    let mut setup = make(bench, target, &[])?;
    if target.stage == Stage::Loader {
        setup.harts = 1;
    }
    setup.cpu = Some(judge::CPU.to_owned());
    let recorded_boot = RecordedBoot::record(bench, &setup, target.stage)?;
    let compared = judge::judge(bench, &setup, &recorded_boot, target.name)?;
    println!("{}: QEMU agrees, registers after {compared} instructions", target.name);
    Ok(())
}

/// Replaces redundant checks by code that never finds a defect.
fn blind(setup: &mut Setup, elf: &Path, target: &BoardTarget, checks: &[&str]) -> Result<()> {
    if target.stage != Stage::Rom {
        bail!("only the ROM can be blinded: the loader is signed");
    }
    for function in checks {
        let at = firmware::function_offset(elf, &["recheck", function])?;
        let code = setup.rom.get_mut(at..at + 4).context("inside the ROM")?;
        code.copy_from_slice(&NO_DEFECT);
    }
    Ok(())
}

/// Test step: compares QEMU with the interpreter, skips a sample of instructions with every bundle, and every one after
/// the comparison that refuses it, and checks that ROMs without one redundant check are detected, one check at a time. Each bundle of the loader is also sampled on QEMU.
pub fn step(_: &Path) -> Result<Outcome> {
    let bench = TestBoard::prepare(false)?;
    let sampled = |samples, part| Choice {
        samples: Some(samples),
        part,
        from: 0,
        second_within: 0,
        slack: SLACK,
        jobs: 1,
        until: None,
    };
    let is_sampled_turned = |recorded_boot: &RecordedBoot, name| -> Result<bool> {
        let mut is_turned = false;
        let parts = [
            (64, BootPart::WholeBoot),
            (256, BootPart::BeforeBundle),
            (2048, BootPart::AfterSignatures),
        ];
        for (samples, part) in parts {
            let choice = sampled(samples, part);
            is_turned |= !interpreted::campaign(recorded_boot, name, &choice)?.report.is_clean();
        }
        let by_comparison = [Reason::SignatureMismatch, Reason::PayloadDigestMismatch];
        if by_comparison.iter().any(|reason| *reason as u32 == recorded_boot.reason) {
            let all = Choice { samples: None, ..sampled(0, BootPart::AfterComparison) };
            is_turned |= !interpreted::campaign(recorded_boot, name, &all)?.report.is_clean();
        }
        Ok(is_turned)
    };
    let mut turned = Vec::new();
    for target in TARGETS {
        let setup = make(&bench, target, &[])?;
        let recorded_boot = RecordedBoot::record(&bench, &setup, target.stage)?;
        let mut is_turned = is_sampled_turned(&recorded_boot, target.name)?;
        if target.stage == Stage::Loader {
            is_turned |= emulated::campaign(&bench, target, &setup, Some(LOADER_SAMPLES))?;
        }
        if is_turned {
            turned.push(target.name);
        }
    }
    for target in rot::TARGETS {
        if is_sampled_turned(&target.make()?.recorded_boot()?, target.name)? {
            turned.push(target.name);
        }
    }
    if !turned.is_empty() {
        return Ok(Outcome::Failed(format!(
            "with one instruction skipped, other code than the stage's ran: {}",
            turned.join(", ")
        )));
    }
    let find = |name: &str| {
        TARGETS.iter().find(|target| target.name.starts_with(name)).context("a bundle")
    };
    judged(&bench, find(JUDGED_ROM)?)?;
    judged(&bench, find(JUDGED_LOADER)?)?;
    let unjudged = judged_by_rtl()?;
    let all = Choice { samples: None, ..sampled(0, BootPart::AfterSignatures) };
    for (check, bundle) in BLIND {
        let blinded = make(&bench, find(&format!("rom/{bundle}"))?, &[check])?;
        let recorded_boot = RecordedBoot::record(&bench, &blinded, Stage::Rom)?;
        let name = format!("without the redundant check `{check}`");
        let report = interpreted::campaign(&recorded_boot, &name, &all)?.report;
        // The code of the bundle itself must run, not data that was in memory before.
        if !report.findings.iter().any(|it| it.target == qemu_virt::OPENSBI.start) {
            return Ok(Outcome::Failed(format!("a ROM {name} is not caught")));
        }
        let bundle = format!("rot/{bundle}");
        let target = rot::TARGETS.iter().find(|target| target.name.starts_with(&bundle));
        let mut device = target.context("a bundle")?.make()?;
        device.blind(&[check])?;
        let report = interpreted::campaign(&device.recorded_boot()?, &name, &all)?.report;
        if report.turned == 0 {
            return Ok(Outcome::Failed(format!("a root of trust {name} is not caught")));
        }
    }
    Ok(unjudged.unwrap_or(Outcome::Passed))
}

/// Compares the simulation of the RTL with the interpreter, on a bundle that is refused and on one that is accepted.
/// Skipped if the packages of the simulation are missing.
fn judged_by_rtl() -> Result<Option<Outcome>> {
    for set in [PackageSet::Machine, PackageSet::Soc] {
        if let Some(skipped) = python::without_packages(set)? {
            return Ok(Some(skipped));
        }
    }
    let target =
        rot::TARGETS.iter().find(|target| target.name == JUDGED_ROT).context("a bundle")?;
    for (name, device) in [(target.name, target.make()?), ("rot/accepted", rot::accepted()?)] {
        let compared = rtl::judge(&device).context(name)?;
        println!("{name}: the RTL agrees, {compared} instructions");
    }
    Ok(None)
}
