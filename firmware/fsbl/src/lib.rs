//! The first-stage loader of a TEE: reads a boot bundle from storage, verifies it as every other stage does, measures the
//! monitor in it, derives the monitor's key pair from device secret and measurement, and endorses both.
//!
//! The library has every decision and no device: what differs between machines is a [`Board`], and what computes is a
//! [`Computer`] with engines or without. Nothing here allocates, formats with `core::fmt`, or can reach a panic.
//!
//! # What is measured
//!
//! SHA3-512 of the bytes of the monitor's payload, as Keystone's boot loader measures. They are read from storage once, into
//! the memory that they run from, and both verification and measurement are of that copy. A payload whose record names
//! SHA3-512 in mode flat is hashed once for both.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod compute;
mod endorse;
mod handover;
mod known;
mod medium;
mod secret;
#[cfg(test)]
mod tests;

pub use compute::{Challenge, Computer, Fault, HashEngine, Never, PART_UNIT, SignEngine, Slot};
pub use endorse::{Endorsement, endorse};
pub use handover::{HANDOVER_SIZE, Handover};
pub use medium::{Board, Medium, Point};
pub use secret::DeviceSecret;

use hartlock_image::{PayloadType, Reason};
use hartlock_verify::{Acceptance, Verdict, authenticate};

/// What a boot gives: the first decision, and what the monitor gets.
pub struct Booted {
    /// To be confirmed again, directly before the jump.
    pub verdict: Verdict,
    /// Where the monitor is entered.
    pub entry: u64,
    /// Of the monitor.
    pub endorsement: Endorsement,
}

/// Verifies the bundle, measures the monitor and endorses it.
///
/// `secret` takes the device secret away from where it is kept, and is called once, after the first decision: a bundle that
/// is refused has not touched it. It has to be out of reach when this returns.
///
/// # Errors
/// The first reason of the verification; `DeviceSecretInvalid`, `NotEndorsed`.
pub fn boot<B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, B, H, S>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &mut [u8],
    secret: impl FnOnce(&mut B) -> Result<DeviceSecret, Reason>,
) -> Result<Booted, Reason> {
    let mut bundle = authenticate(medium, acceptance, again, metadata)?;
    medium.board.reached(Point::Authenticated);
    bundle.load_payloads(medium)?;
    let verdict = bundle.conclude()?;
    medium.board.reached(Point::Verified);
    let is_monitor = |kind: PayloadType| kind == PayloadType::Opensbi;
    let monitor = bundle.manifest().payloads.iter().find(|it| is_monitor(it.payload_type));
    let entry = monitor.ok_or(Reason::InternalLimit)?.entry;
    let measurement = medium.measurement.ok_or(Reason::InternalLimit)?;
    let secret = secret(medium.board)?;
    let board = &mut *medium.board;
    let endorsement =
        endorse(medium.computer, &secret, &measurement, |point| board.reached(point))?;
    Ok(Booted { verdict, entry, endorsement })
}
