//! Tests the memory that S-mode and Linux must not access (boot flow §5.1), from every hart.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning, STATE_AT};
use hartlock_emulator::machine::Outcome;
use hartlock_emulator::qemu::MachineKind as Board;
use hartlock_image::{PayloadType, Reason};
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;

use super::board::{Setup, TestBoard, expect_boot, expect_refusal, last_lines};
use super::case::Case;
use super::port;
use crate::debugger::{self, Debugger, pmp};
use xtask::firmware::StageFiles;
use xtask::{firmware, monitor};

/// Regions that the probe tests, and the line that it must print for each.
const EXPECTED: [(&str, &str); 22] = [
    ("rom-flash-first", "read no write no execute no"),
    ("root-of-trust", "read no write no execute no"),
    ("bundle-flash-first", "read no write no execute no"),
    ("state-copy-0", "read no write no execute no"),
    ("state-copy-1", "read no write no execute no"),
    ("bundle-flash-last", "read no write no execute no"),
    ("opensbi-code", "read no write no execute no"),
    ("opensbi-data", "read no write no execute no"),
    ("rom-ram-first", "read no write no execute no"),
    ("rom-ram-last", "read no write no execute no"),
    ("handoff-first", "read yes write no execute no"),
    ("handoff-last", "read yes write no execute no"),
    ("clint-msip", "read no write no execute no"),
    ("clint-mtimecmp", "read no write no execute no"),
    ("clint-mtime", "read no write no execute no"),
    ("fw-cfg", "read no write no execute no"),
    ("fw-cfg-dma", "read no write no execute no"),
    ("iommu-mode", "read no write no execute no"),
    ("virtio-mmio-first", "read no write no execute no"),
    ("virtio-mmio-last", "read no write no execute no"),
    ("log", "read yes write yes execute no"),
    ("metadata", "read yes write yes execute no"),
];

/// Time limit for the ROM to reach a breakpoint, longer than it needs on a busy machine.
const BREAKPOINT_TIME: Duration = Duration::from_secs(60);

/// Cases that apply to every board.
pub fn everywhere() -> Vec<Case> {
    vec![
        Case::new("protection/s-mode-is-kept-out-on-every-hart", s_mode),
        Case::new("protection/the-loader-refuses-a-tree-without-a-domain", |bench| {
            let mut tree = fs::read(&bench.firmware.boot_fdt)?;
            let name = b"opensbi,domain,config";
            let at = tree.windows(name.len()).position(|text| text == name);
            tree[at.context("there is a domain")?] = b'x';
            refused_by(bench, &with_tree(bench, tree)?, Reason::MemoryReachable, 0)
        }),
        Case::new("protection/the-loader-refuses-each-hart-outside-of-the-domain", harts_outside),
        Case::new("protection/the-loader-refuses-a-device-in-closed-memory", device_inside),
    ]
}

/// Puts the register by which OpenSBI resets the machine into the hand-off block.
fn device_inside(bench: &TestBoard) -> Result<()> {
    const RESET: [u32; 4] = [0, 0x10_0000, 0, 0x1000];
    let cells = |numbers: [u32; 4]| numbers.map(u32::to_be_bytes).concat();
    let mut tree = fs::read(&bench.firmware.boot_fdt)?;
    let at = tree.windows(16).position(|bytes| *bytes == cells(RESET));
    let at = at.context("the register is not where it was")?;
    let handoff = u32::try_from(qemu_virt::HANDOFF.start)?;
    tree[at..at + 16].copy_from_slice(&cells([0, handoff, 0, 0x1000]));
    let run = bench.run(&with_tree(bench, tree)?)?;
    expect_refusal(&run, Stage::Loader, Reason::MemoryReachable)?;
    let says = format!("hartlock: device of OpenSBI at 0x{handoff:x}");
    ensure!(run.transcript.contains(&says), "no `{says}`\n{}", last_lines(&run));
    Ok(())
}

/// Makes a device with another boot device tree, which the test key signs without a look at it.
fn with_tree(bench: &TestBoard, tree: Vec<u8>) -> Result<Setup> {
    with_loader(bench, &bench.firmware.loader, tree)
}

fn with_loader(bench: &TestBoard, loader: &StageFiles, tree: Vec<u8>) -> Result<Setup> {
    let setup = bench.setup_with_payload(loader, PayloadType::BootFdt, tree)?;
    Ok(Setup { harts: 5, ..setup })
}

