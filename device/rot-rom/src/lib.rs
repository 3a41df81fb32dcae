//! The ROM of the root of trust (`hw/soc`) verifies the boot bundle in the host's memory, with the SHA-2 engine and the
//! same `device/verify` as every other stage, and releases the host.
//!
//! The host is in reset until the boot sequencer releases it, once. Every failure of this ROM leaves the host in reset,
//! with the reason in a register. An unexpected trap puts it into reset even after the release (`hartlock_rot`).
//!
//! No reference points into the host's memory, because the host may change it and its bus may fail
//! (`hartlock_rot::host`).

#![no_std]
#![cfg(target_arch = "riscv32")]

mod bundle;
mod clock;
mod console;
mod dma;
mod engines;
#[cfg_attr(not(feature = "keys"), path = "no_keys.rs")]
mod keys;
mod service;
mod sha3;
#[cfg_attr(not(feature = "tee"), path = "no_tee.rs")]
mod tee;
mod words;

use hartlock_drivers::boot_sequencer::BootSequencer;
use hartlock_handoff::{Entry, LOG_ENTRY_SIZE, LogHeader, MAX_ROM_ENTRIES, Stage, Step};
use hartlock_image::Reason;
use hartlock_kernels::{Kernels, Tier};
use hartlock_rot::{BOOT_SEQUENCER, host};
use hartlock_stage::identity::linked;
use hartlock_stage::{Instant, RomLog, entry, measure, push, signature, start_log};

use bundle::Bundle;
use dma::LockedDma;
#[cfg(feature = "hash-based")]
use engines::KNOWN_LEN;
use engines::RotEngines;
use hartlock_maps::hartlock_soc as map;
use hartlock_verify::tree::Digest;
use hartlock_verify::{Verdict, authenticate};
use words::Words;

/// Maximum size in bytes of signed region and signature area. Both are kept in the scratchpad, which only the root of
/// trust can access.
const METADATA_SIZE: usize = 24 << 10;
static mut METADATA: Words<METADATA_SIZE> = Words([0; METADATA_SIZE]);

/// The surroundings of the root of trust. The methods that are given are those of a chip.
pub trait Environment {
    /// Prints a byte. A chip has no console: the boot sequencer holds the reason of a refusal, and the host's memory
    /// holds the log.
    fn put(_: u8) {}

    /// Runs when the host was released, before it is served.
    fn released() {}

    /// Tells the boot sequencer that the bundle is refused for this reason: the host stays in reset.
    fn refuse(sequencer: &mut BootSequencer, reason: Reason) {
        // The result does not matter: a host that was not released is in reset.
        let _ = sequencer.refuse(reason as u32);
    }

    /// Ends a boot that was refused: the hart stops until reset.
    fn refused() -> ! {
        service::halt()
    }
}

/// Verifies the boot bundle, then releases the host and serves it, or refuses.
pub fn run<E: Environment>() -> ! {
    let mut log = RomLog::new();
    let mut dma = LockedDma::take();
    let engines = RotEngines::take();
    let engines = &raw const engines;
    // SAFETY: this function does not return, so that the value stays as long as the program runs.
    let engines: &'static RotEngines = unsafe { &*engines };
    match boot::<E>(engines, dma.as_mut(), &mut log) {
        Ok(verified) => release::<E>(&verified, engines, dma.as_mut(), &mut log),
        Err(reason) => refuse::<E>(reason, engines, &mut log),
    }
}

/// The result of a successful verification.
struct Verified {
    /// Verdict after the first decision.
    verdict: Verdict,
    kernels: Kernels,
    /// Measurement of the monitor of a TEE.
    measurement: Option<Digest>,
}

/// Verifies the boot bundle.
fn boot<E: Environment>(
    engines: &'static RotEngines,
    dma: Option<&mut LockedDma>,
    log: &mut RomLog,
) -> Result<Verified, Reason> {
    let start = clock::now();
    console::line::<E>(&["\nhartlock: root of trust"]);
    let (acceptance, again) =
        (linked::requirements(&map::BOARD)?, linked::requirements_again(&map::BOARD)?);
    push(log, Entry { harts: 1, ..step(Step::Start, start) });
    let metadata = &raw mut METADATA;
    // SAFETY: this is the only user of the buffer.
    let Words(metadata) = unsafe { &mut *metadata };
    let mut kernels = Kernels::PORTABLE.join(engines);
    use_engines::<E>(&mut kernels, engines, metadata, log);
    let mut medium = Bundle::open(kernels, engines, dma, log);
    let signature_start = clock::now();
    let mut bundle = authenticate(&mut medium, &acceptance, &again, metadata)?;
    let digest = measure(&kernels, bundle.signed());
    let signature_step = step(Step::Signature, signature_start);
    medium.push(signature(&bundle, digest, 1, signature_step));
    bundle.load_payloads(&mut medium)?;
    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    medium.push(Entry { harts: 1, ..step(Step::Verdict, verdict_start) });
    Ok(Verified { verdict, kernels, measurement: medium.measurement() })
}

