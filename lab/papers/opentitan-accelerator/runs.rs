//! Runs `verif/programs/accelerator` on the root of trust and labels the cost of each run.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection};

use super::labels::{Labelled, Opcode, Purpose, Retired};
use super::payload;
use hartlock_hw::machines::rot::Rot;
use hartlock_hw::machines::{End, rot};
use xtask::firmware;

/// The root of trust with the latencies of the paper.
const MACHINE: &str = "rot";
/// The same machine with the engines for AES and big numbers.
const CIPHER_MACHINE: &str = "rot-full";

/// Cycle limit, which is more than the program takes with the slowest memory.
const MAX_CYCLES: &str = "20000000";

/// The measured function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Sha256,
    Hmac,
    Aes256,
}

impl Function {
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Hmac, Self::Aes256];
    pub const HASHES: [Self; 2] = [Self::Sha256, Self::Hmac];

    /// Returns the paper's name of the function.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Hmac => "HMAC",
            Self::Aes256 => "AES-256",
        }
    }

    /// Returns the labels of the function's rows in table 1.
    pub const fn purposes(self) -> &'static [Purpose] {
        match self {
            Self::Sha256 | Self::Hmac => &Purpose::OF_HASHES,
            Self::Aes256 => &Purpose::OF_AES,
        }
    }

    /// Returns the functions that have samples; a quick run has no AES.
    pub fn measured(samples: &[LabelledSample]) -> impl Iterator<Item = Self> {
        let is_measured = |it: &Self| samples.iter().any(|sample| sample.function == *it);
        Self::ALL.into_iter().filter(is_measured)
    }

    /// Returns the function with the name that programs print.
    pub fn of_baseline(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "hmac-sha256" => Some(Self::Hmac),
            "aes-256-cbc" => Some(Self::Aes256),
            _ => None,
        }
    }
}

/// Memory of the payload and of the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Rot,
    Ram,
}

impl Memory {
    pub const ALL: [Self; 2] = [Self::Rot, Self::Ram];

    /// Returns the paper's name of the memory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rot => "RoT",
            Self::Ram => "RAM",
        }
    }

    /// Returns the label of accesses to this memory.
    pub const fn opcode(self) -> Opcode {
        match self {
            Self::Rot => Opcode::MemoryRot,
            Self::Ram => Opcode::MemoryRam,
        }
    }

    fn of_program(name: &str) -> Option<Self> {
        match name {
            "scratchpad" => Some(Self::Rot),
            "ram" => Some(Self::Ram),
            _ => None,
        }
    }
}

/// The labelled cost of a payload.
#[derive(Clone, Debug)]
pub struct LabelledSample {
    pub function: Function,
    pub memory: Memory,
    pub bytes: usize,
    pub labelled: Labelled,
}

impl LabelledSample {
    pub fn cycles_per_byte(&self) -> f64 {
        self.labelled.cost(None, None).cycles as f64 / self.bytes as f64
    }
}

pub fn find(
    samples: &[LabelledSample],
    function: Function,
    memory: Memory,
    bytes: usize,
) -> Result<&LabelledSample> {
    let is_it =
        |it: &&LabelledSample| (it.function, it.memory, it.bytes) == (function, memory, bytes);
    samples.iter().find(is_it).with_context(|| {
        format!("no run of {} with {bytes} bytes from {}", function.name(), memory.name())
    })
}

/// A line of the program's output about a run (`verif/programs/accelerator/src/main.rs`).
#[derive(Debug, PartialEq, Eq)]
struct ReportLine {
    what: String,
    memory: Memory,
    bytes: usize,
}

/// A run and its retired instructions.
pub struct Ran {
    /// Name of the function in the program.
    pub what: String,
    pub memory: Memory,
    pub bytes: usize,
    /// The cycle before the first instruction.
    pub before: u64,
    pub retired: Vec<Retired>,
}

