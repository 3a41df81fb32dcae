//! Generators for data that is described in one place: boards, reason codes and registers.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

pub mod boards;
pub mod errors;
pub mod regs;
