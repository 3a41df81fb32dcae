//! Boots Debian's kernel into userspace, on several numbers of harts and over both kinds of virtio.

use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::machine::Outcome;
use hartlock_handoff::Step;
use hartlock_image::PayloadType;
use hartlock_maps::qemu_virt;
use hartlock_verify::board::BOOT_HART;

use super::board::{Setup, TestBoard, check_output, entries, last_lines, loader_entry};
use super::{case::Case, port};
use xtask::initramfs::USERSPACE;

pub fn cases() -> Vec<Case> {
    // A missing board description is reported as an error of the first case.
    let all = port::identity().map_or(5, |board| board.harts);
    let mut cases: Vec<Case> = [(1, None), (2, Some(true)), (all, Some(false))]
        .into_iter()
        .map(|(harts, legacy_virtio)| {
            Case::new(format!("linux/reaches-userspace-on-{harts}-harts"), move |bench| {
                let mut setup = bench.linux("none")?;
                (setup.harts, setup.legacy_virtio) = (harts, legacy_virtio);
                reaches_userspace(bench, &setup)
            })
        })
        .collect();
    if port::is_default() {
        cases.push(Case::new("linux/device-tree-has-exactly-the-permitted-edits", permitted_edits));
    }
    cases
}

fn reaches_userspace(bench: &TestBoard, setup: &Setup) -> Result<()> {
    let run = bench.run(setup)?;
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    let plural = if setup.harts == 1 { "" } else { "s" };
    let expected = format!("{USERSPACE} on {} hart{plural}:", setup.harts);
    ensure!(run.transcript.contains(&expected), "no `{expected}`\n{}", last_lines(&run));

    // The log has both stages, every payload, and all harts for the largest payload.
    let all_harts = (1u64 << setup.harts) - 1;
    for stage in [Stage::Rom, Stage::Loader] {
        for step in [Step::Start, Step::Signature, Step::Verdict] {
            let found =
                entries(&run)?.iter().any(|entry| (entry.stage, entry.step) == (stage, step));
            ensure!(found, "no entry for {step:?} of {stage:?}");
        }
    }
    for payload in [PayloadType::Kernel, PayloadType::Initramfs, PayloadType::SystemFdt] {
        for step in [Step::Read, Step::Hash] {
            let entry = loader_entry(&run, step, Some(payload))?;
            ensure!(entry.time.0 <= entry.time.1, "{step:?} of {payload:?} ends before it begins");
            ensure!(entry.bytes > 0, "{step:?} of {payload:?} has no bytes");
        }
        let hash = loader_entry(&run, Step::Hash, Some(payload))?;
        ensure!(hash.digest != [0; 48] && hash.hash.is_some(), "{payload:?} has no digest");
    }
    let kernel = loader_entry(&run, Step::Hash, Some(PayloadType::Kernel))?;
    // The boot hart copies what the disk brings, and hashes only what is more than the others need until it is back.
    ensure!(
        kernel.harts | 1 << BOOT_HART == all_harts,
        "the kernel was hashed by {:#b}",
        kernel.harts
    );
    let parts = entries(&run)?
        .iter()
        .filter(|entry| entry.step == Step::HashPart && entry.payload == Some(PayloadType::Kernel));
    let (harts, bytes) =
        parts.fold((0, 0), |(harts, bytes), part| (harts | part.harts, bytes + part.bytes));
    ensure!(
        (harts, bytes) == (kernel.harts, kernel.bytes),
        "the parts of the kernel add up to {bytes} bytes by {harts:#b}"
    );
    let stop = loader_entry(&run, Step::HartsStop, None)?;
    ensure!(stop.harts == all_harts, "{:#b} harts were stopped", stop.harts);
    let handoff = run.handoff.as_ref().context("no hand-off block")?;
    ensure!(handoff.harts == all_harts, "{:#b} harts reported", handoff.harts);
    Ok(())
}

/// Compares the signed device tree with the one that Linux got, both as text.
fn permitted_edits(bench: &TestBoard) -> Result<()> {
    let mut setup = bench.linux("tree")?;
    setup.harts = 3;
    let (device, mut machine) = bench.start(&setup, &[])?;
    let stop = bench.wait(&mut machine, None);
    let tree = machine.read_memory(&qemu_virt::LINUX_FDT)?;
    let run = machine.finish(stop, &mut |_| {});
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));

    let file = device.folder().join("linux.dtb");
    fs::write(&file, tree)?;
    let text = |path| {
        let options = ["-q", "-I", "dtb", "-O", "dts", "-o", "-"].map(std::path::Path::new);
        check_output(&bench.tools.dtc, &[&options[..], &[path]].concat())
    };
    let before = text(bench.firmware.system_fdt.as_path())?;
    let after = text(file.as_path())?;
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let (added, removed) = difference(&lines(&before), &lines(&after));

    let expected: &[&str] = &[
        "bootargs = \"console=ttyS0 loglevel=4 hartlock.test=tree\";",
        "linux,initrd-end =",
        "linux,initrd-start =",
        "compatible = \"hartlock,handoff-v1\";",
        "compatible = \"hartlock,measurement-log-v1\";",
        "hartlock-handoff@80110000 {",
        "hartlock-log@80120000 {",
        "hartlock-opensbi@80000000 {",
        "hartlock-rom@80100000 {",
        "no-map;",
        "reg = <0x00 0x80000000 0x00 0x100000>;",
        "reg = <0x00 0x80100000 0x00 0x10000>;",
        "reg = <0x00 0x80110000 0x00 0x1000>;",
        "reg = <0x00 0x80120000 0x00 0x10000>;",
        "status = \"disabled\";",
        "};",
    ];
    for line in added.iter().filter(|line| !line.is_empty()) {
        let is_expected = expected.iter().any(|start| line.starts_with(start));
        ensure!(is_expected, "not a permitted edit: {line}");
    }
    for start in expected {
        ensure!(added.iter().any(|line| line.starts_with(start)), "missing edit: {start}");
    }
    let disabled = added.iter().filter(|line| *line == "status = \"disabled\";").count();
    ensure!(disabled == 2, "{disabled} harts of 2 absent ones are disabled");
    let okay = removed.iter().filter(|line| *line == "status = \"okay\";").count();
    let others: Vec<_> =
        removed.iter().filter(|line| *line != "status = \"okay\";" && !line.is_empty()).collect();
    ensure!(okay == 2 && others.is_empty(), "{okay} states and {others:?} were removed");
    Ok(())
}

/// Returns the lines that only one side has, counted with their multiplicity.
fn difference(before: &[String], after: &[String]) -> (Vec<String>, Vec<String>) {
    let mut removed = before.to_vec();
    let mut added = Vec::new();
    for line in after {
        match removed.iter().position(|other| other == line) {
            Some(index) => drop(removed.swap_remove(index)),
            None => added.push(line.clone()),
        }
    }
    (added, removed)
}
