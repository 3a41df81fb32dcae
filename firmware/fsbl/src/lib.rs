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
mod pages;
mod secret;
#[cfg(test)]
mod tests;

pub use compute::{Challenge, Computer, Fault, HashEngine, Never, PART_UNIT, SignEngine, Slot};
pub use endorse::{DeviceKey, Endorsement, endorse};
pub use handover::{HANDOVER_SIZE, Handover};
pub use medium::{Board, Medium, Point};
pub use pages::Pages;
pub use secret::DeviceSecret;

use hartlock_image::{PAGE_SIZE, PayloadType, Reason, align_up};
use hartlock_verify::{Acceptance, Authenticated, Verdict, authenticate};

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
/// `secret` takes the device secret away from where it is kept. It is called once, when signatures and requirements were found
/// good and before payloads are looked at: the device's key is made while they are read. A bundle that is not genuine
/// has not touched it; one with a changed payload has all of it wiped. It has to be out of reach when this returns.
///
/// # Errors
/// The first reason of the verification; `DeviceSecretInvalid`, `NotEndorsed`.
pub fn boot<B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, '_, B, H, S>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &mut [u8],
    secret: impl FnOnce(&mut B) -> Result<DeviceSecret, Reason>,
) -> Result<Booted, Reason> {
    medium.computer.try_engines();
    medium.board.reached(Point::Tried);
    let mut bundle = authenticate(medium, acceptance, again, metadata)?;
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
    match verified(medium, &mut bundle) {
        Ok((verdict, entry, measurement)) => {
            let board = &mut *medium.board;
            let endorsement =
                device.endorse(medium.computer, &measurement, |point| board.reached(point))?;
            Ok(Booted { verdict, entry, endorsement })
        }
        Err(reason) => {
            medium.computer.wipe();
            Err(reason)
        }
    }
}

/// Payloads and the first decision: the monitor's entry and measurement with it.
fn verified<B: Board, H: HashEngine, S: SignEngine>(
    medium: &mut Medium<'_, '_, B, H, S>,
    bundle: &mut Authenticated<'_>,
) -> Result<(Verdict, u64, [u8; 64]), Reason> {
    bundle.load_payloads(medium)?;
    let verdict = bundle.conclude()?;
    medium.board.reached(Point::Verified);
    let is_monitor = |kind: PayloadType| kind == PayloadType::Opensbi;
    let monitor = bundle.manifest().payloads.iter().find(|it| is_monitor(it.payload_type));
    let entry = monitor.ok_or(Reason::InternalLimit)?.entry;
    Ok((verdict, entry, medium.measurement.ok_or(Reason::InternalLimit)?))
}
