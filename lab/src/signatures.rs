//! `cargo xtask signatures`: measures the cost of signature verification on RISC-V in bytes of flash,
//! bytes of stack and retired instructions, of this project and of others in the same test program.
//!
//! Instructions and bytes are exact and, with the pinned compiler, the same on every machine, so a test
//! can treat growth as a failure. Instructions are not cycles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::machine::version;
use xtask::Outcome;
use xtask::{Verdict, project, tools};

pub mod cases;
mod catalogue;
mod measure;
mod page;
mod peers;
mod record;

use catalogue::{ALGORITHMS, Algorithm, HARTS};
use measure::Options;
use record::{Bounds, Ours, Peers};

#[derive(clap::Args)]
pub struct SignaturesArgs {
    /// Run only algorithms whose name contains this text
    #[arg(value_name = "ALGORITHM")]
    filter: Option<String>,
    /// Also measure implementations of other projects
    #[arg(long)]
    peers: bool,
    /// Compile the kernels with this optimisation level [default: that of the build profile]
    #[arg(long, value_name = "LEVEL", conflicts_with = "write")]
    opt_level: Option<String>,
    /// Store the figures in lab/signatures, and write docs/src/reference/signatures.md
    #[arg(long, conflicts_with = "filter")]
    write: bool,
    /// Measure nothing; write the page again from stored figures
    #[arg(long, conflicts_with_all = ["filter", "peers", "opt_level", "write"])]
    page: bool,
}

pub fn main(args: &SignaturesArgs) -> Result<Verdict> {
    let root = project::root();
    if args.page {
        let (ours, peers) = (record::load(&root, "ours")?, record::load(&root, "peers")?);
        let bounds = record::load(&root, "bounds")?;
        fs::write(root.join(page::PATH), page::text(&ours, &peers, &bounds)?)?;
        return Ok(Verdict::Yes);
    }
    let is_wanted = |it: &&Algorithm| {
        args.filter.as_ref().is_none_or(|filter| it.name.contains(filter.as_str()))
    };
    let wanted: Vec<&Algorithm> = ALGORITHMS.iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "no algorithm has this name");
    let packs = Packs::make(&wanted)?;
    let ours = measure_ours(&wanted, &packs, Options { opt_level: args.opt_level.as_deref() })?;
    let peers = if args.peers {
        let peers = measure_peers(&wanted, &packs)?;
        if args.write {
            fs::write(record::folder(&root).join("peers.toml"), record::encode(&peers)?)?;
        }
        peers
    } else {
        record::load(&root, "peers").unwrap_or_default()
    };
    let bounds: Bounds = record::load(&root, "bounds")?;
    if args.write {
        fs::write(record::folder(&root).join("ours.toml"), record::encode(&ours)?)?;
        fs::write(root.join(page::PATH), page::text(&ours, &peers, &bounds)?)?;
    }
    print!("{}", page::tables(&ours, &peers, &bounds, &wanted));
    let mut findings = bounds.exceeded(&ours);
    if !args.write && args.opt_level.is_none() && args.filter.is_none() {
        findings.extend(record::load::<Ours>(&root, "ours")?.differences(&ours));
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    Ok(if findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Test step: compares this project's numbers with the recorded ones and with their bounds.
pub fn step(root: &Path) -> Result<Outcome> {
    let bounds: Bounds = record::load(root, "bounds")?;
    let (recorded, peers): (Ours, Peers) =
        (record::load(root, "ours")?, record::load(root, "peers")?);
    let mut findings = Vec::new();
    for bound in &bounds.bound {
        let is_known = ALGORITHMS.iter().any(|it| it.name == bound.algorithm)
            && HARTS.contains(&bound.hart.as_str());
        if !is_known {
            findings.push(format!("bounds.toml: {bound:?} is not measured"));
        }
    }
    let page = fs::read_to_string(root.join(page::PATH)).unwrap_or_default();
    if page != page::text(&recorded, &peers, &bounds)? {
        findings.push(format!(
            "{} does not show what is recorded; `cargo xtask signatures --write`",
            page::PATH
        ));
    }
    let all: Vec<&Algorithm> = ALGORITHMS.iter().filter(|it| it.feature.is_some()).collect();
    let measured = measure_ours(&all, &Packs::make(&all)?, Options::default())?;
    findings.extend(bounds.exceeded(&measured));
    findings.extend(recorded.differences(&measured));
    Ok(if findings.is_empty() { Outcome::Passed } else { Outcome::Failed(findings.join("\n")) })
}

/// Files with the cases of each algorithm.
struct Packs {
    folder: tempfile::TempDir,
}

impl Packs {
    fn make(algorithms: &[&Algorithm]) -> Result<Self> {
        let packs = Self { folder: tempfile::tempdir()? };
        for algorithm in algorithms {
            fs::write(
                packs.of(algorithm),
                cases::pack(&hartlock_testkit::signed::of(algorithm.name)?)?,
            )?;
        }
        Ok(packs)
    }

    fn of(&self, algorithm: &Algorithm) -> PathBuf {
        self.folder.path().join(algorithm.name).with_extension("pack")
    }
}

fn measure_ours(wanted: &[&Algorithm], packs: &Packs, options: Options<'_>) -> Result<Ours> {
    let mut ours = Ours { tools: tool_versions()?, ..Ours::default() };
    let mut built = BTreeMap::new();
    for algorithm in wanted {
        let Some(feature) = algorithm.feature else { continue };
        if !built.contains_key(feature) {
            let (flash, program) = measure::ours(feature, options)?;
            ours.flash.push(flash);
            built.insert(feature, program);
        }
        for hart in HARTS {
            let run = measure::count(&built[feature], algorithm, &packs.of(algorithm), hart)?;
            ours.run.push(run);
        }
    }
    Ok(ours)
}

fn measure_peers(wanted: &[&Algorithm], packs: &Packs) -> Result<Peers> {
    let mut all = Peers { tools: tool_versions()?, ..Peers::default() };
    let (name, version) = crate::peers::libraries::compiler()?;
    all.tools.insert(name.to_owned(), version);
    for algorithm in wanted {
        for name in algorithm.peers {
            for opt_level in peers::opt_levels(name) {
                eprintln!("{name}, opt-level {opt_level}");
                all.peer.push(peers::measure(name, opt_level, algorithm, &packs.of(algorithm))?);
            }
        }
    }
    Ok(all)
}

fn tool_versions() -> Result<BTreeMap<String, String>> {
    let emulator = tools::locate()?.versions.remove("qemu-system-riscv");
    Ok(BTreeMap::from([
        ("rustc".to_owned(), version("rustc", "--version")?),
        ("qemu".to_owned(), emulator.context("QEMU has no version")?),
    ]))
}
