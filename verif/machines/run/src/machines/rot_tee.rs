//! A TEE whose monitor the root of trust measures and endorses. Its ROM with the feature `tee` does the work of the
//! first-stage loader (`device/fsbl`) while the host is in reset. The record must be the one that the loader produces
//! on its own machines for the same secret and monitor ([`tee_boot`]).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hartlock_fsbl::{HANDOVER_SIZE, Handover};
use hartlock_image::{HashId, PAGE_SIZE, PayloadType, Reason};
use hartlock_maps::hartlock_soc;
use hartlock_testkit::bundle::{Block, Draft, Edit, Payload, build, identity};
use hartlock_testkit::leaks::Leaks;
use hartlock_testkit::signers::LMS;
use hartlock_verify::board::Region;

use super::report::{BootSequencerState, BootState};
use super::rot::{self, Rot};
use super::rot_boot::{self, RomForm, RotBootResult, rom};
use super::scratchpads::{Scratchpads, WIPE};
use super::soc::{self as machines, Soc};
use super::tee_boot::{self, SECRET, TEST_SIZE};
use super::{End, Machine};

/// The ROM on a machine without a host, and next to one.
const ALONE: RomForm = RomForm::of_bench(&["alone", "tee"]);
const WATCHED: RomForm = RomForm::of_bench(&["tee"]);
/// The address at which the monitor finds its record (`device/rot-rom/src/tee.rs`).
const RECORD: u64 = hartlock_soc::LOG.end - PAGE_SIZE;
/// The number of words of the secret.
const SECRET_WORDS: u64 = 16;
/// A limit above the cycles of the longest boot here: keys and a signature in software on 32 bits.
const MAX_CYCLES: &str = "200000000";

/// A boot on the machine without a host.
#[derive(Clone, Copy)]
struct RotTeeBoot<'a> {
    rom: RomForm,
    /// The size of the monitor in bytes.
    size: usize,
    /// The hash of the monitor in the bundle.
    hash: HashId,
    /// The secret for the machine. An additional byte means that the secret cannot be closed.
    secret: &'a [u8],
    edits: &'a [Edit],
    options: &'a [&'a str],
    /// True if the ROM wipes its stack, so that the scratchpad is saved before and after.
    is_saved: bool,
}

impl Default for RotTeeBoot<'_> {
    fn default() -> Self {
        Self {
            rom: ALONE,
            size: TEST_SIZE,
            hash: HashId::Sha3_512,
            secret: &SECRET,
            edits: &[],
            options: &[],
            is_saved: false,
        }
    }
}

/// The result of a run.
struct RotTeeResult {
    end: End,
    console: String,
    state: BootState,
    /// The bytes at the address of the record.
    record: [u8; HANDOVER_SIZE],
    /// The scratchpad before its stack is wiped, and afterwards.
    scratchpads: Option<[Vec<u8>; 2]>,
    /// Number of words of the secret that were read while it was open, and true if it is closed at the end.
    secret_words_read: u64,
    is_secret_closed: bool,
}

/// Returns a bundle for this device, signed by the fake key of LMS.
fn bundle(boot: &RotTeeBoot<'_>) -> Result<Vec<u8>> {
    let payload = |kind, size, region: Region| Payload::new(kind, size, region.start);
    let mut draft = Draft::boot();
    draft.identity = identity(hartlock_soc::BOARD.name, hartlock_soc::BOARD.soc);
    draft.blocks = vec![Block::BySigner(&LMS)];
    let mut others = [
        payload(PayloadType::Loader, 4096, hartlock_soc::LOADER),
        payload(PayloadType::BootFdt, 1024, hartlock_soc::BOOT_FDT),
    ];
    others.iter_mut().for_each(|other| other.hash = HashId::Sha256);
    let mut monitor = tee_boot::monitor(boot.size)?;
    monitor.hash = boot.hash;
    draft.payloads = [monitor].into_iter().chain(others).collect();
    Ok(build(draft, boot.edits).0)
}

