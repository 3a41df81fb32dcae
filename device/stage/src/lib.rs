//! Code that the ROM, the loader and the ROM of the root of trust share: measurements and the log, a bundle in a slot
//! of memory as a medium, texts for the console, and access to memory by address.
//!
//! The library does not depend on a board or a device; differences are passed as functions or through [`Hardware`]. The
//! code does not allocate, does not format with `core::fmt`, and cannot panic.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod console;
pub mod identity;
pub mod memory;
mod record;
mod slot;

pub use record::{Instant, RomLog, entry, measure, push, signature, start_log};
pub use slot::{Hardware, Slot};
