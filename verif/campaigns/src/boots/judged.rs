//! Tests a disk that writes to memory which was judged (boot flow §2.3): to the place of the kernel, after its digest was
//! computed.
//!
//! The disk is this program. It shares the memory of the machine, reads the device directory and the tables of
//! the IOMMU out of it at that moment, and writes what they grant. Nothing else restricts it: it ignores descriptors,
//! its reset, and that a request was completed. Breakpoints of the debug stub give the moments.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Machine, Outcome, Run};
use hartlock_emulator::qemu::MachineKind as Board;
use hartlock_image::Reason;
use hartlock_maps::qemu_virt_iommu as map;
use hartlock_verify::board::Region;

use super::board::{STUB_RUNS, TestBoard, expect_boot, expect_refusal, last_lines};
use super::case::Case;
use super::port;
use crate::debugger::{self, Debugger};
use crate::skips::symbols::Symbols;
use xtask::firmware;

/// What the kernel of the disk prints, of the same length as the text of the stub.
const OTHER_RUNS: &str = "stub: the disk's code";
const VERIFIED: &str = "loader verified the system bundle, entering Linux";

/// Places of the payloads (`TestBoard::system_draft`).
const KERNEL_AT: u64 = 0x8200_0000;
const INITRAMFS_AT: u64 = 0x8800_0000;
const SYSTEM_FDT_AT: u64 = 0x8600_0000;

/// Register `ddtp` of the IOMMU, and its modes (RISC-V IOMMU Architecture Specification 1.0 §6.5).
const DDTP: Region = Region::new(0x301_0010, 8);
const OFF: u64 = 0;
const ONE_LEVEL: u64 = 2;
/// Number of device contexts in a directory of one level.
const DEVICES: u64 = 64;
/// Bits of page-table entries: valid, writable, and those of which one is set in a leaf.
const VALID: u64 = 1;
const WRITABLE: u64 = 4;
const LEAF: u64 = 0xe;

/// Time limit for the loader to reach a breakpoint, longer than it needs on a busy machine.
const BREAKPOINT_TIME: Duration = Duration::from_secs(60);
/// Maximum number of requests that are copied before one for a certain place.
const MAX_COPIES: usize = 1000;

/// When the disk writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// A block was copied to its place, and not hashed yet.
    BetweenCopyAndHash,
    /// The same moment, but the disk writes to its own buffers.
    ToTheBuffers,
    KernelHashed,
    InitramfsHashed,
    AllHashed,
    DiskReset,
    VerdictComputed,
    SystemMapped,
}

impl Moment {
    const ALL: [(Self, &str); 8] = [
        (Self::BetweenCopyAndHash, "between-copy-and-hash"),
        (Self::ToTheBuffers, "to-the-buffers-between-copy-and-hash"),
        (Self::KernelHashed, "after-the-kernel-was-hashed"),
        (Self::InitramfsHashed, "after-the-initramfs-was-hashed"),
        (Self::AllHashed, "after-all-was-hashed"),
        (Self::DiskReset, "after-the-reset-of-the-disk"),
        (Self::VerdictComputed, "after-the-verdict"),
        (Self::SystemMapped, "after-the-system-map"),
    ];

    /// Lets the machine run to this moment.
    fn reach(self, stub: &mut Debugger, loader: &Path) -> Result<()> {
        let symbols = Symbols::read(loader)?;
        let function = |parts: &[&str]| symbols.address(parts);
        let copy = function(&["block", "copy_from"])?;
        match self {
            Self::BetweenCopyAndHash | Self::ToTheBuffers => {
                let returns_to = copy_to(stub, copy, KERNEL_AT)?;
                run_to(stub, returns_to)
            }
            Self::KernelHashed => copy_to(stub, copy, INITRAMFS_AT).map(|_| ()),
            Self::InitramfsHashed => copy_to(stub, copy, SYSTEM_FDT_AT).map(|_| ()),
            Self::AllHashed => {
                copy_to(stub, copy, SYSTEM_FDT_AT)?;
                run_to(stub, function(&["VirtioDisk", "reset"])?)
            }
            Self::DiskReset => run_to(stub, function(&["harts", "Harts", "stop"])?),
            Self::VerdictComputed => run_to(stub, function(&["hartlock_loader", "write_fdt"])?),
            Self::SystemMapped => run_to(stub, firmware::symbol(loader, "enter_kernel")?),
        }
    }
}

