//! The machine for the quick boot of a TEE (`hw/soc/tee`): Rocket with engines for SHA-3, Ed25519 and DMA among its
//! devices. The first-stage loader (`device/fsbl`) verifies, measures and endorses a payload on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::model::{
    self, BENCH_FLAGS, CORES, Core, LAYOUT, OPTIMISATION, Sources, VERILATOR_FLAGS, build,
};
use super::python::{self, PackageSet, Packages};
use crate::rtl;
use xtask::{packages, project, run};

const TOP: &str = "tee_machine";
/// The prefix of C++ classes is that of Rocket without engines, because the test bench is the same.
const PREFIX: &str = "Vrocket";
/// The folder of the top module.
const TOP_FOLDER: &str = "hw/soc/tee/top";
/// Folders of this project's sources. All of them are part of a model's digest.
const OURS: [&str; 8] = [
    "hw/prim",
    "hw/prim/rtl",
    "hw/soc/rtl",
    "hw/soc/tee/rtl",
    TOP_FOLDER,
    "hw/ip/dma/rtl",
    "hw/ip/ed25519/rtl",
    "hw/ip/sha3/rtl",
];
/// Packages that other packages import, which are read first.
const FIRST: [&str; 2] = ["soc_pkg.sv", "hartlock_axi_pkg.sv"];
/// The first characters of files that only other machines use.
const EXCLUDED_PREFIXES: [&str; 1] = ["rot_"];

/// A configuration of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tee {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    pub core: Core,
    /// The width of the port to memory in bits.
    memory_bits: u32,
    /// Rounds of SHA-3 in a cycle.
    sha3_rounds: u32,
    /// True if it is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// All configurations that are used.
pub const TEES: [Tee; 3] = [
    Tee {
        name: "tee-1",
        about: "rocket-1 with engines for SHA-3 and Ed25519 and DMA at its devices",
        core: CORES[0],
        memory_bits: 64,
        sha3_rounds: 1,
        is_daily: false,
    },
    Tee {
        name: "tee-1-full",
        about: "like tee-1, with rocket-1-full, for comparison with software",
        core: CORES[2],
        memory_bits: 256,
        sha3_rounds: 1,
        is_daily: true,
    },
    Tee {
        name: "tee-1-fast",
        about: "like tee-1-full, with 12 cycles for a block of SHA-3 instead of 24",
        core: CORES[2],
        memory_bits: 256,
        sha3_rounds: 2,
        is_daily: false,
    },
];

/// Finds a machine by its name.
pub fn tee(name: &str) -> Option<Tee> {
    TEES.into_iter().find(|tee| tee.name == name)
}

/// Returns the program that simulates this machine, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine(tee: Tee) -> Result<PathBuf> {
    let python = python::locate(PackageSet::Machine)?;
    let compiler = python::need_compiler()?;
    let (library, library_digest) = library(tee, &python, &compiler)?;
    let sim = project::root().join("verif/machines/sim");
    let sources = Sources::read_where(&[
        (&sim.join("src"), &|stem| stem != "rocket"),
        (&sim.join("tee"), &|_| true),
    ])?;
    let mut parts = vec![LAYOUT, &library_digest, &compiler];
    parts.extend(BENCH_FLAGS);
    parts.extend(sources.parts());
    let name = format!("{}-{}", tee.name, packages::digest(&parts));
    let dir = project::cache_dir()?.join("models").join(name);
    let program = dir.join("machine");
    if !program.exists() {
        build(&format!("the machine {}", tee.name), &dir, |tree| {
            model::link(&sources, false, &python, &library, PREFIX, tree)
        })?;
    }
    Ok(program)
}

/// Returns the folder of the compiled model, and the digest of its inputs.
fn library(tee: Tee, python: &Packages, compiler: &str) -> Result<(PathBuf, String)> {
    let observed = project::root().join("verif/machines/sim/observe.vlt");
    let files = files()?;
    let mut texts = Vec::new();
    for path in files.iter().chain([&observed]) {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        texts.push(rtl::code(&text));
    }
    let parameters =
        [format!("-GMemBits={}", tee.memory_bits), format!("-GSha3Rounds={}", tee.sha3_rounds)];
    let identity = python.identity();
    let mut parts = vec![LAYOUT, TOP, tee.core.config, &identity, compiler];
    parts.extend(VERILATOR_FLAGS);
    parts.extend(OPTIMISATION);
    parts.extend(parameters.iter().map(String::as_str));
    parts.extend(texts.iter().map(String::as_str));
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{}-core-{digest}", tee.name));
    if !dir.exists() {
        build(&format!("the model of {}", tee.name), &dir, |tree| {
            let root = python.verilator();
            let mut command = Command::new(root.join("bin/verilator_bin"));
            command.env("VERILATOR_ROOT", &root);
            command.args(VERILATOR_FLAGS).args(&parameters);
            command.args(["--top-module", TOP, "--prefix", PREFIX]);
            command.arg("-Mdir").arg(tree).arg(&observed);
            for folder in OURS.map(|folder| project::root().join(folder)) {
                command.arg(format!("-I{}", folder.display())).arg("-y").arg(folder);
            }
            command.args(files.iter().filter(|path| is_package(path)));
            command.arg(project::root().join(TOP_FOLDER).join(TOP).with_extension("sv"));
            command.args(model::rocket_sources(tee.core, python));
            run::quietly(&mut command)?;
            model::compile(python, false, PREFIX, tree)?;
            model::drop_intermediates(tree)
        })?;
    }
    Ok((dir, digest))
}

fn is_package(path: &Path) -> bool {
    path.to_string_lossy().ends_with("_pkg.sv")
}

/// Returns the paths of our sources, first the packages that others import.
fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in OURS.map(|folder| project::root().join(folder)) {
        let entries = fs::read_dir(&folder);
        for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_source = name.ends_with(".sv") || name.ends_with(".svh");
            if is_source && !EXCLUDED_PREFIXES.iter().any(|start| name.starts_with(start)) {
                files.push(path);
            }
        }
    }
    let rank =
        |path: &Path| FIRST.iter().position(|name| path.ends_with(name)).unwrap_or(FIRST.len());
    files.sort_unstable_by_key(|path| (rank(path), path.clone()));
    Ok(files)
}
