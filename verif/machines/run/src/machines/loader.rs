//! Runs the loader (`device/loader`, feature `soc`) on a machine, with memory as the ROM would leave it and a system
//! bundle on the storage, and reads its measurement log afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use hartlock_handoff::{Entry, HANDOFF_SIZE, Handoff, LOG_ENTRY_SIZE, LogHeader, Step, entries};
use hartlock_image::{HashId, Lifecycle, List, PayloadType, Policy, TreeMode, u32_at};
use hartlock_maps::qemu_virt;

use super::model::{self, Core};
use hartlock_testkit::bundle::{Draft, Payload, build, name, trust};
use hartlock_testkit::keys::A;
use xtask::{firmware, packages, run};

/// A limit above the cycles for any payload of practical size.
const MAX_CYCLES: u64 = 400_000_000;
/// Input files of a machine, in the folder of its boot.
const MEDIUM: &str = "medium.bin";
const HANDOFF: &str = "handoff.bin";

/// Position of the number of entries in a log (boot flow §3.5).
const COUNT_AT: usize = 16;

/// A form of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoaderForm {
    /// The form of any board: a payload is hashed while it is loaded.
    Release,
    /// A form in which a payload is hashed after it is loaded completely.
    LoadFirst,
}

/// The loader on a machine.
pub struct Loader {
    machine: PathBuf,
    program: PathBuf,
}

/// The inputs of a run of the loader.
pub struct LoaderBoot<'a> {
    /// The system bundle.
    pub bundle: &'a [u8],
    /// The harts that reported to the ROM; bit i is hart i. Hart 0 boots.
    pub harts: u64,
    /// Options of the machine.
    pub options: &'a [String],
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LoaderResult {
    pub header: LogHeader,
    /// The entries of the log. Times are cycles since reset, by a counter that is common to all harts.
    pub entries: Vec<Entry>,
    /// The cycles of each hart by cause, in the machine's own lines.
    pub report: String,
}

impl Loader {
    /// Builds loader and machine if they do not exist.
    pub fn new(core: Core, form: LoaderForm) -> Result<Self> {
        let program = match form {
            LoaderForm::Release => firmware::stage("loader", &["soc"])?.elf,
            LoaderForm::LoadFirst => {
                firmware::stage("loader-variants", &["soc", "load-first"])?.elf
            }
        };
        Ok(Self { machine: model::machine(core, false)?, program })
    }

    /// Boots, or returns the stored result of the same boot. The same bytes on the same machine take the same cycles,
    /// so a measurement that was interrupted after hours can continue. The results are stored in `folder`.
    ///
    /// # Errors
    /// Same as [`Loader::boot`].
    pub fn boot_once(&self, boot: &LoaderBoot<'_>, folder: &Path) -> Result<LoaderResult> {
        let options = boot.options.join(" ");
        // The name of a machine's folder is a digest of all its inputs.
        let machine = self.machine.parent().and_then(Path::file_name).context("a folder")?;
        let harts = boot.harts.to_string();
        let program = firmware::flat_binary(&self.program)?;
        let bytes = [&program[..], boot.bundle].map(packages::digest_of_bytes);
        let [program, bundle] = &bytes;
        let machine = machine.to_string_lossy();
        let key = packages::digest(&[&machine, program, bundle, &harts, &options]);
        let (console, report) = ("console.txt", "report.txt");
        let kept = folder.join(&key);
        let read = |name: &str| fs::read_to_string(kept.join(name));
        if let (Ok(console), Ok(report)) = (read(console), read(report)) {
            return booted(&console, report);
        }
        let scratch = folder.join(format!("{key}.{}", std::process::id()));
        let (text, booted) = self.run(boot, &scratch)?;
        fs::write(scratch.join(console), text)?;
        for input in [MEDIUM, HANDOFF] {
            fs::remove_file(scratch.join(input))?;
        }
        // The rename is atomic. Another process may have stored the same boot meanwhile.
        if let Err(error) = fs::rename(&scratch, &kept) {
            ensure!(kept.exists(), "cannot keep {}: {error}", kept.display());
            fs::remove_dir_all(&scratch)?;
        }
        Ok(booted)
    }

    /// Boots with files in `folder`, and returns the result if the boot ends with success.
    ///
    /// # Errors
    /// If the boot has another end; the error contains the output of the loader.
    pub fn boot(&self, boot: &LoaderBoot<'_>, folder: &Path) -> Result<LoaderResult> {
        Ok(self.run(boot, folder)?.1)
    }

    fn run(&self, boot: &LoaderBoot<'_>, folder: &Path) -> Result<(String, LoaderResult)> {
        fs::create_dir_all(folder)?;
        let file = |name: &str| folder.join(name);
        fs::write(file(MEDIUM), boot.bundle)?;
        fs::write(file(HANDOFF), handoff(boot.harts))?;
        let mut command = Command::new(&self.machine);
        command.arg("--max-cycles").arg(MAX_CYCLES.to_string());
        command.arg("--medium").arg(file(MEDIUM)).arg("--report").arg(file("report.txt"));
        let place = |path: &Path, start: u64| format!("{}@{start:#x}", path.display());
        command.arg("--load").arg(place(&file(HANDOFF), qemu_virt::HANDOFF.start));
        command.args(boot.options).arg(&self.program).stderr(Stdio::piped());
        let output = run::capture(&mut command)?;
        let console = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("the loader did not come to its end\n{}{errors}", without_log(&console));
        }
        let booted = booted(&console, fs::read_to_string(file("report.txt"))?)?;
        Ok((console, booted))
    }
}

