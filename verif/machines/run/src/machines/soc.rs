//! The machine with host and root of trust (`hw/soc`): its models, and the results of its smoke programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::model::{
    self, BENCH_FLAGS, CORES, Core, LAYOUT, OPTIMISATION, Sources, VERILATOR_FLAGS, build,
};
use super::python::{self, PackageSet, Packages};
use super::report::{BootSequencerState, BootState};
use super::rot::{Access, ENGINES};
use super::{End, Machine, ibex};
use crate::rtl;
use xtask::{firmware, packages, project, run};

const TOP: &str = "soc_machine";
/// The prefix of C++ classes is that of Rocket without a root of trust, because the test bench is the same.
const PREFIX: &str = "Vrocket";
/// The size of memory. Addresses after its end are unmapped, which the smoke program of the root of trust checks.
const MEMORY_SIZE: &str = "0x40000000";

/// Bytes of a block on the medium of the guard's test, of which one sector is read.
const GUARD_BLOCK: usize = 1024;

/// A host with a root of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soc {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    pub host: Core,
    /// True if the root of trust has the engines for AES and for big numbers.
    pub has_all_engines: bool,
    /// True if it is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// All configurations that are used.
pub const SOCS: [Soc; 3] = [
    Soc {
        name: "soc-1",
        about: "rot and rocket-1 on one memory; the host waits for its release",
        host: CORES[0],
        has_all_engines: false,
        is_daily: true,
    },
    Soc {
        name: "soc-4",
        about: "rot and rocket-4 on one memory",
        host: CORES[1],
        has_all_engines: false,
        is_daily: false,
    },
    Soc {
        name: "soc-1-full",
        about: "rot-full and rocket-1 on one memory",
        host: CORES[0],
        has_all_engines: true,
        is_daily: false,
    },
];

/// Finds a configuration by its name.
pub fn soc(name: &str) -> Option<Soc> {
    SOCS.into_iter().find(|soc| soc.name == name)
}

/// Returns the program that simulates this machine, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine(soc: Soc, has_waves: bool) -> Result<PathBuf> {
    let python = python::locate(PackageSet::Machine)?;
    let compiler = python::need_compiler()?;
    let (library, library_digest) = library(soc, has_waves, &python, &compiler)?;
    let sim = project::root().join("verif/machines/sim");
    let sources = Sources::read_where(&[
        (&sim.join("src"), &|stem| stem != "rocket"),
        (&sim.join("rot"), &|stem| !["main", "rot_machine"].contains(&stem)),
        (&sim.join("soc"), &|_| true),
    ])?;
    let mut parts = vec![LAYOUT, &library_digest, &compiler];
    parts.extend(BENCH_FLAGS);
    parts.extend(sources.parts());
    let name = format!("{}-{}", soc.name, packages::digest(&parts));
    let dir = project::cache_dir()?.join("models").join(name);
    let program = dir.join("machine");
    if !program.exists() {
        build(&format!("the machine {}", soc.name), &dir, |tree| {
            model::link(&sources, has_waves, &python, &library, PREFIX, tree)
        })?;
    }
    Ok(program)
}

/// Returns the folder of the compiled model, and the digest of its inputs.
fn library(
    soc: Soc,
    has_waves: bool,
    python: &Packages,
    compiler: &str,
) -> Result<(PathBuf, String)> {
    let ibex = python::locate(PackageSet::Soc)?;
    let observed = ["rot.vlt", "observe.vlt"]
        .map(|file| project::root().join("verif/machines/sim").join(file));
    let engines = if soc.has_all_engines { &ENGINES[..] } else { &[] };
    let folders: Vec<&str> = engines.iter().flat_map(|(_, folders)| *folders).copied().collect();
    let mut texts = ibex::texts(&folders)?;
    for path in &observed {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        texts.push(rtl::code(&text));
    }
    let identities = [python.identity(), ibex.identity()];
    let mut parts = vec![LAYOUT, TOP, soc.host.config, &identities[0], &identities[1], compiler];
    parts.extend(engines.iter().map(|(parameter, _)| *parameter));
    parts.push(if has_waves { "waves" } else { "" });
    parts.extend(VERILATOR_FLAGS);
    parts.extend(ibex::FLAGS);
    parts.extend(OPTIMISATION);
    parts.extend(texts.iter().map(String::as_str));
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{}-core-{digest}", soc.name));
    if !dir.exists() {
        build(&format!("the model of {}", soc.name), &dir, |tree| {
            let root = python.verilator();
            let mut command = Command::new(root.join("bin/verilator_bin"));
            command.env("VERILATOR_ROOT", &root);
            command.args(VERILATOR_FLAGS).args(["--top-module", TOP, "--prefix", PREFIX]);
            if has_waves {
                command.arg("--trace");
            }
            command.args(engines.iter().map(|(parameter, _)| format!("-G{parameter}=1")));
            command.arg("-Mdir").arg(tree).args(&observed);
            ibex::arguments(&mut command, &ibex, TOP, &folders, None)?;
            command.args(model::rocket_sources(soc.host, python));
            run::quietly(&mut command)?;
            model::compile(python, has_waves, PREFIX, tree)?;
            model::drop_intermediates(tree)
        })?;
    }
    Ok((dir, digest))
}