impl Ran {
    /// Returns the cycles from the mark before the run to its last instruction.
    pub fn cycles(&self) -> u64 {
        self.retired.last().map_or(0, |last| last.cycle - self.before)
    }
}

/// The output and the trace of a program, with the labels of its instructions.
pub struct Trace {
    console: String,
    pub runs: Vec<Ran>,
    markers: BTreeMap<u32, Option<Purpose>>,
}

impl Trace {
    /// Returns the run as a sample, if its function has labels.
    fn sample(&self, run: &Ran) -> Option<LabelledSample> {
        Some(LabelledSample {
            function: Function::of_baseline(&run.what)?,
            memory: run.memory,
            bytes: run.bytes,
            labelled: Labelled::new(run.before, &run.retired, &self.markers),
        })
    }

    pub fn samples(&self, sizes: &[usize]) -> Vec<LabelledSample> {
        let samples = self.runs.iter().filter_map(|run| self.sample(run));
        samples.filter(|it| sizes.contains(&it.bytes)).collect()
    }
}

/// Runs the program, which hashes payloads of all sizes, and returns the samples of these sizes.
///
/// # Errors
/// Fails if the program fails, or if a digest is wrong.
pub fn measure(sizes: &[usize]) -> Result<Vec<LabelledSample>> {
    measure_on(rot::rot(MACHINE).context("the machine of the paper")?, &[], sizes)
}

/// Same as [`measure`], on another machine and with options of its bench. Engines take as many cycles as those of the
/// paper.
///
/// # Errors
/// Fails for the same reasons as [`measure`].
pub fn measure_on(machine: Rot, options: &[&str], sizes: &[usize]) -> Result<Vec<LabelledSample>> {
    let trace = trace(machine.paced(), options, &[])?;
    slept(&trace.console)?;
    Ok(trace.samples(sizes))
}

/// Runs the program with AES and RSA on the same machine with their engines. AES takes as many cycles as in the paper.
///
/// # Errors
/// Fails if the program fails, or if a result is wrong.
pub fn ciphers() -> Result<Trace> {
    let machine = rot::rot(CIPHER_MACHINE).context("the machine with all engines")?;
    trace(machine.paced(), &[], &["ciphers"])
}

/// Runs the same payloads with engines at their own speed, and more modes of AES. Both programs run on the machine with
/// all engines.
///
/// # Errors
/// Fails for the same reasons as [`ciphers`].
pub fn at_own_speed() -> Result<Vec<Ran>> {
    let machine = rot::rot(CIPHER_MACHINE).context("the machine with all engines")?;
    let hashes = trace(machine, &[], &["own-speed"])?;
    let ciphers = trace(machine, &[], &["ciphers", "own-speed"])?;
    Ok(hashes.runs.into_iter().chain(ciphers.runs).collect())
}

fn trace(machine: Rot, options: &[&str], features: &[&str]) -> Result<Trace> {
    let program = firmware::rot_program("accelerator", features)?;
    let markers = markers(&fs::read(&program)?)?;
    let folder = rot::folder(machine).join("accelerator");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let trace = folder.join("trace.csv");
    let trace = trace.to_str().context("the path of the trace is text")?;
    let own_options = ["--trace", trace, "--max-cycles", MAX_CYCLES];
    eprintln!("the engines on {} {}", machine.name, options.join(" "));
    let options = [options, &own_options].concat();
    let (console, _, end) = rot::run_program(&rot::machine(machine)?, &program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    let lines = read(&console)?;
    let parts = parts(&fs::read_to_string(trace).context("the machine wrote no trace")?)?;
    ensure!(parts.len() == lines.len(), "{} runs and {} lines", parts.len(), lines.len());
    let runs = lines.into_iter().zip(parts).map(|(ReportLine { what, memory, bytes }, part)| {
        let MarkedRun { before, retired } = part;
        Ran { what, memory, bytes, before, retired }
    });
    Ok(Trace { console, runs: runs.collect(), markers })
}

/// Parses the lines that the program printed for its runs. Fails if a result is wrong.
fn read(console: &str) -> Result<Vec<ReportLine>> {
    let mut lines = Vec::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["run", what, memory, bytes, result] = words[..] {
            let bytes = bytes.parse()?;
            let right = payload::result(what, bytes);
            ensure!(right.as_deref() == Some(result), "wrong result: {line}");
            let memory = Memory::of_program(memory).context("another memory")?;
            lines.push(ReportLine { what: what.to_owned(), memory, bytes });
        }
    }
    ensure!(!lines.is_empty(), "the program measured nothing\n{console}");
    Ok(lines)
}

