//! The ROM of the root of trust (`hw/soc`): verifies the boot bundle in the host's memory, with
//! the SHA-2 engine and the same `crates/verify` as every other stage, and releases the host.
//!
//! The host is in reset until the boot sequencer releases it, once. Every failure here leaves it in reset,
//! with the reason in a register and on the console.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

mod bundle;
mod clock;
mod console;
mod engine;
mod identity;
mod memory;
mod service;

use hartlock_drivers::boot_sequencer::BootSequencer;
use hartlock_handoff::{Entry, LogHeader, Stage, Step};
use hartlock_image::{BundleType, Identity, Reason};
use hartlock_kernels::{Kernels, Tier};
use hartlock_rot::{BOOT_SEQUENCER, exit};
use hartlock_stage::{Instant, RomLog, entry, measure, push, signature, start_log};

use hartlock_verify::board::hartlock_soc as map;
use hartlock_verify::{Acceptance, Verdict, authenticate};

/// Signed region and signature area: kept in the scratchpad, which only the root of trust reaches.
const METADATA_SIZE: usize = 24 << 10;
static mut METADATA: [u8; METADATA_SIZE] = [0; METADATA_SIZE];

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    let mut log = RomLog::new();
    match boot(&mut log) {
        Ok(verdict) => release(&verdict, &mut log),
        Err(reason) => refuse(reason, &mut log),
    }
}

/// Verifies the boot bundle.
fn boot(log: &mut RomLog) -> Result<Verdict, Reason> {
    let start = clock::now();
    console::line(&["\nhartlock: root of trust"]);
    let (root, state) = identity::read()?;
    push(log, Entry { harts: 1, ..step(Step::Start, start) });
    let kernels = choose_kernels(log);
    let acceptance = Acceptance::of_device(
        BundleType::Boot,
        (root.trust, state.revoked_keys),
        Identity { board: root.board, soc: root.soc },
        (state.boot_floor, None),
        state.lifecycle,
        &map::BOARD,
    );
    let mut medium = bundle::open(kernels, log);
    let signature_start = clock::now();
    let metadata = &raw mut METADATA;
    // SAFETY: this is its only user.
    let metadata = unsafe { &mut *metadata };
    let mut bundle = authenticate(&mut medium, &acceptance, metadata)?;
    let digest = measure(&kernels, bundle.signed());
    let signature_step = step(Step::Signature, signature_start);
    medium.push(signature(&bundle, digest, 1, signature_step));
    bundle.load_payloads(&mut medium)?;
    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    push(log, Entry { harts: 1, ..step(Step::Verdict, verdict_start) });
    Ok(verdict)
}

/// The second decision, then the release of the host.
fn release(verdict: &Verdict, log: &mut RomLog) -> ! {
    let start = clock::now();
    if !verdict.is_confirmed() {
        refuse(Reason::VerdictNotConfirmed, log)
    }
    let engine = engine::give_back();
    push(log, Entry { harts: 1, ..step(Step::Handover, start) });
    write_log(log);
    console::line(&["hartlock: verified, the host is released"]);
    // Redundant check directly before the release: a fault that skips the first one does not pass the second.
    if !verdict.is_confirmed() || sequencer().release().is_err() {
        refuse(Reason::VerdictNotConfirmed, log)
    }
    if cfg!(feature = "alone") {
        exit(0)
    }
    match engine {
        Some(mut engine) => service::serve(&mut engine),
        // It verified without its engine, and has no service to offer.
        None => service::halt(),
    }
}

/// The host runs nothing of what was refused. A register and the console hold the reason.
fn refuse(reason: Reason, log: &mut RomLog) -> ! {
    let _ = engine::give_back();
    push(log, Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    write_log(log);
    console::refusal(reason);
    // Its result changes nothing here: a host that was not released is in reset.
    let _ = if cfg!(feature = "trap-on-refusal") {
        sequencer().trap(reason as u32)
    } else {
        sequencer().refuse(reason as u32)
    };
    exit(1)
}

/// The sequencer, which holds the host in reset.
fn sequencer() -> BootSequencer {
    // SAFETY: its registers. There is one hart without interrupts, and no caller keeps what this returns.
    unsafe { BootSequencer::new(core::ptr::with_exposed_provenance_mut(BOOT_SEQUENCER)) }
}

/// The engine for SHA-256 if it works; the log says so if not.
fn choose_kernels(log: &mut RomLog) -> Kernels {
    let start = clock::now();
    match engine::take(Kernels::PORTABLE) {
        Ok(kernels) => {
            console::line(&["hartlock: sha256 by the engine"]);
            kernels
        }
        Err(_) => {
            console::line(&["hartlock: the engine is not used"]);
            push(log, Entry { kernel: Tier::Engine as u32, harts: 1, ..step(Step::Kernel, start) });
            Kernels::PORTABLE
        }
    }
}

/// An entry from `start` to now.
fn step(step: Step, start: Instant) -> Entry {
    entry(Stage::Rom, step, start, clock::now())
}

/// Leaves the log to the host, and on the console of the bench.
fn write_log(entries: &RomLog) {
    // SAFETY: set aside for this; the host does not run, or will only run later.
    let region = unsafe { memory::bytes_mut(map::LOG) };
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: 1 };
    let _ = start_log(region.get_mut(..4096).unwrap_or_default(), &header, entries);
    console::log(region, entries.len());
}
