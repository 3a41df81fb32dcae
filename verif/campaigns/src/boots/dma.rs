//! Tests the memory that a disk can access when a compromised kernel programs it to read and write there (boot flow
//! §2.3).
//!
//! The same list of requests runs on a board without an IOMMU, on a board with one, and on that board with a disk
//! that bypasses it. The first and the last run show that the requests succeed where nothing blocks them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning, STATE_AT};
use hartlock_emulator::machine::{Machine, Stop};
use hartlock_emulator::qemu::MachineKind as Board;
use hartlock_image::{PayloadType, Reason};
use hartlock_maps::qemu_virt_iommu as map;
use hartlock_verify::board::Region;

use super::board::{Setup, TestBoard, expect_boot, expect_refusal, last_lines};
use super::case::Case;
use super::port;
use hartlock_testkit::bundle::{Edit, build};
use xtask::firmware;

/// Last line that the program of `verif/programs/dma` prints.
const DONE: &str = "dma: done";
const SECTOR: usize = 512;
/// Sectors of the program's disk: the list of requests, the data that is written to memory, and the space for data
/// that is read from memory.
const MARKER: u64 = 8;
const FLASH_COMMANDS: u64 = 9;
const BARE: u64 = 10;
const FW_CFG_ADDRESS: u64 = 11;
const LEAKED: u64 = 32;
const SECTORS: usize = 64;
/// PCI slots: the device that the IOMMU admits, and a device that it does not.
const ADMITTED: u32 = 2;
const OTHER: u32 = 3;

/// Kinds of requests in the list (`verif/programs/dma`).
const TO_MEMORY: u32 = 1;
const FROM_MEMORY: u32 = 2;
const FW_CFG_DMA: u32 = 3;
const RESET: u32 = 4;
const SYSTEM_MAP: u32 = 5;
const MESSAGE: u32 = 6;
/// What a message of MSI-X stores.
const MESSAGE_DATA: &[u8] = b"HLKm";
/// Address at which the program keeps its request to fw_cfg, and target address of the fw_cfg request that the disk
/// starts.
const FW_CFG_REQUEST: u64 = map::DMA.start + 0x3000;
const FW_CFG_TARGET: u64 = map::DMA.end - 4096;
const FW_CFG: u64 = 0x1010_0000;
const IOMMU: u64 = 0x301_0000;

/// Address of erased flash that nothing uses. Its offset in bank 1 is also its offset in the file of that bank.
const UNUSED_FLASH: u64 = map::BOOT_SLOT.end;

/// The evidence that a request reached its target.
#[derive(Clone, Copy)]
enum Sign {
    /// The marker is in memory at this address.
    Marker(u64),
    /// fw_cfg wrote its signature to memory at this address.
    Signature(u64),
    /// A message is in memory at this address.
    Message(u64),
    /// A word of flash was programmed.
    Flash,
    /// The disk contains this text.
    OnDisk(&'static [u8]),
    /// Nothing is to be reached: the entry makes the program do something else.
    None,
}

/// A DMA request and the evidence of its success.
struct DmaAttack {
    name: &'static str,
    kind: u32,
    slot: u32,
    sector: u64,
    address: u64,
    len: u32,
    sign: Sign,
}

impl DmaAttack {
    /// Makes a request that copies the marker sector to memory at `address`.
    const fn write(name: &'static str, address: u64) -> Self {
        let sign = Sign::Marker(address);
        Self { name, kind: TO_MEMORY, slot: ADMITTED, sector: MARKER, address, len: 512, sign }
    }

