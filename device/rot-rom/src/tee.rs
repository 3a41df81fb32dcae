//! The boot of a TEE (feature `tee`). This file does the work of a first-stage boot loader, with the library of
//! `device/fsbl`. The monitor is measured in the same pass that verifies it. Its key pair is derived from the device
//! secret and the measurement, and the device endorses the key.
//!
//! The host stays in reset until all of this is complete: the device secret is closed until reset, the engines have
//! cleared their keys, the stack is wiped, and the record is in memory of the host that the board protects. The monitor
//! runs first, in M-mode, and closes that page to all other software.

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

/// Address of the record for the monitor: the last page of the log, the same as in `device/fsbl`. The memory map
/// excludes this page from payloads, and `LIMITS` of the service excludes it from requests of the host.
const HANDOVER: u64 = map::LOG.end - PAGE_SIZE;

/// Type of the payload that is measured.
pub const MONITOR: Option<PayloadType> = Some(PayloadType::Opensbi);

/// Endorses the measured monitor and writes its record to the host's memory.
///
/// # Errors
/// `InternalLimit` if there is no monitor; `DeviceSecretInvalid`; `NotEndorsed`; `MediumError` if the record cannot be
/// written to memory.
pub fn hand_over(kernels: Kernels, measurement: Option<[u8; 64]>) -> Result<(), Reason> {
    let done = endorse_and_write(kernels, &measurement.ok_or(Reason::InternalLimit)?);
    // The compiler may have left copies of secrets on the stack, also of those that are wiped.
    wipe_stack();
    done
}

/// Endorses the monitor. The function has its own stack frame, so that all its data is below the stack pointer when it
/// has returned.
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

/// Clears the record and closes the secret, so that a refused host gets nothing of an endorsement.
pub fn take_back() {
    shut_secret();
    // Memory that fails must not prevent the refusal.
    let _ = host::clear(HANDOVER, HANDOVER_SIZE);
}

fn secret_page() -> device_secret::DeviceSecret {
    let base = core::ptr::with_exposed_provenance_mut(DEVICE_SECRET);
    // SAFETY: the address is the page of the secret, which only this file uses, from one place at a time.
    unsafe { device_secret::DeviceSecret::new(base) }
}

/// Closes the secret until reset. Returns true if it is closed.
fn shut_secret() -> bool {
    // No barrier is needed, because Ibex makes only one access to devices at a time.
    secret_page().close(|| ())
}

/// Prints the reasons why software replaced engines.
fn say(faults: [Option<Fault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        console::line(&["hartlock: ", name, " ", Fault::said(fault)]);
    }
}

/// The SHA-3 engine, which is also used for the payloads.
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

/// Initialises the Ed25519 engine. This function is called once.
fn sign() -> Option<Ed25519<Polling>> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
    Ed25519::new(registers, Polling).ok()
}
