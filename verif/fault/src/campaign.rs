//! Campaigns of skipped instructions. A boot runs once, and at each of its instructions a copy of the machine continues
//! without that instruction.
//!
//! The machine that is copied only runs forward, so a copy costs only the pages that differ. Each execution of an
//! instruction is a separate case, because the address does not determine the contents of the registers.

mod report;

use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crate::board;
use crate::rot;
use crate::subject::{End, FaultMachine, MemoryKind};
pub use report::{Finding, Report};

/// Maximum number of instructions of a boot that ends.
const LONGEST_BOOT: u64 = 100_000_000;
/// Default number of instructions by which a boot with a skip may exceed the refused boot. The number is large enough
/// for an accepted boot, which copies payloads, clears the memory after them, and wipes the ROM's memory.
pub const SLACK: u64 = 3_000_000;
/// Number of positions that a worker takes at a time.
const BLOCK: usize = 128;

/// The machine from which a campaign starts. The type is not generic, so that the interpreter is compiled in this
/// crate, with its optimisation, and not in the calling crate.
#[derive(Debug)]
pub enum Start<'a> {
    /// The machine of the board.
    Board(Box<board::BoardMachine<'a>>),
    /// The machine of the root of trust.
    RootOfTrust(Box<rot::RotMachine<'a>>),
}

impl Start<'_> {
    /// Runs a copy of the machine until the stage stops, and records the boot.
    ///
    /// # Errors
    /// Returns the end of the boot and the console output if the stage did not stop.
    pub fn record(&self) -> Result<Boot, String> {
        match self {
            Self::Board(machine) => Boot::record(&**machine),
            Self::RootOfTrust(machine) => Boot::record(&**machine),
        }
    }

    /// Runs a campaign. The machine must be the one from which `boot` was recorded.
    pub fn run(&self, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
        match self {
            Self::Board(machine) => run(&**machine, boot, plan, progress),
            Self::RootOfTrust(machine) => run(&**machine, boot, plan, progress),
        }
    }
}

/// A recorded boot without a fault.
#[derive(Clone, Debug)]
pub struct Boot {
    /// Address of each instruction that the boot hart executed.
    pub path: Vec<u32>,
    /// Console output.
    pub console: String,
    /// Positions of stores that nothing reads, in ascending order. A boot without one of these stores is the same boot.
    pub unread: Vec<u32>,
}

impl Boot {
    fn record(start: &impl FaultMachine) -> Result<Self, String> {
        let mut machine = start.clone();
        let trace = machine.trace();
        let trace = || trace.as_ref().map(|it| it.lock().expect("no one panicked with it"));
        let mut path = Vec::new();
        while machine.executed() < LONGEST_BOOT {
            let (position, pc) = (path.len() as u32, machine.pc());
            path.push(pc as u32);
            let store = machine.next_store();
            let end = machine.step();
            // A store that traps does not count.
            let store = store.filter(|_| matches!(machine.pc().wrapping_sub(pc), 2 | 4));
            if let (Some(mut trace), Some((offset, len))) = (trace(), store) {
                trace.executed(position, offset, len);
            }
            if let Some(end) = end {
                let console = machine.console();
                if end == End::Stopped {
                    let unread =
                        trace().map_or_else(Vec::new, |mut it| mem::take(&mut *it).unread());
                    return Ok(Self { path, console, unread });
                }
                return Err(format!("{end:?} at {:#x}\n{console}", machine.fetched_from()));
            }
        }
        Err(format!("it does not end\n{}", machine.console()))
    }
}

/// The skips of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Positions in the path of the boot, in ascending order.
    pub positions: Vec<usize>,
    /// Maximum distance of a second skip after the first, which is tried at each distance from 1 on. With 0, one
    /// instruction is skipped. A pair in which one of the two skips has no effect is not run, because it equals a boot
    /// with one skip.
    pub second_within: u32,
    /// Number of instructions by which a boot with a skip may exceed the recorded one. Without its engine, the root of
    /// trust hashes in software, which takes longer.
    pub slack: u64,
    /// Number of threads.
    pub jobs: usize,
}

/// Progress of a campaign, which an observer can read and stop.
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of finished positions.
    pub done: AtomicU64,
    next: AtomicUsize,
    is_stopped: std::sync::atomic::AtomicBool,
}

impl Progress {
    /// Stops the campaign after every worker has finished its current block.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn run<S: FaultMachine>(start: &S, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
    let workers: Vec<Report> = thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| work(start, boot, plan, progress));
        let workers: Vec<_> = (0..plan.jobs.max(1)).map(spawn).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    let mut report = workers.into_iter().fold(Report::default(), Report::and);
    report.findings.sort_unstable_by_key(|finding| (finding.position, finding.distance));
    report
}

/// Processes blocks of positions until none is left. Blocks are taken in ascending order, so the leading machine only
/// runs forward.
fn work<S: FaultMachine>(start: &S, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
    let mut report = Report::default();
    let mut leader = start.clone();
    let mut copy = leader.clone();
    // Distance 0 means that there is no second skip.
    let distances = if plan.second_within == 0 { 0..=0 } else { 1..=plan.second_within };
    while !progress.is_stopped.load(Ordering::Relaxed) {
        let block = progress.next.fetch_add(1, Ordering::Relaxed);
        let mut positions = plan.positions.iter().skip(block * BLOCK).take(BLOCK).peekable();
        if positions.peek().is_none() {
            break;
        }
        for position in positions {
            while leader.executed() < *position as u64 {
                leader.step();
            }
            if plan.second_within > 0 && leader.is_next_idle() {
                report.pruned += u64::from(plan.second_within);
                progress.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if plan.second_within == 0 && boot.unread.binary_search(&(*position as u32)).is_ok() {
                report.unread += 1;
                progress.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            for distance in distances.clone() {
                copy.follow(&mut leader);
                let limit = boot.path.len() as u64 + plan.slack;
                let end = match disturb(&mut copy, distance, limit) {
                    Disturbed::Ended(end) => end,
                    Disturbed::AsOneSkip => {
                        report.pruned += 1;
                        continue;
                    }
                    Disturbed::TooShort => continue,
                };
                report.count(end, copy.executed() - leader.executed());
                let place = match end {
                    End::Ran(place) => place,
                    _ if copy.ran_constants() => {
                        report.constants += 1;
                        MemoryKind::Constants
                    }
                    _ => continue,
                };
                let (pc, target) = (boot.path[*position], copy.fetched_from());
                report.note(Finding { position: *position, distance, pc, target, place });
            }
            progress.done.fetch_add(1, Ordering::Relaxed);
        }
    }
    report
}

/// Result of a boot with a skip.
enum Disturbed {
    Ended(End),
    /// The second instruction has no effect, so the boot equals one with a single skip.
    AsOneSkip,
    /// The boot ended before the second instruction, or there is no instruction to skip.
    TooShort,
}

/// Runs the machine without the next instruction and without the one `distance` instructions later.
fn disturb(machine: &mut impl FaultMachine, distance: u32, limit: u64) -> Disturbed {
    if !machine.skip() {
        return Disturbed::TooShort;
    }
    for _ in 1..distance {
        if machine.step().is_some() {
            return Disturbed::TooShort;
        }
    }
    if distance > 0 {
        if machine.is_next_idle() {
            return Disturbed::AsOneSkip;
        }
        if !machine.skip() {
            return Disturbed::TooShort;
        }
    }
    Disturbed::Ended(machine.run(limit))
}

#[cfg(test)]
mod tests;
