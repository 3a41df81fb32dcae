//! Data that one boot stage passes to the next (`spec/boot-flow.md` §3, §6): root-of-trust block,
//! state record, class-key store, payload-key page, hand-off block, measurement log, the edits of the device tree for Linux, and the rules for
//! that of OpenSBI and for payloads.
//!
//! The ROM and the loader read and write these structures on the device. The workstation makes the
//! first two when it provisions a device, and reads the log when it draws a timeline. No function
//! panics on any input.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "builder"))]
extern crate std;

mod block;
pub mod bootargs;
#[cfg(any(test, feature = "builder"))]
pub mod builder;
pub mod cpus;
pub mod domain;
pub mod fdt;
mod handoff;
mod log;
pub mod memory;
pub mod payload;
pub mod payload_keys;
mod root_of_trust;
mod secret;
mod state;

pub use handoff::{HANDOFF_SIZE, Handoff, MAX_ROM_ENTRIES};
pub use log::{Entry, LOG_ENTRY_SIZE, Log, LogHeader, MAX_LOG_ENTRIES, Stage, Step, entries};
pub use root_of_trust::{ROOT_OF_TRUST_SIZE, RootOfTrust};
pub use secret::{DeviceSecret, KEY_SIZE, Purpose, SECRET_SIZE};
pub use state::{STATE_SIZE, StateRecord};
