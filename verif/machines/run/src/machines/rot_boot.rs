//! Runs the ROM of the root of trust (`device/rot-rom`) on its machine, with the identity of a device with fake keys
//! and a boot bundle in the host's memory, and returns the result.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hartlock_handoff::{
    DeviceSecret, Entry, LogHeader, RootOfTrust, SECRET_SIZE, Stage, StateRecord, Step,
};
use hartlock_image::{HashId, Lifecycle, PayloadType, Policy, Reason, TreeMode};
use hartlock_kernels::Tier;
use hartlock_maps::hartlock_soc;
use hartlock_timeline::Outcome;
use hartlock_timeline::{MachineInfo, Timeline};
use hartlock_timeline::{Measurements, Source};
use object::{Object, ObjectSection, ObjectSymbol};

use super::report::{BootSequencerState, BootState, MailboxState};
use super::rot::{self, Rot};
use super::rot_faults;
use super::soc::{self as machines, Soc};
use super::{End, Machine, loader};
use hartlock_testkit::bundle::{Block, Draft, Edit, Payload, build, identity, name, trust};
use hartlock_testkit::keys::A;
use hartlock_testkit::signers::{
    ECDSA_P256, ECDSA_P384, LMS, LMS_192, RSA_PKCS1_2048, RSA_PSS_3072, SLH_DSA_128S, Signer, XMSS,
};
use xtask::firmware;

/// The symbol of the device's identity in the ROM (device/stage/src/identity/linked.rs).
const IDENTITY: &str = "HARTLOCK_IDENTITY";
/// A limit above the cycles of the longest boot here: Ed25519 in software on 32 bits.
pub const MAX_CYCLES: &str = "60000000";

/// A form of the ROM: the program, and its features.
#[derive(Clone, Copy, Debug)]
pub struct RomForm {
    program: &'static str,
    features: &'static [&'static str],
}

impl RomForm {
    /// Returns the ROM of the test bench with these features.
    pub(super) const fn of_bench(features: &'static [&'static str]) -> Self {
        Self { program: "rot-rom-variants", features }
    }
}

/// The ROM for a machine without a host.
pub const ALONE: RomForm = RomForm::of_bench(&["alone"]);
/// The ROM that prints on the console of the bench.
pub const WATCHED: RomForm = RomForm::of_bench(&[]);
/// The ROM as it ships, which uses nothing that a chip lacks.
pub const SHIPPED: RomForm = RomForm { program: "rot-rom", features: &[] };

/// Approximate sizes of a bundle in bytes: a realistic one to show, and a small one for other tests.
pub const USUAL_SIZE: usize = 64 << 10;
pub const SMALL_SIZE: usize = 20 << 10;
/// The size with which the rate of memory and engine is measured.
const LARGE_SIZE: usize = 1 << 20;
/// The size with a payload of several blocks.
const BLOCKS_SIZE: usize = 36 << 10;

/// The option of the machine that breaks the engine.
const UPSET: &str = "--upset-engine";
/// The option of the machine that removes the registers of the bench.
pub const NO_BENCH: &str = "--no-bench";
/// The options that end a run without an end of its own: for these cycles after the decision, nothing has changed.
pub(super) const SETTLED: [&str; 2] = ["--after-decision", "100000"];
/// The limit for a ROM that does not end the run: enough for a small bundle signed by LMS.
pub(super) const BOOT_CYCLES: &str = "2900000";
/// The limit for such a ROM if it hashes in software.
const UPSET_CYCLES: &str = "9000000";

/// Bytes of memory for the program of the host, including its stack.
const HOST_MEMORY_SIZE: u64 = 320 << 10;

/// A boot that ended regularly: the host was released, or the bundle was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RotBootResult {
    /// The reason of the refusal, or `None` if the host was released.
    pub reason: Option<u32>,
    /// True if the host runs, by the machine's own signals.
    pub is_host_running: bool,
    pub console: String,
    pub header: LogHeader,
    /// The entries of the log. Times are cycles since reset.
    pub entries: Vec<Entry>,
}

