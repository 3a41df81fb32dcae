//! `cargo xtask ip`: tests engines of `hw/ip` by simulation, and counts their area on a chip.
//!
//! `hw/ip/<name>/data/ip.toml` lists the builds. Verilator lints and simulates, the tests are in cocotb, Yosys makes
//! netlists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use self::mutant::{Campaign, Mutant};
use self::peer::Peer;
use self::record::Record;
use crate::machines::model::jobs;
use xtask::Outcome;
use xtask::python;
use xtask::python::{PackageSet, Packages};
use xtask::{Verdict, project};

mod bench;
mod lint;
mod model;
mod mutant;
mod netlist;
mod peer;
mod record;
mod table;

/// Shared parts of tests, which are tested like an engine.
const PRIM: &str = "prim";
/// Folders of `hw` that are tested in the same way: it, and the blocks of the system on a chip.
const OTHERS: [&str; 2] = ["soc", PRIM];

#[derive(clap::Args)]
pub struct Args {
    /// Engines, by the names of their folders in hw/ip, or `soc` or `prim`; without any, all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Count look-up tables and the like as well
    #[arg(long)]
    synth: bool,
    /// Place and route for a clock frequency, too: minutes for each netlist
    #[arg(long, requires = "synth")]
    fmax: bool,
    /// Write the counts into the record that later counts are compared with
    #[arg(long, requires = "synth")]
    record: bool,
    /// Run every mutant of data/mutants.toml, each of which its assertion has to notice
    #[arg(long)]
    mutants: bool,
    /// Count and test the third-party engine in this folder as well: see [[peer]] of its ip.toml
    #[arg(long, value_name = "FOLDER", requires = "synth")]
    peer: Option<PathBuf>,
    /// Only simulations and netlists whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Show what the tests print
    #[arg(short, long)]
    verbose: bool,
}

impl Args {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}

/// `data/ip.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    bench: Vec<Bench>,
    netlist: Vec<Netlist>,
    #[serde(default)]
    peer: Vec<Peer>,
}

/// A simulation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bench {
    top: String,
    parameters: BTreeMap<String, u32>,
    /// Module of `tb/`.
    tests: String,
    /// Simulate the cells that Yosys makes of it, not the source.
    #[serde(default)]
    of_netlist: bool,
    /// Run these only, each of which has to fail.
    #[serde(default)]
    must_fail: Vec<String>,
    /// Part of `cargo xtask test`.
    is_daily: bool,
}

/// A netlist and its bounds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Netlist {
    name: String,
    top: String,
    parameters: BTreeMap<String, u32>,
    cycles: u32,
    luts: Option<u32>,
    aim: Option<u32>,
    #[serde(default)]
    is_daily: bool,
}

impl Bench {
    fn name(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        let form = if self.of_netlist { " netlist" } else { "" };
        format!("{}{}{form}", self.top, parameters.collect::<String>())
    }
}

/// An engine: its folder, its sources in the order in which they are read, its plan.
struct Ip {
    name: String,
    dir: PathBuf,
    sources: Vec<PathBuf>,
    plan: Plan,
    mutants: Vec<Mutant>,
    /// The folder of third-party sources, if the sources are outside of the project.
    outside: Option<PathBuf>,
}

