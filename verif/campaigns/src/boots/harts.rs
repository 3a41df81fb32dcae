//! Boots with harts that are missing, trap, report late or do not obey (boot flow §5.2 to §5.4).

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Outcome, Run};
use hartlock_handoff::Step;
use hartlock_image::{HashId, PayloadType, Reason, TreeMode};
use hartlock_maps::qemu_virt;
use hartlock_verify::board::{BOOT_HART, Region};

use super::board::{
    STUB_RUNS, Setup, TestBoard, expect_boot, expect_refusal, last_lines, loader_entry, starts_with,
};
use super::case::Case;
use hartlock_testkit::bundle::{Draft, Edit};
use xtask::firmware;
use xtask::initramfs::USERSPACE;

/// Replaces the hashes of the payloads by ParallelHash and KT128, in every mode that supports them.
fn new_hashes(draft: &mut Draft) {
    let modes = [
        (HashId::Shake128, TreeMode::ParallelHash { block_size: 1024 }),
        (HashId::Kt128, TreeMode::Blocks { block_size: 9 << 10 }),
        (HashId::Kt128, TreeMode::Flat),
    ];
    for (payload, (hash, mode)) in draft.payloads.iter_mut().zip(modes) {
        (payload.hash, payload.mode) = (hash, mode);
    }
}

/// Mask of the hart that the fault variants of the stages affect.
const VICTIM: u64 = 1 << 2;
/// Mask of all other harts of the board.
const IN_TIME: u64 = 0b11111 & !VICTIM;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("harts/missing-harts-are-skipped-and-logged", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.harts = 3;
            let run = bench.run(&setup)?;
            expect_boot(&run)?;
            let start = loader_entry(&run, Step::HartsStart, None)?;
            ensure!(start.harts == 0b111 && start.value == 0b11000, "{start:?}");
            Ok(())
        }),
        Case::new("harts/one-hart-alone-boots", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.harts = 1;
            expect_boot(&bench.run(&setup)?)
        }),
        Case::new("harts/parallelhash-and-kt128-boot-on-five-harts", |bench| {
            let mut setup = bench.setup(&[Edit::Draft(new_hashes)], &[Edit::Draft(new_hashes)])?;
            setup.harts = 5;
            let run = bench.run(&setup)?;
            expect_boot(&run)?;
            let kernel = loader_entry(&run, Step::Hash, Some(PayloadType::Kernel))?;
            ensure!(kernel.hash == Some(HashId::Shake128), "{kernel:?}");
            let initramfs = loader_entry(&run, Step::Hash, Some(PayloadType::Initramfs))?;
            ensure!(initramfs.hash == Some(HashId::Kt128), "{initramfs:?}");
            Ok(())
        }),
        Case::new("harts/blocks-of-parallelhash-that-changed-places-are-refused", |bench| {
            let swap = Edit::File(|file| {
                // The first two blocks of the kernel change places. They hold the stub; the later blocks are all zeros.
                file[4096..4096 + 2048].rotate_left(1024);
            });
            let run = bench.run(&bench.setup(&[], &[Edit::Draft(new_hashes), swap])?)?;
            expect_refusal(&run, Stage::Loader, Reason::PayloadDigestMismatch)
        }),
        Case::new("harts/another-boot-hart-is-refused", |bench| {
            let mut draft = bench.boot_draft(&bench.firmware.loader)?;
            let tree = &mut draft.payloads[2].data;
            // In `boot.dts`, two properties name hart 0; a copy of the tree names hart 1.
            *tree = with_boot_hart(bench, 1)?;
            let mut setup = bench.setup(&[], &[])?;
            setup.boot = hartlock_testkit::bundle::build(draft, &[]).0;
            let run = bench.run(&setup)?;
            let reason = Reason::WrongBootHart;
            let expected = Outcome::Refused { stage: Stage::Loader, reason };
            ensure!(run.outcome == expected, "{:?}\n{}", run.outcome, last_lines(&run));
            ensure!(!run.transcript.contains(STUB_RUNS), "the kernel ran");
            Ok(())
        }),
        Case::new("harts/a-hart-that-never-starts-is-a-refusal-and-a-reset", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.rom = rom_with_phantom(bench)?;
            setup.harts = 4;
            expect_reset(&bench.run(&setup)?, Reason::HartNotStarted)
        }),
        Case::new("harts/a-hart-that-traps-loses-its-work-to-another", |bench| {
            loses_its_work(bench, "worker-trap")
        }),
        Case::new("harts/a-hart-that-stalls-loses-its-work-to-another", |bench| {
            loses_its_work(bench, "worker-stall")
        }),
        Case::new("harts/a-hart-that-never-stops-is-a-refusal-and-a-reset", |bench| {
            let setup = faulty(bench, "worker-never-stops", |_| ())?;
            expect_reset(&bench.run(&setup)?, Reason::HartNotStopped)
        }),
        Case::new("harts/all-harts-together-too-slow-is-a-refusal", |bench| {
            let run = bench.run(&impatient(bench)?)?;
            expect_refusal(&run, Stage::Loader, Reason::HashingTooSlow)?;
            let fault = loader_entry(&run, Step::HartFault, None);
            ensure!(fault.is_err(), "a single hart was too slow: {fault:?}");
            Ok(())
        }),
        Case::new("harts/a-hart-that-reports-too-late-stays-parked", |bench| {
            let run = late(bench, bench.setup(&[], &[])?)?;
            expect_boot(&run)?;
            let handoff = run.handoff.as_ref().context("no hand-off block")?;
            ensure!(handoff.harts == IN_TIME, "{:#b} harts were counted", handoff.harts);
            let start = loader_entry(&run, Step::HartsStart, None)?;
            ensure!(start.harts == IN_TIME && start.value == VICTIM, "{start:?}");
            // All other harts have entered OpenSBI; this one has never left the ROM.
            ensure!(run.harts.len() == 5, "{} harts could be read", run.harts.len());
            for hart in &run.harts {
                let is_parked = qemu_virt::ROM_FLASH.contains(&Region::new(hart.pc, 1));
                let is_late = VICTIM == 1 << hart.hart;
                ensure!(is_parked == is_late, "hart {} is at {:#x}", hart.hart, hart.pc);
            }
            Ok(())
        }),
        Case::new("harts/a-hart-that-reports-too-late-is-hidden-from-linux", |bench| {
            let run = late(bench, bench.linux("none")?)?;
            ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
            let expected = format!("{USERSPACE} on 4 harts");
            ensure!(run.transcript.contains(&expected), "no `{expected}`\n{}", last_lines(&run));
            let kernel = loader_entry(&run, Step::Hash, Some(PayloadType::Kernel))?;
            let hashed = kernel.harts | 1 << BOOT_HART;
            ensure!(hashed == IN_TIME, "the kernel was hashed by {:#b}", kernel.harts);
            Ok(())
        }),
    ]
}

