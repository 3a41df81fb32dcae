//! Campaigns on emulated devices: what boots, what is refused, and with which reason.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

pub mod bench;
pub mod boots;
mod debugger;
pub mod demo;
pub mod flips;
pub mod kat;
pub mod kernels;
mod nbd;
pub mod skips;
pub mod stages;
pub mod vectors;
