//! A program without other software on the machine. It verifies signatures with one algorithm and
//! prints the cost of each verification.
//!
//! *Flash* is the size of the linked image minus that of the same program without an algorithm.
//! *Stack* is the distance in bytes below its caller that a verification writes. *Instructions* is
//! the number that the hart retires between call and return; kernels are selected before, once per
//! boot.
//!
//! [`pack`] contains the cases and works on every machine. `program` contains everything except the
//! algorithm: entry, measurement and console. Programs with algorithms of other projects share it,
//! so that all are measured in the same way.

#![no_std]

pub mod pack;
#[cfg(target_arch = "riscv64")]
pub mod program;
