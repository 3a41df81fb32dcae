//! The first-stage loader of a TEE: reads a boot bundle from storage, verifies it as every other stage does, measures the
//! monitor in it, derives the monitor's key pair from device secret and measurement, and endorses both.
//!
//! All decisions have no device: what differs between machines is a [`Board`], and what computes is a
//! [`Computer`] with engines or without. `program` has the devices of each machine. Nothing here allocates, formats with `core::fmt`, or can reach a panic.
//!
//! # What is measured
//!
//! SHA3-512 of the bytes of the monitor's payload, as Keystone's boot loader measures. They are read from storage once, into
//! the memory that they run from, and both verification and measurement are of that copy. A payload whose record names
//! SHA3-512 in mode flat is hashed once for both.

#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

mod compute;
mod endorse;
mod engine;
mod handover;
mod known;
mod medium;
mod pages;
#[cfg(all(target_arch = "riscv64", any(feature = "machine", feature = "virt")))]
#[allow(unsafe_code, reason = "it has the devices")]
pub mod program;
mod secret;
#[cfg(test)]
mod tests;

pub use compute::{
    Challenge, Computer, Digest, Fault, HashEngine, Never, PART_UNIT, SignEngine, Slot,
};
pub use endorse::{DeviceKey, Endorsement, endorse};
pub use handover::{HANDOVER_SIZE, Handover};
pub use medium::{Board, Medium, Next, Point};
pub use pages::{HEAD, Pages};
pub use secret::DeviceSecret;

use hartlock_image::{PAGE_SIZE, PayloadType, Reason, align_up};
use hartlock_verify::{Acceptance, Authenticated, Verdict, authenticate};

/// What a boot gives beside the endorsement: the first decision, and where the monitor is entered.
pub struct Booted {
    /// To be confirmed again, directly before the jump.
    pub verdict: Verdict,
    /// Where the monitor is entered.
    pub entry: u64,
}

/// Verifies the bundle, measures the monitor and endorses it.
///
/// `secret` takes the device secret away from where it is kept. It is called once, when signatures and requirements were found
/// good and before payloads are looked at: the device's key is made while they are read. A bundle that is not genuine
/// has not touched it; one with a changed payload has all of it wiped. It has to be out of reach when this returns.
///
/// `made` is what the monitor gets; without a result it has no secret.
///
/// # Errors
/// The first reason of the verification; `DeviceSecretInvalid`, `NotEndorsed`.
#[inline(never)]
pub fn boot<B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, '_, B, H, S>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &mut [u8],
    made: &mut Endorsement,
    secret: impl FnOnce(&mut B) -> Result<DeviceSecret, Reason>,
) -> Result<Booted, Reason> {
    medium.computer.try_engines();
    medium.board.reached(Point::Tried);
    // By reference from here on: a bundle that is moved is on the stack twice.
    let mut bundle = authenticated(medium, acceptance, again, metadata);
    let bundle = bundle.as_mut().map_err(|reason| *reason)?;
    medium.board.reached(Point::Authenticated);
    // After the first one, which was asked for already (Pages).
    for payload in bundle.manifest().payloads.iter().skip(1) {
        let size = align_up(payload.size, PAGE_SIZE).filter(|size| *size <= payload.memory_size);
        let size = size.ok_or(Reason::InternalLimit)?;
        medium.board.read_ahead(payload.offset, Some(payload.load_address), size);
    }
    let secret = secret(medium.board)?;
    let device = DeviceKey::load(medium.computer, &secret)?;
    medium.board.reached(Point::DeviceKey);
    match verified(medium, bundle) {
        Ok((booted, measurement)) => {
            let board = &mut *medium.board;
            made.measurement = measurement.0;
            device.endorse(medium.computer, made, |point| board.reached(point))?;
            Ok(booted)
        }
        Err(reason) => {
            medium.computer.wipe();
            Err(reason)
        }
    }
}

// Out of line: what only this needs is off the stack when it has returned.
#[inline(never)]
fn authenticated<'a, B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, '_, B, H, S>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &'a mut [u8],
) -> Result<Authenticated<'a>, Reason> {
    authenticate(medium, acceptance, again, metadata)
}

/// Payloads and the first decision: the monitor's entry and measurement with it.
#[inline(never)]
fn verified<B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, '_, B, H, S>,
    bundle: &mut Authenticated<'_>,
) -> Result<(Booted, Digest), Reason> {
    bundle.load_payloads(medium)?;
    let verdict = bundle.conclude()?;
    medium.board.reached(Point::Verified);
    let is_monitor = |kind: PayloadType| kind == PayloadType::Opensbi;
    let monitor = bundle.manifest().payloads.iter().find(|it| is_monitor(it.payload_type));
    let entry = monitor.ok_or(Reason::InternalLimit)?.entry;
    Ok((Booted { verdict, entry }, medium.measurement.ok_or(Reason::InternalLimit)?))
}
