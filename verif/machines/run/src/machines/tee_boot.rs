//! Runs the first-stage loader (`device/fsbl`) on a machine of a TEE, with a fake secret and fake root keys of the
//! device and a boot bundle on the storage, and checks the record that the monitor gets.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hartlock_fsbl::{Computer, Endorsement, ExpandedDeviceKey, HANDOVER_SIZE, Handover, endorse};
use hartlock_handoff::{DeviceSecret, RootOfTrust, SECRET_SIZE, StateRecord};
use hartlock_image::{HashId, Lifecycle, PAGE_SIZE, PayloadType, Policy, Reason, TreeMode};
use hartlock_kernels::Hash;
use hartlock_kernels::Kernels;
use hartlock_kernels::sha3::Sha3_512;
use hartlock_maps::hartlock_tee;
use hartlock_testkit::bundle::{Block, Draft, Edit, Payload, build, identity, name, trust};
use hartlock_testkit::keys::A;
use hartlock_testkit::signers::RSA_PSS_2048;
use hartlock_verify::board::Region;
use object::{Object, ObjectSegment, ObjectSymbol};

use super::rot_boot::place;
use super::tee::{self, Tee};
use super::{End, Machine};
use xtask::{firmware, packages, project};

/// Sizes of the monitor in bytes: to show, and in tests, where software hashes it, too.
pub const USUAL_SIZE: usize = 64 << 10;
pub const TEST_SIZE: usize = 16 << 10;
/// The payload size of the third paper in bytes.
const PAPER_SIZE: usize = 2 << 20;
/// The machine whose boot time has a bound.
const BOUND_MACHINE: &str = "tee-1-full";
/// A size with which the bytes that were read before the device has its key are hashed before the rest is read.
const BOUND_SIZE: usize = 1280 << 10;
/// The memory of the monitor in bytes. Variables and stack follow its program (verif/programs/bench/link.ld).
const MONITOR_MEMORY: u64 = 320 << 10;
/// The fake secret of a device for tests.
pub const SECRET: [u8; 64] = *b"a fake expanded key of a device, no secret at all, for tests 64.";
const MAX_CYCLES: &str = "400000000";
/// Bytes of the loader's stack (`device/fsbl/link.ld`): all of it, the part that may be in use once the device has
/// its key, and the number of bytes that must stay unused in both.
const STACK: u64 = 24 << 10;
const LATE_STACK: u64 = 9 << 10;
const STACK_RESERVE: u64 = 1 << 10;

/// The units with which a loader computes, and its order of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeMode {
    /// Engines, one step after the other, so that each can be measured.
    Engines,
    /// Engines, as a device boots: bytes are hashed while the storage delivers others.
    Overlapped,
    /// Same as [`ComputeMode::Overlapped`], without a timeline on the console. So its time from reset to the jump is that of a
    /// device.
    Quiet,
    /// Engines to which the processor writes the data with stores.
    Pushed,
    /// Engines whose digests and keys have a stuck bit, so that software has to do their work.
    BrokenEngines,
    /// Only the engine for SHA-3, for which the paper has a column.
    HashEngine,
    /// Software, in a loader without drivers for engines.
    Software,
    /// Software without assembly.
    Portable,
}

impl ComputeMode {
    /// All variants.
    pub const ALL: [ComputeMode; 8] = [
        ComputeMode::Engines,
        ComputeMode::Overlapped,
        ComputeMode::Quiet,
        ComputeMode::Pushed,
        ComputeMode::BrokenEngines,
        ComputeMode::HashEngine,
        ComputeMode::Software,
        ComputeMode::Portable,
    ];

