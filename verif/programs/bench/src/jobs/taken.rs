//! Counting of instructions.

use hartlock_virt::clock;
use hartlock_virt::console::{self, Number};

/// Tag of marks for work that no report names.
pub const NO_TAG: u64 = 0;

/// The cost of some work.
pub struct Taken {
    instructions: u64,
    /// Clock ticks. On QEMU they are not cycles and are not printed.
    ticks: u64,
}

impl Taken {
    /// Counts the cost of `work`. The cycle-accurate machine reports the distribution of its cycles under this tag.
    pub fn by(tag: u64, work: impl FnOnce()) -> Self {
        clock::mark(NO_TAG);
        let start = clock::now();
        work();
        let end = clock::now();
        clock::mark(tag);
        Self {
            instructions: end.instret.saturating_sub(start.instret),
            ticks: end.time.saturating_sub(start.time),
        }
    }

    /// Prints the end of a line.
    pub fn print(&self) {
        let [instructions, ticks] = [self.instructions, self.ticks].map(Number::decimal);
        console::print(" ");
        console::print(instructions.as_str());
        if clock::COUNTS_CYCLES {
            console::print(" ");
            console::print(ticks.as_str());
        }
        console::print("\n");
    }
}