impl Ip {
    fn load(name: &str) -> Result<Ip> {
        let dir = folder_of(name);
        let path = dir.join("data/ip.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let plan =
            toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        let mut sources = files(&dir.join(if name == PRIM { "tb" } else { "rtl" }), "sv")?;
        ensure!(!sources.is_empty(), "{name} has no sources");
        // Packages are read before the modules that import them.
        sources.sort_by_key(|path| (!path.to_string_lossy().ends_with("_pkg.sv"), path.clone()));
        let mutants = mutant::load(&dir)?;
        Ok(Ip { name: name.to_owned(), dir, sources, plan, mutants, outside: None })
    }

    /// Texts that a model or a netlist depends on.
    fn texts(&self) -> Result<Vec<String>> {
        let headers = files(&prim(), "svh")?;
        let modules = files(&prim(), "sv")?;
        let all = self.sources.iter().chain(&headers).chain(&modules);
        all.map(|path| {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        })
        .collect()
    }
}

/// An engine's folder.
fn folder_of(name: &str) -> PathBuf {
    let hw = project::root().join("hw");
    if OTHERS.contains(&name) { hw.join(name) } else { hw.join("ip").join(name) }
}

/// The folder that all engines share.
fn prim() -> PathBuf {
    project::root().join("hw/prim")
}

/// Files of a folder with this extension, sorted.
fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == extension) {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// The programs.
struct Tools {
    machine: Packages,
    ip: Packages,
    compiler: String,
}

impl Tools {
    fn locate() -> Result<Tools> {
        Ok(Tools {
            machine: python::locate(PackageSet::Machine)?,
            ip: python::locate(PackageSet::Ip)?,
            compiler: python::need_compiler()?,
        })
    }
}

fn all_names() -> Result<Vec<String>> {
    let dir = project::root().join("hw/ip");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        if entry.path().join("data/ip.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.extend(OTHERS.map(str::to_owned));
    names.sort_unstable();
    Ok(names)
}

pub fn main(args: &Args) -> Result<Verdict> {
    let names = if args.names.is_empty() { all_names()? } else { args.names.clone() };
    ensure!(
        args.peer.is_none() || names.len() == 1,
        "`--peer` needs the name of the one engine that it is compared with"
    );
    let tools = Tools::locate()?;
    let mut faults = Vec::new();
    for name in &names {
        let mut ip = Ip::load(name)?;
        // Checked first, because the rest takes minutes.
        let guests = match &args.peer {
            Some(folder) => peer::invite(&mut ip, folder)?,
            None => Vec::new(),
        };
        if args.mutants {
            faults.extend(run_mutants(&tools, &ip, args)?);
            continue;
        }
        faults.extend(lint::check(&tools, &ip)?);
        for bench in ip.plan.bench.iter().filter(|bench| args.wants(&bench.name())) {
            faults.extend(simulate(&tools, &ip, bench, args)?);
        }
        for guest in guests.iter().filter(|guest| args.wants(&guest.peer.name)) {
            for bench in guest.peer.benches() {
                faults.extend(simulate(&tools, &guest.ip, &bench, args)?);
            }
        }
        if args.synth {
            faults.extend(table::print(&tools, &ip, &guests, args)?);
        }
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    Ok(if faults.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Runs all mutants of an engine, prints the results, and returns the faults.
fn run_mutants(tools: &Tools, ip: &Ip, args: &Args) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let campaigns = mutant::campaigns(ip, false)?;
    for campaign in campaigns.iter().filter(|one| args.wants(&one.bench.name())) {
        let found = mutant::run(tools, ip, campaign)?;
        let verdict = if found.is_empty() { "ok" } else { "FAILED" };
        println!("{verdict:<6} {}, {} mutants", campaign.bench.name(), campaign.len());
        faults.extend(found);
    }
    Ok(faults)
}

/// Runs the tests of a bench, prints the result, and returns the faults.
fn simulate(tools: &Tools, ip: &Ip, bench: &Bench, args: &Args) -> Result<Vec<String>> {
    let run = bench::run(tools, ip, bench)?;
    println!("{}", run.line);
    for note in &run.notes {
        println!("         {note}");
    }
    if args.verbose {
        println!("{}", run.log);
    }
    Ok(run.faults)
}

/// A step of `cargo xtask test`: lint, the simulations of every day and the smallest netlist.
pub fn step(_: &Path) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Ip] {
        if let Some(skipped) = xtask::python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    let tools = Tools::locate()?;
    let ips = all_names()?.iter().map(|name| Ip::load(name)).collect::<Result<Vec<_>>>()?;
    let mut work = Vec::new();
    let mut mutants = Vec::new();
    for ip in &ips {
        mutants.extend(mutant::campaigns(ip, true)?.into_iter().map(|c| Work::Mutate(ip, c)));
        work.push(Work::Lint(ip));
        let benches = ip.plan.bench.iter().filter(|bench| bench.is_daily);
        work.extend(benches.map(|bench| Work::Simulate(ip, bench)));
        let netlists = ip.plan.netlist.iter().filter(|netlist| netlist.is_daily);
        work.extend(netlists.map(|netlist| Work::Count(ip, netlist)));
    }
    work.extend(mutants);
    let mut faults = Vec::new();
    // Each once, even if several benches report it.
    let mut skipped = BTreeSet::new();
    for done in in_parallel(&work, |work| work.run(&tools)) {
        let done = done?;
        faults.extend(done.faults);
        skipped.extend(done.notes.into_iter().filter(|note| note.contains("SKIPPED")));
    }
    skipped.iter().for_each(|note| eprintln!("{note}"));
    Ok(if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(faults.join("\n")) })
}

/// A part of the step that depends on no other.
enum Work<'a> {
    Lint(&'a Ip),
    Simulate(&'a Ip, &'a Bench),
    Count(&'a Ip, &'a Netlist),
    Mutate(&'a Ip, Campaign<'a>),
}

/// The result.
#[derive(Default)]
struct Done {
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Work<'_> {
    fn run(&self, tools: &Tools) -> Result<Done> {
        // The first start of Yosys compiles it, which only one process may do at a time.
        static SYNTHESIS: Mutex<()> = Mutex::new(());
        match self {
            Work::Mutate(ip, campaign) => {
                Ok(Done { faults: mutant::run(tools, ip, campaign)?, ..Done::default() })
            }
            Work::Lint(ip) => Ok(Done { faults: lint::check(tools, ip)?, ..Done::default() }),
            Work::Simulate(ip, bench) => {
                let run = bench::run(tools, ip, bench)?;
                Ok(Done { faults: run.faults, notes: run.notes })
            }
            Work::Count(ip, netlist) => {
                let _one = SYNTHESIS.lock();
                let count = netlist::count(tools, ip, netlist)?;
                let mut faults = count.faults(netlist);
                faults.extend(Record::load(ip)?.faults(ip, &netlist.name, &count)?);
                Ok(Done { faults, ..Done::default() })
            }
        }
    }
}

/// Does all of it, on as many cores as there are. Results are in the order of the work.
fn in_parallel<T: Sync, R: Send>(work: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut results = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match work.get(at) {
                Some(work) => results.push((at, act(work))),
                None => return results,
            }
        }
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs()).map(|_| scope.spawn(take)).collect();
        let results = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => resume_unwind(panic),
        });
        results.collect::<Vec<_>>()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_results_are_in_its_order() {
        let work: Vec<u32> = (0..100).collect();
        let done = AtomicUsize::new(0);
        let squares = in_parallel(&work, |&number| {
            done.fetch_add(1, Ordering::Relaxed);
            number * number
        });
        assert_eq!(done.into_inner(), 100);
        assert!(squares.iter().zip(&work).all(|(square, number)| *square == number * number));
    }

    #[test]
    fn every_engine_has_a_plan_that_can_be_followed() {
        for name in all_names().unwrap() {
            let ip = Ip::load(&name).unwrap();
            let modules: Vec<_> = ip.sources.iter().filter_map(|path| path.file_stem()).collect();
            for bench in &ip.plan.bench {
                assert!(modules.iter().any(|module| **module == *bench.top), "{}", bench.top);
                let tests = ip.dir.join("tb").join(format!("{}.py", bench.tests));
                assert!(tests.is_file(), "{}", tests.display());
            }
            for netlist in &ip.plan.netlist {
                assert!(modules.iter().any(|module| **module == *netlist.top), "{}", netlist.top);
            }
            for peer in &ip.plan.peer {
                let tests = ip.dir.join("tb").join(format!("{}.py", peer.tests));
                assert!(tests.is_file(), "{}", tests.display());
                assert!(!peer.files.is_empty() && peer.commit.len() == 40, "{}", peer.name);
                assert!(peer.files.values().all(|digest| digest.len() == 64), "{}", peer.name);
            }
            let blind = ip.plan.bench.iter().filter(|bench| !bench.must_fail.is_empty());
            assert!(blind.count() > 0, "{name} has no variant that its tests must catch");
        }
    }

    #[test]
    fn every_source_has_assertions_or_is_a_package() {
        for name in all_names().unwrap() {
            for path in Ip::load(&name).unwrap().sources {
                let text = fs::read_to_string(&path).unwrap();
                let has = text.contains("`ASSERT(") || text.contains("endpackage");
                // A generated register block is observed from the wrapper, by axi_lite_checks.
                let is_generated =
                    text.lines().next().is_some_and(|line| line.contains("@generated"));
                assert!(has || is_generated, "{}", path.display());
            }
        }
    }
}
