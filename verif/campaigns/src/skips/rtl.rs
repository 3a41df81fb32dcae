//! The simulation of the RTL judges the interpreter of the root of trust: the same ROM boots the same bundle on both,
//! and executes the same instructions, with the same addresses of loads and stores, to the same decision.
//!
//! Values of registers are not compared one by one: wrong ones change addresses, branches, or the decision. Engines
//! take time in the simulation alone, so the loops that wait for them run longer there.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, bail, ensure};
use hartlock_fault::rot::{Machine, POLLED};
use hartlock_fault::subject::Subject;
use hartlock_hw::machines::rot_boot::{self, NO_BENCH};
use hartlock_hw::machines::{End, rot as simulated};

use super::rot::Device;

/// The machine with the latencies of the paper.
const MACHINE: &str = "rot";
/// More instructions than one round of a loop that waits for an engine.
const ROUND: usize = 16;
/// More than the loop at the end of a boot, of which the simulation executes a part: it sleeps in `wfi`, and the
/// interpreter goes around once.
const LAST_LOOP: usize = 8;

/// An instruction: its address, and that of its load or store.
type Executed = (u32, Option<u32>);

/// Boots on both, and returns how many instructions were compared.
///
/// # Errors
/// Where they differ.
pub fn judge(device: &Device) -> Result<usize> {
    let storage = device.storage()?;
    let mut machine = Machine::new(&storage);
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

/// Runs the interpreter along the trace of the simulation.
fn follow(machine: &mut Machine<'_>, theirs: &[Executed]) -> Result<usize> {
    let mut at = 0;
    let mut compared = 0;
    loop {
        let address = machine.next_access().context("the interpreter left its code")?;
        let ours = (machine.pc() as u32, address);
        if theirs.get(at) != Some(&ours) {
            let Some(rounds) = waiting(theirs, at) else {
                // Ours goes around the last loop once more.
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
        // It ends at a release; the RTL goes on and serves the host.
        if machine.step().is_some() {
            return Ok(compared);
        }
    }
}

/// Instructions until the one before `at` is executed again, if an engine is polled meanwhile.
fn waiting(theirs: &[Executed], at: usize) -> Option<usize> {
    let before = theirs.get(at.checked_sub(1)?)?;
    let next = theirs.get(at..)?;
    let round = next.iter().take(ROUND).position(|executed| executed == before)? + 1;
    let is_polled = |(_, address): &Executed| address.is_some_and(|it| POLLED.contains(&it));
    next[..round].iter().any(is_polled).then_some(round)
}

/// The instructions of a trace (`cycle,cost,pc,instruction,address,read,write,trap,mark`).
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
