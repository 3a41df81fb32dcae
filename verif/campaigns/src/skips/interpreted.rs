//! ROM, loader and the ROM of the root of trust on the project's own interpreter (`verif/fault`). Every instruction
//! that a boot executes can be skipped, each time it is executed.
//!
//! A refusal counts as turned if an instruction is executed whose bytes an attacker can choose: bytes from before the
//! reset, from a payload, or from the flash of the bundle. In the loader it also counts if a store or the disk wrote to
//! code of the loader or to OpenSBI. On the root of trust it counts if the host was released. Execution of bytes that
//! the stage wrote itself (stack, metadata of the bundle, log) or of its constants is counted separately.
//!
//! The board's campaigns do not cover skips on other harts (in the ROM they run and wait; the loader has one hart here,
//! which hashes all blocks), harts with vector or hash instructions, OpenSBI, interrupts, and stores that are commands
//! to the flash. [`hartlock_fault::rot`] states the limits for the root of trust.

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
use hartlock_fault::board::{BoardMachine, BoardStorage};
use hartlock_fault::campaign::{Boot, Plan, Progress, Report, Start};
use hartlock_fault::rot;
use hartlock_fault::subject::{End, FaultMachine};
use hartlock_image::Reason;
use hartlock_maps::qemu_virt;
use indicatif::{ProgressBar, ProgressStyle};

use super::symbols::{self, Symbols};
use crate::boots::board::{Setup, TestBoard};

/// Maximum number of instructions that a ROM executes before it enters OpenSBI.
const LONGEST_ROM: u64 = 200_000_000;

/// Parts of the names of functions that verify signatures.
const SIGNATURES: [&str; 2] = ["ed25519", "lms"];

/// Common part of the names `rom_main`, `loader_main` and `rot_main`.
const MAIN: &str = "_main";

/// The function that parses the first bytes of a bundle. A boot in which no signature is verified decides from there
/// on.
const FIRST_OF_BUNDLE: &str = "4head4Head8parse_as";

/// The function that compares two digests and returns their difference.
const COMPARISON: &str = "compare_twice";

/// The function in which an accepted boot takes its last decisions: it writes the hand-off block.
const HANDOVER: &str = "write_handoff";

/// The reason code that stands for a boot that is not refused.
const ACCEPTED: u32 = 0;

/// A part of a boot, selected by the decisions that it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootPart {
    /// The whole boot.
    WholeBoot,
    /// The instructions that read the requirements of the device: from [`RecordedBoot::main_at`] to the position where the
    /// bundle is read.
    BeforeBundle,
    /// The instructions from [`RecordedBoot::signed_at`] to the end.
    AfterSignatures,
    /// The instructions from [`RecordedBoot::compared_at`] to the end: the branch after the last comparison of two
    /// digests, and what follows it.
    AfterComparison,
}

impl BootPart {
    /// Returns the name of the part in stored files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WholeBoot => "whole boot",
            Self::BeforeBundle => "before the bundle",
            Self::AfterSignatures => "after signatures",
            Self::AfterComparison => "after the last comparison",
        }
    }
}

/// The selection of instructions that are skipped.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Number of skipped instructions, which are spread evenly; `None` skips all.
    pub samples: Option<usize>,
    /// The part of the boot whose instructions are skipped.
    pub part: BootPart,
    /// First position; the positions before it were covered by an earlier run.
    pub from: usize,
    /// Maximum distance of a second skip, which is tried at each distance from 1 on; 0 skips once.
    pub second_within: u32,
    /// Number of instructions that a boot may take in addition to those of a boot without a skip.
    pub slack: u64,
    /// Number of threads.
    pub jobs: usize,
    /// Time at which the campaign stops, even if it is not finished.
    pub until: Option<Instant>,
}

impl Choice {
    fn plan(&self, recorded_boot: &RecordedBoot) -> Plan {
        let part = recorded_boot.part(self.part);
        let all = part.start.max(self.from)..part.end;
        let every = self.samples.map_or(1, |samples| all.len().div_ceil(samples.max(1)).max(1));
        let positions = all.step_by(every).collect();
        Plan { positions, second_within: self.second_within, slack: self.slack, jobs: self.jobs }
    }
}