/// Checks that the loader refuses, and that it names this hart.
fn refused_by(bench: &TestBoard, setup: &Setup, reason: Reason, hart: u32) -> Result<()> {
    let run = bench.run(setup)?;
    expect_refusal(&run, Stage::Loader, reason)?;
    let says = format!("hartlock: hart {hart} at 0x");
    ensure!(run.transcript.contains(&says), "no `{says}`\n{}", last_lines(&run));
    Ok(())
}

/// Returns the place of the value of the one property that has this name and value.
fn find_property(tree: &[u8], name: &str, value: &[u8]) -> Result<usize> {
    let strings = tree.get(12..16).context("the tree is cut")?;
    let strings = u32::from_be_bytes(strings.try_into()?) as usize;
    let text = [b"\0", name.as_bytes(), b"\0"].concat();
    let names = tree.get(strings..).context("the tree is cut")?;
    let at = names.windows(text.len()).position(|it| it == text).context("no such name")?;
    let [len, name] = [value.len() as u32, at as u32 + 1].map(u32::to_be_bytes);
    let head = [&[0, 0, 0, 3], &len[..], &name, value].concat();
    let found: Vec<usize> =
        (0..strings).step_by(4).filter(|at| tree[*at..].starts_with(&head)).collect();
    ensure!(found.len() == 1, "{} such properties", found.len());
    Ok(found[0] + 12)
}

/// Opens two pages in the middle of flash, and then its last two. The first byte stays closed.
fn open_parts(bench: &TestBoard) -> Result<()> {
    let tree = fs::read(&bench.firmware.boot_fdt)?;
    // The region of the test device, which has these permissions, moves there.
    let base = find_property(&tree, "base", &0x10_0000_u64.to_be_bytes())?;
    let flash = qemu_virt::BUNDLE_FLASH;
    for (from, tried) in [(flash.start, flash.start), (flash.end - 0x2000, flash.end - 1)] {
        let mut tree = tree.clone();
        tree[base..base + 8].copy_from_slice(&from.to_be_bytes());
        let run = bench.run(&with_tree(bench, tree)?)?;
        expect_refusal(&run, Stage::Loader, Reason::MemoryReachable)?;
        let says = format!("hartlock: hart 0 at {tried:#x}");
        ensure!(run.transcript.contains(&says), "no `{says}`\n{}", last_lines(&run));
    }
    Ok(())
}

/// Closes fw_cfg alone, in place of everything between the console and the end of fw_cfg: the slots of virtio-mmio are open.
pub fn open_slots(bench: &TestBoard) -> Result<()> {
    let mut tree = fs::read(&bench.firmware.boot_fdt)?;
    let order = find_property(&tree, "order", &21_u32.to_be_bytes())?;
    // The property `base` is the one before.
    let base = order - 20;
    ensure!(tree[base..base + 8] == 0x1000_0000_u64.to_be_bytes(), "another region");
    tree[base..base + 8].copy_from_slice(&0x1010_0000_u64.to_be_bytes());
    tree[order..order + 4].copy_from_slice(&12_u32.to_be_bytes());
    refused_by(bench, &with_tree(bench, tree)?, Reason::MemoryReachable, 0)
}

/// Takes one hart after the other out of the domain: its property is no longer there. OpenSBI does not start such a hart.
/// Without the boot hart it refuses the domain and enters no loader, so that one is left out.
fn harts_outside(bench: &TestBoard) -> Result<()> {
    const NAME: &[u8] = b"opensbi-domain\0";
    const NOP: [u8; 4] = [0, 0, 0, 4];
    let tree = fs::read(&bench.firmware.boot_fdt)?;
    let word = |at: usize| -> Result<u32> {
        let bytes = tree.get(at..at + 4).context("the tree is cut")?;
        Ok(u32::from_be_bytes(bytes.try_into()?))
    };
    let strings = word(12)? as usize;
    let names = tree.get(strings..).context("the tree is cut")?;
    let name = names.windows(NAME.len()).position(|text| text == NAME).context("no domain")?;
    let head = [[0, 0, 0, 3], [0, 0, 0, 4], (name as u32).to_be_bytes()].concat();
    let found = (0..strings).step_by(4).filter(|at| tree[*at..].starts_with(&head));
    let harts: Vec<usize> = found.collect();
    ensure!(harts.len() == 5, "{} harts are in a domain", harts.len());
    for (hart, at) in (0..).zip(harts).skip(1) {
        let mut tree = tree.clone();
        tree[at..at + 16].copy_from_slice(&[NOP; 4].concat());
        let run = bench.run(&with_tree(bench, tree)?)?;
        expect_refusal(&run, Stage::Loader, Reason::HartNotStarted)
            .with_context(|| format!("hart {hart}"))?;
    }
    Ok(())
}

