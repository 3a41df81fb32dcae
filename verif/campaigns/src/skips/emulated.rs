//! The loader on QEMU: each instruction that may decide is skipped when it is first reached.

use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use super::bundles::BoardTarget;
use super::session::{End, Session, StageAddresses, trace};
use super::symbols::Symbols;
use crate::boots::board::{Setup, TestBoard};
use crate::debugger::stepper::Instruction;

/// Results of a campaign with one bundle.
#[derive(Default)]
struct EmulatedReport {
    ran: usize,
    skipped: usize,
    stopped: usize,
    astray: usize,
    unreached: usize,
    /// Address and function of each instruction whose skip turns the refusal into a boot.
    turned: Vec<(u64, String)>,
}

/// Skips `samples` instructions, or all that may decide. Prints the result and returns true if one of
/// them turns the refusal.
pub fn campaign(
    bench: &TestBoard,
    target: &BoardTarget,
    setup: &Setup,
    samples: Option<usize>,
) -> Result<bool> {
    let report = skip_each(bench, target, setup, samples)?;
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
    ensure!(report.stopped > 0, "{}: no boot came to its end", target.name);
    Ok(!report.turned.is_empty())
}

fn skip_each(
    bench: &TestBoard,
    target: &BoardTarget,
    setup: &Setup,
    samples: Option<usize>,
) -> Result<EmulatedReport> {
    let symbols = Symbols::read(&bench.firmware.loader.elf)?;
    let place = StageAddresses::of_loader(&symbols)?;
    let ran = trace(bench, setup, &place)?;
    let mut chosen: Vec<Instruction> =
        ran.iter().filter(|it| symbols.may_decide(it.pc)).copied().collect();
    if let Some(samples) = samples {
        let every = chosen.len().div_ceil(samples.max(1)).max(1);
        chosen = chosen.into_iter().step_by(every).collect();
    }

    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")?;
    let bar = ProgressBar::new(chosen.len() as u64).with_style(style).with_message(target.name);
    let mut report = EmulatedReport { ran: ran.len(), ..EmulatedReport::default() };
    let mut session = Session::open(bench, setup, place)?;
    for instruction in chosen {
        let mut end = session.skip(instruction)?;
        if end == End::Unreached {
            // An earlier boot with a skip may have written to flash, so the skip is repeated on a new
            // device.
            session = Session::open(bench, setup, place)?;
            end = session.skip(instruction)?;
        }
        report.skipped += 1;
        match end {
            End::Stopped => report.stopped += 1,
            End::Endless => report.astray += 1,
            End::Unreached => report.unreached += 1,
            End::Bypassed => {
                let function = symbols.name(instruction.pc).to_owned();
                report.turned.push((instruction.pc, function));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(report)
}
