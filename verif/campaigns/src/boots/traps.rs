//! Tests that an unexpected trap of a stage is a refusal like any other (boot flow §7).
//!
//! The cases replace the first instruction of one function of the linked stage by an illegal one.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::machine::{HartState, Machine, Outcome, Run};
use hartlock_handoff::Step;
use hartlock_image::Reason;
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;

use super::board::{
    STUB_RUNS, Setup, TestBoard, entries, expect_refusal, last_lines, loader_entry,
};
use super::case::Case;
use hartlock_testkit::bundle::Edit;
use xtask::firmware;
use xtask::firmware::StageFiles;

/// The all-zero word, which is an illegal instruction (Unprivileged Architecture §2.2).
pub const ILLEGAL: [u8; 4] = [0; 4];
/// Prefix of the line that both stages print for a trap.
const TRAP: &str = "hartlock: trap:";
/// Time limit that only ends a hang.
const STOP_TIME: Duration = Duration::from_secs(30);

/// Function that collects completed disk requests. The boot hart runs it while the other harts wait
/// for work.
const ADVANCE: &[&str] = &["loader", "disk", "Transfer", "advance"];
/// Function that reads the keys of the hand-off block, before the loader begins its log.
const READ_TRUST: &[&str] = &["handoff", "block", "read_trust"];
/// Function that appends to the log. The ROM writes its log when it refuses, the loader during the
/// whole boot.
const PUSH: &[&str] = &["handoff", "log", "Log", "push"];

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("refusal/trap-of-the-loader-while-harts-run", |bench| {
            let mut setup = trapping(bench, Stage::Loader, ADVANCE)?;
            setup.harts = 3;
            let run = run_to_the_stop(bench, &setup)?;
            expect_refusal(&run, Stage::Loader, Reason::UnexpectedTrap)?;
            // The loader's log continues after the entries of the ROM.
            let start = loader_entry(&run, Step::HartsStart, None)?;
            ensure!(start.harts == 0b111, "{start:?}");
            ensure!(entries(&run)?.iter().any(|entry| entry.stage == Stage::Rom), "no ROM in it");
            Ok(())
        }),
        Case::new("refusal/trap-of-the-loader-before-its-log", |bench| {
            let run = run_to_the_stop(bench, &trapping(bench, Stage::Loader, READ_TRUST)?)?;
            expect_refusal(&run, Stage::Loader, Reason::UnexpectedTrap)?;
            ensure!(entries(&run)?.len() == 1, "{:?}", entries(&run)?);
            Ok(())
        }),
        Case::new("refusal/trap-in-a-refusal-of-the-loader-ends-it", |bench| {
            let run = run_to_the_stop(bench, &trapping(bench, Stage::Loader, PUSH)?)?;
            expect_one_trap(&run, Stage::Loader, Reason::UnexpectedTrap)
        }),
        Case::new("refusal/trap-in-a-refusal-of-the-rom-ends-it", |bench| {
            let mut setup = trapping(bench, Stage::Rom, PUSH)?;
            setup.boot = vec![0xff; 4096];
            expect_one_trap(&bench.run(&setup)?, Stage::Rom, Reason::UnknownTag)
        }),
        Case::new("refusal/trap-of-the-kernel-is-none", trap_of_the_kernel),
    ]
}

/// Makes a device with a stage in which this function traps.
fn trapping(bench: &TestBoard, stage: Stage, function: &[&str]) -> Result<Setup> {
    let files = match stage {
        Stage::Rom => &bench.firmware.rom,
        Stage::Loader => &bench.firmware.loader,
    };
    let mut code = fs::read(&files.bin)?;
    let at = firmware::function_offset(&files.elf, function)?;
    code.get_mut(at..at + 4).context("inside the stage")?.copy_from_slice(&ILLEGAL);
    if stage == Stage::Rom {
        return Ok(Setup { rom: code, ..bench.setup(&[], &[])? });
    }
    let folder = firmware::folder().join("trapping");
    fs::create_dir_all(&folder)?;
    let bin = folder.join("loader.bin");
    fs::write(&bin, code)?;
    bench.setup_with(&StageFiles { bin, ..files.clone() }, &[], &[])
}

/// Runs a device until it has refused and every hart is stopped in OpenSBI, from which it returns
/// only on request. The loader stops the harts after it printed the refusal.
fn run_to_the_stop(bench: &TestBoard, setup: &Setup) -> Result<Run> {
    let (_device, mut machine) = bench.start(setup, &[])?;
    let stop = bench.wait(&mut machine, None);
    wait_for_the_stop(&mut machine, setup)?;
    Ok(machine.finish(stop, &mut |_| {}))
}

/// Waits until every hart of a device is stopped in OpenSBI.
pub fn wait_for_the_stop(machine: &mut Machine, setup: &Setup) -> Result<()> {
    let until = Instant::now() + STOP_TIME;
    loop {
        let harts = machine.harts();
        ensure!(harts.len() == setup.harts as usize, "{} harts could be read", harts.len());
        let is_running = |hart: &&HartState| !qemu_virt::OPENSBI.contains(&Region::new(hart.pc, 1));
        match harts.iter().find(is_running) {
            None => return Ok(()),
            Some(hart) => ensure!(Instant::now() < until, "hart {} still runs", hart.hart),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Checks a trap during the refusal itself. The refusal was printed before the trap, and nothing
/// was printed after it: no log, no kernel, and no second refusal.
fn expect_one_trap(run: &Run, stage: Stage, reason: Reason) -> Result<()> {
    let expected = Outcome::Refused { stage, reason };
    ensure!(run.outcome == expected, "{:?}\n{}", run.outcome, last_lines(run));
    let text = &run.transcript;
    ensure!(!text.contains(STUB_RUNS), "the kernel ran");
    let traps = text.matches(TRAP).count();
    ensure!(traps == 1, "{traps} traps were printed\n{}", last_lines(run));
    Ok(())
}

/// Tests a kernel that traps before it has installed its handler. The loader's handler prints the
/// trap and does not claim a refusal: the bundle was accepted and ran.
fn trap_of_the_kernel(bench: &TestBoard) -> Result<()> {
    let system = [Edit::Draft(|draft| draft.payloads[0].data[..4].copy_from_slice(&ILLEGAL))];
    let mut setup = bench.setup(&[], &system)?;
    setup.until = Some(TRAP);
    let (_device, mut machine) = bench.start(&setup, &[])?;
    let stop = bench.wait(&mut machine, setup.until);
    // A wrong refusal would be printed at once. If a machine is too slow to print it in this time,
    // other runs of the test still detect it.
    thread::sleep(Duration::from_millis(500));
    let run = machine.finish(stop, &mut |_| {});
    ensure!(!run.transcript.contains("refused"), "{}", last_lines(&run));
    let last = entries(&run)?.last().context("the log is empty")?;
    ensure!(last.step == Step::Handover, "the log ends with {last:?}");
    Ok(())
}
