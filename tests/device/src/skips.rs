//! `cargo xtask skips`: skips one instruction of a stage after the other and sees that what has to
//! be refused still is (boot flow §7).
//!
//! A bundle that must be refused is booted once to learn which instructions run. Then it is booted
//! again for each of them: the machine stops before the instruction, continues after it, and
//! must not reach the code that the bundle carries. A stage whose redundant check finds nothing has to
//! be caught by the same campaign.

mod bundles;
mod session;
mod symbols;

use std::path::Path;

use anyhow::{Context, Result, bail};
use hartlock_emulator::Stage;
use indicatif::{ProgressBar, ProgressStyle};

use crate::boots::board::{Bench, Setup};
use crate::debugger::stepper::Instruction;
use bundles::{TARGETS, Target};
use session::{End, Place, Session, trace};
use symbols::Symbols;
use xtask::Outcome;
use xtask::{Verdict, firmware};

/// Instructions a bundle in the quick form, which `cargo xtask test` runs.
const QUICK_SAMPLES: usize = 12;
/// Where the campaign has to find something in a ROM that is blind: the check of the floor is among
/// the last instructions that run before the refusal.
const BLIND_TARGET: &str = "rom/below-the-floor";
const BLIND_SCOPE: usize = 40;
/// `li a0, 0` and `ret`: no defect, whatever the arguments.
const NO_DEFECT: [u8; 4] = [0x01, 0x45, 0x82, 0x80];

#[derive(clap::Args)]
pub struct Args {
    /// Only bundles whose name contains this
    #[arg(value_name = "NAME")]
    filter: Option<String>,
    /// Print the names of all bundles
    #[arg(long)]
    list: bool,
    /// Skip every instruction that may decide, instead of a sample (takes hours)
    #[arg(long, conflicts_with = "samples")]
    all: bool,
    /// Instructions to skip for each bundle, spread evenly
    #[arg(long, value_name = "N", default_value_t = QUICK_SAMPLES)]
    samples: usize,
    /// Make the redundant check find nothing: the campaign then has to find something
    #[arg(long)]
    blind: bool,
}

/// Which instructions are skipped.
#[derive(Clone, Copy)]
enum Scope {
    /// All that may decide.
    All,
    /// So many of them.
    Sample(usize),
    /// So many that ran last before the refusal did.
    BeforeRefusal(usize),
}

/// What a campaign over one bundle found.
#[derive(Default)]
struct Report {
    ran: usize,
    skipped: usize,
    stopped: usize,
    astray: usize,
    unreached: usize,
    /// Address and function of each instruction that turns the refusal.
    turned: Vec<(u64, String)>,
}

pub fn main(args: &Args) -> Result<Verdict> {
    let is_wanted = |target: &&Target| {
        args.filter.as_ref().is_none_or(|filter| target.name.contains(filter.as_str()))
    };
    let targets: Vec<&Target> = TARGETS.iter().filter(is_wanted).collect();
    if args.list {
        targets.iter().for_each(|target| println!("{}", target.name));
        return Ok(Verdict::Yes);
    }
    if targets.is_empty() {
        bail!("no bundle has this in its name; `cargo xtask skips --list` names them");
    }
    let bench = Bench::prepare(false)?;
    let mut is_turned = false;
    for target in targets {
        let scope = if args.all { Scope::All } else { Scope::Sample(args.samples) };
        let report = campaign(&bench, target, args.blind, scope)?;
        println!(
            "{}: {} instructions ran, {} skipped: {} refused, {} led astray, {} not reached, {} turned",
            target.name,
            report.ran,
            report.skipped,
            report.stopped,
            report.astray,
            report.unreached,
            report.turned.len()
        );
        for (pc, function) in &report.turned {
            println!("    {pc:#x} in {function}");
        }
        is_turned |= !report.turned.is_empty();
    }
    Ok(if is_turned { Verdict::No } else { Verdict::Yes })
}

