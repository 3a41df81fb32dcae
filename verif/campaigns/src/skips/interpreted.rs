//! ROM, loader and the ROM of the root of trust on our own interpreter (`verif/fault`): every instruction that a boot
//! runs, each time it runs.
//!
//! Turned means that an instruction ran whose bytes are an attacker's choice: from before the reset, from a
//! payload, or from the flash of the bundle; in the loader also that a store or the disk wrote to code of the
//! loader or to OpenSBI. On the root of trust it means that the host was released. Bytes that the stage wrote itself
//! (stack, metadata of the bundle, log) and its constants are counted apart.
//!
//! Left out on the board: skips on other harts (in the ROM they run, and wait; the loader has one hart there, and hashes
//! all blocks on it), harts with vectors or hash instructions, OpenSBI, interrupts, and stores that are
//! commands to the flash. For the root of trust `hartlock_fault::rot` says it.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_fault::board::{Machine, Storage};
use hartlock_fault::campaign::{Boot, Plan, Progress, Report, Start};
use hartlock_fault::rot;
use hartlock_fault::subject::{End, Subject};
use hartlock_image::Reason;
use hartlock_verify::board::qemu_virt;
use indicatif::{ProgressBar, ProgressStyle};

use super::symbols::{self, Symbols};
use crate::boots::board::{Bench, Setup};

/// No ROM takes longer to enter OpenSBI.
const LONGEST_ROM: u64 = 200_000_000;

/// Functions that verify signatures, by parts of their names.
const SIGNATURES: [&str; 2] = ["ed25519", "lms"];

/// `rom_main`, `loader_main`, `rot_main`.
const MAIN: &str = "_main";

/// What reads the first bytes of a bundle: a boot that verifies no signature decides from there on.
const FIRST_OF_BUNDLE: &str = "4head4Head8parse_as";

/// What an accepted boot decides last: what it passes on.
const HANDOVER: &str = "write_handoff";

/// The reason of a boot that is not refused.
const ACCEPTED: u32 = 0;

/// A part of a boot, as decisions are spread over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    WholeBoot,
    /// What the device requires is read here: from [`Refusal::main_at`] to where the bundle is read.
    BeforeBundle,
    /// From [`Refusal::signed_at`] to the end.
    AfterSignatures,
}

impl Part {
    /// As stored files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WholeBoot => "whole boot",
            Self::BeforeBundle => "before the bundle",
            Self::AfterSignatures => "after signatures",
        }
    }
}

/// Which instructions of a boot are skipped.
#[derive(Clone, Debug)]
pub struct Choice {
    /// So many, spread evenly; without it, all.
    pub samples: Option<usize>,
    /// Those of this part of the boot.
    pub part: Part,
    /// Positions before this one are done.
    pub from: usize,
    /// A second skip at each distance from 1 to this.
    pub second_within: u32,
    /// Instructions that a boot may take more than without a skip.
    pub slack: u64,
    /// Threads.
    pub jobs: usize,
    /// When it ends, done or not.
    pub until: Option<Instant>,
}

impl Choice {
    fn plan(&self, refusal: &Refusal) -> Plan {
        let part = refusal.part(self.part);
        let all = part.start.max(self.from)..part.end;
        let every = self.samples.map_or(1, |samples| all.len().div_ceil(samples.max(1)).max(1));
        let positions = all.step_by(every).collect();
        Plan { positions, second_within: self.second_within, slack: self.slack, jobs: self.jobs }
    }
}

/// What a boot runs on.
pub enum Hardware {
    Board(Stage, Storage),
    RootOfTrust(rot::Storage),
}

/// A refused boot on the interpreter.
pub struct Refusal {
    pub hardware: Hardware,
    pub boot: Boot,
    /// The reason code.
    pub reason: u32,
    pub symbols: Symbols,
    /// Position where start.S, which zeroes memory, calls the rest of the stage.
    pub main_at: usize,
    /// Position where the bundle is read.
    pub begun_at: usize,
    /// First position after the last instruction that verifies a signature; where none is verified, that where
    /// the bundle is read; in a boot that is accepted, that where the hand-off block is written.
    pub signed_at: usize,
}