/// Returns how many times the driver slept while it waited for an interrupt, for each function. Fails if a digest is
/// wrong, or if the driver never slept.
fn slept(console: &str) -> Result<Vec<(Function, u32)>> {
    let mut all = Vec::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["slept", times, what, bytes, digest] = words[..] {
            let right = payload::result(what, bytes.parse()?);
            ensure!(right.as_deref() == Some(digest), "wrong digest: {line}");
            let times: u32 = times.parse()?;
            ensure!(times > 0, "no call slept: {line}");
            all.push((Function::of_baseline(what).context("another function")?, times));
        }
    }
    ensure!(
        all.len() == Function::HASHES.len(),
        "not every function was tried by interrupt\n{console}"
    );
    Ok(all)
}

/// Name of the section with the labels (`verif/programs/accelerator/src/labels.rs`): pairs of words, an address and the
/// number of a label.
const SECTION: &str = ".hartlock.labels";

/// Returns the labels by the address of the instruction at which they begin.
fn markers(elf: &[u8]) -> Result<BTreeMap<u32, Option<Purpose>>> {
    let elf = object::File::parse(elf).context("the program is no ELF file")?;
    let section = elf.section_by_name(SECTION).context("the program has no labels")?;
    let (words, rest) = section.data()?.as_chunks::<8>();
    ensure!(!words.is_empty() && rest.is_empty(), "{SECTION} is no list of pairs");
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let pairs = words.iter().map(|pair| (word(&pair[..4]), word(&pair[4..])));
    Ok(pairs.map(|(address, number)| (address, Purpose::from_number(number))).collect())
}

/// The instructions that retired between the two marks of a run.
#[derive(Debug, PartialEq, Eq)]
struct MarkedRun {
    /// The cycle in which the first mark retired.
    before: u64,
    retired: Vec<Retired>,
}

/// Number of the mark that begins a run; 0 ends it.
const BEGIN: &str = "1";

/// Splits a trace (`hw/README.md`) into runs.
fn parts(trace: &str) -> Result<Vec<MarkedRun>> {
    let mut lines = trace.lines();
    let header = "cycle,cost,pc,instruction,address,read,write,trap,mark";
    ensure!(lines.next() == Some(header), "the trace has other columns");
    let mut parts: Vec<MarkedRun> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [cycle, _, pc, instruction, address, _, write, trap, mark] = fields[..] else {
            anyhow::bail!("not a line of a trace: {line}");
        };
        match mark {
            BEGIN => parts.push(MarkedRun { before: cycle.parse()?, retired: Vec::new() }),
            "" if is_open => {
                ensure!(trap == "0", "an instruction trapped in a run: {line}");
                let hex = |text| u32::from_str_radix(text, 16);
                let part = parts.last_mut().context("a run is open")?;
                part.retired.push(Retired {
                    cycle: cycle.parse()?,
                    pc: hex(pc)?,
                    instruction: hex(instruction)?,
                    address: (!address.is_empty()).then(|| hex(address)).transpose()?,
                    is_store: write != "0",
                });
            }
            _ => {}
        }
        if !mark.is_empty() {
            is_open = mark == BEGIN;
        }
    }
    ensure!(!is_open, "the last run has no end");
    Ok(parts)
}

