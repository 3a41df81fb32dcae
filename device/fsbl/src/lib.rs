//! The first-stage boot loader of a TEE. It reads a boot bundle from storage, verifies it the same as every other
//! stage, measures the monitor in it, derives the monitor's key pair from the device secret and the measurement, and
//! endorses both.
//!
//! The decisions do not depend on devices: a [`FsblBoard`] provides the parts that differ between machines, and a
//! [`Computer`] provides the computations, with or without engines. The module `program` contains the devices of each
//! machine. The code does not allocate, does not format with `core::fmt`, and cannot panic.
//!
//! # Measurement
//!
//! The measurement is SHA3-512 of the bytes of the monitor's payload, as in Keystone's boot loader. The bytes are read
//! from storage once, into the memory from which they are executed, and both verification and measurement use that
//! copy. A payload whose record names SHA3-512 in mode flat is hashed once for both.

#![no_std]
#![deny(unsafe_code)]

mod compute;
mod endorse;
mod handover;
mod medium;
mod pages;
#[cfg(all(target_arch = "riscv64", any(feature = "machine", feature = "virt")))]
#[allow(unsafe_code, reason = "it has the devices")]
pub mod program;
mod secret;

pub use compute::Computer;
pub use endorse::{DeviceKey, Endorsement, endorse};
pub use handover::{HANDOVER_SIZE, Handover};
pub use medium::{FsblBoard, Medium, Next, Point};
pub use pages::{HEAD, Pages, PredictedRange};
pub use secret::ExpandedDeviceKey;

use hartlock_image::{PAGE_SIZE, PayloadType, Reason, align_up};
use hartlock_kernels::engines::Sha3Digest;
use hartlock_verify::{Acceptance, Authenticated, Verdict, authenticate};

/// The result of a boot apart from the endorsement.
pub struct Booted {
    /// Verdict after the first decision. It must be confirmed again directly before the jump.
    pub verdict: Verdict,
    /// Entry point of the monitor.
    pub entry: u64,
}

/// Verifies the bundle, measures the monitor and endorses it.
///
/// `take` reads the device secret and makes it inaccessible until reset. It is called once, after signatures and
/// requirements were checked and before payloads are hashed: the device's key is computed while they are read. For a
/// bundle that is not genuine `take` is not called; for one with a changed payload all copies are wiped.
///
/// `made` receives the data for the monitor. If the boot fails, it contains no secret.
///
/// # Errors
/// The first reason of the verification; `DeviceSecretInvalid`, `NotEndorsed`.
#[inline(never)]
pub fn boot<B: FsblBoard>(
    medium: &mut Medium<'_, '_, B>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &mut [u8],
    made: &mut Endorsement,
    take: impl FnOnce(&mut B, &mut ExpandedDeviceKey) -> Result<(), Reason>,
) -> Result<Booted, Reason> {
    medium.computer.try_engines();
    medium.board.reached(Point::Tried);
    // The bundle is used by reference from here on, because moving it would put a second copy on the stack.
    let mut bundle = authenticated(medium, acceptance, again, metadata);
    let bundle = bundle.as_mut().map_err(|reason| *reason)?;
    medium.board.reached(Point::Authenticated);
    // The first payload was already requested by `Pages`.
    for payload in bundle.manifest().payloads.iter().skip(1) {
        let size = align_up(payload.size, PAGE_SIZE).filter(|size| *size <= payload.memory_size);
        let size = size.ok_or(Reason::InternalLimit)?;
        medium.board.read_ahead(payload.offset, Some(payload.load_address), size);
    }
    let mut secret = ExpandedDeviceKey::EMPTY;
    take(medium.board, &mut secret)?;
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

// The function is not inlined, so that its variables are off the stack when it has returned.
#[inline(never)]
fn authenticated<'a, B: FsblBoard>(
    medium: &mut Medium<'_, '_, B>,
    acceptance: &Acceptance<'_>,
    again: &Acceptance<'_>,
    metadata: &'a mut [u8],
) -> Result<Authenticated<'a>, Reason> {
    authenticate(medium, acceptance, again, metadata)
}

/// Loads and verifies the payloads and takes the first decision. Returns the monitor's entry point and measurement as
/// well.
#[inline(never)]
fn verified<B: FsblBoard>(
    medium: &mut Medium<'_, '_, B>,
    bundle: &mut Authenticated<'_>,
) -> Result<(Booted, Sha3Digest), Reason> {
    bundle.load_payloads(medium)?;
    let verdict = bundle.conclude()?;
    medium.board.reached(Point::Verified);
    let is_monitor = |kind: PayloadType| kind == PayloadType::Opensbi;
    let monitor = bundle.manifest().payloads.iter().find(|it| is_monitor(it.payload_type));
    let entry = monitor.ok_or(Reason::InternalLimit)?.entry;
    Ok((Booted { verdict, entry }, medium.measurement.ok_or(Reason::InternalLimit)?))
}
