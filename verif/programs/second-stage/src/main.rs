//! A second stage, which the first stage has verified. It prints that it runs, and ends the run
//! with success.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::fmt::Write;

use hartlock_svu::SvuConsole;

#[unsafe(no_mangle)]
extern "C" fn stage_main() {
    let _ = writeln!(SvuConsole, "second stage: runs");
}