/// The hardware on which a boot runs, with its storage.
pub enum Hardware {
    Board(Stage, BoardStorage),
    RootOfTrust(rot::RotStorage),
}

/// A boot that was recorded on the interpreter. It is a refusal unless `reason` is [`ACCEPTED`].
pub struct RecordedBoot {
    pub hardware: Hardware,
    pub boot: Boot,
    /// Reason code of the refusal.
    pub reason: u32,
    pub symbols: Symbols,
    /// Position in the boot at which `start.S`, which clears memory, calls the rest of the stage.
    pub main_at: usize,
    /// Position at which the bundle is read.
    pub begun_at: usize,
    /// First position after the last instruction that verifies a signature. If no signature is verified, the position
    /// at which the bundle is read; in an accepted boot, the position at which the hand-off block is written.
    pub signed_at: usize,
    /// Position of the last instruction that compares two digests; the end of the boot if none does.
    pub compared_at: usize,
}

impl RecordedBoot {
    pub fn record(bench: &TestBoard, setup: &Setup, stage: Stage) -> Result<Self> {
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

    /// Records a boot of the root of trust.
    pub fn of_rot(storage: rot::RotStorage, symbols: Symbols) -> Result<Self> {
        let boot = recorded(&Start::RootOfTrust(rot::RotMachine::new(&storage).into()))?;
        let mut machine = rot::RotMachine::new(&storage);
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
        let compared = boot.path.iter().rposition(|pc| is_in(*pc, &[COMPARISON]));
        let compared_at = compared.unwrap_or(boot.path.len());
        Self { hardware, boot, reason, symbols, main_at, begun_at, signed_at, compared_at }
    }

    /// Returns the range of positions of a part of the boot.
    fn part(&self, part: BootPart) -> Range<usize> {
        let end = self.boot.path.len();
        match part {
            BootPart::WholeBoot => 0..end,
            BootPart::BeforeBundle => self.main_at..self.begun_at,
            BootPart::AfterSignatures => self.signed_at..end,
            BootPart::AfterComparison => self.compared_at..end,
        }
    }

    fn start(&self) -> Result<Start<'_>> {
        Ok(match &self.hardware {
            Hardware::Board(stage, storage) => Start::Board(start(*stage, storage)?.into()),
            Hardware::RootOfTrust(storage) => {
                Start::RootOfTrust(rot::RotMachine::new(storage).into())
            }
        })
    }

    /// Returns the stage of the board and a machine at the start of that stage. Fails for the root of trust.
    pub fn on_board(&self) -> Result<(Stage, BoardMachine<'_>)> {
        match &self.hardware {
            Hardware::Board(stage, storage) => Ok((*stage, start(*stage, storage)?)),
            Hardware::RootOfTrust(_) => bail!("the root of trust is no board"),
        }
    }
}

fn recorded(start: &Start<'_>) -> Result<Boot> {
    start.record().map_err(|how| anyhow!("it does not refuse: {how}"))
}

/// Returns the reason code on the console; 0 if there is none.
fn printed(console: &str) -> u32 {
    let found = Reason::ALL.iter().map(|reason| *reason as u32);
    let is_printed = |code: &u32| console.contains(&format!("E{code:04}"));
    found.into_iter().find(is_printed).unwrap_or(0)
}

/// Returns the flash of a device, and its disk if `loader` is given.
fn storage(bench: &TestBoard, setup: &Setup, loader: Option<&PathBuf>) -> Result<BoardStorage> {
    let device = Device::temporary()?;
    bench.install(&device, setup)?;
    let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
    let (rom, bundle) = (read(&device.rom_flash())?, read(&device.bundle_flash())?);
    let Some(elf) = loader else { return Ok(BoardStorage::new(rom, bundle)) };
    Ok(BoardStorage::with_loader(rom, bundle, read(&device.disk())?, &symbols::code(elf)?))
}