    /// Makes a request that copies memory to a sector of the disk. The data is recognised by `text`, which that
    /// memory contains.
    const fn read(name: &'static str, address: u64, sector: u64, text: &'static [u8]) -> Self {
        let sign = Sign::OnDisk(text);
        Self { name, kind: FROM_MEMORY, slot: ADMITTED, sector, address, len: 512, sign }
    }
}

/// Interrupts of the disk that are stores to memory, and that the IOMMU must block, and one that every board allows.
fn messages() -> Vec<DmaAttack> {
    let message = |name, address| DmaAttack {
        kind: MESSAGE,
        sign: Sign::Message(address),
        ..DmaAttack::write(name, address)
    };
    vec![
        message("control-message", map::DMA.end - 0x9000),
        message("message-opensbi", map::OPENSBI.end - 0x4_0000),
        message("message-rom-ram", map::ROM_RAM.end - 0x2000),
        message("message-handoff", map::HANDOFF.start + 0xe00),
        message("message-iommu-tables", map::IOMMU_TABLES.start + 0x2000),
        message("message-log", map::LOG.end - 0x2000),
        message("message-loader", map::LOADER.start + 0x11_0000),
        message("message-metadata", map::METADATA.end - 0x2000),
    ]
}

/// Requests that the IOMMU must block. Their targets are addresses whose contents the boot does not use.
fn attacks() -> Vec<DmaAttack> {
    vec![
        DmaAttack::write("opensbi", map::OPENSBI.end - 0x1_0000),
        DmaAttack::write("rom-ram", map::ROM_RAM.end - 0x1000),
        DmaAttack::write("handoff", map::HANDOFF.start + 0xc00),
        DmaAttack::write("iommu-tables", map::IOMMU_TABLES.start),
        DmaAttack::write("iommu-contexts", map::IOMMU_TABLES.start + 0x5600),
        DmaAttack::write("log", map::LOG.end - 0x1000),
        DmaAttack::write("payload-keys", map::PAYLOAD_KEYS.start + 0x800),
        DmaAttack::write("loader-code", map::LOADER.start + 0x10_0000),
        DmaAttack::write("loader-stacks", map::LOADER.end - 0x1000),
        DmaAttack::write("boot-fdt", map::BOOT_FDT.end - 0x1000),
        DmaAttack::write("metadata", map::METADATA.end - 0x1000),
        DmaAttack::write("linux-fdt", map::LINUX_FDT.end - 0x1000),
        DmaAttack {
            sector: FLASH_COMMANDS,
            sign: Sign::Flash,
            ..DmaAttack::write("flash", UNUSED_FLASH)
        },
        DmaAttack::read("root-of-trust", map::ROOT_OF_TRUST.start, LEAKED, b"HARTLOCK-ROOT-v1"),
        DmaAttack::read("rom-data", map::ROM_RAM.start, LEAKED + 1, b"OSBI"),
        DmaAttack::read("keys", map::PAYLOAD_KEYS.start, LEAKED + 2, b"HARTLOCK-PKEY-v1"),
        // The request writes eight bytes to the registers of fw_cfg: the address of a prepared fw_cfg request.
        DmaAttack {
            sector: FW_CFG_ADDRESS,
            len: 8,
            sign: Sign::Signature(FW_CFG_TARGET),
            ..DmaAttack::write("fw-cfg", FW_CFG + 16)
        },
    ]
}

/// The same access by the processor: S-mode writes to the registers of fw_cfg.
fn by_processor() -> DmaAttack {
    let address = map::OPENSBI.end - 0x2_0000;
    DmaAttack {
        kind: FW_CFG_DMA,
        sign: Sign::Signature(address),
        ..DmaAttack::write("fw-cfg-s-mode", address)
    }
}

/// Writes eight bytes to the IOMMU register `ddtp`, which selects the mode without translation and checks, and then
/// tries an access that this mode would allow.
fn at_the_iommu() -> [DmaAttack; 2] {
    [
        DmaAttack { sector: BARE, len: 8, ..DmaAttack::write("iommu-mode", IOMMU + 0x10) },
        DmaAttack::write("memory-after-iommu-mode", map::OPENSBI.end - 0x3_0000),
    ]
}

/// A request that every board allows after the map of the system was asked for, so that a disk which does nothing is
/// detected.
fn control() -> DmaAttack {
    DmaAttack::write("control", map::SYSTEM.start)
}

fn reset() -> DmaAttack {
    DmaAttack { kind: RESET, sign: Sign::None, ..DmaAttack::write("reset", 0) }
}

/// Asks the monitor for the map of the system, as the loader does before it enters Linux.
fn system_map() -> DmaAttack {
    DmaAttack { kind: SYSTEM_MAP, sign: Sign::None, ..DmaAttack::write("system-map", 0) }
}

/// Requests that the IOMMU must block as long as the map of the system was not asked for, and a request that every board
/// allows.
fn before_the_system_map() -> Vec<DmaAttack> {
    vec![
        DmaAttack::write("control-buffers", map::DMA.end - 0x8000),
        DmaAttack::write("after-the-buffers", map::DMA.end),
        DmaAttack::write("payloads-first", map::SYSTEM.start + 0x10_0000),
        DmaAttack::write("kernel", 0x8200_0000),
        DmaAttack::write("initramfs", 0x8800_0000),
        DmaAttack::write("payloads-last", map::RAM.end - 0x1000),
    ]
}

/// Makes the disk image: the list of requests and the sectors that they use.
fn disk(attacks: &[DmaAttack]) -> Vec<u8> {
    let mut bytes = vec![0; SECTORS * SECTOR];
    for (place, attack) in bytes.chunks_exact_mut(32).zip(attacks) {
        place[..4].copy_from_slice(&attack.kind.to_le_bytes());
        place[4..8].copy_from_slice(&attack.slot.to_le_bytes());
        place[8..16].copy_from_slice(&attack.sector.to_le_bytes());
        place[16..24].copy_from_slice(&attack.address.to_le_bytes());
        place[24..28].copy_from_slice(&attack.len.to_le_bytes());
    }
    let mut put = |sector: u64, data: &[u8]| {
        let at = sector as usize * SECTOR;
        bytes[at..at + data.len()].copy_from_slice(data);
    };
    put(MARKER, &marker());
    // Flash commands of the Intel command set for two devices in parallel: the program command, then the data word;
    // each pair is written to the next address.
    let commands = [0x0040_0040_u32.to_le_bytes(), [0; 4]].concat();
    put(FLASH_COMMANDS, &commands.repeat(SECTOR / 8));
    put(BARE, &1_u64.to_le_bytes());
    put(FW_CFG_ADDRESS, &FW_CFG_REQUEST.to_be_bytes());
    bytes
}

fn marker() -> Vec<u8> {
    (0..SECTOR).map(|index| (index as u8).wrapping_mul(29) | 1).collect()
}

/// Runs the attacks and returns for each if it succeeded. The disk with the list is in slot 2, behind the IOMMU or
/// not, as the platform says; another disk is in slot 3.
fn run(
    bench: &TestBoard,
    attacks: &[DmaAttack],
    platform: &str,
) -> Result<Vec<(&'static str, bool)>> {
    let setup = setup(bench)?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    run_on(bench, &device, &setup, attacks, platform)
}

/// Makes a device whose loader is the program of `verif/programs/dma`.
fn setup(bench: &TestBoard) -> Result<Setup> {
    let mut setup = bench.setup_with(&firmware::stage("dma", &[])?, &[], &[])?;
    (setup.harts, setup.until) = (1, Some(DONE));
    Ok(setup)
}

fn run_on(
    bench: &TestBoard,
    device: &Device,
    setup: &Setup,
    attacks: &[DmaAttack],
    platform: &str,
) -> Result<Vec<(&'static str, bool)>> {
    let image = device.folder().join("attack.img");
    fs::write(&image, disk(attacks))?;
    let other = device.folder().join("other.img");
    fs::write(&other, disk(attacks))?;
    let options = |number: u32, image: &Path| {
        let drive = format!("if=none,id=a{number},format=raw,file={}", image.display());
        let how = format!("iommu_platform={platform},disable-legacy=on,addr={number}");
        ["-drive".into(), drive, "-device".into(), format!("virtio-blk-pci,drive=a{number},{how}")]
    };
    let mut extra = ["-action", "reboot=reset"].map(str::to_owned).to_vec();
    extra.extend(options(ADMITTED, &image));
    extra.extend(options(OTHER, &other));
    let mut machine = bench.start_on(device, setup, &extra)?;
    let stop = bench.wait(&mut machine, setup.until);
    let result = attacks
        .iter()
        .filter(|attack| !matches!(attack.sign, Sign::None))
        .map(|attack| {
            let image = if attack.slot == ADMITTED { &image } else { &other };
            Ok((attack.name, is_reached(&mut machine, device, image, attack)?))
        })
        .collect::<Result<Vec<_>>>();
    let is_done = matches!(stop, Stop::Found);
    let run = machine.finish(stop, &mut |_| {});
    let said = run.transcript.lines().filter(|line| line.starts_with("dma: ")).count();
    ensure!(is_done && said > attacks.len(), "{:?}\n{}", run.outcome, last_lines(&run));
    let was_reset = run.transcript.contains("was reset");
    ensure!(was_reset == attacks.iter().any(|it| it.kind == RESET), "{}", last_lines(&run));
    expect_one_system_map(&run.transcript, attacks)?;
    result
}

/// Checks that the monitor changed the map once after each reset, and refused every other call. Without an IOMMU it
/// refuses all of them.
fn expect_one_system_map(transcript: &str, attacks: &[DmaAttack]) -> Result<()> {
    let is_call = |attack: &&DmaAttack| attack.kind == SYSTEM_MAP;
    let before_reset = attacks.iter().take_while(|it| it.kind != RESET).filter(is_call).count();
    let all = attacks.iter().filter(is_call).count();
    let lives: &[usize] = if before_reset == all { &[all] } else { &[before_reset, all] };
    let mapped = match port::emulated()?.machine {
        Board::Plain => 0,
        Board::Iommu => lives.iter().filter(|calls| **calls > 0).count(),
    };
    let denied = lives.iter().sum::<usize>() - mapped;
    for (answer, expected) in [(" mapped", mapped), (" denied", denied)] {
        let count = transcript.lines().filter(|line| line.trim_end().ends_with(answer)).count();
        ensure!(count == expected, "the monitor answered{answer} {count} times, not {expected}");
    }
    Ok(())
}

fn is_reached(
    machine: &mut Machine,
    device: &Device,
    disk: &Path,
    attack: &DmaAttack,
) -> Result<bool> {
    let mut memory = |address, len| machine.read_memory(&Region::new(address, len));
    Ok(match attack.sign {
        Sign::Marker(address) => {
            memory(address, u64::from(attack.len))? == marker()[..attack.len as usize]
        }
        Sign::Message(address) => memory(address, 4)? == MESSAGE_DATA,
        Sign::Signature(address) => memory(address, 4)? == b"QEMU",
        Sign::Flash => {
            let at = (UNUSED_FLASH - map::BUNDLE_FLASH.start) as usize;
            let flash = fs::read(device.bundle_flash())?;
            flash[at..at + SECTOR].iter().any(|byte| *byte != 0xff)
        }
        Sign::OnDisk(text) => {
            let at = attack.sector as usize * SECTOR;
            let disk = fs::read(disk)?;
            disk[at..at + SECTOR].windows(text.len()).any(|it| it == text)
        }
        Sign::None => false,
    })
}

/// Checks that every attack had the expected result and that the control request succeeded.
fn expect(result: &[(&str, bool)], expected: impl Fn(&str) -> bool) -> Result<()> {
    let wrong: Vec<_> = result
        .iter()
        .filter(|(name, is_reached)| *is_reached != (name.starts_with("control") || expected(name)))
        .map(|(name, is_reached)| {
            format!("{name}: {}", if *is_reached { "reached" } else { "closed" })
        })
        .collect();
    ensure!(result.iter().any(|(name, _)| *name == "control"), "no control");
    ensure!(wrong.is_empty(), "{}", wrong.join(", "));
    Ok(())
}

fn all() -> Vec<DmaAttack> {
    let mut all = before_the_system_map();
    all.extend([system_map(), control()]);
    all.extend(attacks());
    all.extend(messages());
    all.extend([by_processor(), system_map()]);
    all
}

/// Returns the same list with a reset after the call.
fn all_after_a_reset() -> Vec<DmaAttack> {
    let mut all = all();
    let call = all.iter().position(|it| it.kind == SYSTEM_MAP).unwrap_or(0);
    all.insert(call + 1, reset());
    all
}

/// Returns the cases for the board that is selected.
pub fn cases() -> Vec<Case> {
    match port::emulated().map_or(Board::Plain, |it| it.machine) {
        Board::Plain => vec![
            Case::new("protection/without-an-iommu-dma-reaches-everything", |bench| {
                expect(&run(bench, &all(), "on")?, |name| name != "fw-cfg-s-mode")
            }),
            Case::new("protection/without-an-iommu-the-floor-falls", |bench| {
                expect_boot(&with_attacked_floor(bench, "on")?)
            }),
        ],
        Board::Iommu => vec![
            Case::new("dma/nothing-closed-is-reached", |bench| {
                let attacks: Vec<_> = all().into_iter().chain(at_the_iommu()).collect();
                expect(&run(bench, &attacks, "on")?, |_| false)
            }),
            Case::new("dma/nothing-closed-is-reached-after-a-reset", |bench| {
                let attacks: Vec<_> =
                    all_after_a_reset().into_iter().chain(at_the_iommu()).collect();
                expect(&run(bench, &attacks, "on")?, |_| false)
            }),
            Case::new("dma/a-device-that-bypasses-the-iommu-reaches-everything", |bench| {
                // Its messages go through the IOMMU.
                let mut attacks = all();
                attacks.retain(|it| it.kind != MESSAGE);
                expect(&run(bench, &attacks, "off")?, |name| name != "fw-cfg-s-mode")
            }),
            Case::new("dma/a-device-that-was-not-admitted-reaches-nothing", |bench| {
                let mut attacks = all();
                let own =
                    DmaAttack { slot: OTHER, ..DmaAttack::write("own", map::SYSTEM.start + 4096) };
                let is_admitted = |it: &DmaAttack| it.name.starts_with("control");
                attacks.iter_mut().filter(|it| !is_admitted(it)).for_each(|it| it.slot = OTHER);
                attacks.push(own);
                expect(&run(bench, &attacks, "on")?, |_| false)
            }),
            Case::new("dma/the-floor-holds", |bench| {
                let run = with_attacked_floor(bench, "on")?;
                expect_refusal(&run, Stage::Rom, Reason::RollbackBelowFloor)
            }),
            Case::new("dma/linux-uses-a-device-through-the-iommu", linux),
            Case::new("dma/a-disk-that-bypasses-the-iommu-is-refused", |bench| {
                let mut setup = bench.setup(&[], &[])?;
                let device = Device::temporary()?;
                bench.install(&device, &setup)?;
                setup.system = None;
                let drive = format!("if=none,id=d0,format=raw,file={}", device.disk().display());
                let how = "virtio-blk-pci,drive=d0,addr=1,iommu_platform=off,disable-legacy=on";
                let extra = ["-drive", &drive, "-device", how].map(str::to_owned);
                let run = bench.finish(bench.start_on(&device, &setup, &extra)?, None);
                expect_refusal(&run, Stage::Loader, Reason::DmaNotGuarded)
            }),
            Case::new("dma/a-second-device-that-bypasses-the-iommu-is-refused", |bench| {
                for (name, devices, is_refused) in OTHER_DEVICES {
                    let run = with_devices(bench, devices)?;
                    let result = if is_refused {
                        expect_refusal(&run, Stage::Loader, Reason::DmaNotGuarded)
                    } else {
                        expect_boot(&run)
                    };
                    result.with_context(|| name.to_owned())?;
                }
                Ok(())
            }),
            Case::new("dma/a-tree-without-the-system-map-is-refused", |bench| {
                let mut tree = fs::read(&bench.firmware.boot_fdt)?;
                let name = b"hartlock,system-map\0";
                let at = tree.windows(name.len()).position(|text| text == name);
                let at = at.context("the tree has the node")?;
                // NOP tokens take the place of the property. With another value the node would be a device of OpenSBI
                // in closed memory, which is E0917.
                tree[at - 12..at + name.len()].copy_from_slice(&[0, 0, 0, 4].repeat(8));
                let loader = &bench.firmware.loader;
                let setup = bench.setup_with_payload(loader, PayloadType::BootFdt, tree)?;
                expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::DmaNotGuarded)
            }),
            Case::new(
                "dma/a-tree-with-open-slots-of-virtio-mmio-is-refused",
                super::protection::open_slots,
            ),
            Case::new("dma/an-iommu-without-second-stage-is-refused", |bench| {
                let setup = bench.setup(&[], &[])?;
                let extra = ["-global", "riscv-iommu.g-stage=off"].map(str::to_owned);
                let (_device, machine) = bench.start(&setup, &extra)?;
                let run = bench.finish(machine, None);
                expect_refusal(&run, Stage::Rom, Reason::DmaNotGuarded)
            }),
            Case::new("dma/a-machine-without-the-iommu-is-refused", |bench| {
                let setup = bench.setup(&[], &[])?;
                let extra = ["-M", "iommu-sys=off"].map(str::to_owned);
                let (_device, machine) = bench.start(&setup, &extra)?;
                let run = bench.finish(machine, None);
                expect_refusal(&run, Stage::Rom, Reason::UnexpectedTrap)
            }),
            Case::new("dma/the-stages-fit-and-hold-no-panic-path", |bench| {
                let fault = firmware::fault(&bench.firmware)?;
                ensure!(fault.is_none(), "{fault:?}");
                Ok(())
            }),
            Case::new("dma/a-good-device-boots", |bench| {
                expect_boot(&bench.run(&bench.setup(&[], &[])?)?)
            }),
        ],
    }
}