    /// Returns the name in tables. On command lines it has hyphens instead of spaces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ComputeMode::Engines => "engines",
            ComputeMode::Overlapped => "overlapped",
            ComputeMode::Quiet => "quiet",
            ComputeMode::Pushed => "pushed",
            ComputeMode::BrokenEngines => "broken engines",
            ComputeMode::HashEngine => "hash engine",
            ComputeMode::Software => "our software",
            ComputeMode::Portable => "portable software",
        }
    }

    /// Returns true if the engine for Ed25519 works. Then it verifies the bundle, too.
    const fn has_signer(self) -> bool {
        !matches!(
            self,
            ComputeMode::BrokenEngines
                | ComputeMode::HashEngine
                | ComputeMode::Software
                | ComputeMode::Portable
        )
    }

    /// Finds a variant by its name on a command line.
    ///
    /// # Errors
    /// The list of names, if the name is unknown.
    pub fn from_name(name: &str) -> Result<ComputeMode, String> {
        let names = ComputeMode::ALL.map(|by| by.name().replace(' ', "-"));
        let found = names.iter().position(|it| it == name).map(|at| ComputeMode::ALL[at]);
        found.ok_or_else(|| format!("one of {}", names.join(", ")))
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct TeeBootResult {
    pub end: End,
    pub console: String,
    /// Points of the timeline: name, and cycles since reset.
    pub points: Vec<(String, u64)>,
    /// Number of cycles that the storage needs for the bundle. It delivers a byte in each cycle.
    pub reading: u64,
}

impl TeeBootResult {
    /// Returns the cycles from reset to the first instructions of the monitor, and their maximum. For a monitor of 2
    /// MiB the maximum is 1.05 times the time to read its bundle. The cycles in addition to reading do not depend on
    /// the size, so a smaller monitor that is large enough is allowed the same number of them. Returns `None` for a
    /// boot that is not quiet.
    fn bound(&self, by: ComputeMode, size: usize) -> Option<(u64, u64)> {
        let (_, entered) = self.points.iter().find(|(what, _)| what == "entered")?;
        // The sum includes the page before the payloads, and two payloads of a page each.
        let of_paper = PAPER_SIZE as u64 + 3 * PAGE_SIZE;
        let most = self.reading + of_paper / 20;
        (by == ComputeMode::Quiet && size >= BOUND_SIZE).then_some((*entered, most))
    }
}

/// The inputs of a run.
pub struct TeeBoot<'a> {
    pub by: ComputeMode,
    pub size: usize,
    pub secret: &'a [u8; 64],
    pub edits: &'a [Edit],
    pub options: &'a [&'a str],
    pub fault: Fault,
}

/// The fault of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device has no fault.
    None,
    /// The secret can be read although its latch says that it is closed.
    OpenSecret,
    /// A bit of the root-of-trust block is flipped.
    Root,
    /// A bit of the state record is flipped.
    State,
    /// The loader traps once the engine has the key of the device.
    Trap,
}

impl Default for TeeBoot<'_> {
    fn default() -> Self {
        Self {
            by: ComputeMode::Engines,
            size: USUAL_SIZE,
            secret: &SECRET,
            edits: &[],
            options: &[],
            fault: Fault::None,
        }
    }
}

/// Returns the loader with the identity of a device that trusts two fake keys: one of Ed25519, and one of RSA, which
/// software verifies fastest.
fn loader(by: ComputeMode, fault: Fault) -> Result<Vec<u8>> {
    let variant = |name| firmware::stage("fsbl-variants", &[name]);
    let program = match by {
        _ if fault == Fault::Trap => variant("says-key"),
        ComputeMode::Overlapped | ComputeMode::BrokenEngines => {
            firmware::stage("fsbl", &["machine", "rsa"])
        }
        ComputeMode::Engines => variant("in-turn"),
        ComputeMode::Quiet => variant("quiet"),
        ComputeMode::Pushed => variant("pushed"),
        ComputeMode::HashEngine => variant("hash-engine"),
        ComputeMode::Software => variant("software"),
        ComputeMode::Portable => variant("portable"),
    };
    let mut elf = fs::read(program?.elf)?;
    if fault == Fault::Trap {
        trap_with_key(&mut elf)?;
    }
    ensure!(!reaches_panic(&elf)?, "the loader can reach a panic");
    let (at, size) = place(&elf)?;
    let root = RootOfTrust {
        trust: trust(Policy::Any, [A.record(), RSA_PSS_2048.record()]),
        board: name(hartlock_tee::BOARD.name),
        soc: name(hartlock_tee::BOARD.soc),
        secret: DeviceSecret::new([0xd5; SECRET_SIZE]).context("a secret")?,
    };
    let state = StateRecord {
        sequence: 1,
        boot_floor: 3,
        system_floor: 0,
        lifecycle: Lifecycle::Production,
        revoked_keys: 0,
    };
    let root_block = root.encode();
    let mut identity = [&root_block[..], &state.encode(&root.state_key())].concat();
    match fault {
        Fault::Root => identity[root_block.len() / 2] ^= 1,
        Fault::State => identity[root_block.len()] ^= 1,
        Fault::None | Fault::OpenSecret | Fault::Trap => {}
    }
    ensure!(size == identity.len(), "the loader keeps {size} bytes for its identity");
    elf.get_mut(at..at + size).context("the identity is past the end")?.copy_from_slice(&identity);
    Ok(elf)
}