fn run(machine: Rot, boot: &RotTeeBoot<'_>, folder: &Path) -> Result<RotTeeResult> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let elf = rom(boot.rom)?;
    fs::write(path("rom.elf"), &elf)?;
    fs::write(path("bundle.hlk"), bundle(boot)?)?;
    fs::write(path("secret.bin"), boot.secret)?;
    let medium = format!("{}@{:#x}", path("bundle.hlk"), hartlock_soc::BUNDLE.start);
    let saved = format!("{}@{RECORD:#x}", path("record.bin"));
    let secret = path("secret.bin");
    let options = ["--max-cycles", MAX_CYCLES, "--load", &medium, "--secret", &secret];
    let mut options = [&options[..], &["--save", &saved], boot.options].concat();
    let saved = if boot.is_saved { Some(Scratchpads::at(WIPE, &elf, folder)?) } else { None };
    options.extend(saved.iter().flat_map(Scratchpads::options));
    let program = folder.join("rom.elf");
    let (console, report, end) =
        rot::run_program(&rot::machine(machine)?, &program, folder, &options)?;
    let record = fs::read(path("record.bin"))?;
    let (secret_words_read, is_secret_closed) = secret_state(&report)?;
    Ok(RotTeeResult {
        end,
        console,
        state: BootState::parse(&report)?,
        record: *record.first_chunk().context("the record is short")?,
        scratchpads: saved.map(|saved| saved.read()).transpose()?,
        secret_words_read,
        is_secret_closed,
    })
}

/// Reads the line of the secret in a report: the number of words that were read, and true if it is closed.
fn secret_state(report: &str) -> Result<(u64, bool)> {
    for line in report.lines() {
        if let ["secret", "shown", words, "shut", shut] = line.split(' ').collect::<Vec<_>>()[..] {
            return Ok((words.parse()?, shut == "1"));
        }
    }
    bail!("the machine does not report its secret\n{report}")
}

/// Returns the record of a monitor of this size, as a workstation computes it.
fn wanted(size: usize) -> Result<[u8; HANDOVER_SIZE]> {
    let mut record = [0; HANDOVER_SIZE];
    Handover::encode(&tee_boot::expected(size)?, &mut record);
    Ok(record)
}

/// Returns what must not be in memory after an endorsement.
fn leaks(size: usize) -> Result<Leaks> {
    let expected = tee_boot::expected(size)?;
    let mut leaks = Leaks::default();
    let keys = [&expected.device_public_key, &expected.public_key];
    leaks.add_endorsement(&SECRET, &expected.measurement, keys);
    Ok(leaks)
}

/// Returns a fault of the ROM on this machine. With `is_quick` there are only a few boots, because software takes as
/// long as all others together.
///
/// # Errors
/// If something cannot be built or started.
pub fn fault(machine: Rot, is_quick: bool, folder: &Path) -> Result<Option<String>> {
    if let Some(why) = endorsement_fault(machine, is_quick, folder)? {
        return Ok(Some(why));
    }
    if let Some(why) = refusal_fault(machine, is_quick, folder)? {
        return Ok(Some(why));
    }
    if is_quick { Ok(None) } else { plain_fault(machine, folder) }
}

