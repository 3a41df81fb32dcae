//! What a campaign found.

use crate::subject::{End, Place};

/// Boots in which an instruction ran that is not the ROM's. More are counted, not listed.
const MAX_FINDINGS: usize = 10_000;

/// A disturbed boot that executed what is not the ROM's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Position of the skipped instruction in the path of the boot.
    pub position: usize,
    /// Instructions from there to the second one that was skipped; 0 if there is none.
    pub distance: u32,
    /// Address of the skipped instruction.
    pub pc: u32,
    /// Where the instruction was fetched from.
    pub target: u64,
    /// What is there.
    pub place: Place,
}

/// Counts of ends.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Boots.
    pub runs: u64,
    /// Pairs that were not run, because one of the two skips alone does the same: the other instruction would
    /// have changed nothing.
    pub pruned: u64,
    /// Single stores that were not left out, because nothing reads what they write: the boot without one is the boot with
    /// it.
    pub unread: u64,
    /// The ROM waits for ever: it refused.
    pub stopped: u64,
    /// Instructions of an attacker's choice ran.
    pub turned: u64,
    /// Bytes ran that the ROM had written or holds as data.
    pub data: u64,
    /// Boots in which what a ROM holds beside its code was executed, and which ended otherwise than by that. They are
    /// counted as they ended, too.
    pub constants: u64,
    /// The boot did not end.
    pub astray: u64,
    /// Instructions that were interpreted.
    pub instructions: u64,
    /// The boots counted in `turned` and `data`.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether every boot stayed inside of the ROM.
    pub fn is_clean(&self) -> bool {
        self.turned == 0 && self.data == 0
    }

    /// Both reports in one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.pruned += other.pruned;
        self.unread += other.unread;
        self.stopped += other.stopped;
        self.turned += other.turned;
        self.data += other.data;
        self.constants += other.constants;
        self.astray += other.astray;
        self.instructions += other.instructions;
        self.findings.extend(other.findings);
        self
    }

    pub(super) fn count(&mut self, end: End, instructions: u64) {
        self.runs += 1;
        self.instructions += instructions;
        match end {
            End::Stopped => self.stopped += 1,
            End::Astray => self.astray += 1,
            End::Ran(place) if place.is_turned() => self.turned += 1,
            End::Ran(_) => self.data += 1,
        }
    }

    pub(super) fn note(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}
