//! A host program in M-mode that the root of trust boots in a test. It requests digests and tries requests that have to
//! be refused (`docs/security/root-of-trust.md`). It ends the machine with 0 if every answer is right. Lines on the
//! console:
//!
//! ```text
//! host: <what> <cycles>
//! ```
//!
//! The program polls for the first answer, and sleeps for the others. Messages are written directly before their
//! request and digests are read directly afterwards. This checks that the root of trust reads data that is still in the
//! host's caches, and that the host reads what the root of trust wrote.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

use hartlock_drivers::mailbox::HostSide;
#[cfg(feature = "waits")]
use hartlock_maps::hartlock_soc;
use hartlock_virt::console::{self, Number};
use hartlock_virt::{board, machine};

mod asking;
mod closed;
#[cfg(not(feature = "keys"))]
mod digests;
#[cfg(feature = "keys")]
mod keys;

global_asm!(include_str!("../../bench/src/start.S"));

/// Address of the word that ends the program, with the feature `waits`.
#[cfg(feature = "waits")]
const DONE: usize = hartlock_soc::RAM.start as usize + (18 << 20);
#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    #[cfg(feature = "waits")]
    wait();
    console::line(&["host: runs"]);
    // SAFETY: this is the host's side of the mailbox, of which this is the only user.
    let mut mailbox =
        unsafe { HostSide::new(core::ptr::with_exposed_provenance_mut(board::MAILBOX)) };
    #[cfg(feature = "keys")]
    keys::run(&mut mailbox);
    #[cfg(not(feature = "keys"))]
    digests::run(&mut mailbox);
    console::line(&["host: done"]);
    machine::end(0)
}

/// Waits for a word of the root of trust, and ends the machine. The loop polls a line of its own cache, so that the bus
/// is quiet until the line is invalidated.
#[cfg(feature = "waits")]
fn wait() -> ! {
    let done = core::ptr::with_exposed_provenance::<u32>(DONE);
    // SAFETY: this is a word that only the root of trust writes.
    while unsafe { done.read_volatile() } == 0 {}
    machine::end(0)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    console::line(&[
        "host: trap ",
        text[0].as_str(),
        " at ",
        text[1].as_str(),
        " value ",
        text[2].as_str(),
    ]);
    machine::end(2)
}
