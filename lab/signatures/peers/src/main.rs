//! Verifiers of other projects in the program that measures ours (`firmware/footprint`): the same entry,
//! the same packs, the same counting. A feature selects one; without any it is the empty program.

#![no_std]
#![no_main]

mod heap;
mod verifiers;

use hartlock_footprint::program;
use hartlock_virt::console::{self, Number};

/// As `hartlock_footprint::program!`, and says how much heap was in use at most.
#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    program::judge_all(&(), |(), case| verifiers::verify(case));
    console::line(&["heap ", Number::decimal(heap::most() as u64).as_str()]);
    program::finish()
}
