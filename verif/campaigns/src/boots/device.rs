//! The bundles are right, and what the stages work with is not: the disk, the hand-off block, the
//! room of a stage.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning};
use hartlock_emulator::machine::Run;
use hartlock_handoff::Step;
use hartlock_image::{
    HEADER_SIZE, KEY_RECORD_SIZE, PAGE_SIZE, PayloadType, Reason, align_up, u64_at,
};
use hartlock_testkit::bundle::Edit;
use hartlock_verify::board::qemu_virt;

use super::board::{Bench, expect_boot, expect_refusal, loader_entry};
use super::case::Case;
use crate::debugger::{self, Debugger};
use xtask::firmware;

/// A sector of the initramfs, in the middle of its first request.
const INITRAMFS_SECTOR: u64 = 200;
/// Bytes after which a disk falls silent: more than the metadata. The kernel is a single request,
/// which goes beyond and is the last that is delivered.
const BEFORE_SILENCE: u64 = 40_000;
/// The floor of the system bundle in the hand-off block (boot flow §3.4).
const FLOOR_AT: u64 = qemu_virt::HANDOFF.start + 48;
/// Longer than any stage takes to a breakpoint on a busy machine.
const BREAKPOINT_TIME: Duration = Duration::from_secs(60);

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("refusal/disk-that-fails-in-the-manifest", |bench| {
            let run = with_drive(bench, &failing_at(0))?;
            expect_refusal(&run, Stage::Loader, Reason::MediumError)
        }),
        Case::new("refusal/disk-that-fails-in-a-payload", |bench| {
            // The drive that fails past the last sector shows that a failing one boots at all.
            expect_boot(&with_drive(bench, &failing_at(1 << 20))?)?;
            let run = with_drive(bench, &failing_at(INITRAMFS_SECTOR))?;
            expect_refusal(&run, Stage::Loader, Reason::MediumError)?;
            expect_silence_after_the_kernel(&run)
        }),
        Case::new("refusal/disk-that-is-silent", |bench| {
            let run = with_drive(bench, &silent_after(1))?;
            expect_refusal(&run, Stage::Loader, Reason::MediumError)?;
            let start = loader_entry(&run, Step::Signature, None);
            ensure!(start.is_err(), "the manifest was read: {start:?}");
            Ok(())
        }),
        Case::new("refusal/disk-that-falls-silent-in-a-payload", |bench| {
            let run = with_drive(bench, &silent_after(BEFORE_SILENCE))?;
            expect_refusal(&run, Stage::Loader, Reason::MediumError)?;
            expect_silence_after_the_kernel(&run)
        }),
        Case::new("refusal/disk-that-does-not-complete-its-reset", |bench| {
            let loader = firmware::stage("loader-variants", &["reset-fails"])?;
            let setup = bench.setup_with(&loader, &[], &[])?;
            expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::MediumError)
        }),
        Case::new("protection/memory-from-before-a-reset-is-no-part-of-a-payload", |bench| {
            let (kernel, memory) = entered_with_old_memory(bench)?;
            ensure!(memory.iter().all(|byte| *byte == 0), "at {kernel:#x}: {memory:02x?}");
            Ok(())
        }),
        Case::new("refusal/hand-off-block-changed-after-the-rom", |bench| {
            let run = with_lowered_floor(bench)?;
            ensure!(run.handoff.is_none(), "the block is intact");
            expect_refusal(&run, Stage::Loader, Reason::HandoffInvalid)
        }),
        Case::new("refusal/manifest-too-large-for-the-rom", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            let rom = firmware::stage("rom-variants", &["small-metadata"])?;
            setup.rom = std::fs::read(rom.bin)?;
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::InternalLimit)
        }),
        Case::new("refusal/manifest-too-large-for-the-loader", |bench| {
            let loader = firmware::stage("loader-variants", &["small-metadata"])?;
            let setup = bench.setup_with(&loader, &[], &[])?;
            expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::InternalLimit)
        }),
    ]
}

/// Properties of a drive that reports an error when a sector is read.
fn failing_at(sector: u64) -> String {
    let fault = "file.inject-error.0";
    let when = format!("{fault}.event=none,{fault}.iotype=read,{fault}.sector={sector}");
    format!("file.driver=blkdebug,{when},{fault}.errno=5,file.image.filename=")
}