impl RotBootResult {
    /// Reads the result from a console and from the machine's own signals.
    pub(super) fn of(console: &str, state: BootState) -> Result<Self> {
        let (header, entries) =
            loader::log(console).with_context(|| format!("there is no log\n{console}"))?;
        Ok(Self {
            reason: (state.status != BootSequencerState::Released).then_some(state.reason),
            is_host_running: state.is_host_running,
            console: loader::without_log(console),
            header,
            entries,
        })
    }

    /// Reads the result of a boot of a root of trust next to a host.
    ///
    /// # Errors
    /// If its ROM printed no log.
    pub fn beside_a_host(measured: &machines::SocReport) -> Result<Self> {
        Self::of(&measured.console, measured.boot)
    }

    /// Returns the boot in the form of `hartlock boot --timeline-json`.
    pub fn timeline(&self, machine: &str) -> Timeline {
        let refused = self.reason.map(|number| Outcome::Refused {
            stage: Stage::Rom,
            // A code that this tool does not know is a refusal, too.
            reason: Reason::ALL
                .iter()
                .copied()
                .find(|reason| *reason as u32 == number)
                .unwrap_or(Reason::InternalLimit),
        });
        let measured = Measurements {
            source: Source::Log,
            header: self.header,
            entries: self.entries.clone(),
        };
        let about = MachineInfo {
            emulator: format!("the cycle-accurate machine {machine}, at 100 MHz"),
            cpu: "Ibex".to_owned(),
            harts: 1,
            icount: false,
            counts_cycles: true,
        };
        Timeline::new(&refused.unwrap_or(Outcome::Booted), Some(&measured), about)
    }
}

/// Builds the ROM in this form, with LMS by the engine, which makes boots short. Its identity is that of a device
/// that trusts the fake key A and a fake key of LMS.
pub fn rom(form: RomForm) -> Result<Vec<u8>> {
    rom_for(SignedBy::LmsByEngine, form)
}

/// Does the same as [`rom`] with another algorithm in place of LMS.
pub fn rom_for(signed_by: SignedBy, form: RomForm) -> Result<Vec<u8>> {
    rom_with(signed_by, form, &[])
}

/// Does the same as [`rom_for`] with additional features.
fn rom_with(signed_by: SignedBy, form: RomForm, features: &[&str]) -> Result<Vec<u8>> {
    let key = signed_by.signer().unwrap_or(&LMS);
    let features = [form.features, features, signed_by.features()].concat();
    let program = firmware::rot_program(form.program, &features)?;
    let mut elf =
        fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    ensure!(!reaches_panic(&elf)?, "the ROM of the root of trust can reach a panic");
    let (at, size) = place(&elf)?;
    let root = RootOfTrust {
        trust: trust(Policy::Any, [A.record(), key.record()]),
        board: name(hartlock_soc::BOARD.name),
        soc: name(hartlock_soc::BOARD.soc),
        secret: DeviceSecret::new([0xd5; SECRET_SIZE]).context("a secret")?,
    };
    let state = StateRecord {
        sequence: 1,
        boot_floor: 3,
        system_floor: 0,
        lifecycle: Lifecycle::Production,
        revoked_keys: 0,
    };
    let identity = [&root.encode()[..], &state.encode(&root.state_key())].concat();
    ensure!(size == identity.len(), "the ROM keeps {size} bytes for its identity");
    elf.get_mut(at..at + size)
        .context("the identity is past the end of the file")?
        .copy_from_slice(&identity);
    Ok(elf)
}

/// Returns true if code that panics is linked. A ROM that cannot reach a panic contains none.
fn reaches_panic(elf: &[u8]) -> Result<bool> {
    const PANICKING: &str = "4core9panicking";
    let file = object::File::parse(elf).context("the ROM is no ELF file")?;
    let mut names = file.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    Ok(names.any(|name| name.contains(PANICKING)))
}