impl Refusal {
    pub fn record(bench: &Bench, setup: &Setup, stage: Stage) -> Result<Self> {
        let (storage, elf) = match stage {
            Stage::Rom => (of_rom(storage(bench, setup, None)?), &bench.firmware.rom.elf),
            Stage::Loader => {
                let elf = &bench.firmware.loader.elf;
                (storage(bench, setup, Some(elf))?, elf)
            }
        };
        let boot = recorded(&Start::Board(start(stage, &storage)?.into()))?;
        let reason = printed(&boot.console);
        Ok(Self::of(Hardware::Board(stage, storage), boot, reason, Symbols::read(elf)?))
    }

    /// A boot of the root of trust.
    pub fn of_rot(storage: rot::Storage, symbols: Symbols) -> Result<Self> {
        let boot = recorded(&Start::RootOfTrust(rot::Machine::new(&storage).into()))?;
        let mut machine = rot::Machine::new(&storage);
        machine.run(boot.path.len() as u64);
        let (_, reason) = machine.decision();
        Ok(Self::of(Hardware::RootOfTrust(storage), boot, reason, symbols))
    }

    fn of(hardware: Hardware, boot: Boot, reason: u32, symbols: Symbols) -> Self {
        let is_in = |pc: u32, parts: &[&str]| {
            let name = symbols.name(pc.into());
            parts.iter().any(|part| name.contains(part))
        };
        let first = |name: &'static str| boot.path.iter().position(|pc| is_in(*pc, &[name]));
        let verified = boot.path.iter().rposition(|pc| is_in(*pc, &SIGNATURES));
        let main_at = first(MAIN).unwrap_or(0);
        let begun_at = first(FIRST_OF_BUNDLE).unwrap_or(main_at);
        let signed_at = match reason {
            ACCEPTED => first(HANDOVER).unwrap_or(begun_at),
            _ => verified.map_or(begun_at, |last| last + 1),
        };
        Self { hardware, boot, reason, symbols, main_at, begun_at, signed_at }
    }

    /// The positions of a part of the boot.
    fn part(&self, part: Part) -> Range<usize> {
        let end = self.boot.path.len();
        match part {
            Part::WholeBoot => 0..end,
            Part::BeforeBundle => self.main_at..self.begun_at,
            Part::AfterSignatures => self.signed_at..end,
        }
    }

    fn start(&self) -> Result<Start<'_>> {
        Ok(match &self.hardware {
            Hardware::Board(stage, storage) => Start::Board(start(*stage, storage)?.into()),
            Hardware::RootOfTrust(storage) => Start::RootOfTrust(rot::Machine::new(storage).into()),
        })
    }

    /// The stage of the board, and a machine where it begins.
    pub fn on_board(&self) -> Result<(Stage, Machine<'_>)> {
        match &self.hardware {
            Hardware::Board(stage, storage) => Ok((*stage, start(*stage, storage)?)),
            Hardware::RootOfTrust(_) => bail!("the root of trust is no board"),
        }
    }
}

fn recorded(start: &Start<'_>) -> Result<Boot> {
    start.record().map_err(|how| anyhow!("it does not refuse: {how}"))
}

/// The reason code on the console; 0 if there is none.
fn printed(console: &str) -> u32 {
    let found = Reason::ALL.iter().map(|reason| *reason as u32);
    let is_printed = |code: &u32| console.contains(&format!("E{code:04}"));
    found.into_iter().find(is_printed).unwrap_or(0)
}

/// Flash of a device, and its disk for a loader.
fn storage(bench: &Bench, setup: &Setup, loader: Option<&PathBuf>) -> Result<Storage> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
    let (rom, bundle) = (read(&device.rom_flash())?, read(&device.bundle_flash())?);
    let Some(elf) = loader else { return Ok(Storage::new(rom, bundle)) };
    Ok(Storage::with_loader(rom, bundle, read(&device.disk())?, &symbols::code(elf)?))
}