/// Opens one closed region after the other: S-mode may do everything there.
fn open_regions(bench: &TestBoard) -> Result<()> {
    let tree = fs::read(&bench.firmware.boot_fdt)?;
    let at = find_regions(&tree).context("the regions of the domain are not where they were")?;
    let is_closed = |(_, permissions): &(usize, u32)| matches!(*permissions, 0 | 8);
    let closed: Vec<_> = PERMISSIONS.into_iter().enumerate().filter(is_closed).collect();
    ensure!(closed.len() == 5, "{} regions are closed", closed.len());
    let open = |(index, _): &(usize, u32)| {
        let mut tree = tree.clone();
        let permissions = at + 8 * index + 4;
        tree[permissions..permissions + 4].copy_from_slice(&0x18u32.to_be_bytes());
        tree
    };
    for region in &closed {
        refused_by(bench, &with_tree(bench, open(region))?, Reason::MemoryReachable, 0)?;
    }
    // Where the boot hart does not look, another one finds it.
    let loader = firmware::stage("loader-variants", &["trusting-boot-hart"])?;
    let last = closed.last().context("a region is closed")?;
    let mut setup = with_loader(bench, &loader, open(last))?;
    setup.harts = 2;
    refused_by(bench, &setup, Reason::MemoryReachable, 1)
}

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("protection/pmp-of-every-hart-covers-the-regions", closed_regions),
        Case::new("protection/an-open-domain-is-noticed", open_domain),
        Case::new("protection/a-reset-while-the-rom-runs-boots-again", reset_in_rom),
        Case::new("protection/rom-ram-is-wiped", wiped),
        Case::new("protection/the-loader-refuses-each-open-region", open_regions),
        Case::new("protection/the-loader-refuses-flash-that-is-open-in-part", open_parts),
        Case::new("protection/the-loader-refuses-a-hart-without-paging", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.cpu = Some("rv64,mmu=off".to_owned());
            refused_by(bench, &setup, Reason::PagingOff, 0)
        }),
        Case::new("protection/the-loader-refuses-an-opensbi-with-a-console", |bench| {
            let opensbi = fs::read(monitor::variant(&[monitor::CONSOLE])?.bin)?;
            let loader = &bench.firmware.loader;
            let setup = bench.setup_with_payload(loader, PayloadType::Opensbi, opensbi)?;
            let run = bench.run(&setup)?;
            expect_refusal(&run, Stage::Loader, Reason::MonitorCalls)?;
            ensure!(run.transcript.contains("hartlock: extension 0x4442434e"), "another extension");
            Ok(())
        }),
        Case::new("protection/the-loader-refuses-an-opensbi-with-more-calls", |bench| {
            let opensbi = fs::read(monitor::variant(&monitor::WITH_ADDRESSES)?.bin)?;
            let loader = &bench.firmware.loader;
            let setup = bench.setup_with_payload(loader, PayloadType::Opensbi, opensbi)?;
            let run = bench.run(&setup)?;
            expect_refusal(&run, Stage::Loader, Reason::MonitorCalls)?;
            let start = "hartlock: extension 0x";
            let lines =
                run.transcript.lines().filter_map(|line| line.trim_end().strip_prefix(start));
            let found: Vec<_> = lines.map(|number| u64::from_str_radix(number, 16)).collect();
            ensure!(found == EXTENSIONS.map(Ok), "found {found:x?}");
            Ok(())
        }),
        Case::new("protection/linux-cannot-move-the-floor", linux),
    ]
}

