//! Compares the interpreter with QEMU: the same flash boots on both and prints the same text, and in samples
//! all over the boot each instruction leaves the same registers.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_fault::subject::FaultMachine;

use hartlock_maps::qemu_virt;

use super::interpreted::RecordedBoot;
use crate::boots::board::{Setup, TestBoard, last_lines};
use crate::debugger::{self, Debugger};

/// CPU options of a hart without the extensions that the interpreter does not implement.
pub const CPU: &str = "rv64,zba=off,zbb=off,zbc=off,zbs=off,v=off";
/// Time limit for a boot to reach an address, longer than it needs on a busy machine.
const REACH: Duration = Duration::from_secs(20);
/// Parts of the names of functions whose registers hold no time, so that they depend on the bundle only.
const JUDGED: [&str; 4] = ["hartlock_kernels", "hartlock_image", "hartlock_verify", "mem"];

/// Boots on QEMU and compares the console output, line by line.
///
/// # Errors
/// Fails if the outputs differ.
pub fn console(bench: &TestBoard, setup: &Setup, recorded_boot: &RecordedBoot) -> Result<()> {
    let run = bench.run(setup)?;
    // Lines that OpenSBI prints are not compared, because the interpreter does not run OpenSBI.
    let first = match recorded_boot.on_board()?.0 {
        Stage::Rom => "hartlock: ROM",
        Stage::Loader => "hartlock: loader",
    };
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.skip_while(|it| it != first).filter(|it| !it.is_empty()).collect()
    };
    let (ours, theirs) = (lines(&recorded_boot.boot.console), lines(&run.transcript));
    ensure!(
        ours == theirs && !ours.is_empty(),
        "the interpreter printed\n{}\nand QEMU\n{}",
        ours.join("\n"),
        last_lines(&run)
    );
    Ok(())
}

/// Compares the registers after each of `steps` instructions, from each of `places` positions on. Returns the
/// number of compared instructions.
///
/// # Errors
/// Fails if a register differs.
pub fn registers(
    bench: &TestBoard,
    setup: &Setup,
    recorded_boot: &RecordedBoot,
    (places, steps): (usize, usize),
) -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("gdb");
    let (_device, _machine) = bench.start(setup, &debugger::options_with_reset(&socket))?;
    let mut debugger = Debugger::connect(&socket)?;
    debugger.reset()?;
    let (stage, mut machine) = recorded_boot.on_board()?;
    if stage == Stage::Loader {
        let entry = qemu_virt::LOADER.start;
        ensure!(debugger.run_to(entry, REACH)? == Some(entry), "QEMU does not reach the loader");
    }
    let mut compared = 0;
    for position in spread(recorded_boot, places, steps) {
        let pc = u64::from(recorded_boot.boot.path[position]);
        ensure!(debugger.run_to(pc, REACH)? == Some(pc), "QEMU does not reach {pc:#x}");
        machine.run(position as u64);
        ensure!(machine.hart().pc == pc, "the interpreter is not at {pc:#x}");
        // Saved registers can hold times, which differ on QEMU, but the compared functions do not use them.
        let mut copy = machine.clone();
        copy.set_registers(debugger.registers()?);
        for _ in 0..steps {
            let pc = copy.hart().pc;
            debugger.step(REACH)?;
            ensure!(copy.step().is_none(), "the interpreter ends at {pc:#x}");
            let (ours, theirs) = (copy.hart(), debugger.registers()?);
            let differs = (1..32).find(|number| ours.x[*number] != theirs[*number]);
            if let Some(number) = differs {
                let (ours, theirs) = (ours.x[number], theirs[number]);
                anyhow::bail!("x{number} after {pc:#x} is {ours:#x}, and on QEMU {theirs:#x}");
            }
            ensure!(ours.pc == theirs[32], "after {pc:#x}, QEMU is at {:#x}", theirs[32]);
            compared += 1;
        }
    }
    Ok(compared)
}

/// Returns positions at which an instruction is executed for the first time, and from which `steps`
/// instructions are in comparable functions. The positions are spread over the boot and do not overlap.
fn spread(recorded_boot: &RecordedBoot, places: usize, steps: usize) -> Vec<usize> {
    let path = &recorded_boot.boot.path;
    let is_judged = |pc: &u32| {
        let name = recorded_boot.symbols.name((*pc).into());
        JUDGED.iter().any(|part| name.contains(part))
    };
    let mut seen = HashSet::new();
    let mut found: Vec<usize> = Vec::new();
    for (position, pc) in path.iter().enumerate() {
        let window = path.get(position..position + steps);
        let is_far = found.last().is_none_or(|last| position - last > steps);
        if seen.insert(*pc) && is_far && window.is_some_and(|them| them.iter().all(is_judged)) {
            found.push(position);
        }
    }
    let every = found.len().div_ceil(places.max(1)).max(1);
    found.into_iter().step_by(every).collect()
}

/// Compares console and registers for one refusal. Returns the number of compared instructions.
///
/// # Errors
/// Fails if QEMU and the interpreter differ.
pub fn judge(
    bench: &TestBoard,
    setup: &Setup,
    recorded_boot: &RecordedBoot,
    name: &str,
) -> Result<usize> {
    console(bench, setup, recorded_boot).with_context(|| name.to_owned())?;
    registers(bench, setup, recorded_boot, (24, 100)).with_context(|| name.to_owned())
}