/// A step of `cargo xtask test`: a sample of every bundle, and a blind stage that must be caught.
pub fn step(_: &Path) -> Result<Outcome> {
    let bench = Bench::prepare(false)?;
    let mut turned = Vec::new();
    for target in TARGETS {
        let report = campaign(&bench, target, false, Scope::Sample(QUICK_SAMPLES))?;
        if report.stopped == 0 {
            return Ok(Outcome::Failed(format!("{}: no boot came to its end", target.name)));
        }
        turned.extend(
            report.turned.iter().map(|(pc, name)| format!("{}: {pc:#x} in {name}", target.name)),
        );
    }
    if !turned.is_empty() {
        return Ok(Outcome::Failed(format!(
            "one skipped instruction boots what has to be refused\n{}",
            turned.join("\n")
        )));
    }
    let blind = TARGETS.iter().find(|target| target.name == BLIND_TARGET).context("a bundle")?;
    if campaign(&bench, blind, true, Scope::BeforeRefusal(BLIND_SCOPE))?.turned.is_empty() {
        return Ok(Outcome::Failed("a ROM without its redundant check is not caught".into()));
    }
    Ok(Outcome::Passed)
}

fn campaign(bench: &Bench, target: &Target, is_blind: bool, scope: Scope) -> Result<Report> {
    let mut setup = (target.make)(bench)?;
    // With all of them there, the ROM does not wait for those that are missing.
    setup.harts = 5;
    let files = match target.stage {
        Stage::Rom => &bench.firmware.rom,
        Stage::Loader => &bench.firmware.loader,
    };
    let symbols = Symbols::read(&files.elf)?;
    if is_blind {
        blind(&mut setup, &files.elf, target)?;
    }
    let place = Place::of(target.stage, &symbols)?;
    let ran = trace(bench, &setup, target.stage, &place)?;
    let mut chosen: Vec<Instruction> =
        ran.iter().filter(|it| symbols.may_decide(it.pc)).copied().collect();
    match scope {
        Scope::All => {}
        Scope::Sample(samples) => {
            let every = chosen.len().div_ceil(samples.max(1)).max(1);
            chosen = chosen.into_iter().step_by(every).collect();
        }
        Scope::BeforeRefusal(count) => {
            let refusal = chosen.iter().position(|it| symbols.name(it.pc).contains("refus"));
            chosen.truncate(refusal.context("the trace shows no refusal")?);
            chosen.drain(..chosen.len().saturating_sub(count));
        }
    }

    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")?;
    let bar = ProgressBar::new(chosen.len() as u64).with_style(style).with_message(target.name);
    let mut report = Report { ran: ran.len(), ..Report::default() };
    let mut session = Session::open(bench, &setup, place)?;
    for instruction in chosen {
        let mut end = session.skip(instruction)?;
        if end == End::Unreached {
            // A boot that was led astray may have written to flash: a device as good as new.
            session = Session::open(bench, &setup, place)?;
            end = session.skip(instruction)?;
        }
        report.skipped += 1;
        match end {
            End::Stopped => report.stopped += 1,
            End::Astray => report.astray += 1,
            End::Unreached => report.unreached += 1,
            End::Turned => {
                let function = symbols.name(instruction.pc).to_owned();
                report.turned.push((instruction.pc, function));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(report)
}

/// Replaces the redundant check by code that never finds a defect.
fn blind(setup: &mut Setup, elf: &Path, target: &Target) -> Result<()> {
    if target.stage != Stage::Rom {
        bail!("only the ROM can be blinded: the loader is signed");
    }
    for function in ["signers", "parsed", "device", "placement"] {
        let at = firmware::function_offset(elf, &["recheck", function])?;
        let code = setup.rom.get_mut(at..at + 4).context("inside the ROM")?;
        code.copy_from_slice(&NO_DEFECT);
    }
    Ok(())
}