/// Boots the probe on this number of harts, with another boot device tree if one is given. Returns the console
/// output.
fn probe(bench: &TestBoard, boot_fdt: Option<Vec<u8>>, harts: u32) -> Result<String> {
    let probe = firmware::stage("probe", &[])?;
    let tree = boot_fdt.map_or_else(|| fs::read(&bench.firmware.boot_fdt), Ok)?;
    let mut setup = bench.setup_with_payload(&probe, PayloadType::BootFdt, tree)?;
    (setup.harts, setup.until) = (harts, Some("probe: done"));
    let run = bench.run(&setup)?;
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    Ok(run.transcript)
}

fn s_mode(bench: &TestBoard) -> Result<()> {
    let text = probe(bench, None, 5)?;
    for hart in 0..5 {
        for (place, access) in EXPECTED {
            // Without an IOMMU, these are the slots of the disk.
            let has_iommu = port::emulated()?.machine == Board::Iommu;
            let is_open = place.starts_with("virtio-mmio") && !has_iommu;
            let access = if is_open { "read yes write yes execute no" } else { access };
            let expected = format!("probe: hart {hart} {place} {access}");
            let start = format!("probe: hart {hart} {place} ");
            let found = text.lines().find(|line| line.starts_with(&start)).unwrap_or("nothing");
            ensure!(found.trim_end() == expected, "expected `{expected}`, found `{found}`");
        }
    }
    let wiped = "probe: metadata bytes left 0";
    ensure!(text.contains(wiped), "the ROM left metadata in memory");
    Ok(())
}

/// Checks that the probe detects a domain without the closed regions, so that it can fail.
fn open_domain(bench: &TestBoard) -> Result<()> {
    let mut tree = fs::read(&bench.firmware.boot_fdt)?;
    // The permissions of all regions become 0x3f, which allows everything.
    let at = find_regions(&tree).context("the regions of the domain are not where they were")?;
    for permission in (4..8 * PERMISSIONS.len()).step_by(8) {
        tree[at + permission..at + permission + 4].copy_from_slice(&0x3fu32.to_be_bytes());
    }
    let text = probe(bench, Some(tree), 1)?;
    for place in ["rom-ram-first read yes", "handoff-first read yes write yes", "fw-cfg read yes"] {
        ensure!(text.contains(place), "an open domain is not noticed: no `{place}`");
    }
    Ok(())
}

/// The extensions of [`monitor::WITH_ADDRESSES`] on this board: four legacy ones, console, counters, events, triggers.
const EXTENSIONS: [u64; 8] = [4, 5, 6, 7, 0x4442_434e, 0x50_4d55, 0x53_5345, 0x4442_5452];

/// Permissions of the regions in the property `regions`.
const PERMISSIONS: [u32; 11] = [0, 0, 0, 8, 0, 0x3f, 0x18, 0x18, 0x18, 0x18, 0x18];

/// Returns the offset of the property `regions`: pairs of a phandle and permissions.
fn find_regions(tree: &[u8]) -> Option<usize> {
    tree.windows(8 * PERMISSIONS.len()).position(|cells| {
        PERMISSIONS.iter().enumerate().all(|(index, permission)| {
            cells[8 * index + 4..8 * index + 8] == permission.to_be_bytes()
                && cells[8 * index..8 * index + 3] == [0; 3]
        })
    })
}

/// Reads the PMP registers of every hart through the debug stub and checks the permissions of each region.
fn closed_regions(bench: &TestBoard) -> Result<()> {
    let probe = firmware::stage("probe", &[])?;
    let setup = Setup { harts: 5, ..bench.setup_with(&probe, &[], &[])? };
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("gdb");
    let (_device, mut machine) = bench.start(&setup, &debugger::options(&socket))?;
    let stop = bench.wait(&mut machine, Some("probe: done"));
    let tables = Debugger::connect(&socket).and_then(|mut stub| pmp::tables(&mut stub));
    let run = machine.finish(stop, &mut |_| {});
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    let tables = tables?;
    ensure!(tables.len() == 5, "{} harts", tables.len());
    let closed = [qemu_virt::ROM_FLASH, qemu_virt::BUNDLE_FLASH, qemu_virt::ROM_RAM];
    for (hart, table) in tables.iter().enumerate() {
        for region in closed {
            for address in [region.start, region.end - 8] {
                let allowed = table.permissions(address);
                ensure!(allowed == 0, "hart {hart}: {address:#x} has permissions {allowed:#b}");
            }
        }
        ensure!(table.has_locked_memory(), "hart {hart}: memory was executable for the ROM");
        let handoff = table.permissions(qemu_virt::HANDOFF.start);
        ensure!(handoff == 0b001, "hart {hart}: hand-off has permissions {handoff:#b}");
        let system = table.permissions(qemu_virt::SYSTEM.start);
        ensure!(system == 0b111, "hart {hart}: RAM has permissions {system:#b}");
    }
    Ok(())
}