/// Returns the position of the identity in the file, and its size.
pub fn place(elf: &[u8]) -> Result<(usize, usize)> {
    let file = object::File::parse(elf).context("the ROM is no ELF file")?;
    let mut symbols = file.symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(IDENTITY));
    let symbol = symbol.with_context(|| format!("the ROM has no {IDENTITY}"))?;
    let index = symbol.section_index().context("the identity is in no section")?;
    let section = file.section_by_index(index)?;
    let (start, _) = section.file_range().context("the identity is not in the file")?;
    let at = start + (symbol.address() - section.address());
    Ok((usize::try_from(at)?, usize::try_from(symbol.size())?))
}

/// The algorithm that signs a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignedBy {
    /// Ed25519 in software, which takes 13 million cycles of the root of trust.
    Ed25519,
    /// LMS without the engine for hash-based signatures. It consists of SHA-256, whose engine does most of the work.
    #[default]
    Lms,
    /// LMS whose root the engine for hash-based signatures computes.
    LmsByEngine,
    /// LMS by that engine, with digits of eight bits, so that its chains are longer, and with hashes of 24 bytes.
    LmsW8,
    /// XMSS-SHA2_10_256 by that engine.
    Xmss,
    /// SLH-DSA-SHA2-128s by that engine.
    SlhDsa,
    /// RSA-PSS of 3,072 bits with SHA-384, by the engine for big numbers.
    RsaPss,
    /// RSA of 2,048 bits with PKCS #1 v1.5 and SHA-256, by the engine for big numbers.
    RsaPkcs1,
    /// ECDSA with P-256, by the engine for big numbers.
    P256,
    /// ECDSA with P-384, by the engine for big numbers.
    P384,
}

impl SignedBy {
    /// Finds an algorithm by its name on a command line.
    ///
    /// # Errors
    /// The list of names, if the name is unknown.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "ed25519" => Ok(Self::Ed25519),
            "lms" => Ok(Self::LmsByEngine),
            "lms-w8" => Ok(Self::LmsW8),
            "xmss" => Ok(Self::Xmss),
            "slh-dsa" => Ok(Self::SlhDsa),
            "rsa-pss" => Ok(Self::RsaPss),
            "rsa-pkcs1" => Ok(Self::RsaPkcs1),
            "ecdsa-p256" => Ok(Self::P256),
            "ecdsa-p384" => Ok(Self::P384),
            _ => Err("one of ed25519, lms, lms-w8, xmss, slh-dsa, rsa-pss, rsa-pkcs1, ecdsa-p256, ecdsa-p384".into()),
        }
    }

    /// Returns true if the engine for hash-based signatures computes the root.
    pub fn is_by_engine(self) -> bool {
        matches!(self, Self::LmsByEngine | Self::LmsW8 | Self::Xmss | Self::SlhDsa)
    }

    /// Returns true if the engine for big numbers verifies it. `rot-full` and `rot-secure` have this engine.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Self::RsaPss | Self::RsaPkcs1 | Self::P256 | Self::P384)
    }

    /// Returns the fake key that signs, or `None` for the fake key A of Ed25519.
    fn signer(self) -> Option<&'static Signer> {
        match self {
            Self::Ed25519 => None,
            Self::Lms | Self::LmsByEngine => Some(&LMS),
            Self::LmsW8 => Some(&LMS_192),
            Self::Xmss => Some(&XMSS),
            Self::SlhDsa => Some(&SLH_DSA_128S),
            Self::RsaPss => Some(&RSA_PSS_3072),
            Self::RsaPkcs1 => Some(&RSA_PKCS1_2048),
            Self::P256 => Some(&ECDSA_P256),
            Self::P384 => Some(&ECDSA_P384),
        }
    }

    /// Returns the features of a ROM that verifies this algorithm and Ed25519.
    const fn features(self) -> &'static [&'static str] {
        match self {
            Self::Ed25519 | Self::Lms => &["lms"],
            Self::LmsByEngine | Self::LmsW8 => &["lms", "hash-based"],
            Self::Xmss => &["xmss"],
            Self::SlhDsa => &["slh-dsa"],
            Self::RsaPss | Self::RsaPkcs1 => &["rsa", "bignum"],
            Self::P256 | Self::P384 => &["ecdsa", "bignum"],
        }
    }
}

