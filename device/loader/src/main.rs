//! The program of the loader; the code is in the library.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use hartlock_loader::disk::Once;
use hartlock_loader::harts;
use hartlock_virt::board::map;
use hartlock_virt::{environment, memory};

#[unsafe(no_mangle)]
extern "C" fn loader_main(hart: usize) -> ! {
    let begun = hartlock_loader::begin(hart);
    let harts = begun.handoff.harts;
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    hartlock_loader::run::<Once>(begun, harts, unsafe { memory::bytes_mut(map::METADATA) })
}

#[unsafe(no_mangle)]
extern "C" fn worker_main(hart: usize) {
    harts::work(hart, |_| ());
    environment::stop_self();
}
