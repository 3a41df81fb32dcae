//! The loader (`spec/boot-flow.md` §5, §6): verifies the system bundle on all harts and starts
//! Linux.
//!
//! S-mode. Its trust comes from the hand-off block alone; it never looks at the device tree that
//! OpenSBI passes.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]
#![cfg_attr(feature = "inject-unverified", allow(dead_code, reason = "most of it is not used"))]

mod device;
mod disk;
mod harts;
mod inject;
mod refusal;
#[cfg(feature = "inject-unverified")]
mod unverified;

use core::arch::global_asm;

use hartlock_handoff::fdt::{self, Edits, Reservation};
use hartlock_handoff::{Entry, Handoff, LOG_ENTRY_SIZE, Log, LogHeader, Stage, Step};
use hartlock_image::{
    BundleType, HashId, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, Manifest, PayloadType, Reason, u32_at,
};
use hartlock_kernels::Kernels;
use hartlock_verify::board::{Region, qemu_virt};
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};
use hartlock_verify::{Acceptance, Verdict, authenticate};
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::console::Number;
use hartlock_virt::environment::{self, CSR};
use hartlock_virt::{console, machine, memory};

use disk::Disk;
use harts::Harts;

global_asm!(
    include_str!("start.S"),
    is_alone = const environment::IS_ALONE as u32,
    ie = const CSR.ie,
    scratch = const CSR.scratch,
    tvec = const CSR.tvec,
    cause = const CSR.cause,
    epc = const CSR.epc,
    tval = const CSR.tval,
);

unsafe extern "C" {
    /// Leaves the loader (start.S).
    fn enter_kernel(hart: usize, fdt: usize, entry: usize) -> !;
}

/// No bundle is larger in front of its payloads, so none reaches the end of the buffer.
const _: () = assert!(qemu_virt::METADATA.size() >= (MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE) as u64);

/// Where a log says how many entries it has (boot flow §3.5).
const LOG_COUNT_AT: usize = 16;

/// Where the kernel is entered, after everything that could be refused was not.
struct Ready {
    verdict: Verdict,
    entry: u64,
}

#[cfg_attr(not(feature = "inject-unverified"), unsafe(no_mangle))]
extern "C" fn loader_main(hart: usize) -> ! {
    refusal::set_boot_hart(hart);
    let start = clock::now();
    console::line(&["\nhartlock: loader"]);
    // SAFETY: this is the only user of the log region until Linux reads it.
    let region = unsafe { memory::bytes_mut(qemu_virt::LOG) };
    // SAFETY: the ROM wrote the block, S-mode cannot, and nobody else does.
    let handoff = Handoff::parse(unsafe { memory::bytes(qemu_virt::HANDOFF) });
    let generation = handoff.as_ref().map_or(0, |handoff| handoff.generation);
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation };
    let log = refusal::keep_log(Log::start(region, &header));
    let handoff = match handoff {
        Ok(handoff) if handoff.boot_hart == hart as u64 => handoff,
        Ok(_) => refusal::refuse(Reason::WrongBootHart, log, None),
        Err(reason) => refusal::refuse(reason, log, None),
    };
    for entry in handoff.log.iter() {
        log.push(entry);
    }
    let harts = refusal::keep_harts(Harts::new(hart, handoff.harts));
    match boot(&handoff, harts, log, start) {
        Ok(ready) => leave(&ready, hart, harts, log),
        Err(reason) => refusal::refuse(reason, log, Some(harts)),
    }
}

/// Verifies the system bundle and prepares Linux's device tree. All harts but this one are
/// STOPPED and the disk is reset when it returns `Ok`.
fn boot(
    handoff: &Handoff,
    harts: &mut Harts,
    log: &mut Log<'_>,
    start: Instant,
) -> Result<Ready, Reason> {
    let acceptance = Acceptance::of_device(
        BundleType::System,
        (handoff.trust, 0),
        (handoff.board, handoff.soc),
        handoff.system_floor,
        handoff.lifecycle,
        &qemu_virt::BOARD,
    );
    let kernels = harts::choose_on_boot_hart(harts.boot_hart());
    let mut disk = Disk::open(kernels, harts, log)?;
    disk.log.push(&Entry { harts: disk.harts.own_bit(), ..step(Step::Start, start) });

    let signature_start = clock::now();
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    let metadata = inject::metadata(unsafe { memory::bytes_mut(qemu_virt::METADATA) });
    let mut bundle = authenticate(&mut disk, &acceptance, metadata)?;
    disk.log.push(&Entry {
        bytes: bundle.signed().len() as u64,
        digest: measure(&kernels, bundle.signed()),
        hash: Some(HashId::Sha384),
        harts: disk.harts.own_bit(),
        value: bundle.manifest().security_version,
        ..step(Step::Signature, signature_start)
    });

    let harts_start = clock::now();
    disk.harts.start()?;
    disk.log.push(&Entry {
        harts: disk.harts.running(),
        value: qemu_virt_harts() & !disk.harts.running(),
        ..step(Step::HartsStart, harts_start)
    });
    for entry in harts::rejections(disk.harts.boot_hart(), disk.harts.running()) {
        disk.log.push(&entry);
    }
    bundle.load_payloads(&mut disk)?;
    // Resets the device: nothing changes between the digests and the verdict.
    drop(disk);

    let stop_start = clock::now();
    harts.stop()?;
    log.push(&Entry { harts: harts.present(), ..step(Step::HartsStop, stop_start) });

    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    log.push(&Entry { harts: harts.own_bit(), ..step(Step::Verdict, verdict_start) });

    write_fdt(bundle.manifest(), handoff.harts)?;
    let kernel = bundle.manifest().payload(PayloadType::Kernel).ok_or(Reason::InternalLimit)?;
    Ok(Ready { verdict, entry: kernel.entry })
}

