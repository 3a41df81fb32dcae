//! Boots bundles that are signed with XMSS, LMS or SLH-DSA on the root of trust. Its engine computes the root of the
//! signature, the ROM takes little longer than the engine, and a changed bundle leaves the host in reset.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hartlock_image::Reason;
use hartlock_testkit::bundle::{Block, Changes, Edit};
use hartlock_testkit::signers::XMSS;
use object::{Object, ObjectSymbol};

use super::End;
use super::report::BootSequencerState;
use super::rot::Rot;
use super::rot_boot::{
    ALONE, HostBoot, MAX_CYCLES, RotBootResult, SMALL_SIZE, SignedBy, boot_with, bundle, rom_for,
    run_unwatched,
};
use super::signature_vectors;
use super::soc::Soc;

/// The maximum number of cycles of the ROM for each cycle of the engine, to the two values that decide about a
/// signature of XMSS or SLH-DSA. The ROM itself takes two to three thousand cycles with every family. LMS has no bound,
/// because the engine is faster.
const MAX_CYCLE_RATIO: f64 = 1.15;
/// A limit above the cycles until the release of the host, and below the end of its work.
const HOST_CYCLES: &str = "3500000";
/// The messages of the ROM about its engine.
const BY_ENGINE: &str = "hartlock: hash-based signatures by the engine";
const NOT_USED: &str = "hartlock: the engine for hash-based signatures is not used";
/// The functions of `device/verify` that verify a signature, and that compare the two values which follow from it,
/// twice. Their mangled names begin with these texts.
const VERIFY: &str = "_ZN15hartlock_verify9signature6verify17h";
const COMPARE: &str = "_ZN15hartlock_verify6harden13compare_twice17h";

/// Cycles of the verification of the bundle's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureCycles {
    /// Cycles of the ROM from the call of the verifier to the two values that a genuine signature makes equal. They
    /// include all checks of key and signature, and the root.
    pub values: u64,
    /// Cycles of the ROM from the call to the return, which include the comparison of both values. The ROM makes it
    /// twice.
    pub compared: u64,
    /// Cycles of the engine, from its start to its verdict.
    pub engine: u64,
}

impl SignatureCycles {
    fn ratio(self) -> f64 {
        self.values as f64 / self.engine as f64
    }

    /// Returns true if the bound is kept, or if there is none.
    pub fn is_good(self, signed_by: SignedBy) -> bool {
        !has_bound(signed_by) || self.ratio() <= MAX_CYCLE_RATIO
    }
}

const fn has_bound(signed_by: SignedBy) -> bool {
    matches!(signed_by, SignedBy::Xmss | SignedBy::SlhDsa)
}

/// Boots a good bundle; returns its result, and the cycles of its signature.
///
/// # Errors
/// If the host is not released, or the engine did not verify the signature.
pub fn measure(
    machine: Rot,
    signed_by: SignedBy,
    size: usize,
    folder: &Path,
) -> Result<(RotBootResult, SignatureCycles)> {
    fs::create_dir_all(folder)?;
    let rom = rom_for(signed_by, ALONE)?;
    let good = bundle(size, signed_by, None, &[]);
    let path = folder.join("signature.csv");
    let name = path.to_str().context("the path of the trace is text")?;
    let booted = boot_with(machine, &rom, &good, &["--trace", name], folder)?;
    ensure!(
        booted.reason.is_none() && booted.is_host_running && booted.console.contains(BY_ENGINE),
        "a good bundle: {:?}\n{}",
        booted.reason,
        booted.console
    );
    let places = [address(&rom, VERIFY)?, address(&rom, COMPARE)?];
    let window = call(BufReader::new(File::open(&path)?), places)?;
    fs::remove_file(&path)?;
    let report = fs::read_to_string(folder.join("report.txt"))?;
    Ok((booted, cycles(window, &report)?))
}

/// Reads the trace of the machine (`cycle,cost,pc,instruction,…`). Returns the cycles of the first call of a function,
/// of its call of the function `inner`, and of its return.
fn call(trace: impl BufRead, [function, inner]: [u64; 2]) -> Result<[u64; 3]> {
    let mut last = (0, 0);
    let mut called: Option<(u64, u64)> = None;
    let mut inside = None;
    for line in trace.lines().skip(1) {
        let line = line?;
        let fields: Vec<&str> = line.split(',').collect();
        let [cycle, _, pc, instruction, ..] = fields[..] else { bail!("the trace has {line:?}") };
        let (cycle, pc): (u64, u64) = (cycle.parse()?, u64::from_str_radix(pc, 16)?);
        match called {
            // The return address is after the instruction of the call, which has two bytes unless its two lowest bits
            // are both set.
            None if pc == function => {
                let (from, instruction) = last;
                called = Some((cycle, from + if instruction & 3 == 3 { 4 } else { 2 }));
            }
            Some((start, back)) if pc == back => {
                let inside = inside.context("the other function is never called")?;
                return Ok([start, inside, cycle]);
            }
            Some(_) if pc == inner => inside = inside.or(Some(cycle)),
            _ => last = (pc, u64::from_str_radix(instruction, 16)?),
        }
    }
    bail!("the function is never called, or does not return")
}

