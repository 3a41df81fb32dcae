//! Keys of a host in the root of trust (`spec/requests.md`).
//!
//! [`keys`] decides about requests and holds the keys; [`engines`] computes with the hardware. The mailbox that carries the
//! requests, and the check of their addresses, are in `hartlock_drivers::mailbox`.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod engines;
pub mod keys;