/// Makes a loader trap once the engine, or the processor if there is none, has the key of the device: the first
/// instruction of the function that is called next becomes illegal.
///
/// # Errors
/// If the loader does not have this function.
pub fn trap_with_key(elf: &mut [u8]) -> Result<()> {
    let at = firmware::function_in_file(elf, &["hartlock_fsbl", "verified"])?;
    elf.get_mut(at..at + 4).context("the function is past the end")?.fill(0);
    Ok(())
}

/// Returns true if the symbol that every panic path calls is linked (device/virt/src/panic.rs).
fn reaches_panic(elf: &[u8]) -> Result<bool> {
    let file = object::File::parse(elf).context("the loader is no ELF file")?;
    Ok(file.symbols().any(|symbol| symbol.name() == Ok("hartlock_panic_sentinel")))
}

/// Returns a bundle whose monitor has `size` bytes: the test's program, then pseudorandom bytes. Also returns the
/// monitor.
fn bundle(by: ComputeMode, size: usize, edits: &[Edit]) -> Result<(Vec<u8>, Vec<u8>)> {
    let payload = |kind, size, region: Region| Payload::new(kind, size, region.start);
    let mut draft = Draft::boot();
    draft.identity = identity(hartlock_tee::BOARD.name, hartlock_tee::BOARD.soc);
    if !by.has_signer() {
        // In software, RSA is verified faster in simulation.
        draft.blocks = vec![Block::BySigner(&RSA_PSS_2048)];
    }
    let mut others = [
        payload(PayloadType::Loader, 4096, hartlock_tee::LOADER),
        payload(PayloadType::BootFdt, 4096, hartlock_tee::BOOT_FDT),
    ];
    others.iter_mut().for_each(|other| other.hash = HashId::Sha3_512);
    draft.payloads = [monitor(size)?].into_iter().chain(others).collect();
    let (file, draft) = build(draft, edits);
    Ok((file, draft.payloads[0].data.clone()))
}

/// A boot whose machine, program and medium are built.
pub struct Prepared {
    machine: PathBuf,
    program: Vec<u8>,
    medium: Vec<u8>,
    monitor: Vec<u8>,
    secret: Vec<u8>,
    options: Vec<String>,
}

impl Prepared {
    /// Builds machine, loader and bundle.
    ///
    /// # Errors
    /// If something cannot be built.
    pub fn new(tee: Tee, boot: &TeeBoot<'_>) -> Result<Self> {
        let mut options = vec!["--max-cycles".to_owned(), MAX_CYCLES.to_owned()];
        if boot.by == ComputeMode::BrokenEngines {
            options.push("--upset-engine".to_owned());
        }
        options.extend(boot.options.iter().map(|&option| option.to_owned()));
        // An additional byte makes the machine show the secret even if it is closed (verif/machines/sim/tee).
        let is_open = usize::from(boot.fault == Fault::OpenSecret);
        let (medium, monitor) = bundle(boot.by, boot.size, boot.edits)?;
        Ok(Self {
            machine: tee::machine(tee)?,
            program: loader(boot.by, boot.fault)?,
            medium,
            monitor,
            secret: [&boot.secret[..], &vec![1; is_open]].concat(),
            options,
        })
    }