/// Returns the cycles of a call with those of the verification by the engine in it.
fn cycles([start, inside, end]: [u64; 3], report: &str) -> Result<SignatureCycles> {
    let mut judged = Vec::new();
    for line in report.lines() {
        if let ["signature", "start", from, "done", to] =
            line.split_whitespace().collect::<Vec<_>>()[..]
        {
            judged.push((from.parse::<u64>()?, to.parse::<u64>()?));
        }
    }
    let mut within = judged.iter().filter(|(from, to)| start < *from && *to < inside);
    match (within.next(), within.next()) {
        (Some((from, to)), None) if from < to => {
            Ok(SignatureCycles { values: inside - start, compared: end - start, engine: to - from })
        }
        _ => bail!("the engine did not judge one signature in {start} to {inside}: {judged:?}"),
    }
}

fn address(elf: &[u8], prefix: &str) -> Result<u64> {
    let file = object::File::parse(elf).context("the ROM is no ELF file")?;
    let mut found = file.symbols().filter(|it| it.name().is_ok_and(|it| it.starts_with(prefix)));
    let symbol = found.next().with_context(|| format!("the ROM has no {prefix}"))?;
    Ok(symbol.address())
}

/// Signatures that the engine verifies. With the first one all changes are tested, with the others those of signature
/// and manifest.
const ALL: [SignedBy; 3] = [SignedBy::Xmss, SignedBy::LmsByEngine, SignedBy::SlhDsa];

/// Returns a fault of boots with this engine or without it. The daily form has a boot of XMSS, one of SLH-DSA whose
/// message is cut, a refusal and some vectors.
pub fn fault(machine: Rot, is_daily: bool, folder: &Path) -> Result<Option<String>> {
    let signatures = if is_daily { &[SignedBy::Xmss, SignedBy::SlhDsa][..] } else { &ALL };
    for signed_by in signatures {
        let (_, cycles) = measure(machine, *signed_by, SMALL_SIZE, folder)?;
        if !cycles.is_good(*signed_by) {
            let ratio = cycles.ratio();
            let why = format!("{signed_by:?} takes {ratio:.3} of the engine: {cycles:?}");
            return Ok(Some(why));
        }
    }
    signature_vectors::run(machine)?;
    let refusals = refusals();
    if is_daily {
        return refused(machine, SignedBy::Xmss, &refusals[..1], folder);
    }
    for signed_by in ALL {
        let refusals = if signed_by == SignedBy::Xmss { &refusals } else { &refusals[..2] };
        if let Some(why) = refused(machine, signed_by, refusals, folder)? {
            return Ok(Some(why));
        }
    }
    broken(machine, folder)
}