/// The machine's report on the smoke programs of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocReport {
    /// Cycles until the end, instructions of the host until the end, and instructions of the root of trust until its
    /// decision.
    pub cycles: u64,
    pub host_retired: u64,
    pub rot_retired: u64,
    /// Cycles in which harts of the host slept.
    pub host_waiting: u64,
    /// Loads and stores of the root of trust to the memory that it shares with the host.
    pub host_memory: Access,
    pub boot: BootState,
    /// The end of the run, and the console of both sides.
    pub end: End,
    pub console: String,
}

/// The decision of the root of trust in its smoke program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Release,
    Refuse,
    Trap,
}

/// Runs the smoke programs of both sides. The medium has blocks of `block_len` bytes.
pub fn smoke(
    soc: Soc,
    decision: Decision,
    block_len: usize,
    options: &[String],
) -> Result<SocReport> {
    let program = firmware::stage("smoke", &[])?.elf;
    let (console, report, end) =
        run(soc, &smoke_of(decision)?, (&program, &super::medium(block_len)), options)?;
    parse(&report, end, console).with_context(|| format!("the machine reported\n{report}"))
}

/// Builds the smoke program of the root of trust that takes this decision, and returns its path.
fn smoke_of(decision: Decision) -> Result<PathBuf> {
    let feature: &[&str] = match decision {
        Decision::Release => &["release-host"],
        Decision::Refuse => &[],
        Decision::Trap => &["trap-host"],
    };
    firmware::rot_program("rot-smoke", feature)
}

/// Runs a program of the host with a medium, and one of the root of trust; returns console, report and end.
pub fn run(
    soc: Soc,
    rot: &Path,
    of_host: (&Path, &[u8]),
    options: &[String],
) -> Result<(String, String, End)> {
    let (program, medium) = of_host;
    let rot = rot.to_str().context("the path of the program is text")?;
    let defaults =
        ["--memory-size", MEMORY_SIZE, "--memory-latency", "100", "--llc-size", "0x20000"];
    let all = defaults.into_iter().chain(["--rot", rot]).map(str::to_owned);
    let options: Vec<String> = all.chain(options.iter().cloned()).collect();
    let runs = Machine {
        machine: &machine(soc, false)?,
        program,
        folder: &folder(soc),
        options: &options,
    };
    runs.run(medium)
}

/// Runs the storage against the guard in front of it (`verif/programs/axi-guard`); returns the end of the program, and
/// its console.
pub fn guard(soc: Soc, features: &[&str]) -> Result<(End, String)> {
    let program = firmware::stage("axi-guard", features)?.elf;
    let (console, _, end) =
        run(soc, &smoke_of(Decision::Release)?, (&program, &super::medium(GUARD_BLOCK)), &[])?;
    Ok((end, console))
}

/// Returns a fault of the guard, or of the program that tests it.
pub fn guard_fault(soc: Soc) -> Result<Option<String>> {
    let (end, console) = guard(soc, &[])?;
    if end != End::Success || !console.contains("guard: done") {
        return Ok(Some(format!("the storage against the guard ended in {end:?}\n{console}")));
    }
    // The program must notice a range that is left open.
    let (end, console) = guard(soc, &["open-range"])?;
    if end == End::Success || !console.contains("a sector is where it must not be") {
        return Ok(Some(format!("an open range is not noticed: {end:?}\n{console}")));
    }
    Ok(None)
}

/// Returns the folder for the files of runs.
pub fn folder(soc: Soc) -> PathBuf {
    project::work_dir("hw").join(soc.name)
}

/// Reads the report: the lines of the host, then `rot` and the lines of the root of trust.
pub fn parse(report: &str, end: End, console: String) -> Result<SocReport> {
    let (host, rot) = report.split_once("\nrot\n").context("no lines of the root of trust")?;
    let totals = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().skip_while(|line| !line.starts_with("end "));
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let number = |lines: &[Vec<String>], first: &str, name: &str| -> Result<u64> {
        let words = lines.iter().filter(|words| words.first().is_some_and(|word| word == first));
        let mut sum = None;
        for words in words {
            let at = words.iter().position(|word| word == name);
            let value = at.and_then(|at| words.get(at + 1)).context("a line has no such number")?;
            sum = Some(sum.unwrap_or(0) + value.parse::<u64>()?);
        }
        sum.with_context(|| format!("no number of {first} {name}"))
    };
    let (host, rot) = (totals(host), totals(rot));
    let memory: Vec<_> =
        rot.iter().filter(|words| words.get(1).is_some_and(|w| w == "host")).cloned().collect();
    let access = |name: &str| number(&memory, "access", name);
    Ok(SocReport {
        cycles: number(&host, "end", "cycle")?,
        host_retired: number(&host, "hart", "retired")?,
        host_waiting: number(&host, "hart", "waiting")?,
        rot_retired: number(&rot, "end", "retired")?,
        host_memory: Access {
            count: access("count")?,
            cycles: access("cycles")?,
            min: access("min")?,
            max: access("max")?,
        },
        boot: BootState::parse(report)?,
        end,
        console,
    })
}

