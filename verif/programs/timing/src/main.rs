//! Runs each computation with many secrets on a hart without other software, between calls of empty functions, by
//! whose addresses an observer finds them: the interpreter of `verif/fault`, or a plugin of QEMU.
//!
//! On a workstation the program does nothing.
//!
//! Before the runs of a computation, a line on the console names it and its kernels:
//!
//! ```text
//! timing <subject> <tier>
//! wrong <subject> <tier> secret <number>
//! ```

#![cfg_attr(target_arch = "riscv64", no_std, no_main)]

#[cfg(target_arch = "riscv64")]
mod program;

#[cfg(not(target_arch = "riscv64"))]
fn main() {}