/// Compiles the boot device tree with another boot hart.
pub fn with_boot_hart(bench: &TestBoard, hart: u32) -> Result<Vec<u8>> {
    let folder = xtask::project::root().join("device/boards").join(super::port::name());
    let source = std::fs::read_to_string(folder.join("boot.dts"))?;
    let changed = source
        .replace("cold-boot-harts = <&cpu0>", &format!("cold-boot-harts = <&cpu{hart}>"))
        .replace("boot-hart = <&cpu0>", &format!("boot-hart = <&cpu{hart}>"));
    ensure!(changed != source, "boot.dts names its boot hart in another way");
    let scratch = tempfile::tempdir()?;
    let (file, output) = (scratch.path().join("boot.dts"), scratch.path().join("boot.dtb"));
    std::fs::write(&file, changed)?;
    let mut dtc = std::process::Command::new(&bench.tools.dtc);
    dtc.args(["-q", "-I", "dts", "-O", "dtb", "-i"])
        .arg(&folder)
        .arg("-i")
        .arg(folder.join("generated"));
    dtc.arg("-o").arg(&output);
    xtask::run::quietly(dtc.arg(&file))?;
    Ok(std::fs::read(&output)?)
}

/// Makes a device whose loader has an injected fault.
pub fn faulty(bench: &TestBoard, feature: &str, edit: fn(&mut Draft)) -> Result<Setup> {
    let loader = firmware::stage("loader-variants", &[feature])?;
    // The payload has enough blocks for the victim to get one, even if it wakes late on a busy machine.
    let system = [
        Edit::Draft(|draft| {
            draft.payloads[1].resize(6 << 20);
            draft.payloads[1].use_blocks(16 << 10);
        }),
        Edit::Draft(edit),
    ];
    let mut setup = bench.setup_with(&loader, &[], &system)?;
    setup.harts = 3;
    Ok(setup)
}