pub fn print_table(rows: &[(Soc, SocReport)]) {
    println!(
        "{:<12} {:>8} {:>12} {:>12} {:>20} {:>8} {:>8}",
        "machine", "cycles", "host instr.", "rot instr.", "rot to host memory", "status", "reason"
    );
    for (soc, measured) in rows {
        let SocReport { cycles, host_retired, rot_retired, host_memory, .. } = measured;
        let access =
            format!("{} {:.2} {}", host_memory.min, host_memory.average(), host_memory.max);
        println!(
            "{:<12} {cycles:>8} {host_retired:>12} {rot_retired:>12} {access:>20} {:>8} {:>8}",
            soc.name, measured.boot.status as u32, measured.boot.reason
        );
    }
}

/// Runs the smoke programs, which have to succeed on both sides.
pub fn released(soc: Soc, block_len: usize, options: &[String]) -> Result<SocReport> {
    let measured = smoke(soc, Decision::Release, block_len, options)?;
    let SocReport { end, console, .. } = &measured;
    ensure!(*end == End::Success, "the smoke programs ended in {end:?}\n{console}");
    Ok(measured)
}

/// Returns a fault of the machine that its smoke programs show.
pub fn faults(soc: Soc, block_len: usize) -> Result<Option<String>> {
    let measured = released(soc, block_len, &[])?;
    if measured.boot.status != BootSequencerState::Released
        || !measured.console.contains("smoke: done")
    {
        return Ok(Some(format!("the host was not released:\n{}", measured.console)));
    }
    if measured.host_memory.min != 23 {
        return Ok(Some(format!("a hit takes {} cycles", measured.host_memory.min)));
    }
    let refused = smoke(soc, Decision::Refuse, block_len, &[])?;
    if (refused.boot.status, refused.host_retired) != (BootSequencerState::Refused, 0)
        || refused.boot.reason == 0
    {
        return Ok(Some("a refused host runs, or no reason is reported".into()));
    }
    // The first instruction of the host causes an exception, and so does its exception handler, without end.
    let limit = ["--max-cycles".to_owned(), "100000".to_owned()];
    let trapped = smoke(soc, Decision::Trap, block_len, &limit)?;
    if trapped.boot.status != BootSequencerState::Trapped
        || trapped.end != End::Timeout
        || trapped.console.contains("smoke: harts")
    {
        return Ok(Some(format!("a trapped host runs its program:\n{}", trapped.console)));
    }
    Ok(None)
}

/// Returns the command that runs a program of the host with one of the root of trust, which `options` name.
pub fn command(soc: Soc, has_waves: bool, options: &[String], program: &Path) -> Result<Command> {
    ensure!(options.iter().any(|option| option == "--rot"), "{} needs -- --rot ELF", soc.name);
    let mut command = Command::new(machine(soc, has_waves)?);
    command.args(options).arg(program);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "mark 0 cycle 5\nhart 0 retired 1 issued 2\nend cycle 99\n\
        hart 0 retired 40 issued 50 waiting 4\nhart 1 retired 2 issued 3 waiting 5\nmemory read 1 written 2 storage 3\n\
        rot\nmark 2 cycle 9\naccess host count 1 cycles 100 min 100 max 100\nend cycle 99 retired 7\n\
        access host count 2 cycles 50 min 23 max 27\nboot status 2 reason 603 host 0 alert 0 mailbox 0\n";

    #[test]
    fn reads_both_sides_of_the_whole_run() {
        let measured = parse(REPORT, End::Success, String::new()).unwrap();
        assert_eq!((measured.cycles, measured.host_retired, measured.rot_retired), (99, 42, 7));
        assert_eq!(measured.host_waiting, 9);
        assert_eq!(measured.host_memory, Access { count: 2, cycles: 50, min: 23, max: 27 });
        assert_eq!(
            (measured.boot.status, measured.boot.reason),
            (BootSequencerState::Refused, 603)
        );
        assert!(!measured.boot.is_host_running);
    }

    #[test]
    fn refuses_a_report_that_lacks_a_side() {
        assert!(parse("end cycle 99\n", End::Success, String::new()).is_err());
        let without_boot = REPORT.replace("boot status", "status");
        assert!(parse(&without_boot, End::Success, String::new()).is_err());
    }

    #[test]
    fn configurations_have_names_of_their_own() {
        for one in SOCS {
            assert_eq!(soc(one.name), Some(one));
        }
    }
}