fn run_to(stub: &mut Debugger, address: u64) -> Result<()> {
    let reached = stub.run_to(address, BREAKPOINT_TIME)?;
    ensure!(reached == Some(address), "{address:#x} was not reached, it is at {reached:x?}");
    Ok(())
}

/// Lets the machine run until the loader is about to copy a request to this place, and returns the address at which it
/// continues after the copy.
fn copy_to(stub: &mut Debugger, copy: u64, place: u64) -> Result<u64> {
    for _ in 0..MAX_COPIES {
        run_to(stub, copy)?;
        let registers = stub.registers()?;
        // The place is one of the arguments, which are in a0 to a5.
        if registers[10..16].contains(&place) {
            return Ok(registers[1]);
        }
        stub.step(BREAKPOINT_TIME)?;
    }
    anyhow::bail!("nothing is copied to {place:#x}")
}

/// The memory of a machine, as the disk sees it.
struct SharedMemory {
    file: File,
    /// The register `ddtp`, on a board with an IOMMU.
    directory: Option<u64>,
}

impl SharedMemory {
    fn open(path: &Path, machine: &mut Machine) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let directory = match port::emulated()?.machine {
            Board::Plain => None,
            Board::Iommu => {
                let bytes = machine.read_memory(&DDTP)?;
                Some(u64::from_le_bytes(bytes.try_into().ok().context("eight bytes")?))
            }
        };
        Ok(Self { file, directory })
    }

    fn word(&self, address: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, address - map::RAM.start)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Returns true if any device may write to an address.
    fn grants(&self, address: u64) -> Result<bool> {
        let Some(directory) = self.directory else { return Ok(true) };
        match directory & 0xf {
            OFF => return Ok(false),
            ONE_LEVEL => {}
            mode => anyhow::bail!("the IOMMU is in mode {mode}"),
        }
        let contexts = (directory >> 10) << 12;
        for device in 0..DEVICES {
            let context = contexts + device * 64;
            if self.word(context)? & VALID != 0 && self.translates(context, address)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Walks the second-stage tables of a device context (Privileged Architecture §18.5).
    fn translates(&self, context: u64, address: u64) -> Result<bool> {
        let mut table = (self.word(context + 8)? & ((1 << 44) - 1)) << 12;
        // The index into the root table has two bits more than those into the others.
        let mut index = address >> 30 & 2047;
        for shift in [30, 21, 12] {
            let entry = self.word(table + index * 8)?;
            if entry & VALID == 0 {
                return Ok(false);
            }
            if entry & LEAF != 0 {
                let start = (entry >> 10) << 12;
                ensure!(start == address >> shift << shift, "{address:#x} is mapped elsewhere");
                return Ok(entry & WRITABLE != 0);
            }
            table = (entry >> 10) << 12;
            index = address >> (shift - 9) & 511;
        }
        Ok(false)
    }

    /// Writes to memory, if the tables grant it.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<bool> {
        let end = address + bytes.len() as u64 - 1;
        let is_granted = self.grants(address)? && self.grants(end)?;
        if is_granted {
            self.file.write_all_at(bytes, address - map::RAM.start)?;
        }
        Ok(is_granted)
    }
}

/// Memory of the stages, which the disk does not write to here: only whether it could is asked.
const STAGES: [(&str, Region); 9] = [
    ("opensbi", map::OPENSBI),
    ("rom-ram", map::ROM_RAM),
    ("handoff", map::HANDOFF),
    ("iommu-tables", map::IOMMU_TABLES),
    ("log", map::LOG),
    ("loader", map::LOADER),
    ("boot-fdt", map::BOOT_FDT),
    ("metadata", map::METADATA),
    ("linux-fdt", map::LINUX_FDT),
];

