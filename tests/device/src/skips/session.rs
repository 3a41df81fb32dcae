//! A machine in which one instruction is skipped after the other.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Machine, Outcome};
use hartlock_verify::board::{Region, qemu_virt};
use tempfile::TempDir;

use super::debugger::Debugger;
use super::symbols::Symbols;
use crate::boots::board::{Bench, Setup, last_lines};

/// Longer than a boot takes to its end, on a busy machine.
const REACH: Duration = Duration::from_secs(20);
/// A boot that was led astray runs for ever: it is given this many times what a whole one took in
/// the same session, and no less than a second.
const PATIENCE: u32 = 10;

/// How a boot with a skipped instruction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The stage refused, or trapped, and stopped.
    Stopped,
    /// What the bundle carries was about to run.
    Turned,
    /// It runs for ever, or was reset.
    Astray,
    /// The instruction was not reached.
    Unreached,
}

/// Addresses that matter in a stage.
#[derive(Clone, Copy)]
pub struct Place {
    /// Where the stage's code is.
    pub code: Region,
    /// Where every refusal ends.
    stop: u64,
    /// First instruction of what the bundle carries.
    goal: u64,
}

impl Place {
    pub fn of(stage: Stage, symbols: &Symbols) -> Result<Self> {
        Ok(match stage {
            Stage::Rom => Self {
                code: Region::new(qemu_virt::ROM_FLASH.start, 64 << 10),
                stop: symbols.address(&["hart", "halt"])?,
                goal: qemu_virt::OPENSBI.start,
            },
            Stage::Loader => Self {
                code: qemu_virt::LOADER,
                stop: symbols.address(&["sbi", "hart_stop"])?,
                goal: 0x8200_0000,
            },
        })
    }
}

/// A running machine, and its debug stub.
pub struct Session {
    debugger: Debugger,
    place: Place,
    patience: Duration,
    // The machine ends before its device is removed.
    _machine: Machine,
    _device: Device,
    _folder: TempDir,
}

impl Session {
    pub fn open(bench: &Bench, setup: &Setup, place: Place) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("gdb");
        let listener = format!("socket,path={},server=on,wait=off,id=gdb", socket.display());
        let extra = ["-chardev", &listener, "-gdb", "chardev:gdb", "-action", "reboot=reset"];
        let (device, machine) = bench.start(setup, &extra.map(str::to_owned))?;
        let mut debugger = Debugger::connect(&socket)?;
        debugger.stop_at(place.goal)?;
        debugger.stop_at(place.stop)?;
        debugger.reset()?;
        let start = Instant::now();
        ensure!(debugger.run(REACH)? == Some(place.stop), "it does not refuse");
        let patience = (start.elapsed() * PATIENCE).max(Duration::from_secs(1));
        Ok(Self { debugger, place, patience, _machine: machine, _device: device, _folder: folder })
    }

    /// Boots from reset and skips the instruction when it is reached first.
    pub fn skip(&mut self, instruction: Instruction) -> Result<End> {
        let Instruction { pc, len, .. } = instruction;
        let debugger = &mut self.debugger;
        debugger.reset()?;
        debugger.stop_at(pc)?;
        let reached = debugger.run(REACH)?;
        debugger.forget(pc)?;
        if reached != Some(pc) {
            return Ok(End::Unreached);
        }
        debugger.set_pc(pc + len)?;
        Ok(match debugger.run(self.patience)? {
            Some(at) if at == self.place.goal => End::Turned,
            Some(at) if at == self.place.stop => End::Stopped,
            _ => End::Astray,
        })
    }
}

/// An instruction that a boot runs.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub pc: u64,
    /// Bytes.
    pub len: u64,
}

impl Instruction {
    /// Reads a line of QEMU's listing: `0x0000000020000000:  00000297          auipc …`.
    fn read(line: &str) -> Option<Self> {
        let (address, rest) = line.strip_prefix("0x")?.split_once(':')?;
        let digits = rest.split_whitespace().next()?;
        u32::from_str_radix(digits, 16).ok()?;
        let pc = u64::from_str_radix(address, 16).ok()?;
        matches!(digits.len(), 4 | 8).then_some(Self { pc, len: digits.len() as u64 / 2 })
    }
}

/// Boots once and lists the instructions of the stage that ran, in the order in which they ran
/// first.
///
/// # Errors
/// If the stage does not refuse.
pub fn trace(
    bench: &Bench,
    setup: &Setup,
    stage: Stage,
    place: &Place,
) -> Result<Vec<Instruction>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("trace");
    let range = format!("{:#x}+{:#x}", place.code.start, place.code.size());
    let path = file.display().to_string();
    let extra = ["-d", "in_asm", "-D", &path, "-dfilter", &range].map(str::to_owned);
    let (_device, machine) = bench.start(setup, &extra)?;
    let run = bench.finish(machine, None);
    ensure!(
        matches!(run.outcome, Outcome::Refused { stage: who, .. } if who == stage),
        "{:?}\n{}",
        run.outcome,
        last_lines(&run)
    );
    let text = fs::read_to_string(&file).context("QEMU left no trace")?;
    // What was translated twice stands there twice.
    let mut seen = HashSet::new();
    let instructions: Vec<Instruction> = text
        .lines()
        .filter_map(Instruction::read)
        .filter(|it| place.code.contains(&Region::new(it.pc, it.len)) && seen.insert(it.pc))
        .collect();
    ensure!(instructions.len() > 1000, "the trace has {} instructions", instructions.len());
    Ok(instructions)
}
