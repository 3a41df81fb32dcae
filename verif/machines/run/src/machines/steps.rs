//! Steps of `cargo xtask test` on the daily machines.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use xtask::Outcome;
use xtask::python::{self, PackageSet};

use super::model::{self, CORES, Core};
use super::rot::{self, ROTS, SECURE};
use super::smoke::{End, Machine, SmokeReport, medium};
use super::soc::{self, SOCS};
use super::tee::TEES;
use super::{SMOKE_BLOCK, build_smoke, folder};
use super::{rot_boot, rot_crypto, rot_dma, rot_signature, rot_tee, tee_boot};

/// A check of a machine, which returns a fault or nothing.
type Check<'a> = &'a dyn Fn() -> Result<Option<String>>;

/// Runs checks, each with the name of its machine; returns the outcome of the first one that fails.
fn outcome(checks: &[(&str, Check<'_>)]) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Soc] {
        if let Some(skipped) = python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    for (at, (name, check)) in checks.iter().enumerate() {
        let start = Instant::now();
        if let Some(why) = check()? {
            return Ok(Outcome::Failed(format!("{name}: {why}")));
        }
        let seconds = start.elapsed().as_secs();
        eprintln!("{name}: check {} of {} passed in {seconds} s", at + 1, checks.len());
    }
    Ok(Outcome::Passed)
}

/// Runs the step `rot` of `cargo xtask test`: the root of trust without a host survives or refuses all faults as
/// specified.
pub fn rot_step(_: &Path) -> Result<Outcome> {
    let rot = ROTS.into_iter().find(|rot| rot.is_daily).context("no root of trust of every day")?;
    let folder = |name| rot::folder(rot).join(name);
    let boot = folder("boot");
    outcome(&[
        (rot.name, &|| rot::faults(rot)),
        (rot.name, &|| rot_boot::faults(rot, true, &boot)),
        (rot.name, &|| rot_boot::blocks_fault(rot, &boot)),
        (rot.name, &|| rot_boot::sha3_fault(rot, &boot)),
        (rot.name, &|| rot_boot::large_fault(rot, &boot)),
        (rot.name, &|| rot_signature::fault(rot, true, &folder("signature"))),
        (rot.name, &|| rot_tee::fault(rot, true, &folder("tee"))),
        (rot.name, &|| rot_dma::fault(&rot_dma::measure(rot, &[])?)),
        (rot.name, &|| rot_dma::feed(rot).map(|_| None)),
        (SECURE.name, &|| rot_crypto::daily_fault(SECURE, &rot::folder(SECURE).join("crypto"))),
    ])
}

/// Runs the step `rot-first` of `cargo xtask test` for every change: the ROM of the root of trust boots a bundle, and
/// refuses it with a bit flipped.
pub fn rot_first_step(_: &Path) -> Result<Outcome> {
    let rot = ROTS.into_iter().find(|rot| rot.is_daily).context("no root of trust of every day")?;
    outcome(&[(rot.name, &|| rot_boot::first_fault(rot, &rot::folder(rot).join("boot")))])
}

/// Runs the step `soc` of `cargo xtask test`: the root of trust keeps its host in reset until everything is verified.
pub fn soc_step(_: &Path) -> Result<Outcome> {
    let soc =
        SOCS.into_iter().find(|soc| soc.is_daily).context("no machine with both of every day")?;
    let folder = |name| soc::folder(soc).join(name);
    outcome(&[
        (soc.name, &|| soc::faults(soc, SMOKE_BLOCK)),
        (soc.name, &|| soc::guard_fault(soc)),
        (soc.name, &|| rot_boot::host_faults(soc, &folder("boot"))),
        (soc.name, &|| rot_signature::host_fault(soc, true, &folder("signature"))),
        (soc.name, &|| rot_tee::host_fault(soc, &folder("tee"))),
    ])
}

/// Runs the step `hw` of `cargo xtask test`: the daily hosts and the TEE are built, run with the same cycles each time,
/// and detect a program that fails or hangs.
pub fn step(_: &Path) -> Result<Outcome> {
    let tee = TEES.into_iter().find(|tee| tee.is_daily).context("no TEE of every day")?;
    let mut checks: Vec<(&str, Check<'_>)> = Vec::new();
    let fault = || tee_boot::fault(tee, true);
    checks.push((tee.name, &fault));
    let smokes: Vec<_> = CORES
        .into_iter()
        .filter(|core| core.is_daily)
        .map(|core| (core.name, move || smoke_fault(core)))
        .collect();
    checks.extend(smokes.iter().map(|(name, check)| (*name, check as Check<'_>)));
    outcome(&checks)
}

/// Returns a fault of a run of the smoke program on a host.
fn smoke_fault(core: Core) -> Result<Option<String>> {
    let program = build_smoke()?;
    let machine = model::machine(core, false)?;
    let folder = folder(core);
    let runs = Machine { machine: &machine, program: &program, folder: &folder, options: &[] };
    let measured = runs.smoke(SMOKE_BLOCK)?;
    if measured.harts != core.harts as u64 {
        return Ok(Some(format!("has {} harts", measured.harts)));
    }
    // One hart is enough for the other checks, and takes a third of the time.
    if core.harts == 1 { blind_spot(&runs, &measured) } else { Ok(None) }
}

/// Returns a fault of the machine that would make a passed run meaningless.
fn blind_spot(runs: &Machine<'_>, measured: &SmokeReport) -> Result<Option<String>> {
    if runs.smoke(SMOKE_BLOCK)? != *measured {
        return Ok(Some("the same run took other cycles the second time".into()));
    }
    let mut changed = medium(SMOKE_BLOCK);
    *changed.last_mut().context("the medium is not empty")? ^= 1;
    let (_, _, end) = runs.run(&changed)?;
    if end != End::Failure {
        return Ok(Some(format!("a changed bit on the medium ended in {end:?}")));
    }
    let options = ["--max-cycles".to_owned(), "1000".to_owned()];
    let (_, _, end) = Machine { options: &options, ..*runs }.run(&changed)?;
    if end != End::Timeout {
        return Ok(Some(format!("a limit of 1000 cycles ended in {end:?}")));
    }
    let options = ["--memory-latency".to_owned(), "100".to_owned()];
    let slower = Machine { options: &options, ..*runs }.smoke(SMOKE_BLOCK)?;
    if slower.sha3_384.cycles <= measured.sha3_384.cycles {
        return Ok(Some("a slower memory does not make the hash slower".into()));
    }
    Ok(None)
}
