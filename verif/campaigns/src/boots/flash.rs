//! Boots with flash that does not return its contents when the ROM starts (boot flow §3.2).
//!
//! Software that ran before the ROM can leave bank 1 in any state of the Intel command set, and a reset of the
//! harts does not always reset the flash. QEMU resets its flash with the machine, so a program in RAM replaces
//! that software: hart 0 starts there, writes commands, and jumps to the reset vector. Bank 0 is not tested: the
//! ROM executes from it, and in another state its first instruction could not be fetched. A suspended erase is
//! not tested because QEMU does not implement it.

use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::Run;
use hartlock_image::Reason;
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;

use super::board::{Setup, TestBoard, expect_boot, expect_refusal, starts_with};
use super::case::Case;
use xtask::firmware;

/// The reset vector at which QEMU's harts start by default.
const RESET_VECTOR: u32 = 0x1000;
/// Address of a flash block in bank 1 that holds neither a bundle nor the state.
const UNUSED: u32 = 0x2300_0000;
/// Address of the boot bundle, and of the first copy of the state.
const BUNDLE: u32 = qemu_virt::BOOT_SLOT.start as u32;
const STATE: u32 = qemu_virt::STATE_COPIES[0].start as u32;

/// Size of a copy of the state in bytes (boot flow §3.2).
const STATE_SIZE: u64 = 128;

/// A write of the program: an address, and a command for both flash devices of the bank.
type Write = (u32, u32);

const fn both(command: u32) -> u32 {
    command | command << 16
}

/// Names of flash states, and the writes that put the flash into each state.
const STATES: [(&str, &[Write]); 12] = [
    ("read-array", &[]),
    ("status", &[(BUNDLE, both(0x70))]),
    ("status-of-the-state-store", &[(STATE, both(0x70))]),
    ("query", &[(BUNDLE, both(0x98))]),
    ("identifier", &[(BUNDLE, both(0x90))]),
    ("an-erase-that-was-begun", &[(UNUSED, both(0x20))]),
    ("an-erase-that-ended", &[(UNUSED, both(0x20)), (UNUSED, both(0xd0))]),
    ("a-lock-that-was-begun", &[(UNUSED, both(0x60))]),
    ("a-word-that-was-begun", &[(UNUSED, both(0x40))]),
    ("a-buffer-that-was-begun", &[(UNUSED, both(0xe8))]),
    ("a-buffer-that-is-half-full", &[(UNUSED, both(0xe8)), (UNUSED, both(31)), (UNUSED, 0)]),
    ("a-buffer-that-is-full", &[(UNUSED, both(0xe8)), (UNUSED, both(0)), (UNUSED, 0)]),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, writes) in STATES {
        cases.push(Case::new(
            format!("protection/flash-left-in-{name}"),
            move |bench: &TestBoard| expect_boot(&boot(bench, bench.setup(&[], &[])?, writes)?),
        ));
    }
    cases.push(Case::new("protection/a-rom-that-leaves-flash-as-it-is-is-caught", |bench| {
        let rom = fs::read(firmware::stage("rom-variants", &["flash-as-it-is"])?.bin)?;
        let [contents, status, .., buffer] = STATES;
        for (name, writes) in [contents, status, buffer] {
            let run = boot(bench, Setup { rom: rom.clone(), ..bench.setup(&[], &[])? }, writes)?;
            let judged = match writes {
                [] => expect_boot(&run),
                _ => expect_refusal(&run, Stage::Rom, Reason::CounterStoreInvalid),
            };
            judged.context(name)?;
        }
        Ok(())
    }));
    cases
}

/// Boots a device after a program has put its flash into this state. The files of the flash keep their contents.
fn boot(bench: &TestBoard, mut setup: Setup, writes: &[Write]) -> Result<Run> {
    // With more harts, the others would start the ROM at once.
    setup.harts = 1;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let before = fs::read(device.bundle_flash())?;
    let machine = bench.start_on(&device, &setup, &starts_with(&device, 0, &program(writes))?)?;
    let run = bench.finish(machine, setup.until);
    let after = fs::read(device.bundle_flash())?;
    for region in [
        qemu_virt::BOOT_SLOT,
        Region::new(qemu_virt::STATE_COPIES[0].start, STATE_SIZE),
        Region::new(qemu_virt::STATE_COPIES[1].start, STATE_SIZE),
    ] {
        let offset = |address: u64| (address - qemu_virt::BUNDLE_FLASH.start) as usize;
        let bytes = offset(region.start)..offset(region.end);
        ensure!(before[bytes.clone()] == after[bytes], "flash was changed in {region:x?}");
    }
    Ok(run)
}

/// Returns the machine code of a program that performs these writes and jumps to the reset vector.
fn program(writes: &[Write]) -> Vec<u32> {
    const T0: u32 = 5;
    const T1: u32 = 6;
    // `lui` and `addiw` load the value (Unprivileged Architecture §2.4, §4.2). `addiw` sign-extends bit 11, so
    // the upper part is rounded.
    let load = |register: u32, value: u32| {
        let upper = value.wrapping_add(0x800) & 0xffff_f000;
        let lower = value.wrapping_sub(upper) & 0xfff;
        [upper | register << 7 | 0x37, lower << 20 | register << 15 | register << 7 | 0x1b]
    };
    let mut words = Vec::new();
    for (address, value) in writes {
        words.extend(load(T0, *address));
        words.extend(load(T1, *value));
        // `sw t1, 0(t0)`
        words.push(T1 << 20 | T0 << 15 | 2 << 12 | 0x23);
    }
    // `fence`
    words.push(0x0ff0_000f);
    words.extend(load(T0, RESET_VECTOR));
    // `jr t0`
    words.push(T0 << 15 | 0x67);
    words
}
