//! The loader (`spec/boot-flow.md` §5, §6) verifies the system bundle on all harts and starts Linux.
//!
//! The loader runs in S-mode. It takes its trust only from the hand-off block. Of the device tree that OpenSBI passes it
//! uses nothing, and refuses one with a device in memory that the board closes.
//!
//! A program that uses this library defines `loader_main`, which start.S calls on the boot hart, and `worker_main`,
//! which it calls on the other harts, and is linked with `link.ld`.

#![no_std]
#![cfg(target_arch = "riscv64")]

mod decryption;
pub mod disk;
pub mod harts;
pub mod log;
mod protection;
pub mod refusal;
mod timeouts;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_handoff::fdt::{self, Edits, Reservation, Tree};
use hartlock_handoff::memory::{self as places, Filled};
use hartlock_handoff::{Entry, Handoff, Log, LogHeader, Step, bootargs, cpus, payload};
use hartlock_image::{
    BundleType, Identity, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, Manifest, PayloadRecord,
    PayloadType, Reason,
};
use hartlock_stage::{measure, signature};
use hartlock_verify::board::{BOOT_HART, Region};
use hartlock_verify::{Acceptance, Statement, Verdict, authenticate};
use hartlock_virt::board::map;
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::environment::{self, CSR};
use hartlock_virt::{console, dma, machine, memory};

use disk::{Disk, Reading};
use harts::Harts;
use log::step;

global_asm!(
    include_str!("start.S"),
    handoff = const map::HANDOFF.start,
    clint = const hartlock_virt::board::CLINT,
    is_alone = const environment::IS_ALONE as u32,
    ram = const map::RAM.start,
    loader = const map::LOADER.start,
    devices = const hartlock_virt::board::LAST_DEVICE,
    ie = const CSR.ie,
    scratch = const CSR.scratch,
    tvec = const CSR.tvec,
    cause = const CSR.cause,
    epc = const CSR.epc,
    tval = const CSR.tval,
);

// The page tables of start.S rely on this: RAM lies in one gigabyte, and the loader occupies one 2 MiB page of it.
const _: () = assert!(
    map::RAM.start.is_multiple_of(1 << 30)
        && map::RAM.size() <= 1 << 30
        && map::LOADER.start.is_multiple_of(2 << 20)
        && map::LOADER.size() == 2 << 20
);

unsafe extern "C" {
    /// Leaves the loader and enters the kernel (start.S).
    ///
    /// # Safety
    /// A kernel is at `entry`, no other hart runs, and no device writes to memory.
    pub fn enter_kernel(hart: usize, fdt: usize, entry: usize) -> !;
}

/// The buffer holds the largest possible metadata, so that the metadata of no bundle exceeds it.
const _: () = assert!(map::METADATA.size() >= (MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE) as u64);

/// The list of supported algorithms, which the signing tool reads from the image (boot flow §5.5).
#[used]
#[unsafe(link_section = ".carries")]
static CARRIES: Statement = Statement::of(Statement::LOADER);

/// The verdict and the entry address of the kernel, after every check has passed.
struct Ready {
    verdict: Verdict,
    entry: u64,
}

/// State of a boot after its first step.
pub struct Begun {
    hart: usize,
    start: Instant,
    log: &'static mut Log<'static>,
    /// Hand-off block of the ROM.
    pub handoff: Handoff,
}

/// Begins a boot on this hart: opens the log and reads the hand-off block, or refuses.
pub fn begin(hart: usize) -> Begun {
    refusal::set_boot_hart(hart);
    let start = clock::now();
    console::line(&["\nhartlock: loader"]);
    // SAFETY: this is the only user of the log region until Linux reads it.
    let region = unsafe { memory::bytes_mut(map::LOG) };
    let handoff = read_handoff();
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
    Begun { hart, start, log, handoff }
}