/// The second decision, then Linux.
fn leave(ready: &Ready, hart: usize, harts: &mut Harts, log: &mut Log<'_>) -> ! {
    let start = clock::now();
    if !ready.verdict.is_confirmed() {
        refusal::refuse(Reason::VerdictNotConfirmed, log, Some(harts))
    }
    console::line(&["hartlock: loader verified the system bundle, entering Linux"]);
    log.push(&Entry { harts: harts.own_bit(), ..step(Step::Handover, start) });
    refusal::clear_boot_hart();
    if environment::IS_ALONE {
        // The machine is there to measure the way to Linux; its storage holds no kernel that could run.
        print_log();
        machine::end(0)
    }
    // SAFETY: the kernel was verified where it stands, no other hart runs, no device writes.
    unsafe { enter_kernel(hart, qemu_virt::LINUX_FDT.start as usize, ready.entry as usize) }
}

/// Prints the measurement log where nobody comes later who could read it: a line `log <hexadecimal>`
/// for its header and for each entry.
fn print_log() {
    // SAFETY: its writer has written its last entry.
    let log = unsafe { memory::bytes(qemu_virt::LOG) };
    let count = u32_at(log, LOG_COUNT_AT).unwrap_or(0) as usize;
    for record in log.as_chunks::<LOG_ENTRY_SIZE>().0.iter().take(count.saturating_add(1)) {
        console::print("log ");
        for byte in record {
            let digits = [byte >> 4, byte & 15].map(|digit| Number::hex(digit.into()));
            digits.iter().for_each(|digit| console::print(digit.as_str()));
        }
        console::print("\n");
    }
}

/// Makes Linux's device tree out of the signed one (boot flow §6). `harts` are those that reported.
fn write_fdt(manifest: &Manifest<'_>, harts: u64) -> Result<(), Reason> {
    let signed = manifest.payload(PayloadType::SystemFdt).ok_or(Reason::InternalLimit)?;
    // SAFETY: a verified payload that nobody writes to.
    let source = unsafe { memory::bytes(Region::new(signed.load_address, signed.size)) };
    // SAFETY: set aside for this, and no payload shares a byte with it.
    let out = unsafe { memory::bytes_mut(qemu_virt::LINUX_FDT) };
    let reserve = |name, region: Region, compatible| Reservation {
        name,
        address: region.start,
        size: region.size(),
        compatible,
    };
    let initrd = manifest
        .payload(PayloadType::Initramfs)
        .filter(|initramfs| initramfs.size > 0)
        .map(|initramfs| {
            let start = initramfs.load_address;
            (start, start.saturating_add(initramfs.size))
        });
    let edits = Edits {
        bootargs: manifest.bootargs().ok_or(Reason::InternalLimit)?,
        initrd,
        reservations: &[
            reserve("hartlock-opensbi", qemu_virt::OPENSBI, None),
            reserve("hartlock-rom", qemu_virt::ROM_RAM, None),
            reserve("hartlock-handoff", qemu_virt::HANDOFF, Some("hartlock,handoff-v1")),
            reserve("hartlock-log", qemu_virt::LOG, Some("hartlock,measurement-log-v1")),
        ],
        harts,
    };
    fdt::edit(source, out, &edits).map(|_| ())
}

fn measure(kernels: &Kernels, signed: &[u8]) -> [u8; 48] {
    let mut hash = SoftwareHasher::with(HashId::Sha384, kernels);
    hash.update(signed);
    tree::first_48(&hash.finalize())
}

/// Every hart that the board may have.
const fn qemu_virt_harts() -> u64 {
    (1 << qemu_virt::BOARD.hart_count) - 1
}

/// An entry of the loader from `start` to now.
pub(crate) fn step(step: Step, start: Instant) -> Entry {
    let end = clock::now();
    Entry {
        time: (start.time, end.time),
        instret: (start.instret, end.instret),
        ..Entry::new(Stage::Loader, step)
    }
}
