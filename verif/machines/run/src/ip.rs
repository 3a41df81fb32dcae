//! `cargo xtask ip` tests engines of `hw/ip` by simulation, and counts their area on a chip.
//!
//! `hw/ip/<name>/data/ip.toml` lists the builds. Verilator lints and simulates, the tests are written with cocotb, and
//! Yosys makes netlists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

pub use self::args::IpArgs;
use self::campaign::MutantCampaign;
use self::engine::{Bench, Ip, Netlist, OTHERS, Tools};
pub use self::netlist::Count;
use self::property::Proof;
use self::record::Record;
pub use self::record::{Area, Areas, areas};
use self::system::System;
use crate::parallel::in_parallel;
use xtask::Outcome;
use xtask::python::PackageSet;
use xtask::{Verdict, project};

mod args;
mod bench;
mod campaign;
mod engine;
mod lint;
pub mod measured;
mod model;
mod mutant;
mod netlist;
mod peer;
mod proof;
mod property;
mod record;
mod schemata;
mod system;
mod table;
mod upsets;

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

pub fn main(args: &IpArgs) -> Result<Verdict> {
    let names = if args.names.is_empty() { all_names()? } else { args.names.clone() };
    ensure!(
        args.peer.is_none() || names.len() == 1,
        "`--peer` needs the name of the one engine that it is compared with"
    );
    let tools = Tools::locate()?;
    let mut faults = Vec::new();
    for name in &names {
        let mut ip = Ip::load(name)?;
        // The peers are checked first, because the rest takes minutes.
        let peers = match &args.peer {
            Some(folder) => peer::load_peers(&mut ip, folder)?,
            None => Vec::new(),
        };
        if args.mutants {
            faults.extend(run_mutants(&tools, &ip, args)?);
            continue;
        }
        if args.upsets.upsets {
            let wanted = ip.plan.campaign.iter().filter(|campaign| args.wants(&campaign.name));
            for campaign in wanted {
                if args.upsets.stale && upsets::is_current(&ip, campaign)? {
                    continue;
                }
                let form = upsets::CampaignExtent::of(&args.upsets);
                faults.extend(upsets::run(&tools, &ip, campaign, &form, args.verbose)?);
            }
            continue;
        }
        faults.extend(lint::check(&tools, &ip)?);
        for bench in ip.plan.bench.iter().filter(|bench| args.wants(&bench.name())) {
            faults.extend(simulate(&tools, &ip, bench, args)?);
        }
        for proof in ip.plan.proof.iter().filter(|proof| args.wants(&proof.name())) {
            let (line, found) = proof::prove(&tools, &ip, proof)?;
            println!("{line}");
            faults.extend(found);
        }
        for peer_engine in peers.iter().filter(|peer_engine| args.wants(&peer_engine.peer.name)) {
            for bench in peer_engine.peer.benches() {
                faults.extend(simulate(&tools, &peer_engine.ip, &bench, args)?);
            }
        }
        if args.synth {
            faults.extend(table::print(&tools, &ip, &peers, args)?);
        }
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    Ok(if faults.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Runs all mutants of an engine, prints the results, and returns the faults.
fn run_mutants(tools: &Tools, ip: &Ip, args: &IpArgs) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let campaigns = campaign::campaigns(ip, false)?;
    for campaign in campaigns.iter().filter(|one| args.wants(&one.bench.name())) {
        let found = campaign::run(tools, ip, campaign)?;
        let verdict = if found.is_empty() { "ok" } else { "FAILED" };
        println!("{verdict:<6} {}, {} mutants", campaign.bench.name(), campaign.len());
        faults.extend(found);
    }
    let is_its = |system: &System| system.ip() == ip.name && args.wants(system.machine());
    for system in System::ALL.into_iter().filter(is_its) {
        let found = system.run()?;
        let verdict = if found.is_empty() { "ok" } else { "FAILED" };
        println!("{verdict:<6} machine {}, {} mutants", system.machine(), system.mutants()?.len());
        faults.extend(found);
    }
    Ok(faults)
}

/// Runs the tests of a bench, prints the result, and returns the faults.
fn simulate(tools: &Tools, ip: &Ip, bench: &Bench, args: &IpArgs) -> Result<Vec<String>> {
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

/// Number of the longest pieces of work whose time the step prints.
const LONGEST: usize = 12;

/// The environment variable with which the step `ip` runs every bench, counts every netlist and runs every mutant. That
/// takes hours.
const LONG: &str = "HARTLOCK_LONG";

/// Runs the step `ip-first` of `cargo xtask test` for every change: lint, and a short bench of each engine.
pub fn first_step(_: &Path) -> Result<Outcome> {
    let sets = [PackageSet::Machine, PackageSet::Ip];
    if let Some(skipped) = without_packages(&sets)? {
        return Ok(skipped);
    }
    let ips = load_all()?;
    let mut work: Vec<Work<'_>> = Vec::new();
    for ip in &ips {
        let benches = ip.plan.bench.iter().filter(|bench| bench.is_first);
        work.extend(benches.map(|bench| Work::Simulate(ip, bench)));
        work.push(Work::Lint(ip));
    }
    let benches: usize = ips.iter().map(|ip| ip.plan.bench.len()).sum();
    let first = work.len() - ips.len();
    eprintln!(
        "ip-first: {first} of {benches} benches, no mutant, proof, netlist or upset; the step `ip` has them"
    );
    do_all(&work)
}

fn load_all() -> Result<Vec<Ip>> {
    all_names()?.iter().map(|name| Ip::load(name)).collect()
}

/// Returns an outcome that skips the step if the packages of a set are not available.
fn without_packages(sets: &[PackageSet]) -> Result<Option<Outcome>> {
    for set in sets {
        if let Some(skipped) = xtask::python::without_packages(*set)? {
            return Ok(Some(skipped));
        }
    }
    Ok(None)
}

/// Runs the step `ip` of the full `cargo xtask test`: the daily simulations, proofs, a sample of mutants and upsets, and
/// the smallest netlist. Lint and the benches of `ip-first` are left out, because that step runs for every change; the
/// long form has them, too.
pub fn step(_: &Path) -> Result<Outcome> {
    let sets = [PackageSet::Machine, PackageSet::Ip, PackageSet::Soc];
    if let Some(skipped) = without_packages(&sets)? {
        return Ok(skipped);
    }
    let is_long = std::env::var_os(LONG).is_some_and(|value| value == "1");
    let ips = load_all()?;
    let mut work = Vec::new();
    let mut mutants = Vec::new();
    for ip in &ips {
        mutants.extend(campaign::campaigns(ip, !is_long)?.into_iter().map(|c| Work::Mutate(ip, c)));
        if is_long {
            work.push(Work::Lint(ip));
        }
        let is_own = |bench: &&Bench| is_long || (bench.is_daily && !bench.is_first);
        let benches = ip.plan.bench.iter().filter(is_own);
        work.extend(benches.map(|bench| Work::Simulate(ip, bench)));
        let netlists = ip.plan.netlist.iter().filter(|netlist| netlist.is_daily || is_long);
        work.extend(netlists.map(|netlist| Work::Count(ip, netlist)));
        work.extend(ip.plan.proof.iter().map(|proof| Work::Prove(ip, proof)));
        let campaigns = ip.plan.campaign.iter().filter(|campaign| campaign.is_daily);
        work.extend(campaigns.map(|campaign| Work::Upset(ip, campaign)));
    }
    // These come first, because their models take longest to build.
    work.splice(0..0, System::ALL.map(Work::MutateMachine));
    work.extend(mutants);
    do_all(&work)
}

/// Does the work on all cores, and prints which pieces took longest.
fn do_all(work: &[Work<'_>]) -> Result<Outcome> {
    let tools = Tools::locate()?;
    let mut faults = Vec::new();
    // Each reason is printed once, even if several benches report it.
    let mut skipped = BTreeSet::new();
    let mut times = Vec::new();
    for (name, seconds, done) in in_parallel(work, |work| {
        let start = Instant::now();
        let done = work.run_to_end(&tools);
        // A run that is stopped early has told its faults by then.
        done.faults.iter().for_each(|fault| eprintln!("FAILED {}: {fault}", work.name()));
        (work.name(), start.elapsed().as_secs(), done)
    }) {
        times.push((seconds, name));
        faults.extend(done.faults);
        skipped.extend(done.notes.into_iter().filter(|note| note.contains("SKIPPED")));
    }
    skipped.iter().for_each(|note| eprintln!("{note}"));
    times.sort_unstable_by(|a, b| b.cmp(a));
    eprintln!("ip: the longest of {} pieces of work", times.len());
    for (seconds, name) in times.iter().take(LONGEST) {
        eprintln!("{seconds:>6} s  {name}");
    }
    Ok(if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(faults.join("\n")) })
}

/// A piece of work of the step that does not depend on others.
enum Work<'a> {
    Lint(&'a Ip),
    Simulate(&'a Ip, &'a Bench),
    Count(&'a Ip, &'a Netlist),
    Prove(&'a Ip, &'a Proof),
    Mutate(&'a Ip, MutantCampaign<'a>),
    Upset(&'a Ip, &'a upsets::UpsetCampaign),
    MutateMachine(System),
}

/// The result of a piece of work.
#[derive(Default)]
struct Done {
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Work<'_> {
    fn name(&self) -> String {
        match self {
            Work::Lint(ip) => format!("lint of {}", ip.name),
            Work::Simulate(ip, bench) => format!("{} of {}", bench.tests, ip.name),
            Work::Count(ip, netlist) => format!("{} of {}", netlist.name, ip.name),
            Work::Prove(ip, proof) => format!("{} of {}", proof.top, ip.name),
            Work::Mutate(ip, campaign) => {
                format!("mutants of {} in {}", campaign.bench.top, ip.name)
            }
            Work::Upset(ip, campaign) => format!("upsets of {} in {}", campaign.name, ip.name),
            Work::MutateMachine(system) => format!("mutants of machines in {}", system.ip()),
        }
    }

    /// Does the work. An error, such as a model that cannot be built, is a fault of this work, and the rest goes on.
    fn run_to_end(&self, tools: &Tools) -> Done {
        self.run(tools).unwrap_or_else(|error| Done {
            faults: vec![format!("{}: {error:#}", self.name())],
            ..Done::default()
        })
    }

    fn run(&self, tools: &Tools) -> Result<Done> {
        match self {
            Work::Mutate(ip, campaign) => {
                Ok(Done { faults: campaign::run(tools, ip, campaign)?, ..Done::default() })
            }
            Work::MutateMachine(system) => Ok(Done { faults: system.run()?, ..Done::default() }),
            Work::Upset(ip, campaign) => {
                Ok(Done { faults: upsets::step(tools, ip, campaign)?, ..Done::default() })
            }
            Work::Lint(ip) => Ok(Done { faults: lint::check(tools, ip)?, ..Done::default() }),
            Work::Simulate(ip, bench) => {
                let run = bench::run(tools, ip, bench)?;
                Ok(Done { faults: run.faults, notes: run.notes })
            }
            Work::Prove(ip, proof) => {
                let (_, faults) = proof::prove(tools, ip, proof)?;
                Ok(Done { faults, ..Done::default() })
            }
            Work::Count(ip, netlist) => {
                let count = netlist::count(tools, ip, netlist)?;
                let mut faults = count.faults(netlist);
                faults.extend(Record::load(ip)?.faults(ip, &netlist.name, &count)?);
                Ok(Done { faults, ..Done::default() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn every_engine_has_a_bench_for_every_change() {
        for name in all_names().unwrap() {
            let benches = Ip::load(&name).unwrap().plan.bench;
            let first: Vec<_> = benches.iter().filter(|bench| bench.is_first).collect();
            assert!(!first.is_empty(), "{name}");
            // The benches of every change must be part of the daily ones.
            assert!(
                first.iter().all(|bench| bench.is_daily && bench.must_fail.is_empty()),
                "{name}"
            );
        }
    }

    #[test]
    fn every_source_has_assertions_or_is_a_package() {
        for name in all_names().unwrap() {
            for path in Ip::load(&name).unwrap().sources {
                let text = fs::read_to_string(&path).unwrap();
                let has = text.contains("`ASSERT(") || text.contains("endpackage");
                // A module of a bench only connects other modules, which have assertions.
                let is_of_bench = path.parent().is_some_and(|folder| folder.ends_with("tb"));
                // A leaf cell only stores, and a proof has its contract (hw/prim/README.md).
                let is_cell =
                    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_cell"));
                // A function of its inputs has no clock cycle in which it could be checked.
                let is_function = !text.contains("clk_i");
                let is_observed = is_of_bench || is_cell || is_function;
                assert!(has || is_observed, "{}", path.display());
            }
        }
    }
}