/// Properties of a drive that answers no more for hours once it has delivered `bytes`: from then on
/// it is held to a byte a second. A drive that never answers at all would block QEMU itself when the
/// loader resets the device.
fn silent_after(bytes: u64) -> String {
    format!("throttling.bps-read=1,throttling.bps-read-max={bytes},file.filename=")
}

/// Boots a device whose disk holds the right bundle and is attached as a drive with these properties, of
/// which the last is the name of the image.
fn with_drive(bench: &Bench, properties: &str) -> Result<Run> {
    let mut setup = bench.setup(&[], &[])?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    // The bench adds no drive of its own; this one takes its place.
    setup.system = None;
    let image = device.disk();
    let drive = format!("if=none,id=d1,format=raw,readonly=on,{properties}{}", image.display());
    let extra = ["-drive", &drive, "-device", "virtio-blk-device,drive=d1"].map(str::to_owned);
    Ok(bench.finish(bench.start_on(&device, &setup, &extra)?, None))
}

/// Pages of the kernel's memory past its last byte.
const PAGES_AFTER: u64 = 4;

/// Boots a device in whose memory an earlier system left something where the kernel's memory goes on past its
/// file, as far as the kernel. Returns the kernel's entry and the first and last bytes there.
fn entered_with_old_memory(bench: &Bench) -> Result<(u64, Vec<u8>)> {
    let larger = Edit::Draft(|draft| draft.payloads[0].memory_size += PAGES_AFTER * PAGE_SIZE);
    let mut setup = bench.setup(&[], &[larger])?;
    setup.is_held = true;
    let bundle = setup.system.as_ref().context("a system bundle")?;
    let field = |at: usize| u64_at(bundle, HEADER_SIZE + KEY_RECORD_SIZE + at).context("a record");
    let (size, kernel, memory_size) = (field(24)?, field(32)?, field(40)?);
    let first = kernel + align_up(size, PAGE_SIZE).context("a size")?;
    let last = kernel + memory_size - 8;
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("gdb");
    let left = [first, last].into_iter().flat_map(|address| {
        let data = format!("loader,addr={address:#x},data=0x1badc0de1badc0de,data-len=8");
        ["-device".to_owned(), data]
    });
    let options: Vec<String> = debugger::options(&socket).into_iter().chain(left).collect();
    let (_device, machine) = bench.start(&setup, &options)?;
    let mut stub = Debugger::connect(&socket)?;
    ensure!(stub.read(first, 8)? == [0xde, 0xc0, 0xad, 0x1b].repeat(2), "nothing was left");
    let reached = stub.run_to(kernel, BREAKPOINT_TIME)?;
    ensure!(reached == Some(kernel), "{kernel:#x} was not reached, it is at {reached:x?}");
    let memory = [stub.read(first, 8)?, stub.read(last, 8)?].concat();
    stub.detach()?;
    bench.finish(machine, None);
    Ok((kernel, memory))
}

fn expect_silence_after_the_kernel(run: &Run) -> Result<()> {
    loader_entry(run, Step::Hash, Some(PayloadType::Kernel))?;
    let read = loader_entry(run, Step::Read, Some(PayloadType::Initramfs));
    ensure!(read.is_err(), "the initramfs was read: {read:?}");
    Ok(())
}

/// Boots a device in which an attacker lowers the floor of the system bundle after the ROM has sealed
/// the hand-off block. The bundle meets both floors: only the seal can tell.
fn with_lowered_floor(bench: &Bench) -> Result<Run> {
    let mut setup = bench.setup(&[], &[])?;
    setup.state = Provisioning { system_floor: 7, ..setup.state };
    setup.is_held = true;
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("gdb");
    let (_device, machine) = bench.start(&setup, &debugger::options(&socket))?;
    lower_floor(&socket)?;
    Ok(bench.finish(machine, None))
}

fn lower_floor(socket: &Path) -> Result<()> {
    let mut stub = Debugger::connect(socket)?;
    let entry = qemu_virt::LOADER.start;
    let reached = stub.run_to(entry, BREAKPOINT_TIME)?;
    ensure!(reached == Some(entry), "{entry:#x} was not reached, it is at {reached:x?}");
    let floor = stub.read(FLOOR_AT, 8)?;
    ensure!(floor == 7u64.to_le_bytes(), "the floor in the hand-off block is {floor:?}");
    stub.write(FLOOR_AT, &6u64.to_le_bytes())?;
    stub.detach()
}
