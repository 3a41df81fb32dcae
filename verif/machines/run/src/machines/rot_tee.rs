//! A TEE whose monitor the root of trust measures and endorses: its ROM with the feature `tee` does the work of the
//! first-stage loader (`device/fsbl`), in front of a host in reset. The record has to be the one that the loader leaves on
//! its own machines for the same secret and monitor ([`tee_boot`]).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hartlock_fsbl::{HANDOVER_SIZE, Handover};
use hartlock_image::{HashId, PAGE_SIZE, PayloadType, Reason};
use hartlock_testkit::bundle::{Block, Draft, Edit, Payload, build, identity};
use hartlock_testkit::signers::LMS;
use hartlock_verify::board::{Region, hartlock_soc};

use super::report::{BootState, Status};
use super::rot::{self, Rot};
use super::rot_boot::{self, Booted, rom};
use super::scratchpads::{Scratchpads, WIPE, has_any_of};
use super::soc::{self as machines, Soc};
use super::tee_boot::{self, SECRET, TEST_SIZE};
use super::{End, Machine};

/// A ROM on a machine without a host, and beside one.
const ALONE: &[&str] = &["alone", "tee"];
const WATCHED: &[&str] = &["bench", "tee"];
/// Where the monitor finds its record (`device/rot-rom/src/tee.rs`).
const RECORD: u64 = hartlock_soc::LOG.end - PAGE_SIZE;
/// Words of the secret.
const SECRET_WORDS: u64 = 16;
/// More than the largest boot here takes: keys and a signature in software on 32 bits.
const MAX_CYCLES: &str = "200000000";

/// A boot on the machine without a host.
#[derive(Clone, Copy)]
struct Boot<'a> {
    /// Features of the ROM.
    rom: &'a [&'a str],
    /// Bytes of the monitor.
    size: usize,
    /// Of the record of the monitor.
    hash: HashId,
    /// What the machine takes as a secret: a byte after it says that it never closes.
    secret: &'a [u8],
    edits: &'a [Edit],
    options: &'a [&'a str],
    /// Whether it comes to the wipe of the stack, and the scratchpad is saved then.
    is_saved: bool,
}

impl Default for Boot<'_> {
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

/// What it gave.
struct Ran {
    end: End,
    console: String,
    state: BootState,
    /// What is at the place of the record.
    record: [u8; HANDOVER_SIZE],
    /// The scratchpad before its stack is wiped, and afterwards.
    scratchpads: Option<[Vec<u8>; 2]>,
    /// Words of the secret that were read while it was open, and whether it is closed at the end.
    shown: u64,
    is_shut: bool,
}

