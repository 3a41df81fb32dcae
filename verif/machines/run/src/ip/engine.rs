//! Reads the description of an engine from its folder, and finds the programs that test it.

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

/// The folder of modules and tests that all engines share. It is tested like an engine.
pub const PRIM: &str = "prim";

/// The engines of a TEE next to a host. Their folder is in that of the system on a chip.
const TEE: &str = "tee";

/// The signature verification unit of a chip. Its folder is in that of the system on a chip, too.
pub const SVU: &str = "svu";

/// Names that are tested like engines but are not in `hw/ip`: the shared modules, and blocks of systems on a chip.
pub const OTHERS: [&str; 4] = ["soc", TEE, SVU, PRIM];

/// The contents of `data/ip.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Other engines that its benches contain; modules of `tb/` connect them.
    #[serde(default)]
    pub uses: Vec<String>,
    pub bench: Vec<Bench>,
    pub netlist: Vec<Netlist>,
    #[serde(default)]
    pub peer: Vec<Peer>,
    #[serde(default)]
    pub proof: Vec<Proof>,
    #[serde(default)]
    pub campaign: Vec<upsets::UpsetCampaign>,
}

/// A simulation of a top module with tests.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// Parameters of one bit that are 0 in this run, which switches a protection off. The model has both forms, and an
    /// option of the run selects one.
    #[serde(default)]
    pub without: Vec<String>,
    /// The Python module of `tb/` with the tests.
    pub tests: String,
    /// True if the netlist that Yosys makes is simulated instead of the source.
    #[serde(default)]
    pub of_netlist: bool,
    /// The only tests to run, each of which has to fail.
    #[serde(default)]
    pub must_fail: Vec<String>,
    /// True if `cargo xtask test` runs it for every change.
    #[serde(default)]
    pub is_first: bool,
    /// True if it is part of the full `cargo xtask test`.
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
    /// The placer of nextpnr for the ECP5.
    #[serde(default)]
    pub placer: Placer,
    #[serde(default)]
    pub is_daily: bool,
}

/// A placer of nextpnr, and the router that it is used with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placer {
    /// The default of nextpnr: analytic placement, then a router that removes and routes single connections again.
    #[default]
    Heap,
    /// For large netlists: placement that models density like electrostatics, then a router that negotiates congestion.
    Static,
}

impl Placer {
    /// Returns the options of nextpnr.
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

    /// Returns the name of the model, which also serves runs without a protection.
    pub fn model_name(&self) -> String {
        Bench { without: Vec::new(), ..self.clone() }.name()
    }

    /// Returns true if a protection is switched off in this run.
    pub fn has_disabled_protection(&self) -> bool {
        !self.without.is_empty()
    }

    /// Returns the parameters as text, each with a space before it.
    pub fn parameters(&self) -> String {
        self.values().iter().map(|(name, value)| format!(" {name}={value}")).collect()
    }

    /// Returns the values of the parameters, including those that are 0 in this run.
    pub fn values(&self) -> BTreeMap<&str, u32> {
        let all = self.parameters.iter().map(|(name, value)| (name.as_str(), *value));
        all.chain(self.without.iter().map(|name| (name.as_str(), 0))).collect()
    }

    /// Returns true if both benches run the same model.
    pub fn is_of_model(&self, other: &Bench) -> bool {
        self.top == other.top
            && self.parameters == other.parameters
            && self.of_netlist == other.of_netlist
    }

    /// Returns the name of the folder for the results. It contains the tests, because benches of the same top module
    /// may run at the same time.
    pub fn folder(&self) -> String {
        let name = format!("{} {} {}", self.name(), self.tests, self.must_fail.join(" "));
        name.trim_end().replace(' ', "-")
    }
}

/// An engine: its folder, its sources in the order in which they are read, and its plan.
pub struct Ip {
    pub name: String,
    pub dir: PathBuf,
    pub sources: Vec<PathBuf>,
    /// Files that the sources include, in addition to those that all engines share.
    pub headers: Vec<PathBuf>,
    pub plan: Plan,
    pub mutants: Vec<Mutant>,
    /// The folder of the sources if they are not part of this project.
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
        let mut sources = files(&dir.join("rtl"), "sv")?;
        ensure!(!sources.is_empty(), "{name} has no sources");
        if name == PRIM || !plan.uses.is_empty() {
            sources.extend(files(&dir.join("tb"), "sv")?);
        }
        if name != PRIM {
            sources.extend(files(&prim().join("rtl"), "sv")?);
        }
        for used in &plan.uses {
            sources.extend(files(&folder_of(used).join("rtl"), "sv")?);
        }
        sort(&mut sources);
        let mutants = mutant::load(&dir)?;
        let headers = Vec::new();
        Ok(Ip { name: name.to_owned(), dir, sources, headers, plan, mutants, outside: None })
    }

    /// Returns the parameters that are 0 in some run: of its benches, and of variants in its campaigns.
    pub fn protections(&self) -> BTreeSet<&str> {
        let benches = self.plan.bench.iter().flat_map(|bench| &bench.without);
        let variants = self.plan.campaign.iter().flat_map(upsets::UpsetCampaign::protections);
        benches.chain(variants).map(String::as_str).collect()
    }

    /// Returns the folders of the files that the sources include.
    pub fn includes(&self) -> BTreeSet<&Path> {
        self.headers.iter().filter_map(|header| header.parent()).collect()
    }

    /// Returns the texts on which a model or a netlist depends: all sources without comments.
    pub fn texts(&self) -> Result<Vec<String>> {
        let headers = files(&prim(), "svh")?;
        let all = self.sources.iter().chain(&self.headers).chain(&headers);
        all.map(|path| {
            let text = fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            Ok(rtl::without_comments(&text))
        })
        .collect()
    }
}

/// Returns the folder of an engine.
pub fn folder_of(name: &str) -> PathBuf {
    let hw = project::root().join("hw");
    match name {
        TEE | SVU => hw.join("soc").join(name),
        name if OTHERS.contains(&name) => hw.join(name),
        name => hw.join("ip").join(name),
    }
}

/// Returns the folder of what all engines share.
pub fn prim() -> PathBuf {
    project::root().join("hw/prim")
}

/// Sorts sources by path, but packages before the modules that import them.
pub fn sort(sources: &mut [PathBuf]) {
    sources.sort_by_key(|path| (!path.to_string_lossy().ends_with("_pkg.sv"), path.clone()));
}

/// Returns the files of a folder with this extension, sorted.
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

/// The packages and the compiler that build and test engines.
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
