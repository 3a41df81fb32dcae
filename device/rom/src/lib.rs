//! The ROM (`spec/boot-flow.md` §4) verifies the boot bundle and starts OpenSBI.
//!
//! The ROM runs in M-mode from read-only flash. It never writes to flash, and it reads the bundle once.
//!
//! A program that uses this library defines `rom_main`, which start.S calls on the boot hart, and is linked with
//! `link.ld`.

#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod harts;
pub mod medium;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_handoff::fdt::Tree;
use hartlock_handoff::payload_keys;
use hartlock_handoff::{
    Entry, HANDOFF_SIZE, Handoff, LogHeader, RootOfTrust, Stage, StateRecord, Step, payload,
};
use hartlock_image::{
    BundleType, Identity, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, Manifest, PayloadType, Reason,
    TrustList,
};
use hartlock_kernels::Kernels;
use hartlock_kernels::secret::{confined, wipe};
use hartlock_stage::{RomLog, entry, measure, push, signature, start_log};
use hartlock_verify::board::Region;
use hartlock_verify::{Acceptance, Authenticated, Statement, Verdict, authenticate};
use hartlock_virt::board::map;
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::kernels::{self, PrivilegeMode};
use hartlock_virt::{console, dma, hart, memory};

global_asm!(
    include_str!("start.S"),
    release = const hartlock_virt::clint::RELEASE,
    clint = const hartlock_virt::board::CLINT,
    ram_start = const map::ROM_RAM.start,
    ram_end = const map::ROM_RAM.end,
    opensbi = const map::OPENSBI.start,
    opensbi_end = const map::OPENSBI.end,
    loader = const map::LOADER.start,
    loader_end = const map::LOADER.end,
    boot_fdt = const map::BOOT_FDT.start,
    boot_fdt_end = const map::BOOT_FDT.end,
    dynamic_info = const map::ROM_RAM.start,
    metadata_start = const map::METADATA.start,
    metadata_end = const map::METADATA.end,
    payload_keys = const map::PAYLOAD_KEYS.start,
    payload_keys_end = const map::PAYLOAD_KEYS.end,
    // This is a naturally aligned power-of-two region (NAPOT): one number holds its address and its size.
    rom_code = const (map::ROM_CODE.start >> 2) | ((map::ROM_CODE.size() >> 3) - 1),
);

const _: () = assert!(
    map::ROM_CODE.size().is_power_of_two()
        && map::ROM_CODE.start.is_multiple_of(map::ROM_CODE.size())
);

unsafe extern "C" {
    /// Zeroes ROM RAM and the metadata buffer and enters OpenSBI (start.S).
    ///
    /// # Safety
    /// OpenSBI and the data that it reads are in place.
    pub fn rom_handover() -> !;
}

/// The list of supported algorithms, which tools read from the image (boot flow §5.5).
#[used]
#[unsafe(link_section = ".carries")]
static CARRIES: Statement = Statement::of(Statement::ROM);

/// Number of the hart that verifies.
pub const BOOT_HART: u64 = 0;

/// The structure that OpenSBI's fw_dynamic reads (boot flow §3.3).
#[derive(PartialEq)]
#[repr(C)]
struct DynamicInfo {
    magic: u64,
    version: u64,
    next_addr: u64,
    next_mode: u64,
    options: u64,
    boot_hart: u64,
}

/// The buffer holds the largest possible metadata, so that the metadata of no bundle exceeds it.
const _: () = assert!(map::METADATA.size() >= (MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE) as u64);

/// Runs the whole ROM after the flash was put into read mode ([`medium::reset_flash`]). `metadata` receives everything
/// before the payloads.
pub fn run(metadata: &mut [u8]) -> ! {
    let mut log = RomLog::new();
    match boot(metadata, &mut log) {
        Ok((verdict, harts)) => leave(&verdict, harts, &mut log),
        Err(reason) => refuse(reason, &log),
    }
}

