//! The machine with a signature verification unit (`hw/soc/svu`): its models.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::ibex;
use super::model::{self, BENCH_FLAGS, LAYOUT, OPTIMISATION, Sources, VERILATOR_FLAGS, build};
use super::python::{self, PackageSet, Packages};
use crate::rtl;
use xtask::{packages, project, run};

const TOP: &str = "svu_machine";
const PREFIX: &str = "Vsvu";
/// Source folders in addition to those of the root of trust, with which it shares the core.
const OURS: [&str; 5] = [
    "hw/soc/svu/rtl",
    "hw/soc/svu/top",
    "hw/ip/boot_verifier/rtl",
    "hw/ip/otp/rtl",
    "hw/ip/xmss/rtl",
];
/// Units of the Rocket machine's test bench that are also used here.
const SHARED: [&str; 5] = ["ram", "slave", "cache", "options", "model_signal"];

/// A configuration of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Svu {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Parameters of `hw/soc/svu/top/svu_machine.sv`.
    parameters: &'static [(&'static str, u32)],
    /// True if it is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// All configurations that are used.
pub const SVUS: [Svu; 3] = [
    Svu {
        name: "svu-1",
        about: "verification unit from reset, XMSS with 4 hash cores of 2 rounds a cycle, and Ibex as its host",
        parameters: &[],
        is_daily: true,
    },
    Svu {
        name: "svu-1-small",
        about: "like svu-1, with one hash core of one round a cycle",
        parameters: &[("Lanes", 1), ("RoundsPerCycle", 1)],
        is_daily: false,
    },
    Svu {
        name: "svu-1-twice",
        about: "svu-1 whose engine computes every root twice",
        parameters: &[("TwoPasses", 1)],
        is_daily: false,
    },
];

/// Finds a configuration by its name.
pub fn svu(name: &str) -> Option<Svu> {
    SVUS.into_iter().find(|svu| svu.name == name)
}

/// Returns the folder for the files of runs.
pub fn folder(svu: Svu) -> PathBuf {
    project::work_dir("hw").join(svu.name)
}

/// Returns the program that simulates this machine, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine(svu: Svu) -> Result<PathBuf> {
    machine_of(svu, &[])
}

/// Does the same as [`machine`] with other sources, by name, in place of those of `hw/soc/svu/top`: with mutants.
pub fn machine_of(svu: Svu, replaced: &[(String, String)]) -> Result<PathBuf> {
    let verilator = python::locate(PackageSet::Machine)?;
    let compiler = python::need_compiler()?;
    let (library, library_digest) = library(svu, replaced, &verilator, &compiler)?;
    let sim = project::root().join("verif/machines/sim");
    let sources = Sources::read_where(&[
        (&sim.join("svu"), &|_| true),
        (&sim.join("src"), &|stem| SHARED.contains(&stem)),
        // This folder has a header that reports failed assertions.
        (&sim.join("rot"), &|_| false),
    ])?;
    let mut parts = vec![LAYOUT, &library_digest, &compiler];
    parts.extend(BENCH_FLAGS);
    parts.extend(sources.parts());
    let name = format!("{}-{}", svu.name, packages::digest(&parts));
    let dir = project::cache_dir()?.join("models").join(name);
    let program = dir.join("machine");
    if !program.exists() {
        build(&format!("the machine {}", svu.name), &dir, |tree| {
            model::link(&sources, false, &verilator, &library, PREFIX, tree)
        })?;
    }
    Ok(program)
}

/// Returns the folder of the compiled model, and the digest of its inputs.
fn library(
    svu: Svu,
    replaced: &[(String, String)],
    verilator: &Packages,
    compiler: &str,
) -> Result<(PathBuf, String)> {
    let soc = python::locate(PackageSet::Soc)?;
    let observed = project::root().join("verif/machines/sim/svu.vlt");
    let observed_text = rtl::code(
        &fs::read_to_string(&observed)
            .with_context(|| format!("cannot read {}", observed.display()))?,
    );
    let texts = ibex::texts(&OURS)?;
    let identities = [verilator.identity(), soc.identity()];
    let parameters = format!("{:?}", svu.parameters);
    let mut parts =
        vec![LAYOUT, TOP, &parameters, &identities[0], &identities[1], compiler, &observed_text];
    parts.extend(VERILATOR_FLAGS);
    parts.extend(ibex::FLAGS);
    parts.extend(OPTIMISATION);
    let others: Vec<_> = replaced.iter().map(|(_, text)| rtl::code(text)).collect();
    parts.extend(texts.iter().chain(&others).map(String::as_str));
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{}-core-{digest}", svu.name));
    if !dir.exists() {
        let what = if replaced.is_empty() { "" } else { " with mutants" };
        build(&format!("the model of {}{what}", svu.name), &dir, |tree| {
            for (name, text) in replaced {
                fs::write(tree.join(name), text)?;
            }
            let root = verilator.verilator();
            let mut command = Command::new(root.join("bin/verilator_bin"));
            command.env("VERILATOR_ROOT", &root);
            command.args(VERILATOR_FLAGS).args(["--top-module", TOP, "--prefix", PREFIX]);
            command.args(svu.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
            command.arg("-Mdir").arg(tree).arg(&observed);
            let folder = (!replaced.is_empty()).then_some(tree);
            ibex::arguments(&mut command, &soc, TOP, &OURS, folder)?;
            run::quietly(&mut command)?;
            model::compile(verilator, false, PREFIX, tree)?;
            model::drop_intermediates(tree)
        })?;
    }
    Ok((dir, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_have_names_of_their_own() {
        for one in SVUS {
            assert_eq!(svu(one.name), Some(one));
        }
    }
}