/// Returns a boot bundle of about `size` bytes for this device. `first` is the first program of the host; without it,
/// the payload contains pseudorandom bytes. The engine hashes the larger payloads.
pub fn bundle(size: usize, signed_by: SignedBy, first: Option<&[u8]>, edits: &[Edit]) -> Vec<u8> {
    bundle_in(TreeMode::Flat, size, signed_by, first, edits)
}

/// Does the same as [`bundle`], with the largest payload in this mode.
pub fn bundle_in(
    mode: TreeMode,
    size: usize,
    signed_by: SignedBy,
    first: Option<&[u8]>,
    edits: &[Edit],
) -> Vec<u8> {
    bundle_of(HashId::Sha256, mode, size, signed_by, first, edits)
}

/// Does the same as [`bundle_in`], with another hash of the largest payload.
pub fn bundle_of(
    hash: HashId,
    mode: TreeMode,
    size: usize,
    signed_by: SignedBy,
    first: Option<&[u8]>,
    edits: &[Edit],
) -> Vec<u8> {
    let payload = |kind, size, region: hartlock_verify::board::Region, hash| {
        let mut payload = Payload::new(kind, size, region.start);
        (payload.hash, payload.mode) = (hash, TreeMode::Flat);
        payload
    };
    let mut draft = Draft::boot();
    draft.identity = identity(hartlock_soc::BOARD.name, hartlock_soc::BOARD.soc);
    if let Some(signer) = signed_by.signer() {
        draft.blocks = vec![Block::BySigner(signer)];
    }
    let first_len = first.map_or(4096, <[u8]>::len);
    let rest = size.saturating_sub(first_len.next_multiple_of(4096) + (12 << 10)).max(4096);
    draft.payloads = vec![
        payload(PayloadType::Opensbi, first_len, hartlock_soc::FIRST, HashId::Sha256),
        payload(PayloadType::Loader, rest, hartlock_soc::LOADER, hash),
        payload(PayloadType::BootFdt, 1024, hartlock_soc::BOOT_FDT, HashId::Sha384),
    ];
    draft.payloads[1].mode = mode;
    if let Some(first) = first {
        draft.payloads[0].data = first.to_vec();
        // This is the memory for the zero-initialised data and the stack of the program (verif/programs/bench/link.ld).
        draft.payloads[0].memory_size = HOST_MEMORY_SIZE;
    }
    build(draft, edits).0
}

/// Boots a bundle.
///
/// # Errors
/// If the boot ends neither with a release nor with a refusal.
pub fn boot(machine: Rot, rom: &[u8], bundle: &[u8], folder: &Path) -> Result<RotBootResult> {
    boot_with(machine, rom, bundle, &[], folder)
}

/// Does the same as [`boot`], with options of the machine.
pub fn boot_with(
    machine: Rot,
    rom: &[u8],
    bundle: &[u8],
    options: &[&str],
    folder: &Path,
) -> Result<RotBootResult> {
    let options = [&["--max-cycles", MAX_CYCLES], options].concat();
    let (console, state, end) = run_unwatched(machine, rom, bundle, &options, folder)?;
    match (end, state.status) {
        (End::Success, BootSequencerState::Released)
        | (End::Failure, BootSequencerState::Refused) => RotBootResult::of(&console, state),
        _ => bail!("the ROM ended in {end:?}, {state:?}\n{console}"),
    }
}

/// Runs a boot with options of the machine; also returns its end, which may be any.
fn run(
    machine: Rot,
    rom: &[u8],
    bundle: &[u8],
    options: &[&str],
    folder: &Path,
) -> Result<(RotBootResult, BootState, End)> {
    let (console, state, end) = run_unwatched(machine, rom, bundle, options, folder)?;
    Ok((RotBootResult::of(&console, state)?, state, end))
}

