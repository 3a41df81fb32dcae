//! An interpreter of instructions that runs a linked stage as it is, and campaigns that disturb it.
//!
//! An emulator boots a stage in a twentieth of a second. That allows a sample of faults; to skip each
//! instruction of a boot each time it runs takes a machine that can be copied in microseconds while it
//! runs, and that sees where every instruction comes from. This one has no other purpose, and is compared
//! with QEMU: console, reason code, and the registers after each of a few thousand instructions
//! (`cargo xtask skips --judge`).

#![forbid(unsafe_code)]

pub mod board;
pub mod campaign;
mod code;
pub mod hart;
pub mod instruction;
pub mod memory;
pub mod rot;
pub mod subject;