/// Runs the rest of the loader. `harts` is the mask of the harts that hash; `metadata` receives everything before the
/// payloads.
pub fn run<R: Reading>(begun: Begun, harts: u64, metadata: &mut [u8]) -> ! {
    let Begun { hart, start, log, handoff } = begun;
    let harts = refusal::keep_harts(Harts::new(hart, harts));
    match boot::<R>(&handoff, harts, log, start, metadata) {
        Ok(ready) => leave(&ready, hart, harts, log),
        Err(reason) => refusal::refuse(reason, log, Some(harts)),
    }
}

/// Reads the hand-off block.
#[inline(never)]
fn read_handoff() -> Result<Handoff, Reason> {
    // SAFETY: the ROM wrote the block, S-mode cannot write it, and no device or other code does.
    Handoff::parse(black_box(unsafe { memory::bytes(map::HANDOFF) }))
}

/// Returns the requirements of this device for a system bundle.
#[inline(never)]
fn requirements(handoff: &Handoff) -> Acceptance<'static> {
    Acceptance::of_device(
        BundleType::System,
        (handoff.trust, 0),
        Identity { board: handoff.board, soc: handoff.soc },
        (handoff.system_floor, Some(handoff.boot_version)),
        handoff.lifecycle,
        &map::BOARD,
    )
}

/// Verifies the system bundle and prepares the device tree for Linux. When the function returns `Ok`, all harts except
/// this one are STOPPED and the disk is reset.
fn boot<R: Reading>(
    handoff: &Handoff,
    harts: &mut Harts,
    log: &mut Log<'_>,
    start: Instant,
    metadata: &mut [u8],
) -> Result<Ready, Reason> {
    let acceptance = requirements(handoff);
    // The hand-off block is read a second time, so that one skipped instruction cannot lower a floor.
    let again = requirements(&read_handoff()?);
    let kernels = harts::choose_on_boot_hart(harts.boot_hart());
    if R::TRIES_ON_BOOT_HART {
        protection::check(harts.boot_hart())?;
    }
    let mut disk = Disk::<R>::open(kernels, harts, log)?;
    disk.log.push(&Entry { harts: disk.harts.own_bit(), ..step(Step::Start, start) });

    let signature_start = clock::now();
    let mut bundle = authenticate(&mut disk, &acceptance, &again, metadata)?;
    let digest = measure(&kernels, bundle.signed());
    let signature_step = step(Step::Signature, signature_start);
    disk.log.push(&signature(&bundle, digest, disk.harts.own_bit(), signature_step));
    decryption::prepare(bundle.manifest())?;

    let harts_start = clock::now();
    disk.harts.start()?;
    disk.log.push(&Entry {
        harts: disk.harts.running(),
        value: all_harts() & !disk.harts.running(),
        ..step(Step::HartsStart, harts_start)
    });
    for entry in harts::rejections(disk.harts.boot_hart(), disk.harts.running()) {
        disk.log.push(&entry);
    }
    bundle.load_payloads(&mut disk)?;
    R::close(disk)?;

    let stop_start = clock::now();
    harts.stop()?;
    decryption::forget_keys();
    log.push(&Entry { harts: harts.present(), ..step(Step::HartsStop, stop_start) });

    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    log.push(&Entry { harts: harts.own_bit(), ..step(Step::Verdict, verdict_start) });

    decryption::confirm(bundle.manifest())?;
    judge_payloads(bundle.manifest())?;
    write_fdt(bundle.manifest(), handoff.harts)?;
    let kernel = bundle.manifest().payload(PayloadType::Kernel).ok_or(Reason::InternalLimit)?;
    Ok(Ready { verdict, entry: kernel.entry })
}