    /// Returns a boot with another program in place of the loader, and nothing on the storage.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn of_program(tee: Tee, program: Vec<u8>) -> Result<Self> {
        Ok(Self {
            machine: tee::machine(tee)?,
            program,
            medium: Vec::new(),
            monitor: Vec::new(),
            secret: SECRET.to_vec(),
            options: vec!["--max-cycles".to_owned(), MAX_CYCLES.to_owned()],
        })
    }

    /// Returns the record that the monitor has to get from a device with the usual secret.
    ///
    /// # Errors
    /// If the record cannot be computed.
    pub fn record(&self) -> Result<[u8; HANDOVER_SIZE]> {
        let mut record = [0; HANDOVER_SIZE];
        Handover::encode(&endorsement(&self.monitor, &SECRET)?, &mut record);
        Ok(record)
    }

    /// Boots with files in `folder`.
    ///
    /// # Errors
    /// If the machine could not be started.
    pub fn run(&self, folder: &Path) -> Result<TeeBootResult> {
        fs::create_dir_all(folder)?;
        let (program, secret) = (folder.join("fsbl.elf"), folder.join("secret.bin"));
        fs::write(&program, &self.program)?;
        fs::write(&secret, &self.secret)?;
        let mut options = self.options.clone();
        options.extend(["--rot".to_owned(), secret.to_str().context("a path of text")?.to_owned()]);
        let machine =
            Machine { machine: &self.machine, program: &program, folder, options: &options };
        let (console, _, end) = machine.run(&self.medium)?;
        Ok(TeeBootResult {
            end,
            points: points(&console),
            reading: self.medium.len() as u64,
            console,
        })
    }

    /// Boots to the end, or returns the stored result of the same boot. The same bytes on the same machine take the
    /// same cycles, so a measurement that was interrupted can continue. The results are stored in the folder `kept`.
    ///
    /// # Errors
    /// If the boot does not end with success.
    pub fn run_once(&self, kept: &Path) -> Result<TeeBootResult> {
        // The name of a machine's folder is a digest of all its inputs.
        let machine = self.machine.parent().and_then(Path::file_name).context("a folder")?;
        let program = loaded(&self.program)?;
        let bytes = [&program, &self.medium, &self.secret];
        let [program, medium, secret] = bytes.map(|it| packages::digest_of_bytes(it));
        let options = self.options.join(" ");
        let parts = [&machine.to_string_lossy(), program.as_str(), &medium, &secret, &options];
        let key = packages::digest(&parts);
        let file = kept.join(format!("{key}.txt"));
        if let Ok(console) = fs::read_to_string(&file) {
            return Ok(TeeBootResult {
                end: End::Success,
                points: points(&console),
                reading: self.medium.len() as u64,
                console,
            });
        }
        let scratch = kept.join(format!("{key}.{}", std::process::id()));
        let ran = self.run(&scratch)?;
        ensure!(ran.end == End::Success, "it ended in {:?}\n{}", ran.end, ran.console);
        let text = scratch.join("console.txt");
        fs::write(&text, &ran.console)?;
        // The rename is atomic, because another process may make the same boot.
        fs::rename(text, file)?;
        fs::remove_dir_all(&scratch)?;
        Ok(ran)
    }
}

/// Returns the part of a program that the machine loads, without debugging information, which contains the path of the
/// build.
fn loaded(elf: &[u8]) -> Result<Vec<u8>> {
    let file = object::File::parse(elf).context("the program is no ELF file")?;
    let mut bytes = file.entry().to_le_bytes().to_vec();
    for segment in file.segments() {
        let data = segment.data()?;
        bytes.extend(
            [segment.address(), segment.size(), data.len() as u64].map(u64::to_le_bytes).concat(),
        );
        bytes.extend(data);
    }
    Ok(bytes)
}

/// Reads the points of the timeline that loader and monitor printed.
fn points(console: &str) -> Vec<(String, u64)> {
    let point = |line: &str| {
        let of_loader = line.strip_prefix("fsbl: ").or(line.strip_prefix("monitor: "));
        let (what, cycle) = of_loader?.rsplit_once(": ")?;
        Some((what.to_owned(), cycle.parse().ok()?))
    };
    console.lines().filter_map(point).collect()
}

/// Runs the loader.
///
/// # Errors
/// If something cannot be built or started.
pub fn run(tee: Tee, boot: &TeeBoot<'_>) -> Result<TeeBootResult> {
    Prepared::new(tee, boot)?.run(&project::work_dir("hw").join(tee.name))
}

/// Returns the record that the monitor printed.
pub fn record(console: &str) -> Option<[u8; HANDOVER_SIZE]> {
    let digits = console.lines().find_map(|line| line.strip_prefix("monitor: record "))?;
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..HANDOVER_SIZE).map(byte).collect();
    bytes?.try_into().ok()
}

/// Returns the payload with the monitor, of this size.
///
/// # Errors
/// If its program cannot be built.
pub fn monitor(size: usize) -> Result<Payload> {
    let program = fs::read(firmware::stage("tee-monitor", &[])?.bin)?;
    let mut monitor = Payload::new(PayloadType::Opensbi, size, hartlock_tee::FIRST.start);
    (monitor.hash, monitor.mode) = (HashId::Sha3_512, TreeMode::Flat);
    monitor.memory_size = MONITOR_MEMORY.max(monitor.memory_size);
    let start = monitor.data.get_mut(..program.len()).context("the program is larger")?;
    start.copy_from_slice(&program);
    Ok(monitor)
}