/// Checks the record, computed by engines and by software if an engine is wrong, and that no secret is left in memory
/// when the whole stack is about to be wiped, and afterwards.
fn endorsement_fault(machine: Rot, is_quick: bool, folder: &Path) -> Result<Option<String>> {
    const HASH: &str = "sha3-512 by its engine";
    const SIGN: &str = "ed25519 by its engine";
    let record = wanted(TEST_SIZE)?;
    let leaks = leaks(TEST_SIZE)?;
    let runs: [(HashId, &[&str], [&str; 2]); 4] = [
        (HashId::Sha3_512, &[], [HASH, SIGN]),
        // Both hashes need one read of the payload here; in the other cases each needs its own.
        (HashId::Sha256, &[], [HASH, SIGN]),
        (HashId::Sha384, &["--upset-result", "sha3"], ["sha3-512 in software", SIGN]),
        (HashId::Sha3_512, &["--upset-result", "ed25519"], [HASH, "ed25519 in software"]),
    ];
    for (hash, options, says) in runs.into_iter().take(if is_quick { 2 } else { usize::MAX }) {
        let boot = RotTeeBoot { hash, options, is_saved: true, ..RotTeeBoot::default() };
        let ran = run(machine, &boot, folder)?;
        let RotTeeResult { end, console, state, .. } = &ran;
        let is_released = state.status == BootSequencerState::Released && state.is_host_running;
        if *end != End::Success || !is_released || ran.record != record {
            return Ok(Some(format!(
                "{hash:?} {options:?} ended in {end:?}, {state:?}\n{console}"
            )));
        }
        if let Some(missing) = says.into_iter().find(|&says| !console.contains(says)) {
            return Ok(Some(format!("{options:?} does not say {missing}\n{console}")));
        }
        if ran.secret_words_read != SECRET_WORDS || !ran.is_secret_closed {
            let (secret_words_read, is_secret_closed) =
                (ran.secret_words_read, ran.is_secret_closed);
            return Ok(Some(format!(
                "{secret_words_read} words of the secret were read, shut: {is_secret_closed}"
            )));
        }
        for (when, memory) in
            ["before", "after"].into_iter().zip(ran.scratchpads.context("no scratchpad was saved")?)
        {
            let found = leaks.found_in(&memory);
            if !found.is_empty() {
                return Ok(Some(format!("{options:?}: secrets {when} the wipe: {found:?}")));
            }
        }
    }
    Ok(None)
}

/// Checks that a ROM without the feature reads no word of the secret and leaves no record, and that the release of the
/// host closes the secret.
fn plain_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let ran = run(machine, &RotTeeBoot { rom: rot_boot::ALONE, ..RotTeeBoot::default() }, folder)?;
    let RotTeeResult { end, console, state, secret_words_read, is_secret_closed, .. } = &ran;
    let is_right = *end == End::Success
        && state.is_host_running
        && (*secret_words_read, *is_secret_closed) == (0, true)
        && ran.record == [0; HANDOVER_SIZE];
    let why = || {
        format!(
            "a boot without a TEE: {secret_words_read} words, shut: {is_secret_closed}\n{console}"
        )
    };
    Ok((!is_right).then(why))
}

/// A boot that has to leave the host in reset, without a record.
struct Refused<'a> {
    what: &'static str,
    edits: &'a [Edit],
    secret: &'a [u8],
    reason: Reason,
    /// Number of words of the secret that are read. It is zero if the ROM refuses before it needs the secret.
    secret_words_read: u64,
}

fn refusal_fault(machine: Rot, is_quick: bool, folder: &Path) -> Result<Option<String>> {
    // The first change is in the monitor, which follows the page with the metadata; the second in the loader after it.
    let of_monitor = Edit::File(|file| file[2 << 12] ^= 1);
    let of_loader = Edit::File(|file| file[(1 << 12) + TEST_SIZE] ^= 1);
    let open = [&SECRET[..], &[1]].concat();
    let changed = Refused {
        what: "a changed monitor",
        edits: &[of_monitor],
        secret: &SECRET,
        reason: Reason::PayloadDigestMismatch,
        secret_words_read: 0,
    };
    let missing = Refused {
        what: "no secret",
        edits: &[],
        secret: &[0; 64],
        reason: Reason::DeviceSecretInvalid,
        secret_words_read: SECRET_WORDS,
    };
    let cases = [
        Refused { what: "a changed loader", edits: &[of_loader], ..changed },
        Refused { what: "a blank secret", secret: &[0xff; 64], ..missing },
        Refused {
            what: "a secret that stays open",
            secret: &open,
            reason: Reason::NotEndorsed,
            ..missing
        },
    ];
    let cases = cases.into_iter().take(if is_quick { 0 } else { usize::MAX });
    for Refused { what, edits, secret, reason, secret_words_read } in
        [changed, missing].into_iter().chain(cases)
    {
        let ran = run(machine, &RotTeeBoot { edits, secret, ..RotTeeBoot::default() }, folder)?;
        let RotTeeResult { end, console, state, .. } = &ran;
        let is_refused =
            (state.status, state.reason) == (BootSequencerState::Refused, reason as u32);
        if *end != End::Failure || !is_refused || state.is_host_running {
            return Ok(Some(format!("{what} ended in {end:?}, {state:?}\n{console}")));
        }
        if ran.record.iter().any(|byte| *byte != 0) {
            return Ok(Some(format!("{what} leaves a record")));
        }
        if ran.secret_words_read != secret_words_read {
            return Ok(Some(format!(
                "{what}: {} words of the secret were read",
                ran.secret_words_read
            )));
        }
    }
    Ok(None)
}

