//! Decides whether a bundle may boot (`spec/image-format.md` §8).
//!
//! The same code runs in the ROM, in the loader and in `hartlock verify`; each
//! implements one trait, [`Platform`], for what differs. Nothing here allocates, panics on input, or contains
//! unsafe code. A stage calls, in this order:
//!
//! 1. [`authenticate`]: read once, signatures, policy, manifest, acceptance, placement;
//! 2. [`Authenticated::load_payloads`]: bring each payload to its memory and compare its digest;
//! 3. [`Authenticated::conclude`]: the first decision, which yields a [`Verdict`];
//! 4. [`Verdict::is_confirmed`], directly before the jump: the second decision.
//!
//! [`first_stage`] is apart: the reference of hardware that decides without a core.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod acceptance;
pub mod board;
pub mod first_stage;
mod flow;
pub mod harden;
// Its words are claimed by one atomic access. A controller of 32 bits has one hart and no use for it.
#[cfg(target_has_atomic = "64")]
pub mod pool;
mod recheck;
mod signature;
pub mod tree;

pub use acceptance::{Acceptance, Placement};
pub use flow::{Authenticated, Loaded, Platform, authenticate, bits_of};
pub use harden::Verdict;
pub use signature::{carries, check_signature, key_id, key_record};