/// Devices beside the disk, and whether the loader has to refuse them. What goes past the IOMMU, or is another one, is
/// refused in every slot and function, whatever kind of device it is.
const OTHER_DEVICES: [(&str, &[&str], bool); 9] = [
    (
        "a disk that goes through it",
        &["virtio-blk-pci,drive=x,addr=3,iommu_platform=on,disable-legacy=on"],
        false,
    ),
    ("a device of another vendor", &["e1000,addr=3,romfile="], false),
    (
        "a disk in a slot",
        &["virtio-blk-pci,drive=x,addr=1f,iommu_platform=off,disable-legacy=on"],
        true,
    ),
    ("a transitional disk", &["virtio-blk-pci,drive=x,addr=2,disable-legacy=off"], true),
    (
        "a disk in a function",
        &[
            "virtio-rng-pci,addr=4.0,multifunction=on,iommu_platform=on,disable-legacy=on",
            "virtio-blk-pci,drive=x,addr=4.7,iommu_platform=off,disable-legacy=on",
        ],
        true,
    ),
    (
        "another virtio device",
        &["virtio-rng-pci,addr=5,iommu_platform=off,disable-legacy=on"],
        true,
    ),
    (
        "a disk behind a bridge",
        &[
            "pcie-root-port,id=below,addr=6,chassis=1",
            "virtio-blk-pci,drive=x,bus=below,iommu_platform=off,disable-legacy=on",
        ],
        true,
    ),
    // QEMU asks the IOMMU that was attached last in place of that of the board.
    ("an IOMMU of virtio", &["virtio-iommu-pci,addr=7,iommu_platform=on,disable-legacy=on"], true),
    // It reads and writes memory as its registers say, and no IOMMU is before it.
    ("a second IOMMU", &["riscv-iommu-pci,addr=8"], true),
];

