//! A bare program that verifies signatures with one algorithm and says what a verification took.
//!
//! *Flash* is what the linked image has more than the same program without an algorithm. *Stack* is
//! how far below its caller a verification wrote. *Instructions* are those that the hart retired
//! between call and return; choosing kernels happens before, once a boot.
//!
//! [`pack`] says what is verified and works anywhere. `program` is everything but the algorithm:
//! entry, measurement, console. Programs of other projects' algorithms share it, so that all are
//! measured alike.

#![no_std]

pub mod pack;
#[cfg(target_arch = "riscv64")]
pub mod program;