/// Verifies the boot bundle and prepares everything that the next stages read. Also returns the mask of the harts that
/// reported.
fn boot(metadata: &mut [u8], log: &mut RomLog) -> Result<(Verdict, u64), Reason> {
    let start = clock::now();
    console::line(&["\nhartlock: ROM"]);
    dma::close()?;
    let reported = harts::count();

    // SAFETY: the region is read-only flash of this board.
    let block = unsafe { memory::bytes(map::ROOT_OF_TRUST) };
    let [first, second] = map::STATE_COPIES.map(|copy| {
        // SAFETY: the copy is in flash of this board, in read-array mode; nothing writes to it while the ROM runs.
        unsafe { memory::bytes(copy) }
    });
    let (trust, identity, state) = confined(|| read_state(block, first, second))?;
    let acceptance = requirements(&trust, &identity, &state);
    // The state is read a second time with swapped copies, so that one skipped instruction cannot restore an old floor.
    let (_, _, state_again) = confined(|| read_state(block, second, first))?;
    let (trust_again, identity_again) =
        RootOfTrust::requirements(block).ok_or(Reason::RootOfTrustInvalid)?;
    let again = requirements(&trust_again, &identity_again, &state_again);
    if state_again != state {
        return Err(Reason::CounterStoreInvalid);
    }
    push(log, Entry { harts: reported, ..step(Step::Start, start) });
    let kernels = choose_kernels(log);

    let mut flash = medium::open(kernels, log);
    let signature_start = clock::now();
    let mut bundle = authenticate(&mut flash, &acceptance, &again, metadata)?;
    let boot_digest = measure(&kernels, bundle.signed());
    let signature_step = step(Step::Signature, signature_start);
    flash.push(signature(&bundle, boot_digest, 1 << BOOT_HART, signature_step));
    bundle.load_payloads(&mut flash)?;

    let verdict_start = clock::now();
    let verdict = bundle.conclude()?;
    push(log, Entry { harts: 1 << BOOT_HART, ..step(Step::Verdict, verdict_start) });
    judge_payloads(bundle.manifest())?;
    confined(|| write_payload_keys(block))?;

    let found = Found { generation: generation(), harts: reported, boot_digest };
    let written = write_handoff(&bundle, &identity, &state, &found, log)?;
    // The hand-off block is written a second time, from the second reading, so that one skipped instruction cannot give
    // the loader a lower floor.
    if write_handoff(&bundle, &identity_again, &state_again, &found, log)? != written {
        return Err(Reason::VerdictNotConfirmed);
    }
    write_dynamic_info();
    if !has_dynamic_info() {
        return Err(Reason::VerdictNotConfirmed);
    }
    dma::guard()?;
    Ok((verdict, reported))
}

/// Refuses an OpenSBI that would not enter the loader, and a device tree that OpenSBI cannot read. No later stage could
/// report them (boot flow §5.8).
fn judge_payloads(manifest: &Manifest<'_>) -> Result<(), Reason> {
    let found = |payload_type| {
        manifest.payload(payload_type).map_or(&[][..], |payload| {
            // SAFETY: the range is a verified payload that nothing writes to.
            unsafe { memory::bytes(Region::new(payload.load_address, payload.size)) }
        })
    };
    payload::judge_opensbi(found(PayloadType::Opensbi)).map_err(|fault| {
        console::line(&["hartlock: OpenSBI: ", fault.text()]);
        Reason::PayloadUnusable
    })?;
    Tree::whole(found(PayloadType::BootFdt)).map(|_| ()).ok_or(Reason::DeviceTreeUnusable)
}

/// Reads keys, names and state of this device. The secrets that this takes stay below the frame of the caller.
fn read_state(
    block: &[u8],
    first: &[u8],
    second: &[u8],
) -> Result<(TrustList, Identity, StateRecord), Reason> {
    let root = RootOfTrust::parse(block)?;
    let (state, _) = StateRecord::choose(first, second, &root.state_key())?;
    Ok((root.trust, Identity { board: root.board, soc: root.soc }, state))
}

/// Writes the payload-key page, which the loader reads and overwrites (boot flow §3.6).
fn write_payload_keys(block: &[u8]) -> Result<(), Reason> {
    let key = RootOfTrust::parse(block)?.payload_key();
    // SAFETY: the store is in flash of this board, in read-array mode; nothing writes to it while the ROM runs.
    let store = unsafe { memory::bytes(map::CLASS_KEYS) };
    payload_keys::write_page(payload_key_page(), &key, store);
    Ok(())
}

/// Returns the payload-key page.
fn payload_key_page() -> &'static mut [u8] {
    // SAFETY: the page belongs to the ROM until the loader runs, and no other code of the ROM keeps this reference.
    unsafe { memory::bytes_mut(map::PAYLOAD_KEYS) }
}

/// Takes the second decision, releases the other harts, and enters OpenSBI.
fn leave(verdict: &Verdict, harts: u64, log: &mut RomLog) -> ! {
    if !verdict.is_confirmed() {
        refuse(Reason::VerdictNotConfirmed, log)
    }
    if let Err(reason) = harts::release(harts) {
        refuse(reason, log)
    }
    console::line(&["hartlock: ROM verified the boot bundle, entering OpenSBI"]);
    // SAFETY: the call does not return, so it does not matter that the current stack is zeroed; OpenSBI was verified in
    // place.
    unsafe { rom_handover() }
}