/// Boots a device with a good disk in slot 1 and with these devices, of which a disk has the drive `x`.
fn with_devices(bench: &TestBoard, devices: &[&str]) -> Result<hartlock_emulator::machine::Run> {
    let setup = bench.setup(&[], &[])?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let image = device.folder().join("second.img");
    fs::write(&image, vec![0; 1 << 20])?;
    let drive = format!("if=none,id=x,format=raw,file={}", image.display());
    let mut extra = vec!["-drive".to_owned(), drive];
    extra.extend(devices.iter().flat_map(|it| ["-device".to_owned(), (*it).to_owned()]));
    Ok(bench.finish(bench.start_on(&device, &setup, &extra)?, None))
}

/// A security version above that of the old boot bundle.
const FLOOR: u64 = 9;

/// Lets a disk overwrite the current state record with zeros, so that the previous record would count. Then
/// installs an old boot bundle and boots it.
fn with_attacked_floor(
    bench: &TestBoard,
    platform: &str,
) -> Result<hartlock_emulator::machine::Run> {
    let setup = setup(bench)?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    device.provision(&Provisioning { boot_floor: FLOOR, ..setup.state })?;
    let new = Edit::Draft(|draft| draft.security_version = FLOOR);
    let loader = firmware::stage("dma", &[])?;
    let bundle = device.folder().join("new.hlk");
    fs::write(&bundle, build(bench.boot_draft(&loader)?, &[new]).0)?;
    device.install_boot_bundle(&bundle)?;
    // The current record is the second one that was written.
    let flash = fs::read(device.bundle_flash())?;
    let has_floor = |at: usize| flash[at + 24..at + 32] == FLOOR.to_le_bytes();
    let at = STATE_AT.into_iter().find(|at| has_floor(*at)).context("no record has the floor")?;
    let attack = DmaAttack {
        sector: FLASH_COMMANDS,
        ..DmaAttack::write("state", map::BUNDLE_FLASH.start + at as u64)
    };
    run_on(bench, &device, &setup, &[attack], platform)?;
    let old = bench.setup(&[], &[])?;
    let bundle = device.folder().join("old.hlk");
    fs::write(&bundle, &old.boot)?;
    device.install_boot_bundle(&bundle)?;
    Ok(bench.finish(bench.start_on(&device, &old, &[])?, None))
}

/// Boots Linux, which writes a line to a serial port device on the PCI bus. Rings and buffers are in Linux's
/// memory, where the device reads the line and writes its messages. Debian's kernel has the driver of such ports
/// built in, but not that of disks.
fn linux(bench: &TestBoard) -> Result<()> {
    let setup = bench.linux("port")?;
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let file = format!("file,id=port,path={}", out.display());
    let device = format!("virtio-serial-pci,addr={ADMITTED},iommu_platform=on,disable-legacy=on");
    let extra = ["-chardev", &file, "-device", &device, "-device", "virtserialport,chardev=port"];
    let (_device, machine) = bench.start(&setup, &extra.map(str::to_owned))?;
    let run = bench.finish(machine, None);
    ensure!(
        run.transcript.contains("port: ended with 0"),
        "{:?}\n{}",
        run.outcome,
        last_lines(&run)
    );
    let written = fs::read_to_string(&out)?;
    ensure!(written.trim_end() == "written by Linux", "Linux wrote {written:?}");
    Ok(())
}