/// Returns the endorsement of a monitor of this size, computed on this workstation.
///
/// # Errors
/// If the program of the monitor cannot be built.
pub fn expected(size: usize) -> Result<Endorsement> {
    expected_with(size, &SECRET)
}

/// Does the same as [`expected`] for a device with another secret.
///
/// # Errors
/// Same as [`expected`]; also `DeviceSecretInvalid` if the secret is not valid.
pub fn expected_with(size: usize, secret: &[u8; 64]) -> Result<Endorsement> {
    endorsement(&bundle(ComputeMode::Engines, size, &[])?.1, secret)
}

/// Returns the endorsement of these bytes by a device with this secret.
///
/// # Errors
/// `DeviceSecretInvalid` if the secret is not valid.
pub fn endorsement(monitor: &[u8], secret: &[u8; 64]) -> Result<Endorsement> {
    let mut hash = Sha3_512::new();
    hash.update(monitor);
    let mut software = Computer::new(Kernels::PORTABLE);
    let mut device = ExpandedDeviceKey::EMPTY;
    let mut made = Endorsement { measurement: hash.finalize(), ..Endorsement::EMPTY };
    device
        .take(|bytes| *bytes = *secret, || true)
        .and_then(|()| endorse(&mut software, &device, &mut made, |_| ()))
        .map_err(|reason| anyhow::anyhow!("{}", reason.title()))?;
    Ok(made)
}

/// Boots by engines and in software, or as asked for, and prints the timelines. Returns false if a bound is exceeded.
pub fn show(tee: Tee, size: Option<usize>, by: Option<ComputeMode>) -> Result<bool> {
    let size = size.unwrap_or(USUAL_SIZE);
    let mut is_met = true;
    for by in by.map_or(vec![ComputeMode::Overlapped, ComputeMode::Software], |by| vec![by]) {
        let ran = run(tee, &TeeBoot { by, size, ..TeeBoot::default() })?;
        ensure!(ran.end == End::Success, "{by:?} ended in {:?}\n{}", ran.end, ran.console);
        println!("{}, a monitor of {size} bytes, {}", tee.name, by.name());
        println!("{:<16} {:>12} {:>12}", "", "cycle", "cycles");
        let mut before = 0;
        for (what, cycle) in &ran.points {
            println!("{what:<16} {cycle:>12} {:>12}", cycle - before);
            before = *cycle;
        }
        if let Some((entered, most)) = ran.bound(by, size).filter(|_| tee.name == BOUND_MACHINE) {
            is_met &= entered <= most;
            let ratio = entered as f64 / ran.reading as f64;
            let verdict = if entered <= most { "met" } else { "MISSED" };
            println!("reset to jump: {ratio:.4} of reading {} bytes", ran.reading);
            println!("at most {most} cycles: {verdict}");
        }
    }
    Ok(is_met)
}

/// Checks that the loader printed how much of its stack it used, and that this is not too much.
///
/// # Errors
/// The message for the user.
pub fn check_stack(console: &str, is_by_engines: bool) -> Result<(), String> {
    let used = console.lines().find_map(|line| {
        let (all, late) = line.strip_prefix("fsbl: used ")?.split_once(" bytes of stack, ")?;
        Some((all.parse::<u64>().ok()?, late.trim().strip_suffix(" late")?.parse::<u64>().ok()?))
    });
    let (all, late) = used.ok_or("the loader does not say how much of its stack it used")?;
    if all.max(late) > STACK - STACK_RESERVE {
        return Err(format!("{all} bytes of stack were used, of {STACK}"));
    }
    if is_by_engines && late > LATE_STACK - STACK_RESERVE {
        return Err(format!("{late} bytes of stack were used late, of {LATE_STACK}"));
    }
    Ok(())
}