/// Runs a boot of a ROM that need not print its log; returns its console, the state by the machine's own signals, and
/// its end.
pub fn run_unwatched(
    machine: Rot,
    rom: &[u8],
    bundle: &[u8],
    options: &[&str],
    folder: &Path,
) -> Result<(String, BootState, End)> {
    fs::create_dir_all(folder)?;
    let (program, medium) = (folder.join("rom.elf"), folder.join("bundle.hlk"));
    fs::write(&program, rom)?;
    fs::write(&medium, bundle)?;
    let medium = format!("{}@{:#x}", medium.display(), hartlock_soc::BUNDLE.start);
    let options = [options, &["--load", &medium]].concat();
    let (console, report, end) =
        rot::run_program(&rot::machine(machine)?, &program, folder, &options)?;
    Ok((console, BootState::parse(&report)?, end))
}

/// Returns a fault of the ROM that these boots show. The daily form leaves out the verification of Ed25519 in software,
/// which takes longer than all others, and runs a sample of the upsets of engines.
pub fn faults(machine: Rot, is_daily: bool, folder: &Path) -> Result<Option<String>> {
    let is_by_engine =
        |entry: &&Entry| entry.hash == Some(HashId::Sha256) && entry.kernel == Tier::Engine as u32;
    let kinds = [SignedBy::Lms, SignedBy::LmsByEngine, SignedBy::Ed25519];
    for &signed_by in &kinds[..if is_daily { 2 } else { 3 }] {
        let rom = rom_for(signed_by, ALONE)?;
        let good = boot(machine, &rom, &bundle(USUAL_SIZE, signed_by, None, &[]), folder)?;
        if good.reason.is_some() || !good.is_host_running {
            return Ok(Some(format!("{signed_by:?}: the host was not released\n{}", good.console)));
        }
        if good.entries.iter().filter(is_by_engine).count() != 2 {
            return Ok(Some("the engine did not hash two payloads".into()));
        }
    }
    let rom = rom(ALONE)?;
    for (what, edit, reason) in refusals() {
        let bundle = bundle(SMALL_SIZE, SignedBy::Lms, None, &[edit]);
        let booted = boot(machine, &rom, &bundle, folder)?;
        let is_logged =
            |entry: &Entry| entry.step == Step::Refusal && entry.reason == reason as u32;
        if booted.reason != Some(reason as u32)
            || booted.is_host_running
            || !booted.entries.last().is_some_and(is_logged)
        {
            return Ok(Some(format!("{what}: {:?}\n{}", booted.reason, booted.console)));
        }
    }
    let more = [
        trap_faults,
        service_faults,
        rot_faults::of_chips,
        rot_faults::of_roms,
        rot_faults::of_reads,
    ];
    for faults in more {
        if let Some(why) = faults(machine, folder)? {
            return Ok(Some(why));
        }
    }
    if let Some(why) = rot_faults::of_alerts(machine, is_daily, folder)? {
        return Ok(Some(why));
    }
    rot_faults::of_memory(machine, folder)
}

/// Returns a fault of a boot of a good bundle, or of one with a flipped bit.
pub fn first_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom(ALONE)?;
    let of = |edits: &[Edit]| {
        boot(machine, &rom, &bundle(SMALL_SIZE, SignedBy::LmsByEngine, None, edits), folder)
    };
    let good = of(&[])?;
    if good.reason.is_some() || !good.is_host_running {
        return Ok(Some(format!("the host was not released\n{}", good.console)));
    }
    let (what, edit, reason) = refusals().swap_remove(0);
    let changed = of(&[edit])?;
    let is_refused = changed.reason == Some(reason as u32) && !changed.is_host_running;
    Ok((!is_refused).then(|| format!("{what}: {:?}\n{}", changed.reason, changed.console)))
}

/// Checks that a bundle of 1 MiB is copied and hashed at the rate of memory and engine.
pub fn large_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let file = bundle(LARGE_SIZE, SignedBy::Lms, None, &[]);
    slow_step(&boot(machine, &rom(ALONE)?, &file, folder)?)
}

/// Checks the same on a chip with a host, where memory has other users. The run ends soon after the release.
fn large_host_fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    let options = ["--max-cycles", "3500000"];
    let by_engine = HostBoot { signed_by: SignedBy::LmsByEngine, ..HostBoot::default() };
    let large = HostBoot { size: LARGE_SIZE, options: &options, ..by_engine };
    slow_step(&RotBootResult::beside_a_host(&large.run(soc, folder)?)?)
}

