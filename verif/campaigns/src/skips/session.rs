//! A machine in which instructions are skipped one after the other, with a reset before each.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Machine, Outcome};
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;
use tempfile::TempDir;

use super::bundles::SYSTEM_ENTRY;
use super::symbols::Symbols;
use crate::boots::board::{Setup, TestBoard, last_lines};
use crate::debugger::stepper::{self, Instruction};
use crate::debugger::{self, Debugger};

/// Time limit for a boot to reach its end, longer than it needs on a busy machine.
const REACH: Duration = Duration::from_secs(20);
/// A boot that does not end gets this many times the time of an unmodified boot in the same
/// session, and at least one second.
const PATIENCE: u32 = 10;

/// The end of a boot with a skipped instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The stage refused or trapped, and stopped.
    Stopped,
    /// The payload of the refused bundle was about to be executed.
    Bypassed,
    /// The boot did not end in time, or the machine was reset.
    Endless,
    /// The instruction to be skipped was not reached.
    Unreached,
}

/// The addresses of a stage that a session watches.
#[derive(Clone, Copy)]
pub struct StageAddresses {
    /// Memory region of the stage's code.
    pub code: Region,
    /// Address that every refusal reaches.
    stop: u64,
    /// Address of the first instruction in the payload of the bundle.
    goal: u64,
}

impl StageAddresses {
    pub fn of_loader(symbols: &Symbols) -> Result<Self> {
        Ok(Self {
            code: qemu_virt::LOADER,
            stop: symbols.address(&["sbi", "hart_stop"])?,
            goal: SYSTEM_ENTRY,
        })
    }
}

/// A running machine and the connection to its debug stub.
pub struct Session {
    debugger: Debugger,
    place: StageAddresses,
    patience: Duration,
    // Fields are dropped in order: the machine ends before its device is removed.
    _machine: Machine,
    _device: Device,
    _folder: TempDir,
}

impl Session {
    pub fn open(bench: &TestBoard, setup: &Setup, place: StageAddresses) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("gdb");
        let extra = debugger::options_with_reset(&socket);
        let (device, machine) = bench.start(setup, &extra)?;
        let mut debugger = Debugger::connect(&socket)?;
        debugger.stop_at(place.goal)?;
        debugger.stop_at(place.stop)?;
        debugger.reset()?;
        let start = Instant::now();
        let stopped = debugger.run(REACH)?;
        ensure!(stopped == Some(place.stop), "it does not refuse, it stops at {stopped:x?}");
        let patience = (start.elapsed() * PATIENCE).max(Duration::from_secs(1));
        Ok(Self { debugger, place, patience, _machine: machine, _device: device, _folder: folder })
    }

    /// Boots from reset and skips the instruction when it is first reached.
    pub fn skip(&mut self, instruction: Instruction) -> Result<End> {
        let debugger = &mut self.debugger;
        debugger.reset()?;
        if !stepper::skip(debugger, instruction, REACH)? {
            return Ok(End::Unreached);
        }
        Ok(match debugger.run(self.patience)? {
            Some(at) if at == self.place.goal => End::Bypassed,
            Some(at) if at == self.place.stop => End::Stopped,
            _ => End::Endless,
        })
    }
}

/// Boots once and lists the instructions of the stage that were executed, in the order of their
/// first execution.
///
/// # Errors
/// Fails if the stage does not refuse.
pub fn trace(bench: &TestBoard, setup: &Setup, place: &StageAddresses) -> Result<Vec<Instruction>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("trace");
    let extra = stepper::listing_options(&file, place.code);
    let (_device, machine) = bench.start(setup, &extra)?;
    let run = bench.finish(machine, None);
    ensure!(
        matches!(run.outcome, Outcome::Refused { stage: Stage::Loader, .. }),
        "{:?}\n{}",
        run.outcome,
        last_lines(&run)
    );
    stepper::listed(&file, place.code)
}
