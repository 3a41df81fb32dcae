//! Decides whether a bundle may boot (`spec/image-format.md` §8).
//!
//! The ROM, the loader and `hartlock verify` run the same code; each of them implements the trait [`Platform`], which
//! gives access to the bundle and to memory. The code does not allocate, does not panic on any input, and contains no
//! unsafe code. A stage calls, in this order:
//!
//! 1. [`authenticate`] reads the metadata once and checks signatures, policy, manifest, acceptance and placement.
//! 2. [`Authenticated::load_payloads`] copies each payload to its load address and compares its digest.
//! 3. [`Authenticated::conclude`] takes the first decision and returns a [`Verdict`].
//! 4. [`Verdict::is_confirmed`] takes the second decision, directly before the jump.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as hartlock_verify;
#[cfg(test)]
extern crate std;

mod acceptance;
pub mod board;
#[cfg(test)]
mod faults;
mod flow;
pub mod harden;
// The pool claims blocks by 64-bit atomic operations. A 32-bit controller does not have them; it has one hart and needs
// no pool.
#[cfg(target_has_atomic = "64")]
pub mod pool;
mod recheck;
mod signature;
mod statement;
pub mod tree;

pub use acceptance::{Acceptance, Placement};
pub use flow::{Authenticated, Loaded, Platform, authenticate, bits_of};
pub use harden::Verdict;
pub use signature::{carries, check_signature, key_id, key_record};
pub use statement::Statement;