/// Returns a fault of the loader on this machine. With `is_quick` there are one boot and two refusals, because a boot
/// in software takes a minute. Tests on a workstation also check that software does the work of engines that are broken
/// (device/fsbl/src/tests.rs).
///
/// # Errors
/// If something cannot be built or started.
pub fn fault(tee: Tee, is_quick: bool) -> Result<Option<String>> {
    let flip = Edit::File(|file| file[3 << 12] ^= 1);
    let cut = Edit::File(|file| file.truncate(file.len() - (1 << 12)));
    let bad: [(&[Edit], [u8; 64], Fault, Reason); 8] = [
        (&[], SECRET, Fault::Trap, Reason::UnexpectedTrap),
        (&[flip], SECRET, Fault::None, Reason::PayloadDigestMismatch),
        (&[cut], SECRET, Fault::None, Reason::Truncated),
        (&[], [0; 64], Fault::None, Reason::DeviceSecretInvalid),
        (&[], [0xff; 64], Fault::None, Reason::DeviceSecretInvalid),
        (&[], SECRET, Fault::OpenSecret, Reason::NotEndorsed),
        (&[], SECRET, Fault::Root, Reason::RootOfTrustInvalid),
        (&[], SECRET, Fault::State, Reason::CounterStoreInvalid),
    ];
    for (edits, secret, fault, reason) in
        bad.into_iter().take(if is_quick { 2 } else { usize::MAX })
    {
        let by = ComputeMode::Overlapped;
        let boot =
            TeeBoot { by, size: TEST_SIZE, edits, secret: &secret, fault, ..TeeBoot::default() };
        let ran = run(tee, &boot)?;
        let is_said = says_refusal(&ran.console, reason);
        let has_key = ran.console.contains("the engine has a key");
        if ran.end != End::Failure || !is_said || has_key || record(&ran.console).is_some() {
            return Ok(Some(format!("{reason:?} was expected\n{:?}\n{}", ran.end, ran.console)));
        }
    }
    let mut wanted = [0; HANDOVER_SIZE];
    Handover::encode(&expected(TEST_SIZE)?, &mut wanted);
    let runs = [
        (ComputeMode::Overlapped, "ed25519 by its engine"),
        (ComputeMode::BrokenEngines, "ed25519 in software, the engine answers wrong"),
        (ComputeMode::Software, "ed25519 in software, there is no engine"),
    ];
    for (by, says) in runs.into_iter().filter(|(by, _)| !is_quick || *by == ComputeMode::Overlapped)
    {
        let ran = run(tee, &TeeBoot { by, size: TEST_SIZE, ..TeeBoot::default() })?;
        if ran.end != End::Success || record(&ran.console) != Some(wanted) {
            return Ok(Some(format!("{by:?} ended in {:?}\n{}", ran.end, ran.console)));
        }
        if !ran.console.contains(says) {
            return Ok(Some(format!("{by:?} does not say so\n{}", ran.console)));
        }
        if let Err(why) = check_stack(&ran.console, by == ComputeMode::Overlapped) {
            return Ok(Some(format!("{by:?}: {why}")));
        }
    }
    bound_fault(tee)
}

/// Returns true if the loader refused for this reason, and printed its code, title and hint.
pub fn says_refusal(console: &str, reason: Reason) -> bool {
    let (code, title) = (reason as u32, reason.title());
    console.contains(&format!("hartlock: fsbl refused: E{code:04} {title}"))
        && console.contains(&format!("hartlock: hint: {}", reason.hint()))
}

/// Checks the time of a boot without output on the console.
fn bound_fault(tee: Tee) -> Result<Option<String>> {
    if tee.name != BOUND_MACHINE {
        return Ok(None);
    }
    let (by, size) = (ComputeMode::Quiet, BOUND_SIZE);
    let ran = run(tee, &TeeBoot { by, size, ..TeeBoot::default() })?;
    if ran.end != End::Success {
        return Ok(Some(format!("{by:?} ended in {:?}\n{}", ran.end, ran.console)));
    }
    let (entered, most) = ran.bound(by, size).context("the monitor does not say when it begins")?;
    Ok((entered > most).then(|| format!("{entered} cycles from reset to jump, {most} at most")))
}

/// Returns the cycles from one point of a timeline to another.
///
/// # Errors
/// If one of them is missing.
pub fn between(ran: &TeeBootResult, from: &str, to: &str) -> Result<u64> {
    let at = |name: &str| ran.points.iter().find(|(what, _)| what == name).map(|it| it.1);
    match (at(from), at(to)) {
        (Some(from), Some(to)) if to >= from => Ok(to - from),
        _ => bail!("the timeline has not both {from} and {to}\n{}", ran.console),
    }
}
