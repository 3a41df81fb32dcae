//! Tests AES and big numbers on the root of trust: known answers (`verif/programs/rot-crypto`), engines that are broken
//! or upset, and bundles whose signature the engine for big numbers verifies.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use hartlock_handoff::{Entry, Step};
use hartlock_image::Reason;
use hartlock_kernels::Tier;
use hartlock_testkit::bundle::Edit;

use super::key_requests::{self, MissingPart};
use super::report::{BootSequencerState, BootState};
use super::rot::{self, Rot};
use super::rot_boot::run_unwatched;
use super::rot_boot::{ALONE, RotBootResult, SMALL_SIZE, SignedBy, boot_with, bundle, rom_for};
use super::{End, loader, number_vectors, rot_streams};
use xtask::firmware;

/// The parts of the program, in its order.
const PARTS: [&str; 8] = [
    "aes-256-cbc",
    "aes-256-gcm",
    "aes-interrupt",
    "aes-slot",
    "aes-kw",
    "rsa-2048",
    "ecdsa-p256",
    "ecdsa-p384",
];
/// The cycle of the upset, which is before the end of the program.
const UPSET: &str = "20000";
/// A flipped bit of s, or of the end of an RSA signature. The padding after it has four bytes at most.
const FLIPPED: Edit = Edit::Area(|area| {
    let at = area.len() - 20;
    area[at] ^= 1;
});
/// The message of the program if a changed signature is accepted.
const ACCEPTED: &str = "rot-crypto: a changed message is accepted";
/// A limit far above the cycles of the program.
const MAX_CYCLES: &str = "10000000";
/// The messages of the ROM about its engine.
const BY_ENGINE: &str = "hartlock: big numbers by the engine";
const NOT_USED: &str = "hartlock: the engine for big numbers is not used";
/// The signatures that the engine verifies.
const SIGNED: [SignedBy; 4] =
    [SignedBy::RsaPss, SignedBy::RsaPkcs1, SignedBy::P256, SignedBy::P384];
/// A limit above the cycles of a boot whose signature software verifies after a wait for an engine that does not
/// answer.
const IN_SOFTWARE: &str = "400000000";

/// Returns the cycles of each part, as the processor of the root of trust counts them.
///
/// # Errors
/// If an answer is wrong, or the program fails.
pub fn measure(rot: Rot) -> Result<Vec<(String, u64)>> {
    let (console, _, end) = run(rot, &[])?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console)
}

/// Returns a fault if an answer is wrong, or if a broken or upset engine is not noticed.
///
/// # Errors
/// If AES between DMA and the stream writer is wrong or too slow, or the ROM does not boot with the engine for big
/// numbers.
pub fn daily_fault(rot: Rot, folder: &Path) -> Result<Option<String>> {
    rot_streams::measure(rot)?;
    for lacks in MissingPart::ALL {
        key_requests::measure(rot, lacks)?;
    }
    measure(rot)?;
    let fault = engine_fault(rot)?;
    if fault.is_none() {
        boot_by_engine(rot, SignedBy::RsaPss, folder)?;
    }
    Ok(fault)
}

/// Returns a fault if a broken or upset engine is not noticed, or if a changed signature of some kind is not refused.
/// Good signatures are tested by [`print`] before.
///
/// # Errors
/// If a machine or a program cannot be built.
pub fn fault(rot: Rot, folder: &Path) -> Result<Option<String>> {
    if let Some(why) = engine_fault(rot)? {
        return Ok(Some(why));
    }
    for signed_by in SIGNED {
        if let Some(why) = boot_fault(rot, signed_by, folder)? {
            return Ok(Some(format!("{signed_by:?}: {why}")));
        }
    }
    broken(rot, folder)
}

/// Boots a bundle whose signature the engine verifies; returns the boot, and the cycles of the step *signature*.
///
/// # Errors
/// If the host is not released, or the engine is not used.
pub fn boot_by_engine(
    rot: Rot,
    signed_by: SignedBy,
    folder: &Path,
) -> Result<(RotBootResult, u64)> {
    let good = bundle(SMALL_SIZE, signed_by, None, &[]);
    let booted = boot_with(rot, &rom_for(signed_by, ALONE)?, &good, &[], folder)?;
    let is_hash = |entry: &Entry| entry.kernel == Tier::Engine as u32 && entry.hash.is_some();
    ensure!(
        booted.reason.is_none()
            && booted.is_host_running
            && booted.entries.iter().any(is_hash)
            && booted.console.contains(BY_ENGINE),
        "a good bundle: {:?}\n{}",
        booted.reason,
        booted.console
    );
    let mut steps = booted.entries.iter().filter(|entry| entry.step == Step::Signature);
    let cycles = loader::cycles(steps.next().context("the log has no signature")?);
    Ok((booted, cycles))
}

/// Checks that a flipped bit in the signature of a bundle is refused.
fn boot_fault(rot: Rot, signed_by: SignedBy, folder: &Path) -> Result<Option<String>> {
    let bad = bundle(SMALL_SIZE, signed_by, None, &[FLIPPED]);
    let booted = boot_with(rot, &rom_for(signed_by, ALONE)?, &bad, &[], folder)?;
    let is_refused = booted.reason == Some(Reason::SignatureMismatch as u32)
        && !booted.is_host_running
        && booted.console.contains(BY_ENGINE);
    Ok((!is_refused).then(|| format!("a flipped bit: {:?}\n{}", booted.reason, booted.console)))
}