/// Checks that changed bundles are refused, and that the host stays in reset.
fn refused(
    machine: Rot,
    signed_by: SignedBy,
    refusals: &[(&str, Edit, Reason)],
    folder: &Path,
) -> Result<Option<String>> {
    let rom = rom_for(signed_by, ALONE)?;
    for (what, edit, reason) in refusals {
        let bad = bundle(SMALL_SIZE, signed_by, None, &[*edit]);
        let booted = boot_with(machine, &rom, &bad, &[], folder)?;
        if booted.reason != Some(*reason as u32)
            || booted.is_host_running
            || !booted.console.contains(BY_ENGINE)
        {
            let RotBootResult { reason, console, .. } = booted;
            return Ok(Some(format!("{what}, {signed_by:?}: {reason:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Returns the boots that are shown: a good bundle, one with a changed loader and, if the engine for hash-based
/// signatures verifies, one with a changed signature.
pub fn shown(signed_by: Option<SignedBy>) -> Vec<(&'static str, &'static [Edit])> {
    const LOADER: Edit = Edit::File(|file| file[3 << 12] ^= 1);
    let mut shown = vec![("a good bundle", &[][..]), ("a flipped bit in the loader", &[LOADER])];
    if signed_by.is_some_and(SignedBy::is_by_engine) {
        shown.push(("a flipped bit in the signature", &[FLIPPED]));
    }
    shown
}

/// A flipped bit of the last path in the signature. The padding after it has four bytes at most.
const FLIPPED: Edit = Edit::Area(|area| {
    let at = area.len() - 100;
    area[at] ^= 1;
});

/// Returns changes that must be refused, with their reasons.
fn refusals() -> Vec<(&'static str, Edit, Reason)> {
    vec![
        ("a flipped bit in the signature", FLIPPED, Reason::SignatureMismatch),
        // The last signed byte, by the size in the header (image format §4.1).
        (
            "a flipped bit in the manifest",
            Edit::File(|file| {
                let size = file[16..20].try_into().map(u32::from_le_bytes).expect("a header");
                file[size as usize - 1] ^= 1;
            }),
            Reason::SignatureMismatch,
        ),
        (
            "another key",
            Edit::Draft(|draft| {
                let changes = Changes { public_key: |key| key[4] ^= 1, ..Changes::NONE };
                draft.blocks = vec![Block::Edited(&XMSS, changes)];
            }),
            Reason::NoTrustedSigner,
        ),
    ]
}

/// Checks that software verifies if the engine answers known-answer tests wrongly, is absent or does not answer.
fn broken(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom_for(SignedBy::Xmss, ALONE)?;
    let good = bundle(SMALL_SIZE, SignedBy::Xmss, None, &[]);
    for how in ["xmss", "xmss-absent", "xmss-silent"] {
        let options = ["--max-cycles", MAX_CYCLES, "--upset-result", how];
        let (console, state, end) = run_unwatched(machine, &rom, &good, &options, folder)?;
        if (end, state.status) != (End::Success, BootSequencerState::Released)
            || !console.contains(NOT_USED)
        {
            return Ok(Some(format!("{how} ended in {end:?}, {state:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Checks boots next to a host, which runs or must never run. The daily form tests only XMSS.
pub fn host_fault(soc: Soc, is_daily: bool, folder: &Path) -> Result<Option<String>> {
    for signed_by in &ALL[..if is_daily { 1 } else { ALL.len() }] {
        if let Some(why) = host_fault_of(soc, *signed_by, folder)? {
            return Ok(Some(format!("{signed_by:?}: {why}")));
        }
    }
    Ok(None)
}

fn host_fault_of(soc: Soc, signed_by: SignedBy, folder: &Path) -> Result<Option<String>> {
    let options = ["--max-cycles", HOST_CYCLES];
    let boot = HostBoot { size: SMALL_SIZE, signed_by, options: &options, ..HostBoot::default() };
    let good = boot.run(soc, folder)?;
    if (good.boot.status, good.boot.is_host_running) != (BootSequencerState::Released, true)
        || good.host_retired == 0
        || !good.console.contains(BY_ENGINE)
    {
        return Ok(Some(format!("a good bundle: {:?}\n{}", good.boot, good.console)));
    }
    let (_, edit, reason) = refusals().swap_remove(0);
    let bad = HostBoot { edits: &[edit], ..boot }.run(soc, folder)?;
    let state = (bad.boot.status, bad.boot.reason, bad.boot.is_host_running, bad.host_retired);
    Ok((state != (BootSequencerState::Refused, reason as u32, false, 0))
        .then(|| format!("a changed signature: {:?}\n{}", bad.boot, bad.console)))
}

/// Prints the line below a log.
pub fn print(signed_by: SignedBy, cycles: SignatureCycles) {
    let SignatureCycles { values, compared, engine } = cycles;
    let bound =
        if has_bound(signed_by) { format!(", {MAX_CYCLE_RATIO} at most") } else { String::new() };
    println!(
        "the signature: {values} cycles from the call of the verifier to the values that decide, {engine} of the engine: \
         {:.3}{bound}",
        cycles.ratio()
    );
    println!("the same with their comparison, twice: {compared} cycles");
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "cycle,cost,pc,instruction,address,read,write,trap,mark\n\
        5,5,80,00000013,,0,0,0,\n10,5,84,0000a001,,0,0,0,\n20,5,100,00000013,,0,0,0,\n\
        60,5,200,00000013,,0,0,0,\n90,5,104,00008082,,0,0,0,\n100,5,86,00000013,,0,0,0,\n";

    #[test]
    fn a_call_ends_at_the_instruction_after_it() {
        let places = [0x100, 0x200];
        assert_eq!(call(TRACE.as_bytes(), places).unwrap(), [20, 60, 100]);
        let longer = TRACE.replace("0000a001", "0000a003").replace(",86,", ",88,");
        assert_eq!(call(longer.as_bytes(), places).unwrap(), [20, 60, 100]);
        assert!(call(TRACE.as_bytes(), [0x300, 0x200]).is_err(), "never called");
        assert!(call(TRACE.as_bytes(), [0x100, 0x300]).is_err(), "nothing is compared");
        assert!(call(TRACE.replace(",86,", ",88,").as_bytes(), places).is_err(), "no return");
    }

    #[test]
    fn the_bound_is_of_xmss_and_slh_dsa() {
        let of = |values| SignatureCycles { values, compared: values, engine: 1000 };
        for signed_by in [SignedBy::Xmss, SignedBy::SlhDsa] {
            assert!(of(1150).is_good(signed_by) && !of(1151).is_good(signed_by));
        }
        assert!(of(1151).is_good(SignedBy::LmsByEngine));
    }

    #[test]
    fn one_signature_is_judged_in_a_call() {
        let report = "mark 1 cycle 2\nsignature start 3 done 9\nsignature start 30 done 90\nend\n";
        let of_one = SignatureCycles { values: 80, compared: 90, engine: 60 };
        assert_eq!(cycles([20, 100, 110], report).unwrap(), of_one);
        assert!(cycles([2, 100, 110], report).is_err(), "two");
        assert!(cycles([40, 100, 110], report).is_err(), "none");
        assert!(cycles([20, 80, 110], report).is_err(), "it ends later");
    }
}