/// Takes the second decision and enters Linux.
fn leave(ready: &Ready, hart: usize, harts: &mut Harts, log: &mut Log<'_>) -> ! {
    let start = clock::now();
    if !ready.verdict.is_confirmed() {
        refusal::refuse(Reason::VerdictNotConfirmed, log, Some(harts))
    }
    console::line(&["hartlock: loader verified the system bundle, entering Linux"]);
    log.push(&Entry { harts: harts.own_bit(), ..step(Step::Handover, start) });
    // Until here the disk can reach its buffers alone. From here on a disk that ignores its reset could write to
    // payloads, therefore this is the last step.
    if let Err(reason) = dma::open_system() {
        refusal::refuse(reason, log, Some(harts))
    }
    refusal::clear_boot_hart();
    if environment::IS_ALONE {
        // This machine only measures the boot up to the entry into Linux; its storage contains no kernel that could
        // run.
        log::print();
        machine::end(0)
    }
    // SAFETY: the kernel was verified in place, no other hart runs, and no device writes to memory.
    unsafe { enter_kernel(hart, map::LINUX_FDT.start as usize, ready.entry as usize) }
}

/// Returns the bytes of a payload.
fn bytes_of(payload: &PayloadRecord) -> &'static [u8] {
    // SAFETY: the range is a verified payload that nothing writes to.
    unsafe { memory::bytes(Region::new(payload.load_address, payload.size)) }
}

/// Refuses a kernel, an initramfs or a command line with which Linux would end without a word, or without the initramfs
/// of the bundle (boot flow §5.8).
///
/// # Errors
/// `PayloadUnusable`, after the console names the fault.
fn judge_payloads(manifest: &Manifest<'_>) -> Result<(), Reason> {
    let found = |payload_type| manifest.payload(payload_type).map_or(&[][..], bytes_of);
    let memory_size = manifest.payload(PayloadType::Kernel).map_or(0, |it| it.memory_size);
    let [kernel, initramfs] = [PayloadType::Kernel, PayloadType::Initramfs].map(found);
    let bootargs = manifest.bootargs().unwrap_or_default();
    payload::judge_linux(kernel, memory_size, initramfs, bootargs).map_err(|fault| {
        console::line(&["hartlock: ", fault.text()]);
        Reason::PayloadUnusable
    })
}

/// Writes the device tree for Linux, derived from the signed one (boot flow §6), and compares its memory with the places
/// of kernel and initramfs, and its boot hart with what Linux needs. `harts` is the mask of the harts that reported.
///
/// # Errors
/// `InternalLimit`; `DeviceTreeUnusable`, after the console names the rule.
pub fn write_fdt(manifest: &Manifest<'_>, harts: u64) -> Result<(), Reason> {
    let signed = manifest.payload(PayloadType::SystemFdt).ok_or(Reason::InternalLimit)?;
    let source = bytes_of(signed);
    // SAFETY: the region is reserved for this tree, and no payload overlaps it.
    let out = unsafe { memory::bytes_mut(map::LINUX_FDT) };
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
            reserve("hartlock-opensbi", map::OPENSBI, None),
            reserve("hartlock-rom", map::ROM_RAM, None),
            reserve("hartlock-handoff", map::HANDOFF, Some("hartlock,handoff-v1")),
            reserve("hartlock-log", map::LOG, Some("hartlock,measurement-log-v1")),
        ],
        harts,
        boot_hart: u64::from(BOOT_HART),
    };
    let refuse = |text| {
        console::line(&["hartlock: device tree: ", text]);
        Reason::DeviceTreeUnusable
    };
    fdt::edit(source, out, &edits).map_err(|fault| refuse(fault.rule.text()))?;
    let tree = Tree::parse(source).ok_or(Reason::DeviceTreeUnusable)?;
    let filled = [PayloadType::Kernel, PayloadType::Initramfs]
        .map(|it| manifest.payload(it).map_or(Filled::NOTHING, Filled::by));
    let limit = bootargs::memory_limit(edits.bootargs.as_bytes());
    places::check(&tree, &filled, limit).map_err(|fault| refuse(fault.text()))?;
    cpus::check(&tree, u64::from(BOOT_HART)).map_err(|fault| refuse(fault.text()))
}

/// Returns the mask of all harts that the board may have.
const fn all_harts() -> u64 {
    (1 << map::BOARD.hart_count) - 1
}