/// Returns the step of a boot of 1 MiB that is too slow, if there is one.
fn slow_step(booted: &RotBootResult) -> Result<Option<String>> {
    /// The maximum number of cycles for a byte, including set-up. Memory transfers 8 bytes a cycle, twice; the engine
    /// takes 34 cycles for a block.
    const MOST: [(Step, f64); 2] = [(Step::Read, 0.3), (Step::Hash, 0.56)];
    if booted.reason.is_some() || !booted.is_host_running {
        return Ok(Some(format!("1 MiB: {:?}\n{}", booted.reason, booted.console)));
    }
    for (step, most) in MOST {
        let is_it =
            |entry: &&Entry| entry.step == step && entry.payload == Some(PayloadType::Loader);
        let entry = booted.entries.iter().find(is_it).context("a step is not in the log")?;
        let each = cycles_per_byte(entry);
        if each > most {
            return Ok(Some(format!("1 MiB: {step:?} takes {each:.3} cycles a byte")));
        }
    }
    Ok(None)
}

fn cycles_per_byte(entry: &Entry) -> f64 {
    (entry.time.1 - entry.time.0) as f64 / entry.bytes as f64
}

/// Checks a payload in blocks: the engine hashes them by DMA, the last one is shorter, and a changed bit of it is
/// refused.
pub fn blocks_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    /// The maximum number of cycles for a byte. By loads and stores it would be about 13. By DMA it is 5 for four
    /// blocks and 2.5 for twelve, of which the engine takes 0.57; the rest is work of the ROM for each block and once
    /// for the payload.
    const MOST: f64 = 6.0;
    let mode = TreeMode::Blocks { block_size: 4096 };
    let rom = rom(ALONE)?;
    // The payload has three blocks and a part of a fourth one. Only the padded device tree follows it.
    let cut = Edit::Draft(|draft| draft.payloads[1].data.truncate(3 * 4096 + 100));
    let of = |edits: &[Edit]| {
        let file = bundle_in(mode, BLOCKS_SIZE, SignedBy::Lms, None, edits);
        boot(machine, &rom, &file, folder)
    };
    let good = of(&[cut])?;
    let is_it = |entry: &&Entry| {
        entry.step == Step::Hash
            && entry.payload == Some(PayloadType::Loader)
            && entry.kernel == Tier::Engine as u32
    };
    let Some(hash) = good.entries.iter().find(is_it).filter(|_| good.reason.is_none()) else {
        return Ok(Some(format!("blocks are not hashed by the engine\n{}", good.console)));
    };
    let each = cycles_per_byte(hash);
    if each > MOST {
        return Ok(Some(format!("a payload in blocks takes {each:.2} cycles a byte")));
    }
    // The changed byte is the last of the last block, which has 100 bytes. The first payload is before it, after a
    // page.
    let changed = Edit::File(|file| file[(2 << 12) + 3 * 4096 + 99] ^= 1);
    let bad = of(&[cut, changed])?;
    let reason = Some(Reason::PayloadDigestMismatch as u32);
    Ok((bad.reason != reason || bad.is_host_running)
        .then(|| format!("a changed block is not refused: {:?}\n{}", bad.reason, bad.console)))
}

