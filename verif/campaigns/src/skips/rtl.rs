//! Compares the interpreter of the root of trust with the simulation of the RTL: the same ROM boots the same bundle
//! on both, and both execute the same instructions, with the same load and store addresses, up to the same decision.
//!
//! Register values are not compared one by one, because wrong values change addresses, branches or the decision.
//! Engines need time only in the simulation, so loops that poll them run longer there.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, bail, ensure};
use hartlock_fault::rot::{POLLED, RotMachine};
use hartlock_fault::subject::FaultMachine;
use hartlock_hw::machines::rot_boot::{self, NO_BENCH};
use hartlock_hw::machines::{End, rot as simulated};

use super::rot::Device;

/// The simulated machine, with the latencies of the paper.
const MACHINE: &str = "rot";
/// Maximum number of instructions in one iteration of a loop that polls an engine.
const ROUND: usize = 16;
/// Maximum number of instructions in the loop at the end of a boot. The simulation sleeps in `wfi` and executes only
/// a part of it; the interpreter executes one full iteration.
const LAST_LOOP: usize = 8;

/// An executed instruction: its address, and the address of its load or store if it has one.
type Executed = (u32, Option<u32>);

/// Boots on both, and returns the number of compared instructions.
///
/// # Errors
/// Fails if an instruction, an address or the decision differs.
pub fn judge(device: &Device) -> Result<usize> {
    let storage = device.storage()?;
    let mut machine = RotMachine::new(&storage);
    let machine_of = simulated::rot(MACHINE).context("a machine")?;
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("trace.csv");
    let name = trace.to_str().context("the path of the trace is text")?;
    let options = ["--max-cycles", device.cycles, NO_BENCH, "--trace", name];
    let (_, state, end) =
        rot_boot::run_unwatched(machine_of, &device.rom, &device.bundle, &options, folder.path())?;
    ensure!(end == End::Timeout, "the simulation ends in {end:?}");
    let theirs = executed(&trace)?;
    let compared = follow(&mut machine, &theirs)?;
    let (ours, theirs) = (machine.decision(), (state.status, state.reason));
    ensure!(ours == theirs, "the interpreter decides {ours:?}, and the RTL {theirs:?}");
    Ok(compared)
}

/// Executes the interpreter along the trace of the simulation, and returns the number of compared instructions.
fn follow(machine: &mut RotMachine<'_>, theirs: &[Executed]) -> Result<usize> {
    let mut at = 0;
    let mut compared = 0;
    loop {
        let address = machine.next_access().context("the interpreter left its code")?;
        let ours = (machine.pc() as u32, address);
        if theirs.get(at) != Some(&ours) {
            let Some(rounds) = waiting(theirs, at) else {
                // The interpreter executes the final loop once more.
                if at == theirs.len() && (0..LAST_LOOP).any(|_| machine.step().is_some()) {
                    return Ok(compared);
                }
                bail!(
                    "instruction {compared} is {ours:x?}, and that of the RTL {:x?}",
                    theirs.get(at)
                );
            };
            at += rounds;
            continue;
        }
        at += 1;
        compared += 1;
        // The interpreter ends at the release of the host; the RTL continues and serves the host.
        if machine.step().is_some() {
            return Ok(compared);
        }
    }
}

/// Returns the number of instructions until the one before `at` is executed again, if an engine is polled in between.
fn waiting(theirs: &[Executed], at: usize) -> Option<usize> {
    let before = theirs.get(at.checked_sub(1)?)?;
    let next = theirs.get(at..)?;
    let round = next.iter().take(ROUND).position(|executed| executed == before)? + 1;
    let is_polled = |(_, address): &Executed| address.is_some_and(|it| POLLED.contains(&it));
    next[..round].iter().any(is_polled).then_some(round)
}

/// Reads the instructions of a trace file (`cycle,cost,pc,instruction,address,read,write,trap,mark`).
fn executed(trace: &std::path::Path) -> Result<Vec<Executed>> {
    let file = File::open(trace).with_context(|| trace.display().to_string())?;
    let mut found = Vec::new();
    for line in BufReader::new(file).lines().skip(1) {
        let line = line?;
        let mut fields = line.split(',').skip(2);
        let hexadecimal = |field: Option<&str>| u32::from_str_radix(field.unwrap_or(""), 16).ok();
        let pc = hexadecimal(fields.next()).with_context(|| format!("in the trace: {line}"))?;
        found.push((pc, hexadecimal(fields.nth(1))));
    }
    fs::remove_file(trace)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loops_that_poll_an_engine_are_left_out() {
        let branch = (8, None);
        for polled in POLLED {
            let polls = (4, Some(polled));
            let waits = [(0, None), polls, branch, polls, branch, (12, None)];
            assert_eq!(waiting(&waits, 3), Some(2));
            assert_eq!(waiting(&waits, 5), None);
        }
        let other = [(4, Some(0x1000)), branch, (4, Some(0x1000)), branch];
        assert_eq!(waiting(&other, 2), None);
    }
}