/// What the disk found out and did.
struct Attack {
    /// Names of places, and whether the disk could write there.
    places: Vec<(&'static str, bool)>,
    /// The run after it.
    run: Run,
}

fn attack(bench: &TestBoard, moment: Moment) -> Result<Attack> {
    let mut setup = bench.setup(&[], &[])?;
    setup.is_held = true;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let (socket, memory) = (device.folder().join("gdb"), device.folder().join("memory"));
    let size = map::RAM.size() >> 20;
    let backend =
        format!("memory-backend-file,id=ram,size={size}M,mem-path={},share=on", memory.display());
    let mut extra = debugger::options(&socket).to_vec();
    extra.extend(["-object", &backend, "-M", "memory-backend=ram"].map(str::to_owned));
    let mut machine = bench.start_on(&device, &setup, &extra)?;
    let mut stub = Debugger::connect(&socket)?;
    moment.reach(&mut stub, &bench.firmware.loader.elf)?;

    let memory = SharedMemory::open(&memory, &mut machine)?;
    let mut places = Vec::new();
    for (name, region) in STAGES {
        places.push((name, memory.grants(region.start)? || memory.grants(region.end - 8)?));
    }
    let mut kernel = vec![0; 4096];
    memory.file.read_exact_at(&mut kernel, KERNEL_AT - map::RAM.start)?;
    let text = STUB_RUNS.as_bytes();
    let at = kernel.windows(text.len()).position(|it| it == text).context("the kernel's text")?;
    kernel[at..at + text.len()].copy_from_slice(OTHER_RUNS.as_bytes());
    if moment == Moment::ToTheBuffers {
        let buffers: Vec<u8> = kernel.iter().copied().cycle().take(1 << 20).collect();
        places.push(("buffers", memory.write(map::DMA.start + (1 << 20), &buffers)?));
    } else {
        places.push(("kernel", memory.write(KERNEL_AT, &kernel)?));
    }
    stub.detach()?;
    let run = bench.finish(machine, None);
    Ok(Attack { places, run })
}

/// Runs the attack and checks how it ends. Prints what the disk reached.
fn judge(bench: &TestBoard, moment: Moment) -> Result<()> {
    let board = port::emulated()?.machine;
    let Attack { places, run } = attack(bench, moment)?;
    for (verb, is_reached) in [("reached", true), ("was denied", false)] {
        let names: Vec<_> = places.iter().filter(|it| it.1 == is_reached).map(|it| it.0).collect();
        if !names.is_empty() {
            println!("    the disk {verb}: {}", names.join(", "));
        }
    }
    let is_reached = |name: &str| places.contains(&(name, true));
    let is_open = board == Board::Plain;
    for (name, _) in STAGES {
        ensure!(is_reached(name) == is_open, "{name}: {}", is_reached(name));
    }
    if moment == Moment::ToTheBuffers {
        // The disk may write there. It has no effect, because what was copied is used.
        ensure!(is_reached("buffers"), "the disk does not reach its buffers");
        return expect_own_kernel(&run);
    }
    let is_granted = is_open || moment == Moment::SystemMapped;
    ensure!(is_reached("kernel") == is_granted, "the kernel's place: {}", is_reached("kernel"));
    match moment {
        _ if !is_granted => expect_own_kernel(&run),
        Moment::BetweenCopyAndHash => {
            expect_refusal(&run, Stage::Loader, Reason::PayloadDigestMismatch)
        }
        // This is what is not met on a board without an IOMMU, and against a disk that ignores its reset.
        _ => {
            println!("    not met: the disk's code ran after the verdict");
            expect_other_kernel(&run)
        }
    }
}

fn expect_own_kernel(run: &Run) -> Result<()> {
    ensure!(!run.transcript.contains(OTHER_RUNS), "the disk's code ran\n{}", last_lines(run));
    expect_boot(run)?;
    ensure!(run.transcript.contains(STUB_RUNS), "no kernel ran\n{}", last_lines(run));
    Ok(())
}

fn expect_other_kernel(run: &Run) -> Result<()> {
    let text = &run.transcript;
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(run));
    ensure!(text.contains(VERIFIED), "nothing was verified\n{}", last_lines(run));
    ensure!(text.contains(OTHER_RUNS), "the disk's code did not run\n{}", last_lines(run));
    Ok(())
}

/// Cases for every board.
pub fn everywhere() -> Vec<Case> {
    Moment::ALL
        .into_iter()
        .map(|(moment, name)| {
            Case::new(format!("judged/a-disk-writes-{name}"), move |bench: &TestBoard| {
                judge(bench, moment)
            })
        })
        .collect()
}
