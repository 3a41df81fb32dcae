//! The ROM of the root of trust (`hw/soc`): verifies the boot bundle that lies in the host's memory, with
//! the SHA-2 engine and the same `crates/verify` as every other stage, and lets the host go.
//!
//! The host is in reset until the boot sequencer releases it, once. Whatever goes wrong here leaves it there,
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
use hartlock_handoff::{Entry, Log as LogMemory, LogHeader, MAX_ROM_ENTRIES, Stage, Step};
use hartlock_image::{BundleType, HashId, List, Reason};
use hartlock_kernels::{Kernels, Tier};
use hartlock_rot::{BOOT_SEQUENCER, exit};
use hartlock_verify::board::soc;
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};
use hartlock_verify::{Acceptance, Verdict, authenticate};

use bundle::Bundle;
use clock::Instant;

/// Signed region and signature area: kept in the scratchpad, which only the root of trust reaches.
const METADATA_SIZE: usize = 24 << 10;
static mut METADATA: [u8; METADATA_SIZE] = [0; METADATA_SIZE];

/// What was measured so far.
type Log = List<Entry, MAX_ROM_ENTRIES>;

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    let mut log = Log::new();
    match boot(&mut log) {
        Ok(verdict) => release(&verdict, &mut log),
        Err(reason) => refuse(reason, &mut log),
    }
}

/// Verifies the boot bundle.
fn boot(log: &mut Log) -> Result<Verdict, Reason> {
    let start = clock::now();
    console::line(&["\nhartlock: root of trust"]);
    let (root, state) = identity::read()?;
    push(log, Entry { harts: 1, ..step(Step::Start, start) });
    let kernels = choose_kernels(log);
    let acceptance = Acceptance::of_device(
        BundleType::Boot,
        (root.trust, state.revoked_keys),
        (root.board, root.soc),
        state.boot_floor,
        state.lifecycle,
        &soc::BOARD,
    );
    let mut medium = Bundle::new(kernels, log);
    let signature_start = clock::now();
    let metadata = &raw mut METADATA;
    // SAFETY: this is its only user.
    let metadata = unsafe { &mut *metadata };
    let mut bundle = authenticate(&mut medium, &acceptance, metadata)?;
    medium.push(Entry {
        bytes: bundle.signed().len() as u64,
        digest: measure(&kernels, bundle.signed()),
        hash: Some(HashId::Sha384),
        harts: 1,
        value: bundle.manifest().security_version,
        ..step(Step::Signature, signature_start)
    });
    bundle.load_payloads(&mut medium)?;
    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    push(log, Entry { harts: 1, ..step(Step::Verdict, verdict_start) });
    Ok(verdict)
}

/// The second decision, then the release of the host.
fn release(verdict: &Verdict, log: &mut Log) -> ! {
    let start = clock::now();
    if !verdict.is_confirmed() {
        refuse(Reason::VerdictNotConfirmed, log)
    }
    let engine = engine::give_back();
    push(log, Entry { harts: 1, ..step(Step::Handover, start) });
    write_log(log);
    console::line(&["hartlock: verified, the host is released"]);
    // Once more, directly before: what skips the first question does not answer the second.
    if !verdict.is_confirmed() || sequencer().release().is_err() {
        refuse(Reason::VerdictNotConfirmed, log)
    }
    if cfg!(feature = "alone") {
        exit(0)
    }
    match engine {
        Some(mut engine) => service::serve(&mut engine),
        // It verified without its engine, and has nothing to offer.
        None => service::halt(),
    }
}

/// The host runs nothing of what was refused, and whoever looks finds out why.
fn refuse(reason: Reason, log: &mut Log) -> ! {
    let _ = engine::give_back();
    push(log, Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    write_log(log);
    console::refusal(reason);
    // What it answers changes nothing here: a host that nobody released is in reset.
    let _ = if cfg!(feature = "trap-on-refusal") {
        sequencer().trap(reason as u32)
    } else {
        sequencer().refuse(reason as u32)
    };
    exit(1)
}

/// What holds the host.
fn sequencer() -> BootSequencer {
    // SAFETY: its registers. There is one hart without interrupts, and nobody keeps what this returns.
    unsafe { BootSequencer::new(core::ptr::with_exposed_provenance_mut(BOOT_SEQUENCER)) }
}

/// The engine for SHA-256 if it works; the log says so if not.
fn choose_kernels(log: &mut Log) -> Kernels {
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

fn measure(kernels: &Kernels, signed: &[u8]) -> [u8; 48] {
    let mut hash = SoftwareHasher::with(HashId::Sha384, kernels);
    hash.update(signed);
    tree::first_48(&hash.finalize())
}

/// An entry from `start` to now.
fn step(step: Step, start: Instant) -> Entry {
    let end = clock::now();
    Entry {
        time: (start.time, end.time),
        instret: (start.instret, end.instret),
        ..Entry::new(Stage::Rom, step)
    }
}

/// A full log drops entries: three payloads need ten of its places.
fn push(log: &mut Log, entry: Entry) {
    let _ = log.push(entry);
}

/// Leaves the log to the host, and on the console of the bench.
fn write_log(entries: &Log) {
    // SAFETY: set aside for this; the host does not run, or will only run later.
    let region = unsafe { memory::bytes_mut(soc::LOG) };
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: 1 };
    let mut log = LogMemory::start(region.get_mut(..4096).unwrap_or_default(), &header);
    for entry in entries.iter() {
        log.push(entry);
    }
    console::log(region, entries.len());
}