/// A bundle for this device, signed by the fake key of LMS.
fn bundle(boot: &Boot<'_>) -> Result<Vec<u8>> {
    let payload = |kind, size, region: Region| Payload::new(kind, size, region.start);
    let mut draft = Draft::boot();
    draft.identity = identity(hartlock_soc::BOARD.name, hartlock_soc::BOARD.soc);
    draft.blocks = vec![Block::Of(&LMS)];
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

fn run(machine: Rot, boot: &Boot<'_>, folder: &Path) -> Result<Ran> {
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
    let (shown, is_shut) = secret_state(&report)?;
    Ok(Ran {
        end,
        console,
        state: BootState::parse(&report)?,
        record: *record.first_chunk().context("the record is short")?,
        scratchpads: saved.map(|saved| saved.read()).transpose()?,
        shown,
        is_shut,
    })
}

/// The line of the secret in a report.
fn secret_state(report: &str) -> Result<(u64, bool)> {
    for line in report.lines() {
        if let ["secret", "shown", words, "shut", shut] = line.split(' ').collect::<Vec<_>>()[..] {
            return Ok((words.parse()?, shut == "1"));
        }
    }
    bail!("the machine does not report its secret\n{report}")
}

/// The record of a monitor of this size, as a workstation computes it; and all of its secrets.
fn wanted(size: usize) -> Result<([u8; HANDOVER_SIZE], [[u8; 64]; 2])> {
    let expected = tee_boot::expected(size)?;
    let mut record = [0; HANDOVER_SIZE];
    Handover::encode(&expected, &mut record);
    Ok((record, [SECRET, expected.secret_key]))
}

/// What is wrong with the ROM on this machine. `is_quick` has a few boots: software alone takes as long as all others.
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

/// The record, by engines and by what does their work if they answer wrong; and what is left of it.
fn endorsement_fault(machine: Rot, is_quick: bool, folder: &Path) -> Result<Option<String>> {
    const HASH: &str = "sha3-512 by its engine";
    const SIGN: &str = "ed25519 by its engine";
    let (record, secrets) = wanted(TEST_SIZE)?;
    let runs: [(HashId, &[&str], [&str; 2]); 4] = [
        (HashId::Sha3_512, &[], [HASH, SIGN]),
        // One read for both hashes; and one for each.
        (HashId::Sha256, &[], [HASH, SIGN]),
        (HashId::Sha384, &["--upset-result", "sha3"], ["sha3-512 in software", SIGN]),
        (HashId::Sha3_512, &["--upset-result", "ed25519"], [HASH, "ed25519 in software"]),
    ];
    for (hash, options, says) in runs.into_iter().take(if is_quick { 2 } else { usize::MAX }) {
        let boot = Boot { hash, options, is_saved: true, ..Boot::default() };
        let ran = run(machine, &boot, folder)?;
        let Ran { end, console, state, .. } = &ran;
        let is_released = state.status == Status::Released && state.is_host_running;
        if *end != End::Success || !is_released || ran.record != record {
            return Ok(Some(format!(
                "{hash:?} {options:?} ended in {end:?}, {state:?}\n{console}"
            )));
        }
        if let Some(missing) = says.into_iter().find(|&says| !console.contains(says)) {
            return Ok(Some(format!("{options:?} does not say {missing}\n{console}")));
        }
        if ran.shown != SECRET_WORDS || !ran.is_shut {
            let (shown, is_shut) = (ran.shown, ran.is_shut);
            return Ok(Some(format!("{shown} words of the secret were read, shut: {is_shut}")));
        }
        // The record that was written is there before the wipe: otherwise the search would show nothing.
        let [before, after] = ran.scratchpads.context("no scratchpad was saved")?;
        let has_any = [before, after].map(|memory| has_any_of(&memory, &secrets));
        if has_any != [true, false] {
            return Ok(Some(format!(
                "{options:?}: secrets before and after the wipe: {has_any:?}"
            )));
        }
    }
    Ok(None)
}

/// A ROM without the feature reads no word of the secret and leaves no record; the release of the host closes the secret.
fn plain_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let ran = run(machine, &Boot { rom: rot_boot::ALONE, ..Boot::default() }, folder)?;
    let Ran { end, console, state, shown, is_shut, .. } = &ran;
    let is_right = *end == End::Success
        && state.is_host_running
        && (*shown, *is_shut) == (0, true)
        && ran.record == [0; HANDOVER_SIZE];
    let why = || format!("a boot without a TEE: {shown} words, shut: {is_shut}\n{console}");
    Ok((!is_right).then(why))
}

/// A boot that has to leave the host in reset, without a record.
struct Refused<'a> {
    what: &'static str,
    edits: &'a [Edit],
    secret: &'a [u8],
    reason: Reason,
    /// Words of the secret that are read: none before the decision.
    shown: u64,
}

