//! The board `qemu-virt` on a workstation (`spec/boot-flow.md` §2).
//!
//! | module | what |
//! |---|---|
//! | [`images`] | flash and disk images of one emulated device, kept from boot to boot |
//! | [`board`] | says which machine a board is, by its description |
//! | [`qemu`] | finds QEMU and writes its command line |
//! | [`bare`] | runs a program that is alone on a hart, and names harts |
//! | [`console`] | what the device printed, and what of it is a refusal |
//! | [`machine`] | runs a device, talks to its console, reads its memory |
//!
//! Whatever a device prints, or writes to its log once Linux runs, is untrusted. It is shown,
//! and decides nothing outside this crate.

#![forbid(unsafe_code)]

pub mod bare;
pub mod board;
pub mod console;
mod error;
mod files;
pub mod images;
pub mod machine;
pub mod qemu;
mod qmp;

pub use error::Error;
pub use hartlock_handoff::Stage;
