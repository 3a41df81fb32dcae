//! What ROM, loader and the ROM of the root of trust share: what they measure and log, a bundle in a slot
//! of memory as a medium, texts for the console, and memory by address.
//!
//! It knows no board and no device: what differs enters as a function or through [`Hardware`]. Nothing
//! here allocates, formats with `core::fmt`, or can reach a panic.

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