fn refusal_fault(machine: Rot, is_quick: bool, folder: &Path) -> Result<Option<String>> {
    // Of the monitor, which follows the page of the metadata; and of what follows it.
    let of_monitor = Edit::File(|file| file[2 << 12] ^= 1);
    let of_loader = Edit::File(|file| file[(1 << 12) + TEST_SIZE] ^= 1);
    let open = [&SECRET[..], &[1]].concat();
    let changed = Refused {
        what: "a changed monitor",
        edits: &[of_monitor],
        secret: &SECRET,
        reason: Reason::PayloadDigestMismatch,
        shown: 0,
    };
    let missing = Refused {
        what: "no secret",
        edits: &[],
        secret: &[0; 64],
        reason: Reason::DeviceSecretInvalid,
        shown: SECRET_WORDS,
    };
    let cases = [
        Refused { what: "a changed loader", edits: &[of_loader], ..changed },
        Refused { what: "a blank secret", secret: &[0xff; 64], ..missing },
        Refused {
            what: "a secret that stays open",
            secret: &open,
            reason: Reason::NotEndorsed,
            // Those that are read to see whether it is closed as well, then and before the host is refused.
            shown: 3 * SECRET_WORDS,
            ..missing
        },
    ];
    let cases = cases.into_iter().take(if is_quick { 0 } else { usize::MAX });
    for Refused { what, edits, secret, reason, shown } in
        [changed, missing].into_iter().chain(cases)
    {
        let ran = run(machine, &Boot { edits, secret, ..Boot::default() }, folder)?;
        let Ran { end, console, state, .. } = &ran;
        let is_refused = (state.status, state.reason) == (Status::Refused, reason as u32);
        if *end != End::Failure || !is_refused || state.is_host_running {
            return Ok(Some(format!("{what} ended in {end:?}, {state:?}\n{console}")));
        }
        if ran.record.iter().any(|byte| *byte != 0) {
            return Ok(Some(format!("{what} leaves a record")));
        }
        if ran.shown != shown {
            return Ok(Some(format!("{what}: {} words of the secret were read", ran.shown)));
        }
    }
    Ok(None)
}

/// The same beside a host, whose first program is the monitor of the test: it prints its record, and closes it.
fn run_beside_a_host(soc: Soc, size: usize, folder: &Path) -> Result<machines::Measured> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("rom.elf"), rom(WATCHED)?)?;
    fs::write(path("bundle.hlk"), bundle(&Boot { size, ..Boot::default() })?)?;
    fs::write(path("secret.bin"), SECRET)?;
    // At the host's start address until its payload is there: it would trap at once.
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

/// What is wrong beside a host.
///
/// # Errors
/// If something cannot be built or started.
pub fn host_fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    let ran = run_beside_a_host(soc, TEST_SIZE, folder)?;
    let (record, _) = wanted(TEST_SIZE)?;
    let is_right = ran.end == End::Success
        && ran.console.contains("monitor: done")
        && tee_boot::record(&ran.console) == Some(record);
    Ok((!is_right).then(|| format!("the monitor ended in {:?}\n{}", ran.end, ran.console)))
}

/// Boots a monitor of so many bytes, and returns what happened and the console.
///
/// # Errors
/// If its record is another one than a workstation computes.
pub fn show(machine: Rot, size: Option<usize>, folder: &Path) -> Result<(Booted, String)> {
    let size = size.unwrap_or(TEST_SIZE);
    let ran = run(machine, &Boot { size, ..Boot::default() }, folder)?;
    ensure!(ran.record == wanted(size)?.0, "the record is another one\n{}", ran.console);
    Ok((Booted::of(&ran.console, ran.state)?, ran.console))
}

/// The same beside a host.
///
/// # Errors
/// As above.
pub fn show_beside_a_host(
    soc: Soc,
    size: Option<usize>,
    folder: &Path,
) -> Result<(Booted, String)> {
    let size = size.unwrap_or(TEST_SIZE);
    let ran = run_beside_a_host(soc, size, folder)?;
    let is_right = tee_boot::record(&ran.console) == Some(wanted(size)?.0);
    ensure!(is_right, "the record is another one\n{}", ran.console);
    Ok((Booted::beside_a_host(&ran)?, ran.console))
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