/// The second decision, the key of the slot, the endorsement of a monitor, then the release of the host.
fn release<E: Environment>(
    verified: &Verified,
    engines: &RotEngines,
    dma: Option<&mut LockedDma>,
    log: &mut RomLog,
) -> ! {
    let start = clock::now();
    let Verified { verdict, kernels, measurement } = verified;
    if !verdict.is_confirmed() {
        refuse::<E>(Reason::VerdictNotConfirmed, engines, log)
    }
    if !keys::fill_slot(engines) {
        console::line::<E>(&["hartlock: no key in the slot"]);
    }
    if let Err(reason) = tee::hand_over(*kernels, *measurement, console::line::<E>) {
        refuse::<E>(reason, engines, log)
    }
    let engine = engines.give_back_sha2();
    push(log, Entry { harts: 1, ..step(Step::Handover, start) });
    write_log::<E>(log);
    console::line::<E>(&["hartlock: verified, the host is released"]);
    // Redundant check directly before the release: a fault that skips the first check does not pass the second.
    if !verdict.is_confirmed() || sequencer().release().is_err() {
        refuse::<E>(Reason::VerdictNotConfirmed, engines, log)
    }
    E::released();
    match engine {
        Some(mut engine) => service::serve(&mut engine, dma),
        // The bundle was verified without the engine, so there is no service.
        None => service::halt(),
    }
}

/// Refuses to release the host. A register holds the reason, and a console shows it.
fn refuse<E: Environment>(reason: Reason, engines: &RotEngines, log: &mut RomLog) -> ! {
    tee::take_back();
    let _ = engines.give_back_sha2();
    push(log, Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    write_log::<E>(log);
    console::refusal::<E>(reason);
    E::refuse(&mut sequencer(), reason);
    E::refused()
}

/// Returns the driver of the boot sequencer, which holds the host in reset.
fn sequencer() -> BootSequencer {
    // SAFETY: the address is that of its registers. There is one hart without interrupts, and no caller keeps the
    // driver.
    unsafe { BootSequencer::new(core::ptr::with_exposed_provenance_mut(BOOT_SEQUENCER)) }
}

/// Uses the engines that give known answers; the log says so of the one for SHA-256 if it does not. `scratch` is for known answers,
/// in the scratchpad.
#[cfg_attr(not(feature = "hash-based"), expect(unused_variables, reason = "for one engine"))]
fn use_engines<E: Environment>(
    kernels: &mut Kernels,
    engines: &RotEngines,
    scratch: &mut [u8],
    log: &mut RomLog,
) {
    let start = clock::now();
    if kernels.use_sha256_engine().is_ok() {
        console::line::<E>(&["hartlock: sha256 by the engine"]);
    } else {
        console::line::<E>(&["hartlock: the engine is not used"]);
        // The host must not be served by it, either.
        let _ = engines.give_back_sha2();
        push(log, Entry { kernel: Tier::Engine as u32, harts: 1, ..step(Step::Kernel, start) });
    }
    #[cfg(feature = "hash-based")]
    {
        let scratch = scratch.get_mut(..KNOWN_LEN).unwrap_or_default();
        console::line::<E>(&[if kernels.use_hash_based_engine(scratch).is_ok() {
            "hartlock: hash-based signatures by the engine"
        } else {
            "hartlock: the engine for hash-based signatures is not used"
        }]);
    }
    #[cfg(all(feature = "bignum", any(feature = "ecdsa", feature = "rsa")))]
    console::line::<E>(&[if kernels.use_number_engine().is_ok() {
        "hartlock: big numbers by the engine"
    } else {
        "hartlock: the engine for big numbers is not used"
    }]);
    // Without this engine, SHA-3 is software.
    let _ = kernels.use_sha3_engine();
}

/// Returns a log entry for a step from `start` until now.
fn step(step: Step, start: Instant) -> Entry {
    entry(Stage::Rom, step, start, clock::now())
}

/// Writes the log to the host's memory, and prints it.
fn write_log<E: Environment>(entries: &RomLog) {
    // The buffer has space for a header, and for a refusal after all other entries.
    let Words(log) = &mut Words([0; (MAX_ROM_ENTRIES + 2) * LOG_ENTRY_SIZE]);
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: 1 };
    let _ = start_log(log, &header, entries);
    let len = entries.len().saturating_add(1).saturating_mul(LOG_ENTRY_SIZE);
    // The log is information and not part of the decision, so memory that fails must not change the decision.
    let _ = host::write(map::LOG.start, log.get(..len).unwrap_or_default());
    console::log::<E>(log, entries.len());
}