/// Checks a payload with a hash of SHA-3, flat and in blocks: the engine for SHA-3 hashes it.
pub fn sha3_fault(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom(ALONE)?;
    // The last number is the maximum number of cycles for a byte, a twentieth above the measured one. Blocks are hashed
    // by DMA, with work of the ROM for each, and the engine also hashes the root over them. The last case has 33
    // leaves, one more than the ROM keeps, so the kernels hash its root.
    let blocks = TreeMode::Blocks { block_size: 4096 };
    for (hash, mode, size, most) in [
        (HashId::Sha3_256, TreeMode::Flat, BLOCKS_SIZE, 0.61),
        (HashId::Sha3_384, TreeMode::Flat, BLOCKS_SIZE, 0.73),
        (HashId::Sha3_512, TreeMode::Flat, BLOCKS_SIZE, 0.89),
        (HashId::Sha3_384, blocks, BLOCKS_SIZE, 7.3),
        (HashId::Sha3_512, blocks, 37 * 4096, 15.6),
    ] {
        let of = |edits: &[Edit]| {
            let file = bundle_of(hash, mode, size, SignedBy::Lms, None, edits);
            boot(machine, &rom, &file, folder)
        };
        let good = of(&[])?;
        let is_it = |entry: &&Entry| {
            entry.step == Step::Hash
                && entry.payload == Some(PayloadType::Loader)
                && entry.kernel == Tier::Engine as u32
        };
        let found = good.entries.iter().find(is_it).filter(|_| good.reason.is_none());
        let Some(step) = found else {
            return Ok(Some(format!("{hash:?} is not the engine's\n{}", good.console)));
        };
        let each = cycles_per_byte(step);
        if each > most {
            return Ok(Some(format!("{hash:?} takes {each:.2} cycles a byte")));
        }
        let changed = Edit::File(|file| file[(2 << 12) + 99] ^= 1);
        let bad = of(&[changed])?;
        let reason = Some(Reason::PayloadDigestMismatch as u32);
        if bad.reason != reason || bad.is_host_running {
            return Ok(Some(format!("{hash:?}: a changed byte is not refused\n{}", bad.console)));
        }
    }
    Ok(None)
}

/// Checks a ROM that answers a bad bundle with a trap of the host: the sequencer reports the trap and the reason, and
/// the host leaves reset into an exception.
fn trap_faults(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom(RomForm::of_bench(&["alone", "trap-on-refusal"]))?;
    let changed = Edit::File(|file| file[3 << 12] ^= 1);
    let bundle = bundle(SMALL_SIZE, SignedBy::Lms, None, &[changed]);
    let (booted, state, end) = run(machine, &rom, &bundle, &["--max-cycles", MAX_CYCLES], folder)?;
    let expected = BootState {
        status: BootSequencerState::Trapped,
        reason: Reason::PayloadDigestMismatch as u32,
        is_host_running: true,
        mailbox: MailboxState::Closed,
    };
    let is_right = end == End::Failure && state == expected;
    Ok((!is_right).then(|| format!("a trap ended in {end:?}, {state:?}\n{}", booted.console)))
}

/// Checks that the engine serves the host after the release. With a broken engine the ROM hashes in software, and its
/// mailbox stays closed.
fn service_faults(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let rom = rom(WATCHED)?;
    let bundle = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let by_engine = |entry: &&Entry| entry.kernel == Tier::Engine as u32 && entry.hash.is_some();
    // No program ends these runs, because the root of trust waits for requests.
    let good = [&SETTLED[..], &["--max-cycles", BOOT_CYCLES]].concat();
    let upset = [&SETTLED[..], &["--max-cycles", UPSET_CYCLES, UPSET]].concat();
    for (options, mailbox, by_engines) in
        [(&good, MailboxState::Ready, 2), (&upset, MailboxState::Closed, 0)]
    {
        let (booted, state, end) = run(machine, &rom, &bundle, options, folder)?;
        if (end, state.status, state.mailbox)
            != (End::Timeout, BootSequencerState::Released, mailbox)
            || booted.entries.iter().filter(by_engine).count() != by_engines
        {
            let console = booted.console;
            return Ok(Some(format!("{options:?} ended in {end:?}, {state:?}\n{console}")));
        }
    }
    Ok(None)
}

/// A function that changes the ELF file of a ROM.
pub type RomEdit = fn(&mut [u8]) -> Result<()>;

/// A boot of host and root of trust.
#[derive(Clone, Copy, Default)]
pub struct HostBoot<'a> {
    /// The approximate size of the bundle in bytes. The bundle is larger if its contents need more.
    pub size: usize,
    pub signed_by: SignedBy,
    pub edits: &'a [Edit],
    /// Options of the machine.
    pub options: &'a [&'a str],
    /// True if the ROM is that of a chip, on a machine without the registers of the bench, instead of one that prints.
    pub is_shipped: bool,
    /// Features of the host's program.
    pub host: &'a [&'a str],
    /// Additional features of the ROM.
    pub rom: &'a [&'a str],
    /// A change of the ROM.
    pub rom_edit: Option<RomEdit>,
}