/// Prints and logs a refusal and stops. The other harts remain parked.
pub fn refuse(reason: Reason, entries: &RomLog) -> ! {
    wipe(payload_key_page());
    console::refusal_without_hint("rom", reason);
    // SAFETY: no other code uses the log region while the ROM runs.
    let region = unsafe { memory::bytes_mut(map::LOG) };
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: generation() };
    let mut log = start_log(region, &header, entries);
    log.push(&Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    hart::halt()
}

/// Handles a trap; called by start.S on the boot hart, with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn rom_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(console::Number::hex);
    let [cause, pc, value] = [text[0].as_str(), text[1].as_str(), text[2].as_str()];
    console::line(&["\nhartlock: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    refuse(Reason::UnexpectedTrap, &RomLog::new())
}

/// Selects the kernels of the boot hart, and logs those that it cannot use.
fn choose_kernels(log: &mut RomLog) -> Kernels {
    let start = clock::now();
    let choice = kernels::choose(PrivilegeMode::Machine);
    kernels::print(&choice);
    for (kernel, value) in choice.rejections() {
        push(log, Entry { kernel, value, harts: 1 << BOOT_HART, ..step(Step::Kernel, start) });
    }
    choice.kernels
}

/// Returns a number that differs between boots (boot flow §3.4). The number is not secret.
pub fn generation() -> u64 {
    let now = clock::now();
    clock::wall_clock() ^ now.time.rotate_left(40) ^ now.instret.rotate_left(20)
}

/// The data of this boot in the hand-off block, in addition to the state of the device.
struct Found {
    generation: u64,
    harts: u64,
    boot_digest: [u8; 48],
}

/// Writes the hand-off block and returns its digest.
// Not inlined, for the same reason as `requirements`.
#[inline(never)]
fn write_handoff(
    bundle: &Authenticated<'_>,
    identity: &Identity,
    state: &StateRecord,
    found: &Found,
    log: &RomLog,
) -> Result<[u8; 48], Reason> {
    let (identity, state) = black_box((identity, state));
    let manifest = bundle.manifest();
    let handoff = Handoff {
        generation: found.generation,
        harts: found.harts,
        boot_hart: BOOT_HART,
        system_floor: state.system_floor,
        boot_version: manifest.security_version,
        lifecycle: state.lifecycle,
        trust: *manifest.trust().ok_or(Reason::InternalLimit)?,
        // Board and SoC are those of this device, because the manifest can name several.
        board: identity.board,
        soc: identity.soc,
        boot_digest: found.boot_digest,
        log: *log,
    };
    // SAFETY: the hand-off region belongs to the ROM until OpenSBI closes it for writing.
    let region = unsafe { memory::bytes_mut(map::HANDOFF) };
    let block = region.first_chunk_mut::<HANDOFF_SIZE>().ok_or(Reason::InternalLimit)?;
    Ok(handoff.encode(block))
}

/// Returns the requirements of this device for a boot bundle.
// Not inlined: the results of two readings are compared, and the compiler would otherwise merge them into one.
#[inline(never)]
fn requirements(
    trust: &TrustList,
    identity: &Identity,
    state: &StateRecord,
) -> Acceptance<'static> {
    let (trust, identity, state) = black_box((trust, identity, state));
    Acceptance::of_device(
        BundleType::Boot,
        (*trust, state.revoked_keys),
        *identity,
        (state.boot_floor, None),
        state.lifecycle,
        &map::BOARD,
    )
}

const DYNAMIC_INFO: DynamicInfo = DynamicInfo {
    magic: 0x4942_534f,
    version: 2,
    next_addr: map::LOADER.start,
    next_mode: 1,
    options: 0,
    boot_hart: BOOT_HART,
};

/// Returns the address of the structure. The linker script reserves the first 64 bytes of ROM RAM for it.
fn dynamic_info() -> *mut DynamicInfo {
    core::ptr::with_exposed_provenance_mut(map::ROM_RAM.start as usize)
}

/// Writes the structure that tells OpenSBI its next stage.
#[inline(never)]
pub fn write_dynamic_info() {
    // SAFETY: the memory belongs to the ROM, and no other code uses it.
    unsafe { dynamic_info().write_volatile(DYNAMIC_INFO) }
}

/// Redundant check by separate code: one skipped instruction must not send OpenSBI to another stage.
#[inline(never)]
fn has_dynamic_info() -> bool {
    // SAFETY: the memory belongs to the ROM, and no other code uses it.
    unsafe { dynamic_info().read_volatile() == DYNAMIC_INFO }
}

/// Returns a log entry of the ROM for a step from `start` until now.
pub fn step(step: Step, start: Instant) -> Entry {
    entry(Stage::Rom, step, start, clock::now())
}