/// Checks that software verifies if the engine answers known-answer tests wrongly, is absent or does not answer.
fn broken(rot: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom_for(SignedBy::P256, ALONE)?;
    let good = bundle(SMALL_SIZE, SignedBy::P256, None, &[]);
    for how in ["bignum", "bignum-absent", "bignum-silent"] {
        let options = ["--max-cycles", IN_SOFTWARE, "--upset-result", how];
        let (console, state, end) = run_unwatched(rot, &rom, &good, &options, folder)?;
        if (end, state.status) != (End::Success, BootSequencerState::Released)
            || !console.contains(NOT_USED)
        {
            return Ok(Some(format!("{how} ended in {end:?}, {state:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Returns a fault if the program does not notice wrong results or upsets of engines.
fn engine_fault(rot: Rot) -> Result<Option<String>> {
    // An outcome or a result is wrong once. The driver asks again, so it has an engine that failed, or no answer.
    for (how, part, answer) in
        [("bignum-once", PARTS[6], "Some(false)"), ("bignum-data-once", PARTS[5], "None")]
    {
        let (console, _, end) = run(rot, &["--upset-result", how])?;
        let is_noticed = console.contains(&format!("rot-crypto: {part}: {answer}"));
        if end != End::Failure || !is_noticed || console.contains(ACCEPTED) {
            return Ok(Some(format!("{how} ended in {end:?}\n{console}")));
        }
    }
    for (engine, part) in [("aes", PARTS[0]), ("bignum", PARTS[5])] {
        let (console, _, end) = run(rot, &["--upset-result", engine])?;
        if end != End::Failure || !console.contains(&format!("rot-crypto: {part}: ")) {
            return Ok(Some(format!("wrong results of {engine} ended in {end:?}\n{console}")));
        }
        // The sequencer treats an alert as a fault, and the core as an interrupt that it cannot mask.
        let (console, state, end) = run(rot, &["--upset-state", &format!("{engine}@{UPSET}")])?;
        let is_taken = end == End::Failure && state.status == BootSequencerState::Error;
        if !is_taken || !console.contains("rot: trap ") {
            return Ok(Some(format!("an upset of {engine}: {end:?}, {state:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Prints the cycles of each part, of boots with each kind of signature, and of public vectors.
///
/// # Errors
/// Same as [`measure`]; also if a good bundle does not boot, or a verdict on a vector differs from that of software.
pub fn print(rot: Rot) -> Result<()> {
    for (part, cycles) in measure(rot)? {
        println!("{:<12} {part:<16} {cycles:>10}", rot.name);
    }
    println!("cycles of the processor; each part computes twice, and changed input counts");
    for lacks in MissingPart::ALL {
        for (request, cycles, refusal) in key_requests::measure(rot, lacks)? {
            let refusal = refusal.map(|refusal| format!(" {refusal:?}")).unwrap_or_default();
            println!("{:<12} {request:<16} {cycles:>10}{refusal}", rot.name);
        }
    }
    println!(
        "cycles of requests with keys; then without noise, where no private key is imported; then without an engine"
    );
    for signed_by in SIGNED {
        let (_, cycles) = boot_by_engine(rot, signed_by, &rot::folder(rot).join("crypto"))?;
        println!("{:<12} {signed_by:<16?} {cycles:>10}", rot.name);
    }
    println!(
        "cycles of the step of a boot that authenticates its bundle, hashes and copies included"
    );
    let is_run = number_vectors::run(
        rot,
        |number_vectors::Verified { algorithm, count, cycles }| {
            println!(
                "{}: {count} vectors of {algorithm} as in software, {cycles} cycles for a valid one",
                rot.name
            );
        },
    )?;
    if !is_run {
        println!(
            "{}: SKIPPED: no folder of public vectors, which HARTLOCK_VECTORS names",
            rot.name
        );
    }
    Ok(())
}

fn run(rot: Rot, options: &[&str]) -> Result<(String, BootState, End)> {
    let program = firmware::rot_program("rot-crypto", &[])?;
    let folder = rot::folder(rot).join("crypto");
    let options = [&["--max-cycles", MAX_CYCLES], options].concat();
    let (console, report, end) =
        rot::run_program(&rot::machine(rot)?, &program, &folder, &options)?;
    Ok((console, BootState::parse(&report)?, end))
}

/// Reads the lines `<part> <cycles>`.
fn judge(console: &str) -> Result<Vec<(String, u64)>> {
    let rows = console.lines().map(|line| {
        let (part, cycles) = line.split_once(' ').context("a line without a number")?;
        Ok((part.to_owned(), cycles.parse().with_context(|| format!("cycles of {line:?}"))?))
    });
    let rows: Vec<(String, u64)> = rows.collect::<Result<_>>()?;
    ensure!(rows.iter().map(|(part, _)| part).eq(&PARTS), "other parts than {PARTS:?}\n{console}");
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_missing_is_noticed() {
        let all: String = PARTS.iter().map(|part| format!("{part} 7\n")).collect();
        assert_eq!(judge(&all).unwrap().len(), PARTS.len());
        let (_, later) = all.split_once('\n').unwrap();
        assert!(judge(later).is_err());
        assert!(judge(&all.replace('7', "x")).is_err());
    }
}
