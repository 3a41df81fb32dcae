//! Faults for tests: a branch that is not taken, or a redundant check that finds a defect in a good bundle.
//!
//! A test sets one fault for its thread. Only tests have this module, so that no stage can have such a fault.

use core::cell::Cell;
use std::thread_local;

/// A fault in a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// The branch with this number that refuses a difference is not taken.
    Branch(u32),
    /// No branch that refuses a difference is taken.
    EveryBranch,
    /// This redundant check returns this defect.
    Defect(&'static str, u64),
}

thread_local! {
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
    static BRANCHES: Cell<u32> = const { Cell::new(0) };
}

/// Runs a function with a fault, and also returns the number of branches that it reached.
pub(crate) fn with<R>(fault: Fault, run: impl FnOnce() -> R) -> (R, u32) {
    FAULT.set(fault);
    BRANCHES.set(0);
    let result = run();
    FAULT.set(Fault::None);
    (result, BRANCHES.get())
}

/// Returns true if the branch that is reached now is not taken.
pub(crate) fn is_branch_skipped() -> bool {
    let number = BRANCHES.get();
    BRANCHES.set(number + 1);
    match FAULT.get() {
        Fault::Branch(skipped) => skipped == number,
        Fault::EveryBranch => true,
        Fault::None | Fault::Defect(..) => false,
    }
}

/// Returns the defect that the check of this name has to find.
pub(crate) fn defect(check: &str) -> u64 {
    match FAULT.get() {
        Fault::Defect(name, defect) if name == check => defect,
        _ => 0,
    }
}
