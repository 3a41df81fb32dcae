//! Skipped instructions: a boot runs once, and at each of its instructions a copy of the machine goes on
//! without that instruction.
//!
//! The machine that is copied never goes back, so a copy costs the pages that differ. Every time that an
//! instruction runs is a case of its own: the address alone does not say what the registers hold.

mod report;

use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crate::board;
use crate::rot;
use crate::subject::{End, Place, Subject};
pub use report::{Finding, Report};

/// No boot that ends is longer.
const LONGEST_BOOT: u64 = 100_000_000;
/// How many instructions more than the refused boot a disturbed one may take unless a plan says otherwise: enough for
/// one that is accepted, which copies payloads, clears the memory after them, and wipes its own.
pub const SLACK: u64 = 3_000_000;
/// Instructions that a worker takes at a time.
const BLOCK: usize = 128;

/// Where a campaign starts. Not generic, so that what interprets is compiled here, with the optimisation of this
/// crate, and not where it is called.
#[derive(Debug)]
pub enum Start<'a> {
    /// The board.
    Board(Box<board::Machine<'a>>),
    /// The root of trust.
    RootOfTrust(Box<rot::Machine<'a>>),
}

impl Start<'_> {
    /// Lets a copy of the machine run until the stage stops.
    ///
    /// # Errors
    /// How it ended, and what it printed, if it did not stop.
    pub fn record(&self) -> Result<Boot, String> {
        match self {
            Self::Board(machine) => Boot::record(&**machine),
            Self::RootOfTrust(machine) => Boot::record(&**machine),
        }
    }

    /// Runs a campaign from the machine that the boot was recorded from.
    pub fn run(&self, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
        match self {
            Self::Board(machine) => run(&**machine, boot, plan, progress),
            Self::RootOfTrust(machine) => run(&**machine, boot, plan, progress),
        }
    }
}

/// A boot that was not disturbed.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The address of each instruction of the boot hart.
    pub path: Vec<u32>,
    /// What was printed.
    pub console: String,
    /// Positions of stores that nothing reads, ascending: the boot without one of them is the same boot.
    pub unread: Vec<u32>,
}

impl Boot {
    fn record(start: &impl Subject) -> Result<Self, String> {
        let mut machine = start.clone();
        let trace = machine.trace();
        let trace = || trace.as_ref().map(|it| it.lock().expect("no one panicked with it"));
        let mut path = Vec::new();
        while machine.executed() < LONGEST_BOOT {
            let (position, pc) = (path.len() as u32, machine.pc());
            path.push(pc as u32);
            let store = machine.next_store();
            let end = machine.step();
            // One that traps is none.
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

/// What is skipped.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Positions in the path of the boot, ascending.
    pub positions: Vec<usize>,
    /// How many instructions after the first a second one is skipped: each distance from 1 to this. At 0,
    /// one instruction is skipped. Pairs of which one skip has no effect are not run: they are boots with one
    /// skip.
    pub second_within: u32,
    /// How many instructions more than the boot a disturbed one may take. Without its engine the root of trust hashes in
    /// software, and takes longer.
    pub slack: u64,
    /// Threads.
    pub jobs: usize,
}

/// How far a campaign is, for who watches it, and how it is stopped.
#[derive(Debug, Default)]
pub struct Progress {
    /// Positions that are done.
    pub done: AtomicU64,
    next: AtomicUsize,
    is_stopped: std::sync::atomic::AtomicBool,
}

impl Progress {
    /// Lets every worker end what it has begun.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn run<S: Subject>(start: &S, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
    let workers: Vec<Report> = thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| work(start, boot, plan, progress));
        let workers: Vec<_> = (0..plan.jobs.max(1)).map(spawn).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    let mut report = workers.into_iter().fold(Report::default(), Report::and);
    report.findings.sort_unstable_by_key(|finding| (finding.position, finding.distance));
    report
}

/// Takes blocks of positions until there are none. Blocks ascend, so the leading machine only goes forward.
fn work<S: Subject>(start: &S, boot: &Boot, plan: &Plan, progress: &Progress) -> Report {
    let mut report = Report::default();
    let mut leader = start.clone();
    let mut copy = leader.clone();
    // 0: there is no second skip.
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
                        Place::Constants
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

/// What came of a disturbed boot.
enum Disturbed {
    Ended(End),
    /// The second instruction has no effect: it is the boot with one skip.
    AsOneSkip,
    /// It ends before the second instruction, or there is none to skip.
    TooShort,
}

/// Goes on without the next instruction and without the one that is `distance` after it.
fn disturb(machine: &mut impl Subject, distance: u32, limit: u64) -> Disturbed {
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