/// Makes a ROM in which each hart also reports for the next one, so that a hart is counted that does not exist.
/// OpenSBI accepts the request to start it, but it never runs.
pub fn rom_with_phantom(bench: &TestBoard) -> Result<Vec<u8>> {
    /// `li t2, 1`, the mask that the code shifts by the hart number, and its replacement `li t2, 3`.
    const ONE: [u8; 2] = [0x85, 0x43];
    const BOTH: [u8; 2] = [0x8d, 0x43];
    let mut rom = std::fs::read(&bench.firmware.rom.bin)?;
    let park = firmware::symbol(&bench.firmware.rom.elf, "park")? - qemu_virt::ROM_CODE.start;
    let code = rom.get_mut(park as usize..).context("inside the ROM")?;
    let at = code.chunks(2).position(|part| part == ONE).context("a hart that reports")?;
    code[2 * at..2 * at + 2].copy_from_slice(&BOTH);
    Ok(rom)
}

/// Boots all harts of the board. One of them enters the ROM after OpenSBI is in memory, so it reports after the harts
/// were counted.
fn late(bench: &TestBoard, mut setup: Setup) -> Result<Run> {
    let program = [
        // Loads the address of OpenSBI's first word, which the ROM clears before it counts: `li t0, 1`, `slli t0, t0,
        // 31`.
        0x0010_0293,
        0x01f2_9293,
        // Waits until that word is not zero: `lw t1, (t0)`, `beqz t1, -4`.
        0x0002_a303,
        0xfe03_0ee3,
        // Enters the ROM: `lui t0, 0x20000`, `jr t0`.
        0x2000_02b7,
        0x0002_8067,
    ];
    const { assert!(qemu_virt::OPENSBI.start == 1 << 31) };
    const { assert!(qemu_virt::ROM_CODE.start == 0x20000 << 12) };
    setup.harts = 5;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let options = starts_with(&device, VICTIM.trailing_zeros() as usize, &program)?;
    Ok(bench.finish(bench.start_on(&device, &setup, &options)?, setup.until))
}

/// Makes a device whose loader waits half a millisecond instead of a minute for all harts, and whose payload takes
/// longer.
fn impatient(bench: &TestBoard) -> Result<Setup> {
    /// Number of timer ticks in a minute (`device/loader/src/timeouts.rs`).
    const MINUTE: u32 = 60 * 10_000_000;
    /// Mask and value of a `lui` of any register that loads the upper 20 bits of `MINUTE`; an `addi` adds the rest.
    const MASK: u32 = 0xffff_f07f;
    const LOADS_A_MINUTE: u32 = (MINUTE + 0x800) & 0xffff_f000 | 0x37;
    let mut loader = bench.firmware.loader.clone();
    let mut code = std::fs::read(&loader.bin)?;
    let word = |at: &usize| Some(u32::from_le_bytes(*code.get(*at..)?.first_chunk()?));
    let is_it = |at: &usize| word(at).is_some_and(|word| word & MASK == LOADS_A_MINUTE);
    let places: Vec<usize> = (0..code.len()).step_by(2).filter(is_it).collect();
    let [at] = places[..] else { bail!("the minute is in {} places", places.len()) };
    let shorter = word(&at).context("inside the loader")? & 0xfff | 1 << 12;
    code[at..at + 4].copy_from_slice(&shorter.to_le_bytes());
    let folder = tempfile::tempdir()?;
    loader.bin = folder.path().join("loader.bin");
    std::fs::write(&loader.bin, code)?;
    let large = Edit::Draft(|draft| {
        draft.payloads[1].resize(24 << 20);
        draft.payloads[1].use_blocks(16 << 10);
    });
    bench.setup_with(&loader, &[], &[large])
}

/// Checks that the boot succeeds, that the log names the faulty hart, and that other harts computed its leaves.
fn loses_its_work(bench: &TestBoard, feature: &str) -> Result<()> {
    expect_lost_work(&bench.run(&faulty(bench, feature, |_| ())?)?)
}

/// Checks that a boot succeeded although a hart was lost.
pub fn expect_lost_work(run: &Run) -> Result<()> {
    expect_boot(run)?;
    let fault = loader_entry(run, Step::HartFault, None)?;
    ensure!(fault.value == VICTIM, "{fault:?}");
    let hash = loader_entry(run, Step::Hash, Some(PayloadType::Initramfs))?;
    ensure!(hash.harts & VICTIM == 0, "a leaf of the lost hart was accepted: {hash:?}");
    Ok(())
}

/// Checks that the loader refused for this reason and reset the machine.
pub fn expect_reset(run: &Run, reason: Reason) -> Result<()> {
    let expected = Outcome::Refused { stage: Stage::Loader, reason };
    ensure!(run.outcome == expected, "{:?}\n{}", run.outcome, last_lines(run));
    ensure!(!run.transcript.contains(STUB_RUNS), "the kernel ran");
    let notice = "resetting the machine";
    ensure!(run.transcript.contains(notice), "no reset\n{}", last_lines(run));
    run.measurements.as_ref().context("no log")?;
    Ok(())
}