/// Returns the storage, with the hand-over values if the ROM accepts the bundle.
fn of_rom(storage: BoardStorage) -> BoardStorage {
    let mut machine = BoardMachine::with_one_hart(&storage);
    let is_accepted = matches!(machine.run(LONGEST_ROM), End::Ran(_))
        && machine.hart().pc == qemu_virt::OPENSBI.start;
    let handover = is_accepted.then(|| machine.handover());
    match handover {
        Some(handover) => storage.expecting_handover(handover),
        None => storage,
    }
}

/// Returns a machine at the start of a stage. For the loader, the machine first executes the ROM, which must accept the
/// boot bundle that contains the loader.
fn start(stage: Stage, storage: &BoardStorage) -> Result<BoardMachine<'_>> {
    if stage == Stage::Rom {
        // A machine with one hart is used if the bundle is accepted, because the other harts would continue to OpenSBI.
        let make =
            if storage.is_accepted() { BoardMachine::with_one_hart } else { BoardMachine::new };
        return Ok(make(storage));
    }
    let mut machine = BoardMachine::with_one_hart(storage);
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

/// Scope and results of a campaign.
pub struct CampaignResult {
    pub bundle: String,
    /// Reason code of the boot without a skip.
    pub reason: u32,
    /// Number of instructions of that boot, and number of those in the selected part.
    pub instructions: usize,
    pub of_part: usize,
    pub choice: Choice,
    /// Number of positions whose instruction was skipped; `is_finished` is true if these are all selected ones.
    pub positions: usize,
    pub is_finished: bool,
    pub report: Report,
}

/// Runs a campaign, prints the results, and returns them.
pub fn campaign(
    recorded_boot: &RecordedBoot,
    name: &str,
    choice: &Choice,
) -> Result<CampaignResult> {
    let plan = choice.plan(recorded_boot);
    let (report, next) = run(recorded_boot, &plan, name, choice.until)?;
    println!("{name}: {}", summary(recorded_boot, &report));
    places(recorded_boot, &report).iter().for_each(|line| println!("    {line}"));
    if let Some(position) = next {
        println!("    not finished: go on with --from {position}");
    }
    let is_done = |position: &&usize| next.is_none_or(|next| **position < next);
    Ok(CampaignResult {
        bundle: name.to_owned(),
        reason: recorded_boot.reason,
        instructions: recorded_boot.boot.path.len(),
        of_part: recorded_boot.part(choice.part).len(),
        choice: choice.clone(),
        positions: plan.positions.iter().filter(is_done).count(),
        is_finished: next.is_none(),
        report,
    })
}

fn summary(recorded_boot: &RecordedBoot, report: &Report) -> String {
    let ran = recorded_boot.boot.path.len();
    let code = recorded_boot.reason;
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
        recorded_boot.part(BootPart::BeforeBundle).len(),
        ran - recorded_boot.signed_at
    )
}

/// Lists the skipped instructions after which the machine left the ROM, with the number of occurrences.
pub fn places(recorded_boot: &RecordedBoot, report: &Report) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for it in &report.findings {
        *counts.entry((it.place, it.pc, it.target)).or_insert(0u64) += 1;
    }
    let line = |((place, pc, target), count): (&(_, u32, u64), &u64)| {
        let name = recorded_boot.symbols.name((*pc).into());
        format!("{count} × {pc:#x} in {name} leads to {target:#x} ({place:?})")
    };
    counts.iter().map(line).collect()
}

/// Runs a plan with a progress bar, until the time `until` if it is given. Returns the report, and the position at
/// which to continue if the plan is not finished.
pub fn run(
    recorded_boot: &RecordedBoot,
    plan: &Plan,
    name: &str,
    until: Option<Instant>,
) -> Result<(Report, Option<usize>)> {
    ensure!(!plan.positions.is_empty(), "{name}: nothing to skip");
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")?;
    let bar = ProgressBar::new(plan.positions.len() as u64).with_style(style);
    bar.set_message(name.to_owned());
    let progress = Progress::default();
    let start = recorded_boot.start()?;
    let report = thread::scope(|scope| {
        let campaign = scope.spawn(|| start.run(&recorded_boot.boot, plan, &progress));
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
    // Workers finish the blocks of positions that they have begun, and blocks are begun in order.
    let done = progress.done.load(Ordering::Relaxed) as usize;
    Ok((report, plan.positions.get(done).copied()))
}