/// The same, with what is passed on if the ROM accepts the bundle.
fn of_rom(storage: Storage) -> Storage {
    let mut machine = Machine::alone(&storage);
    let is_accepted = matches!(machine.run(LONGEST_ROM), End::Ran(_))
        && machine.hart().pc == qemu_virt::OPENSBI.start;
    let handover = is_accepted.then(|| machine.handover());
    match handover {
        Some(handover) => storage.accepted_with(handover),
        None => storage,
    }
}

/// A machine where a stage begins. The ROM of this machine accepts the boot bundle that carries the loader.
fn start(stage: Stage, storage: &Storage) -> Result<Machine<'_>> {
    if stage == Stage::Rom {
        // The other harts go on to OpenSBI when a bundle is accepted.
        let make = if storage.is_accepted() { Machine::alone } else { Machine::new };
        return Ok(make(storage));
    }
    let mut machine = Machine::alone(storage);
    let end = machine.run(LONGEST_ROM);
    let is_in_opensbi = machine.hart().pc == qemu_virt::OPENSBI.start;
    ensure!(
        matches!(end, End::Ran(_)) && is_in_opensbi,
        "the ROM ends with {end:?}\n{}",
        machine.console()
    );
    machine.enter_loader();
    Ok(machine)
}

/// What a campaign tried, and what came of it.
pub struct Counts {
    pub bundle: String,
    /// Reason code of the boot without a skip.
    pub reason: u32,
    /// Instructions of that boot, and how many of them are in the part that is skipped.
    pub instructions: usize,
    pub of_part: usize,
    pub choice: Choice,
    /// Positions whose instruction was skipped, and whether those are all that were asked for.
    pub positions: usize,
    pub is_finished: bool,
    pub report: Report,
}

/// Skips what was chosen, prints what came of it, and returns it.
pub fn campaign(refusal: &Refusal, name: &str, choice: &Choice) -> Result<Counts> {
    let plan = choice.plan(refusal);
    let (report, next) = run(refusal, &plan, name, choice.until)?;
    println!("{name}: {}", summary(refusal, &report));
    places(refusal, &report).iter().for_each(|line| println!("    {line}"));
    if let Some(position) = next {
        println!("    not finished: go on with --from {position}");
    }
    let is_done = |position: &&usize| next.is_none_or(|next| **position < next);
    Ok(Counts {
        bundle: name.to_owned(),
        reason: refusal.reason,
        instructions: refusal.boot.path.len(),
        of_part: refusal.part(choice.part).len(),
        choice: choice.clone(),
        positions: plan.positions.iter().filter(is_done).count(),
        is_finished: next.is_none(),
        report,
    })
}

fn summary(refusal: &Refusal, report: &Report) -> String {
    let ran = refusal.boot.path.len();
    let code = refusal.reason;
    let Report { runs, pruned, unread, stopped, turned, data, constants, astray, .. } = report;
    let ran_constants = match constants {
        0 => String::new(),
        boots => format!("; {boots} of them ran constants of the ROM"),
    };
    let alike = match (pruned, unread) {
        (0, 0) => String::new(),
        (0, stores) => format!(" ({stores} stores that nothing reads)"),
        (pairs, _) => format!(" ({pairs} as one skip)"),
    };
    let (how, ended) = match code {
        ACCEPTED => ("accepted".to_owned(), "refused or as without a skip"),
        _ => (format!("E{code:04}"), "refused"),
    };
    format!(
        "{how}, {ran} instructions, {} before the bundle, {} after the signatures; {runs} boots{alike}: {stopped} \
         {ended}, {astray} led astray, {turned} turned, {data} ran data{ran_constants}",
        refusal.part(Part::BeforeBundle).len(),
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
    let start = refusal.start()?;
    let report = thread::scope(|scope| {
        let campaign = scope.spawn(|| start.run(&refusal.boot, plan, &progress));
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
