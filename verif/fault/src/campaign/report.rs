//! The results of a campaign.

use crate::subject::{End, MemoryKind};

/// Maximum number of listed findings; further ones are only counted.
const MAX_FINDINGS: usize = 10_000;

/// A boot with a skip that executed bytes outside the stage's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Position of the skipped instruction in the path of the boot.
    pub position: usize,
    /// Number of instructions from there to the second skipped one; 0 if there is none.
    pub distance: u32,
    /// Address of the skipped instruction.
    pub pc: u32,
    /// Address from which the foreign instruction was fetched.
    pub target: u64,
    /// Kind of memory at that address.
    pub place: MemoryKind,
}

/// Numbers of boots by their result.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Boots with a skip.
    pub runs: u64,
    /// Pairs that were not run, because the other instruction of the pair has no effect, so that the pair equals a
    /// single skip.
    pub pruned: u64,
    /// Single stores that were not skipped, because nothing reads the stored bytes: the boot without such a store is
    /// the same boot.
    pub unread: u64,
    /// Boots in which the stage refused and waits for ever.
    pub stopped: u64,
    /// Boots that executed instructions of an attacker's choice.
    pub turned: u64,
    /// Boots that executed bytes which the ROM wrote or holds as data.
    pub data: u64,
    /// Boots that executed constants in the ROM and then ended in another way. They are also counted by their end.
    pub constants: u64,
    /// Boots that did not end.
    pub astray: u64,
    /// Interpreted instructions.
    pub instructions: u64,
    /// The boots that are counted in `turned`, `data` and `constants`.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Returns true if no boot executed bytes outside the ROM's code, except for its constants.
    pub fn is_clean(&self) -> bool {
        self.turned == 0 && self.data == 0
    }

    /// Returns the sum of both reports.
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
            End::Endless => self.astray += 1,
            End::Ran(place) if place.is_attacker_controlled() => self.turned += 1,
            End::Ran(_) => self.data += 1,
        }
    }

    pub(super) fn note(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}
