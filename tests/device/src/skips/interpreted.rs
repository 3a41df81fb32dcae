//! The ROM on our own interpreter (`tests/fault`): every instruction that a boot runs, each time it runs.
//!
//! Turned means that an instruction ran whose bytes are an attacker's choice: from before the reset, from a
//! payload, or from the flash of the bundle. Bytes that the ROM wrote itself (stack, metadata of the bundle,
//! log) and constants of its flash are counted apart.
//!
//! Left out: the other harts (parked; they run, and nothing is skipped there), harts with vectors or hash
//! instructions, interrupts, and stores that are commands to the flash.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use hartlock_emulator::images::Device;
use hartlock_fault::board::Flash;
use hartlock_fault::campaign::{self, Boot, Plan, Progress, Report};
use hartlock_image::Reason;
use indicatif::{ProgressBar, ProgressStyle};

use super::symbols::Symbols;
use crate::boots::board::{Bench, Setup};

/// Which instructions of a boot are skipped.
#[derive(Clone, Debug)]
pub struct Choice {
    /// So many, spread evenly; without it, all.
    pub samples: Option<usize>,
    /// Only those after the last signature was verified.
    pub is_after_signatures: bool,
    /// Positions before this one are done.
    pub from: usize,
    /// A second skip at each distance from 1 to this.
    pub second_within: u32,
    /// Threads.
    pub jobs: usize,
    /// When it ends, done or not.
    pub until: Option<Instant>,
}

impl Choice {
    fn plan(&self, refusal: &Refusal) -> Plan {
        let first = if self.is_after_signatures { refusal.signed_at } else { 0 };
        let all = first.max(self.from)..refusal.boot.path.len();
        let every = self.samples.map_or(1, |samples| all.len().div_ceil(samples.max(1)).max(1));
        let positions = all.step_by(every).collect();
        Plan { positions, second_within: self.second_within, jobs: self.jobs }
    }
}

/// A refused boot on the interpreter.
pub struct Refusal {
    pub flash: Flash,
    pub boot: Boot,
    pub symbols: Symbols,
    /// First position after the last instruction that verifies a signature.
    pub signed_at: usize,
}

impl Refusal {
    pub fn record(bench: &Bench, setup: &Setup, elf: &Path) -> Result<Self> {
        let flash = flash(bench, setup)?;
        let boot = Boot::record(&flash).map_err(|how| anyhow!("it does not refuse: {how}"))?;
        let symbols = Symbols::read(elf)?;
        let verifies = |pc: &u32| symbols.name((*pc).into()).contains("ed25519");
        let signed_at = boot.path.iter().rposition(verifies).map_or(0, |last| last + 1);
        Ok(Self { flash, boot, symbols, signed_at })
    }

    /// The reason on the console.
    pub fn reason(&self) -> Option<Reason> {
        Reason::ALL.iter().copied().find(|reason| {
            let code = format!("E{:04}", *reason as u32);
            self.boot.console.contains(&code)
        })
    }
}

/// The banks of flash of a device.
fn flash(bench: &Bench, setup: &Setup) -> Result<Flash> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
    Ok(Flash::new(read(&device.rom_flash())?, read(&device.bundle_flash())?))
}

/// Skips what was chosen, prints what came of it, and returns it.
pub fn campaign(bench: &Bench, name: &str, setup: &Setup, choice: &Choice) -> Result<Report> {
    let refusal = Refusal::record(bench, setup, &bench.firmware.rom.elf)?;
    let plan = choice.plan(&refusal);
    let (report, next) = run(&refusal, &plan, name, choice.until)?;
    println!("{name}: {}", summary(&refusal, &report));
    places(&refusal, &report).iter().for_each(|line| println!("    {line}"));
    if let Some(position) = next {
        println!("    not finished: go on with --from {position}");
    }
    Ok(report)
}

fn summary(refusal: &Refusal, report: &Report) -> String {
    let ran = refusal.boot.path.len();
    let code = refusal.reason().map_or(0, |reason| reason as u32);
    let Report { runs, stopped, turned, data, astray, .. } = report;
    format!(
        "E{code:04}, {ran} instructions, {} after the signatures; {runs} boots: {stopped} refused, \
         {astray} led astray, {turned} turned, {data} ran data",
        ran - refusal.signed_at
    )
}

/// Where instructions were skipped that led out of the ROM, with how often.
pub fn places(refusal: &Refusal, report: &Report) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for it in &report.findings {
        *counts.entry((it.place, it.pc, it.target)).or_insert(0u64) += 1;
    }
    let line = |((place, pc, target), count): (&(_, u32, u64), &u64)| {
        let name = refusal.symbols.name((*pc).into());
        format!("{count} × {pc:#x} in {name} leads to {target:#x} ({place:?})")
    };
    counts.iter().map(line).collect()
}

/// Runs a plan with a bar, until a time if one is given; then returns the position to go on with, too.
pub fn run(
    refusal: &Refusal,
    plan: &Plan,
    name: &str,
    until: Option<Instant>,
) -> Result<(Report, Option<usize>)> {
    ensure!(!plan.positions.is_empty(), "{name}: nothing to skip");
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")?;
    let bar = ProgressBar::new(plan.positions.len() as u64).with_style(style);
    bar.set_message(name.to_owned());
    let progress = Progress::default();
    let report = thread::scope(|scope| {
        let campaign =
            scope.spawn(|| campaign::run(&refusal.flash, &refusal.boot, plan, &progress));
        while !campaign.is_finished() {
            thread::sleep(Duration::from_millis(50));
            let done = progress.done.load(Ordering::Relaxed);
            bar.set_position(done);
            if until.is_some_and(|until| Instant::now() > until) {
                progress.stop();
            }
        }
        campaign.join().map_err(|_| anyhow!("the campaign panicked"))
    })?;
    bar.finish_and_clear();
    // Workers end the blocks that they have begun, and blocks are begun in order.
    let done = progress.done.load(Ordering::Relaxed) as usize;
    Ok((report, plan.positions.get(done).copied()))
}
