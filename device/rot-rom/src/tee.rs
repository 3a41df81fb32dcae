//! A boot of a TEE (feature `tee`): the work of its first-stage loader, by the library of that (`device/fsbl`). The monitor
//! is measured in the read that verifies it; device secret and measurement make its key pair, which the device endorses.
//!
//! The host is in reset until all of it is done: the secret of the device is closed until reset, engines have forgotten
//! keys, the stack was wiped, and the record is in memory of the host that the board protects. Its monitor runs first, in
//! M-mode, and closes that page to the rest.

use hartlock_drivers::device_secret;
use hartlock_drivers::ed25519::Ed25519;
use hartlock_drivers::wait::Polling;
use hartlock_fsbl::{
    Computer, DeviceSecret, Digest, Endorsement, Fault, HANDOVER_SIZE, Handover, HashEngine,
    endorse,
};
use hartlock_image::{HashId, PAGE_SIZE, PayloadType, Reason};
use hartlock_kernels::Kernels;
use hartlock_regs::Block;
use hartlock_rot::{DEVICE_SECRET, ED25519, host, wipe_stack};

use crate::words::Words;
use crate::{console, map, sha3};

/// Where the monitor finds its record: the last page of the log, as `device/fsbl` leaves it. The map keeps payloads away
/// from it, and requests of the host (`LIMITS` of the service).
const HANDOVER: u64 = map::LOG.end - PAGE_SIZE;

/// The payload that is measured.
pub const MONITOR: Option<PayloadType> = Some(PayloadType::Opensbi);

/// Endorses the monitor that was measured, and leaves its record to it.
///
/// # Errors
/// `InternalLimit` if there is no monitor; `DeviceSecretInvalid`, `NotEndorsed`; `MediumError` if memory does not take the
/// record.
pub fn hand_over(kernels: Kernels, measurement: Option<[u8; 64]>) -> Result<(), Reason> {
    let done = endorse_and_write(kernels, &measurement.ok_or(Reason::InternalLimit)?);
    // Copies that the compiler made of secrets, of those that are wiped already too.
    wipe_stack();
    done
}

/// In a frame of its own, which is below the stack pointer when it has returned.
#[inline(never)]
fn endorse_and_write(kernels: Kernels, measurement: &[u8; 64]) -> Result<(), Reason> {
    let hash = sha3::has(HashId::Sha3_512).then_some(Hash);
    let mut computer = Computer::new(kernels, hash, sign());
    let secret = DeviceSecret::take_and_close(|| secret_page().read(), shut_secret)?;
    let endorsed = endorse(&mut computer, &secret, measurement, |_| ());
    say(computer.fault());
    write(&endorsed?).map_err(|_| Reason::MediumError)
}

fn write(endorsement: &Endorsement) -> Result<(), host::BusError> {
    let Words(record) = &mut Words([0; HANDOVER_SIZE]);
    Handover::encode(endorsement, record);
    host::write(HANDOVER, record)
}

/// Nothing of an endorsement is left to a host that is refused, and the secret is closed.
pub fn take_back() {
    shut_secret();
    // Memory that fails must not change that the host is refused.
    let _ = host::clear(HANDOVER, HANDOVER_SIZE);
}

fn secret_page() -> device_secret::DeviceSecret {
    let base = core::ptr::with_exposed_provenance_mut(DEVICE_SECRET);
    // SAFETY: the page of the secret, which only this file uses, from one place at a time.
    unsafe { device_secret::DeviceSecret::new(base) }
}

/// Closes the secret until reset. Whether it is closed.
fn shut_secret() -> bool {
    // Ibex has one access to devices at a time.
    secret_page().close(|| ())
}

/// Why software did the work of engines.
fn say(faults: [Option<Fault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        console::line(&["hartlock: ", name, " ", Fault::said(fault)]);
    }
}

/// The SHA-3 engine, which is shared with the payloads.
struct Hash;

impl HashEngine for Hash {
    fn digest(&mut self, parts: &[&[u8]]) -> Option<Digest> {
        sha3::digest_of_parts(HashId::Sha3_512, parts).map(Digest)
    }

    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<Digest> {
        self.digest(&[bytes])
    }

    fn wipe(&mut self) -> Option<()> {
        sha3::wipe()
    }
}

/// Takes the Ed25519 engine, once.
fn sign() -> Option<Ed25519<Polling>> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
    Ed25519::new(registers, Polling).ok()
}