/// Tests a reset while the ROM runs. At that time only the ROM is executable; the reset must remove this
/// restriction, whatever other state it keeps.
fn reset_in_rom(bench: &TestBoard) -> Result<()> {
    let mut setup = bench.setup(&[], &[])?;
    (setup.harts, setup.is_held) = (5, true);
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("gdb");
    let (_device, machine) = bench.start(&setup, &debugger::options_with_reset(&socket))?;
    let mut stub = Debugger::connect(&socket)?;
    let main = firmware::symbol(&bench.firmware.rom.elf, "rom_main")?;
    let reached = stub.run_to(main, BREAKPOINT_TIME)?;
    ensure!(reached == Some(main), "{main:#x} was not reached, it is at {reached:x?}");
    let tables = pmp::tables(&mut stub)?;
    ensure!(tables[0].has_locked_memory(), "memory is executable for the ROM");
    stub.reset()?;
    stub.detach()?;
    let run = bench.finish(machine, None);
    expect_boot(&run)?;
    let handoff = run.handoff.as_ref().context("no hand-off block")?;
    ensure!(handoff.harts == 0b1_1111, "{:#b} harts were counted", handoff.harts);
    Ok(())
}

/// Checks that the ROM's memory is cleared, except for fw_dynamic_info.
fn wiped(bench: &TestBoard) -> Result<()> {
    let (_device, mut machine) = bench.start(&bench.setup(&[], &[])?, &[])?;
    let stop = bench.wait(&mut machine, None);
    let rom_ram = machine.read_memory(&qemu_virt::ROM_RAM)?;
    let metadata = machine.read_memory(&Region::new(qemu_virt::METADATA.start, 64 << 10))?;
    let run = machine.finish(stop, &mut |_| {});
    expect_boot(&run)?;
    ensure!(rom_ram[..8] == 0x4942_534fu64.to_le_bytes(), "fw_dynamic_info is gone");
    let left = rom_ram[64..].iter().filter(|byte| **byte != 0).count();
    ensure!(left == 0, "{left} bytes of ROM RAM are not zero");
    // The loader has since used the metadata buffer, so it is not zero; but it must not hold the boot
    // manifest.
    ensure!(!metadata.starts_with(b"HARTLOCK-BOOT-v1"), "the boot manifest is still in memory");
    Ok(())
}

/// As root, Linux tries to read and to overwrite the state records; the floor must stay as it is.
fn linux(bench: &TestBoard) -> Result<()> {
    let mut setup = bench.linux("devmem")?;
    setup.harts = 2;
    setup.state = Provisioning { boot_floor: 3, system_floor: 3, ..setup.state };
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let state = |device: &Device| -> Result<Vec<u8>> {
        let flash = fs::read(device.bundle_flash())?;
        Ok(flash[STATE_AT[0]..].to_vec())
    };
    let before = state(&device)?;
    let run = bench.finish(bench.start_on(&device, &setup, &[])?, None);
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    let text = &run.transcript;
    ensure!(text.contains("devmem: mapped"), "nothing was tried\n{}", last_lines(&run));
    for what in ["read-state", "write-state"] {
        // The exit status is 128 + SIGBUS or 128 + SIGSEGV.
        let is_killed = [135, 139]
            .iter()
            .any(|code| text.contains(&format!("devmem: {what} ended with {code}")));
        ensure!(is_killed, "{what} was not stopped\n{}", last_lines(&run));
    }
    ensure!(!text.contains("devmem: WRITTEN"), "something was written\n{}", last_lines(&run));
    ensure!(state(&device)? == before, "the state records changed");

    // The next boot of an older bundle must still be refused.
    device.provision(&Provisioning { system_floor: 4, ..setup.state })?;
    let run = bench.finish(bench.start_on(&device, &setup, &[])?, None);
    expect_refusal(&run, Stage::Loader, Reason::RollbackBelowFloor)
}