impl LoaderResult {
    /// Returns the entry of a step.
    ///
    /// # Errors
    /// If the log has none.
    pub fn entry(&self, step: Step, payload: Option<PayloadType>) -> Result<&Entry> {
        let is_it = |entry: &&Entry| entry.step == step && entry.payload == payload;
        let found = self.entries.iter().find(is_it);
        found.with_context(|| format!("the log has no entry {} of {payload:?}", step.name()))
    }
}

fn booted(console: &str, report: String) -> Result<LoaderResult> {
    let (header, entries) = log(console).context("there is no log")?;
    let is_handover = |entry: &Entry| entry.step == Step::Handover;
    ensure!(entries.last().is_some_and(is_handover), "{}", without_log(console));
    Ok(LoaderResult { header, entries, report })
}

/// Returns the cycles of a step.
pub fn cycles(entry: &Entry) -> u64 {
    entry.time.1.saturating_sub(entry.time.0)
}

/// Returns a system bundle with these payloads for kernel and initramfs, signed by a fake key.
pub fn bundle(kernel: Payload, initramfs: Payload, system_fdt: &[u8]) -> Vec<u8> {
    let mut draft = Draft::system();
    let mut fdt = Payload::new(PayloadType::SystemFdt, 0, 0x9e00_0000);
    fdt.data = system_fdt.to_vec();
    fdt.memory_size = (system_fdt.len() as u64).next_multiple_of(4096);
    draft.payloads = vec![kernel, initramfs, fdt];
    build(draft, &[]).0
}

/// Returns a payload of pseudorandom bytes for [`bundle`].
pub fn payload(kind: PayloadType, size: usize, (hash, mode): (HashId, TreeMode)) -> Payload {
    let address = if kind == PayloadType::Kernel { 0x8200_0000 } else { 0x9000_0000 };
    let mut payload = Payload::new(kind, size, address);
    (payload.hash, payload.mode) = (hash, mode);
    payload
}

/// Returns the hand-off block that the ROM passes to the loader.
fn handoff(harts: u64) -> [u8; HANDOFF_SIZE] {
    let handoff = Handoff {
        generation: 1,
        harts,
        boot_hart: 0,
        system_floor: 0,
        boot_version: 1,
        lifecycle: Lifecycle::Development,
        trust: trust(Policy::Any, [A.record()]),
        board: name(qemu_virt::BOARD.name),
        soc: name(qemu_virt::BOARD.soc),
        boot_digest: [0; 48],
        log: List::new(),
    };
    let mut block = [0; HANDOFF_SIZE];
    handoff.encode(&mut block);
    block
}

/// Reads the log from the console (device/loader/src/log.rs).
pub fn log(console: &str) -> Option<(LogHeader, Vec<Entry>)> {
    let mut memory = Vec::new();
    for line in console.lines().filter_map(|line| line.strip_prefix("log ")) {
        for digits in line.as_bytes().chunks(2) {
            memory.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        }
    }
    let (header, entries) = entries(&memory)?;
    let entries: Vec<Entry> = entries.collect();
    let count = u32_at(&memory, COUNT_AT)? as usize;
    let is_whole = entries.len() == count && memory.len() == (count + 1) * LOG_ENTRY_SIZE;
    is_whole.then_some((header, entries))
}

pub fn without_log(console: &str) -> String {
    let lines = console.lines().filter(|line| !line.starts_with("log "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use hartlock_handoff::{Log, Stage};

    use super::*;

    const CYCLES_PER_SECOND: u64 = 100_000_000;

    fn log_of_one_entry(harts: u64) -> Vec<u8> {
        let mut memory = vec![0; 4096];
        let header = LogHeader { ticks_per_second: CYCLES_PER_SECOND, generation: 1 };
        Log::start(&mut memory, &header)
            .push(&Entry { harts, ..Entry::new(Stage::Rom, Step::Start) });
        memory
    }

    fn lines(memory: &[u8], count: usize) -> String {
        let records = memory.chunks(LOG_ENTRY_SIZE).take(count);
        let line = |record: &[u8]| {
            let digits: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("log {digits}\n")
        };
        records.map(line).collect()
    }

    #[test]
    fn reads_a_log_from_between_other_lines() {
        let memory = log_of_one_entry(0b1111);
        let console = format!("hartlock: loader\n{}the end\n", lines(&memory, 2));
        let (header, entries) = log(&console).unwrap();
        assert_eq!(header.ticks_per_second, CYCLES_PER_SECOND);
        assert_eq!(entries, [Entry { harts: 15, ..Entry::new(Stage::Rom, Step::Start) }]);
        assert_eq!(without_log(&console), "hartlock: loader\nthe end\n");
    }

    #[test]
    fn a_log_that_lacks_something_is_none() {
        let memory = log_of_one_entry(1);
        assert!(log("hartlock: loader\n").is_none());
        assert!(log(&lines(&memory, 1)).is_none(), "an entry is missing");
        assert!(log(&lines(&memory, 2).replace("log 4", "log x")).is_none(), "no hexadecimal");
    }

    #[test]
    fn the_hand_off_is_one_that_the_loader_takes() {
        let parsed = Handoff::parse(&handoff(0b11)).unwrap();
        assert_eq!((parsed.boot_hart, parsed.harts), (0, 3));
    }
}