impl HostBoot<'_> {
    /// Boots. The host's program is only in the bundle.
    pub fn run(&self, soc: Soc, folder: &Path) -> Result<machines::SocReport> {
        fs::create_dir_all(folder)?;
        let file = |name: &str| folder.join(name);
        let host = firmware::flat_binary(&firmware::stage("rot-host", self.host)?.elf)?;
        let bundle = bundle(self.size, self.signed_by, Some(&host), self.edits);
        let form = if self.is_shipped { SHIPPED } else { WATCHED };
        let mut rom_elf = rom_with(self.signed_by, form, self.rom)?;
        if let Some(edit) = self.rom_edit {
            edit(&mut rom_elf)?;
        }
        fs::write(file("rom.elf"), rom_elf)?;
        fs::write(file("bundle.hlk"), bundle)?;
        // If no program is loaded, the host's start address contains these bytes, so that it traps at once.
        fs::write(file("nothing.bin"), [0; 4])?;
        let medium = format!("{}@{:#x}", file("bundle.hlk").display(), hartlock_soc::BUNDLE.start);
        let rom = file("rom.elf").display().to_string();
        // The machine has a last-level cache, as the machine of the root of trust without a host has.
        let options =
            ["--rot", &rom, "--load", &medium, "--max-cycles", MAX_CYCLES, "--llc-size", "0x20000"];
        let options: Vec<_> =
            options.iter().chain(self.options).map(|&text| text.to_owned()).collect();
        let no_bench = self.is_shipped.then(|| NO_BENCH.to_owned());
        let options: Vec<_> = options.into_iter().chain(no_bench).collect();
        let runs = Machine {
            machine: &machines::machine(soc, false)?,
            program: &file("nothing.bin"),
            folder,
            options: &options,
        };
        let (console, report, end) = runs.run(&[])?;
        machines::parse(&report, end, console)
    }
}

/// Returns a fault of host and root of trust together.
pub fn host_faults(soc: Soc, folder: &Path) -> Result<Option<String>> {
    let edits = &[Edit::File(|file| file[3 << 12] ^= 1)];
    let by_engine = HostBoot { signed_by: SignedBy::LmsByEngine, ..HostBoot::default() };
    let changed = HostBoot { edits, ..by_engine }.run(soc, folder)?;
    let reason = Reason::PayloadDigestMismatch as u32;
    let state = changed.boot;
    if (state.status, state.reason, changed.host_retired)
        != (BootSequencerState::Refused, reason, 0)
    {
        return Ok(Some(format!("a changed bundle was not refused\n{}", changed.console)));
    }
    if let Some(why) = large_host_fault(soc, folder)? {
        return Ok(Some(why));
    }
    rot_faults::of_hosts(soc, folder)
}

/// Returns changes that must be refused, with their reasons.
fn refusals() -> Vec<(&'static str, Edit, Reason)> {
    vec![
        (
            "a flipped bit in the loader",
            Edit::File(|file| file[3 * 4096] ^= 1),
            Reason::PayloadDigestMismatch,
        ),
        (
            "a flipped bit in the signature",
            Edit::Area(|area| *area.last_mut().expect("a signature") ^= 1),
            Reason::SignatureMismatch,
        ),
        (
            "another board",
            Edit::Draft(|draft| draft.identity.board = name("qemu-virt")),
            Reason::WrongBoard,
        ),
        (
            "a version below the floor",
            Edit::Draft(|draft| draft.security_version = 2),
            Reason::RollbackBelowFloor,
        ),
        (
            "a payload over the bundle",
            Edit::Draft(|draft| draft.payloads[1].load_at(hartlock_soc::BUNDLE.start)),
            Reason::OverlapsLiveRegion,
        ),
    ]
}