/// Formats the cost of each label in each run as CSV.
pub fn csv(samples: &[LabelledSample]) -> String {
    let mut text = "function,memory,bytes,purpose,opcode,instructions,cycles\n".to_owned();
    for LabelledSample { function, memory, bytes, labelled } in samples {
        for purpose in function.purposes().iter().copied() {
            for opcode in Opcode::ALL {
                let cost = labelled.cost(Some(purpose), Some(opcode));
                if cost.instructions > 0 {
                    text += &format!(
                        "{},{},{bytes},{},{},{},{}\n",
                        function.name(),
                        memory.name(),
                        purpose.name(),
                        opcode.name(),
                        cost.instructions,
                        cost.cycles
                    );
                }
            }
        }
    }
    text
}

/// Formats the number of accesses for each cost in cycles as CSV, for each run.
pub fn accesses_csv(samples: &[LabelledSample]) -> String {
    let mut text = "function,memory,bytes,opcode,cycles,accesses\n".to_owned();
    for LabelledSample { function, memory, bytes, labelled } in samples {
        for opcode in [Opcode::MemoryRot, Opcode::MemoryRam] {
            for (cycles, accesses) in labelled.access_counts(opcode) {
                text += &format!(
                    "{},{},{bytes},{},{cycles},{accesses}\n",
                    function.name(),
                    memory.name(),
                    opcode.name()
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "cycle,cost,pc,instruction,address,read,write,trap,mark\n\
        4,4,00000080,00000013,,0,0,0,\n\
        9,5,00000084,00532423,4000f008,0,f,0,1\n\
        10,1,00000088,00000013,,0,0,0,\n\
        15,5,0000008c,00004398,40000010,f,0,0,\n\
        20,5,00000090,00532423,4000f008,0,f,0,0\n\
        21,1,00000094,00000013,,0,0,0,\n";

    #[test]
    fn a_run_is_what_retired_between_its_marks() {
        let parts = parts(TRACE).unwrap();
        assert_eq!((parts.len(), parts[0].before), (1, 9));
        let cycles: Vec<_> = parts[0].retired.iter().map(|it| (it.cycle, it.address)).collect();
        assert_eq!(cycles, [(10, None), (15, Some(0x4000_0010))]);
    }

    #[test]
    fn a_trace_without_an_end_or_with_a_trap_is_refused() {
        let open = TRACE.replace(",0,0\n21", ",0,1\n21");
        assert!(parts(&open).is_err());
        let trapped = TRACE.replace("f,0,0,\n20", "f,0,1,\n20");
        assert!(parts(&trapped).is_err());
        assert!(parts("cycle,pc\n").is_err());
    }

    #[test]
    fn a_driver_that_never_sleeps_is_refused() {
        let line = |times: u32, what| {
            let digest = payload::result(what, 64).unwrap();
            format!("slept {times} {what} 64 {digest}\n")
        };
        let both = |times| line(7, "sha256") + &line(times, "hmac-sha256");
        assert_eq!(slept(&both(9)).unwrap(), [(Function::Sha256, 7), (Function::Hmac, 9)]);
        assert!(slept(&both(0)).is_err());
        assert!(slept(&line(7, "sha256")).is_err());
        assert!(slept(&both(9).replace("slept 7 sha256", "slept 7 hmac-sha256")).is_err());
    }

    #[test]
    fn a_wrong_digest_is_refused() {
        let digest = payload::result("hmac-sha256", 64).unwrap();
        let line = |what| format!("run {what} ram 64 {digest}\n");
        let right = [ReportLine { what: "hmac-sha256".to_owned(), memory: Memory::Ram, bytes: 64 }];
        assert_eq!(read(&line("hmac-sha256")).unwrap(), right);
        assert!(read(&line("sha256")).is_err());
        assert!(read("").is_err());
    }
}
