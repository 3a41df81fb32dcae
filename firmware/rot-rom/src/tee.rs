//! A boot of a TEE (feature `tee`): the work of its first-stage loader, by the library of that (`firmware/fsbl`). The monitor
//! is measured in the read that verifies it; device secret and measurement make its key pair, which the device endorses.
//!
//! The host is in reset until all of it is done: the secret of the device is closed until reset, engines have forgotten
//! keys, the stack was wiped, and the record is in memory of the host that the board protects. Its monitor runs first, in
//! M-mode, and closes that page to the rest.

use hartlock_drivers::ed25519::{self, Ed25519};
use hartlock_drivers::wait::Polling;
use hartlock_fsbl::{
    Challenge, Computer, DeviceSecret, Digest, Endorsement, Fault, HANDOVER_SIZE, Handover,
    HashEngine, SignEngine, Slot, endorse,
};
use hartlock_image::{HashId, PAGE_SIZE, PayloadType, Reason};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;
use hartlock_regs::Block;
use hartlock_rot::{DEVICE_SECRET, ED25519, host, wipe_stack};

use crate::words::Words;
use crate::{console, map, sha3};

/// Where the monitor finds its record: the last page of the log, as `firmware/fsbl` leaves it. The map keeps payloads away
/// from it, and requests of the host (`LIMITS` of the service).
const HANDOVER: u64 = map::LOG.end - PAGE_SIZE;
/// Offset of the latch of the secret, in words.
const LATCH: usize = 16;

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
    let mut computer = Computer::new(kernels, hash, Sign::take());
    let secret = take_secret()?;
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

/// Takes the secret, and closes it until reset.
///
/// # Errors
/// `DeviceSecretInvalid`; `NotEndorsed` if it stays open.
fn take_secret() -> Result<DeviceSecret, Reason> {
    let mut bytes = [0; 64];
    for (index, to) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: a word of the secret; reading it changes nothing.
        *to = unsafe { word(index).read_volatile() }.to_le_bytes();
    }
    let secret = DeviceSecret::take(&mut bytes);
    let is_shut = shut_secret();
    let secret = secret?;
    if is_shut { Ok(secret) } else { Err(Reason::NotEndorsed) }
}

/// Closes the secret until reset. Whether it is closed.
fn shut_secret() -> bool {
    // SAFETY: the latch, which closes the secret and does nothing else.
    unsafe { word(LATCH).write_volatile(1) };
    // SAFETY: as above, to read.
    let latch = unsafe { word(LATCH).read_volatile() };
    // SAFETY: the words of the secret, which read as zeros now.
    let seen = (0..LATCH).fold(0, |seen, index| seen | unsafe { word(index).read_volatile() });
    latch == 1 && seen == 0
}

fn word(index: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut::<u32>(DEVICE_SECRET).wrapping_add(index)
}

/// Why software did the work of engines.
fn say(faults: [Option<Fault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        let why = match fault {
            None => "by its engine",
            Some(Fault::Missing) => "in software, there is no engine that works",
            Some(Fault::WrongAnswer) => "in software, the engine answers wrong",
            Some(Fault::Failed) => "in software, the engine has failed",
            Some(Fault::Stuck) => "in software, the engine has failed and does not forget",
        };
        console::line(&["hartlock: ", name, " ", why]);
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

/// The Ed25519 engine.
struct Sign(Ed25519<Polling>);

impl Sign {
    /// Takes the engine, once.
    fn take() -> Option<Self> {
        // SAFETY: the engine's registers, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
        Some(Self(Ed25519::new(registers, Polling).ok()?))
    }
}

fn slot(slot: Slot) -> Option<ed25519::Slot> {
    ed25519::Slot::new(slot as u8)
}

impl SignEngine for Sign {
    fn load(&mut self, number: Slot, expanded: &[u8; 64], public_key: &mut [u8; 32]) -> Option<()> {
        *public_key = self.0.load(slot(number)?, expanded).ok()?;
        Some(())
    }

    fn sign(
        &mut self,
        number: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()> {
        *signature = self.0.sign(slot(number)?, nonce, challenge).ok()?;
        Some(())
    }

    fn verify(
        &mut self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        let answer = self.0.verify(public_key, signature, challenge).ok()?;
        Some(answer.map_err(|why| match why {
            ed25519::Rejection::InvalidKey => Rejection::InvalidKey,
            ed25519::Rejection::InvalidSignature => Rejection::NonCanonicalSignature,
            ed25519::Rejection::Mismatch => Rejection::Mismatch,
        }))
    }

    fn wipe(&mut self) -> Option<()> {
        // An engine with a fault has cleared itself.
        match self.0.wipe() {
            Ok(()) | Err(ed25519::Error::Failed) => Some(()),
            Err(_) => None,
        }
    }
}
