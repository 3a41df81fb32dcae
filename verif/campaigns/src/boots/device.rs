//! Boots in which the bundles are correct, but the disk, the hand-off block or the memory of a stage is not.

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
use hartlock_maps::qemu_virt;
use hartlock_testkit::bundle::Edit;

use super::board::{TestBoard, expect_boot, expect_refusal, loader_entry};
use super::case::Case;
use crate::debugger::{self, Debugger};
use xtask::firmware;

/// A sector of the initramfs in the middle of the loader's first read request for it.
const INITRAMFS_SECTOR: u64 = 200;
/// Number of bytes that the disk delivers before it stops. The number is more than the metadata. The kernel
/// is read with a single request, which exceeds the limit and is the last one that is answered.
const BEFORE_SILENCE: u64 = 40_000;
/// Address of the floor of the system bundle in the hand-off block (boot flow §3.4).
const FLOOR_AT: u64 = qemu_virt::HANDOFF.start + 48;
/// Time limit to reach a breakpoint, longer than any stage needs on a busy machine.
const BREAKPOINT_TIME: Duration = Duration::from_secs(60);

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("refusal/disk-that-fails-in-the-manifest", |bench| {
            let run = with_drive(bench, &failing_at(0))?;
            expect_refusal(&run, Stage::Loader, Reason::MediumError)
        }),
        Case::new("refusal/disk-that-fails-in-a-payload", |bench| {
            // The first drive fails only past the last sector: it shows that a drive with an injected error
            // boots at all.
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

/// Returns QEMU properties of a drive that reports an error when this sector is read.
fn failing_at(sector: u64) -> String {
    let fault = "file.inject-error.0";
    let when = format!("{fault}.event=none,{fault}.iotype=read,{fault}.sector={sector}");
    format!("file.driver=blkdebug,{when},{fault}.errno=5,file.image.filename=")
}

/// Returns QEMU properties of a drive that delivers `bytes` bytes and then does not answer for hours, because
/// it is throttled to one byte a second. A drive that never answers would block QEMU when the loader resets
/// the device.
fn silent_after(bytes: u64) -> String {
    format!("throttling.bps-read=1,throttling.bps-read-max={bytes},file.filename=")
}

/// Boots a device whose disk holds the correct bundle and is attached as a drive with these properties. The
/// last property takes the name of the image.
fn with_drive(bench: &TestBoard, properties: &str) -> Result<Run> {
    let mut setup = bench.setup(&[], &[])?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    // The drive with these properties replaces the one that the bench would attach.
    setup.system = None;
    let image = device.disk();
    let drive = format!("if=none,id=d1,format=raw,readonly=on,{properties}{}", image.display());
    let extra = ["-drive", &drive, "-device", "virtio-blk-device,drive=d1"].map(str::to_owned);
    Ok(bench.finish(bench.start_on(&device, &setup, &extra)?, None))
}

/// Number of zero-filled pages of the kernel's memory after its file contents.
const PAGES_AFTER: u64 = 4;

/// Boots a device in which an earlier system left data in the kernel's memory beyond the file contents. Stops
/// when the kernel is entered, and returns the kernel's entry point and the first and last eight bytes of
/// that memory.
fn entered_with_old_memory(bench: &TestBoard) -> Result<(u64, Vec<u8>)> {
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

/// Boots a device in which an attacker lowers the floor of the system bundle after the ROM sealed the
/// hand-off block. The bundle meets both floors, so only the seal can detect the change.
fn with_lowered_floor(bench: &TestBoard) -> Result<Run> {
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
