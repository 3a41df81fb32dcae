//! An engine as its folder describes it, and the programs that test it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xtask::project;
use xtask::python::{self, PackageSet, Packages};

use super::mutant::{self, Mutant};
use super::peer::Peer;
use super::property::Proof;
use super::upsets;
use crate::rtl;

/// What tests share, which is tested as an engine is.
pub const PRIM: &str = "prim";

/// The engines of a TEE beside a host, whose folder is in that of the system on a chip.
const TEE: &str = "tee";

/// The verification unit of a chip, likewise.
pub const SVU: &str = "svu";

/// Those that are tested in the same way and are no engine: what tests share, and blocks of systems on a chip.
pub const OTHERS: [&str; 4] = ["soc", TEE, SVU, PRIM];

/// `data/ip.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Engines that its benches have beside it, by modules of `tb/` that connect them.
    #[serde(default)]
    pub uses: Vec<String>,
    pub bench: Vec<Bench>,
    pub netlist: Vec<Netlist>,
    #[serde(default)]
    pub peer: Vec<Peer>,
    #[serde(default)]
    pub proof: Vec<Proof>,
    #[serde(default)]
    pub campaign: Vec<upsets::Campaign>,
}

/// A simulation.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// Parameters of one bit that its run has at 0: a protection that is not there. The model has both forms, and an option
    /// of the run chooses.
    #[serde(default)]
    pub without: Vec<String>,
    /// Module of `tb/`.
    pub tests: String,
    /// Simulate the cells that Yosys makes of it, not the source.
    #[serde(default)]
    pub of_netlist: bool,
    /// Run these only, each of which has to fail.
    #[serde(default)]
    pub must_fail: Vec<String>,
    /// Part of `cargo xtask test` of every change.
    #[serde(default)]
    pub is_first: bool,
    /// Part of the full `cargo xtask test`.
    pub is_daily: bool,
}

/// A netlist and its bounds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Netlist {
    pub name: String,
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    pub cycles: u32,
    pub luts: Option<u32>,
    pub aim: Option<u32>,
    /// How nextpnr places and routes it on an ECP5.
    #[serde(default)]
    pub placer: Placer,
    #[serde(default)]
    pub is_daily: bool,
}

/// A placer of nextpnr, and the router that it is used with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placer {
    /// Analytic placement, then a router that rips up one connection after the other: what nextpnr does by default.
    #[default]
    Heap,
    /// Placement by density as in electrostatics, then a router that negotiates congestion: for large netlists.
    Static,
}

impl Placer {
    /// Options of nextpnr.
    pub const fn options(self) -> [&'static str; 4] {
        match self {
            Self::Heap => ["--placer", "heap", "--router", "router1"],
            Self::Static => ["--placer", "static", "--router", "router2"],
        }
    }
}

impl Bench {
    pub fn name(&self) -> String {
        let form = if self.of_netlist { " netlist" } else { "" };
        format!("{}{}{form}", self.top, self.parameters())
    }

    /// Of its model, which may have runs without a protection as well.
    pub fn model_name(&self) -> String {
        Bench { without: Vec::new(), ..self.clone() }.name()
    }

    /// Whether its run is without a protection.
    pub fn lacks(&self) -> bool {
        !self.without.is_empty()
    }

    /// Each with a space before it.
    pub fn parameters(&self) -> String {
        self.values().iter().map(|(name, value)| format!(" {name}={value}")).collect()
    }

    /// Of its parameters, and of those that its run has at 0.
    pub fn values(&self) -> BTreeMap<&str, u32> {
        let all = self.parameters.iter().map(|(name, value)| (name.as_str(), *value));
        all.chain(self.without.iter().map(|name| (name.as_str(), 0))).collect()
    }

    /// Whether both run the same model.
    pub fn is_of_model(&self, other: &Bench) -> bool {
        self.top == other.top
            && self.parameters == other.parameters
            && self.of_netlist == other.of_netlist
    }

    /// A name for the folder of its results. Benches of one top level differ in their tests, and run at the same
    /// time.
    pub fn folder(&self) -> String {
        let name = format!("{} {} {}", self.name(), self.tests, self.must_fail.join(" "));
        name.trim_end().replace(' ', "-")
    }
}

/// An engine: its folder, its sources in the order in which they are read, its plan.
pub struct Ip {
    pub name: String,
    pub dir: PathBuf,
    pub sources: Vec<PathBuf>,
    /// What they include, beside what all engines share.
    pub headers: Vec<PathBuf>,
    pub plan: Plan,
    pub mutants: Vec<Mutant>,
    /// A folder that is not the project's, if the sources lie in one.
    pub outside: Option<PathBuf>,
}

impl Ip {
    pub fn load(name: &str) -> Result<Ip> {
        let dir = folder_of(name);
        let path = dir.join("data/ip.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let plan: Plan =
            toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        let mut sources = files(&dir.join(if name == PRIM { "tb" } else { "rtl" }), "sv")?;
        ensure!(!sources.is_empty(), "{name} has no sources");
        if !plan.uses.is_empty() {
            sources.extend(files(&dir.join("tb"), "sv")?);
        }
        for used in &plan.uses {
            sources.extend(files(&folder_of(used).join("rtl"), "sv")?);
        }
        sort(&mut sources);
        let mutants = mutant::load(&dir)?;
        let headers = Vec::new();
        Ok(Ip { name: name.to_owned(), dir, sources, headers, plan, mutants, outside: None })
    }

    /// Parameters that a run has at 0: of its benches, and of variants in its campaigns.
    pub fn protections(&self) -> BTreeSet<&str> {
        let benches = self.plan.bench.iter().flat_map(|bench| &bench.without);
        let variants = self.plan.campaign.iter().flat_map(upsets::Campaign::protections);
        benches.chain(variants).map(String::as_str).collect()
    }

    /// Folders of what the sources include.
    pub fn includes(&self) -> BTreeSet<&Path> {
        self.headers.iter().filter_map(|header| header.parent()).collect()
    }

    /// What a model or a netlist depends on: sources without comments.
    pub fn texts(&self) -> Result<Vec<String>> {
        let headers = files(&prim(), "svh")?;
        let modules = files(&prim(), "sv")?;
        let all = self.sources.iter().chain(&self.headers).chain(&headers).chain(&modules);
        all.map(|path| {
            let text = fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            Ok(rtl::without_comments(&text))
        })
        .collect()
    }
}

/// An engine's folder.
pub fn folder_of(name: &str) -> PathBuf {
    let hw = project::root().join("hw");
    match name {
        TEE | SVU => hw.join("soc").join(name),
        name if OTHERS.contains(&name) => hw.join(name),
        name => hw.join("ip").join(name),
    }
}

/// What all engines share.
pub fn prim() -> PathBuf {
    project::root().join("hw/prim")
}

/// By names, but packages are read before those who import them.
pub fn sort(sources: &mut [PathBuf]) {
    sources.sort_by_key(|path| (!path.to_string_lossy().ends_with("_pkg.sv"), path.clone()));
}

/// Files of a folder with this extension, sorted.
pub fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
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
pub struct Tools {
    pub machine: Packages,
    pub ip: Packages,
    pub compiler: String,
}

impl Tools {
    pub fn locate() -> Result<Tools> {
        Ok(Tools {
            machine: python::locate(PackageSet::Machine)?,
            ip: python::locate(PackageSet::Ip)?,
            compiler: python::need_compiler()?,
        })
    }
}
