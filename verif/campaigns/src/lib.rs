//! Campaigns on emulated devices, which test the boots that succeed, the boots that are refused,
//! and the reasons of the refusals.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

pub mod bench;
pub mod board_program;
pub mod boots;
pub mod c_library;
mod debugger;
pub mod demo;
pub mod flips;
pub mod kat;
pub mod kernels;
mod nbd;
pub mod skips;
pub mod stages;
pub mod timing;
pub mod u_boot;
pub mod vectors;
