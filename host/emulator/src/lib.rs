//! Emulation of the board `qemu-virt` on a workstation (`spec/boot-flow.md` §2).
//!
//! | module | content |
//! |---|---|
//! | [`images`] | flash and disk images of an emulated device, which are kept between boots |
//! | [`board`] | determines the machine of a board from its description |
//! | [`qemu`] | finds QEMU and makes its command line |
//! | [`bare`] | runs a single program on one hart, with named configurations of harts |
//! | [`console`] | processes the output of a device, and finds refusals in it |
//! | [`machine`] | runs a device, connects to its console, reads its memory |
//!
//! The output of a device, and its log once Linux runs, are untrusted. They are shown, and nothing
//! outside of this crate is decided by them.

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
