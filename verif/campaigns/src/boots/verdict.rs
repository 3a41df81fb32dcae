//! Tests that both checks of the verdict are effective in the linked stages (boot flow §7).
//!
//! Each check is a function of its own. These cases replace its code in the linked image, after
//! optimisation. If one check always says no, it must stop a good boot although the other says yes.
//! A loader in which signatures and digests always compare as equal must boot the tampered payload
//! and be detected, which shows that the cases above can fail.

use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_image::Reason;

use super::board::{STUB_RUNS, Setup, TestBoard, expect_refusal, last_lines};
use super::case::Case;
use hartlock_testkit::bundle::Edit;
use xtask::firmware;
use xtask::firmware::StageFiles;

/// Machine code of `li a0, 0` and of `li a0, 1`, each followed by `ret`.
const RETURN_0: [u8; 4] = [0x01, 0x45, 0x82, 0x80];
const RETURN_1: [u8; 4] = [0x05, 0x45, 0x82, 0x80];
/// Machine code that returns all ones, which means that no bit differs.
const RETURN_ONES: [u8; 4] = [0x7d, 0x55, 0x82, 0x80];

/// The all-zero word, which is an illegal instruction (Unprivileged Architecture §2.2).
const ILLEGAL: [u8; 4] = [0; 4];

const FIRST: &[&str] = &["harden", "Verdict", "is_accepted"];
const SECOND: &[&str] = &["harden", "Verdict", "is_confirmed"];
const EQUAL_BITS: &[&str] = &["harden", "equal_bits"];

/// A function, by parts of its mangled name, and the code that replaces its start.
type Patch = (&'static [&'static str], [u8; 4]);

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for stage in [Stage::Rom, Stage::Loader] {
        for (name, function) in [("first", FIRST), ("second", SECOND)] {
            let name = format!("verdict/{name}-check-stops-the-{}-alone", stage.name());
            cases.push(Case::new(name, move |bench: &TestBoard| {
                let setup = patched(bench, stage, &[(function, RETURN_0)], false)?;
                expect_refusal(&bench.run(&setup)?, stage, Reason::VerdictNotConfirmed)
            }));
            let (name, other) = match function {
                FIRST => ("second", SECOND),
                _ => ("first", FIRST),
            };
            let name = format!("verdict/{name}-check-is-needed-by-the-{}", stage.name());
            cases.push(Case::new(name, move |bench: &TestBoard| {
                // The first check always accepts, and the other one always refuses.
                let patches = [(function, RETURN_1), (other, RETURN_0)];
                let setup = patched(bench, stage, &patches, false)?;
                expect_refusal(&bench.run(&setup)?, stage, Reason::VerdictNotConfirmed)
            }));
        }
    }
    cases.push(Case::new("verdict/a-trap-is-a-refusal-of-the-rom", |bench| {
        let setup = patched(bench, Stage::Rom, &[(FIRST, ILLEGAL)], false)?;
        expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::UnexpectedTrap)
    }));
    cases.push(Case::new("verdict/a-loader-without-any-check-is-caught", |bench| {
        // Signatures and digests always compare as equal; the test must detect that.
        let setup = patched(bench, Stage::Loader, &[(EQUAL_BITS, RETURN_ONES)], true)?;
        let run = bench.run(&setup)?;
        ensure!(run.transcript.contains(STUB_RUNS), "it refused\n{}", last_lines(&run));
        let judged = expect_refusal(&run, Stage::Loader, Reason::PayloadDigestMismatch);
        ensure!(judged.is_err(), "a boot of a tampered kernel passed as a refusal");
        Ok(())
    }));
    cases
}

/// Makes a device with one stage patched, and with a tampered kernel if `is_tampered`.
fn patched(bench: &TestBoard, stage: Stage, patches: &[Patch], is_tampered: bool) -> Result<Setup> {
    let files = match stage {
        Stage::Rom => &bench.firmware.rom,
        Stage::Loader => &bench.firmware.loader,
    };
    let mut code = fs::read(&files.bin)?;
    for (function, replacement) in patches {
        let at = firmware::function_offset(&files.elf, function)?;
        code.get_mut(at..at + 4).context("inside the stage")?.copy_from_slice(replacement);
    }
    // The changed byte is in the kernel, which begins on the second page, after the code and text
    // of the stub, so the stub still runs.
    let tamper = [Edit::File(|file| file[4096 + 30_000] ^= 1)];
    let system: &[Edit] = if is_tampered { &tamper } else { &[] };
    match stage {
        Stage::Rom => {
            let mut setup = bench.setup(&[], system)?;
            setup.rom = code;
            Ok(setup)
        }
        Stage::Loader => {
            let folder = firmware::folder().join("patched");
            fs::create_dir_all(&folder)?;
            let bin = folder.join("loader.bin");
            fs::write(&bin, code)?;
            let loader = StageFiles { name: "loader", elf: files.elf.clone(), bin };
            bench.setup_with(&loader, &[], system)
        }
    }
}