/// Boots next to a host, whose first program is the monitor of the test. It prints its record, and closes the secret.
fn run_beside_a_host(soc: Soc, size: usize, folder: &Path) -> Result<machines::SocReport> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("rom.elf"), rom(WATCHED)?)?;
    fs::write(path("bundle.hlk"), bundle(&RotTeeBoot { size, ..RotTeeBoot::default() })?)?;
    fs::write(path("secret.bin"), SECRET)?;
    // These bytes are at the host's start address until its payload is loaded; it would trap at once.
    fs::write(path("nothing.bin"), [0; 4])?;
    let medium = format!("{}@{:#x}", path("bundle.hlk"), hartlock_soc::BUNDLE.start);
    let (rom, secret) = (path("rom.elf"), path("secret.bin"));
    let options = ["--rot", &rom, "--secret", &secret, "--load", &medium];
    let limits = ["--max-cycles", MAX_CYCLES, "--llc-size", "0x20000"];
    let options: Vec<_> = options.iter().chain(&limits).map(|&it| it.to_owned()).collect();
    let runs = Machine {
        machine: &machines::machine(soc, false)?,
        program: &folder.join("nothing.bin"),
        folder,
        options: &options,
    };
    let (console, report, end) = runs.run(&[])?;
    machines::parse(&report, end, console)
}

/// Returns a fault of a boot next to a host.
///
/// # Errors
/// If something cannot be built or started.
pub fn host_fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    let ran = run_beside_a_host(soc, TEST_SIZE, folder)?;
    let record = wanted(TEST_SIZE)?;
    let is_right = ran.end == End::Success
        && ran.console.contains("monitor: done")
        && tee_boot::record(&ran.console) == Some(record);
    Ok((!is_right).then(|| format!("the monitor ended in {:?}\n{}", ran.end, ran.console)))
}

/// Boots a monitor of this size, and returns the result and the console.
///
/// # Errors
/// If its record differs from the one that a workstation computes.
pub fn show(machine: Rot, size: Option<usize>, folder: &Path) -> Result<(RotBootResult, String)> {
    let size = size.unwrap_or(TEST_SIZE);
    let ran = run(machine, &RotTeeBoot { size, ..RotTeeBoot::default() }, folder)?;
    ensure!(ran.record == wanted(size)?, "the record is another one\n{}", ran.console);
    Ok((RotBootResult::of(&ran.console, ran.state)?, ran.console))
}

/// Does the same as [`show`] next to a host.
///
/// # Errors
/// Same as [`show`].
pub fn show_beside_a_host(
    soc: Soc,
    size: Option<usize>,
    folder: &Path,
) -> Result<(RotBootResult, String)> {
    let size = size.unwrap_or(TEST_SIZE);
    let ran = run_beside_a_host(soc, size, folder)?;
    let is_right = tee_boot::record(&ran.console) == Some(wanted(size)?);
    ensure!(is_right, "the record is another one\n{}", ran.console);
    Ok((RotBootResult::beside_a_host(&ran)?, ran.console))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_secret_is_read() {
        assert_eq!(secret_state("end cycle 3\nsecret shown 16 shut 1\n").unwrap(), (16, true));
        assert_eq!(secret_state("secret shown 0 shut 0\n").unwrap(), (0, false));
        assert!(secret_state("end cycle 3\n").is_err());
    }
}
