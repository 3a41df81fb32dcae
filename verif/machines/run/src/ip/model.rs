//! Builds models of engines: programs in which a top module runs with cocotb. They are cached by a digest of their
//! inputs.
//!
//! Verilator's own library is most of the code and the same for all models, so it is compiled once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::campaign::campaigns;
use super::engine::{Bench, Ip, Tools, files, folder_of, prim};
use super::netlist;
use super::schemata::{self, Mutants};
use crate::machines::model::build;
use crate::rtl;
use crate::units::Units;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the models.
const LAYOUT: &str = "2";
/// The prefix of the C++ classes of every model.
pub const PREFIX: &str = "Vtop";
/// The flags of Verilator. Registers start with random values from the seed of a run, so that nothing can rely on their
/// initial values.
const VERILATOR_FLAGS: [&str; 12] = [
    "--cc",
    "--vpi",
    "--assert",
    "--no-timing",
    "-Wno-fatal",
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    "--timescale",
    "1ns/1ps",
    "-O3",
];
/// The file that makes signals accessible to tests.
const ACCESSIBLE: &str = "accessible.vlt";
/// The optimisation of a netlist: compiling takes most of the time, and the tests are short.
const NETLIST_FAST: &str = "-O0";
const FAST: &str = "-O1";
/// The part of Verilator's library that a model with VPI and assertions needs.
const LIBRARY: [&str; 4] =
    ["verilated.cpp", "verilated_dpi.cpp", "verilated_vpi.cpp", "verilated_threads.cpp"];
/// The file of that library.
pub const ARCHIVE: &str = "library.a";

/// The inputs of a simulation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ModelForm {
    /// The sources, or the netlist, unchanged.
    Plain,
    /// The sources with choices that the options of a run make: a mutant, or a protection that is switched off. Without
    /// an option the model does what the sources say. So one model serves a bench, its mutants, and the same bench
    /// without a protection.
    Choices(Mutants),
}

impl ModelForm {
    /// Returns the form of the model for all runs of a bench except those of mutants.
    pub fn of(ip: &Ip, bench: &Bench) -> Result<ModelForm> {
        let benches = ip.plan.bench.iter().filter(|other| other.is_of_model(bench));
        let has_mutants = campaigns(ip, true)?.iter().any(|it| it.bench.is_of_model(bench));
        let is_plain = bench.of_netlist
            || !(has_mutants || benches.into_iter().any(Bench::has_disabled_protection));
        Ok(if is_plain { ModelForm::Plain } else { ModelForm::Choices(Mutants::Daily) })
    }
}

/// Returns the program for a bench, and builds it if it does not exist.
pub fn simulation(tools: &Tools, ip: &Ip, bench: &Bench, form: ModelForm) -> Result<PathBuf> {
    let (library, library_digest) = library(tools)?;
    let mut texts = ip.texts()?;
    let mut name = bench.model_name();
    if let ModelForm::Choices(mutants) = form {
        if mutants == Mutants::All {
            name += " with all mutants";
        }
        // The digest covers the changed sources, not the table of mutants, whose other columns are only for the runs.
        let sources = schemata::sources(ip, mutants)?;
        texts.extend(sources.into_iter().map(|(_, text)| rtl::without_comments(&text)));
    }
    if bench.of_netlist {
        texts.extend(netlist::models_of_cells()?);
    }
    let mut parts = vec![LAYOUT, &library_digest, &name];
    parts.extend(VERILATOR_FLAGS);
    let fast = if bench.of_netlist { NETLIST_FAST } else { FAST };
    parts.push(fast);
    let accessible = accessible(ip, bench, &texts)?;
    parts.push(&accessible);
    parts.extend(texts.iter().map(String::as_str));
    let dir = models()?.join(format!("{}-{}", bench.top, packages::digest(&parts)));
    let program = dir.join("simulation");
    if !program.exists() {
        build(&name, &dir, |tree| {
            fs::write(tree.join(ACCESSIBLE), &accessible)?;
            translate(tools, ip, bench, form, tree)?;
            // This file allocates the model, so it is compiled with the model's headers, which give its size.
            let program = cocotb(tools).join("share/lib/verilator/verilator.cpp");
            compile(tools, fast, &[program], tree)?;
            link(tools, &library, tree)?;
            keep_only(tree, "simulation")
        })?;
    }
    Ok(program)
}

/// Returns the configuration for Verilator that lets tests read and set signals inside the top module: those that the
/// Python sources of the benches name. Code for other signals can be merged and removed. cocotb does not find a signal
/// that is missing here, so its test fails. Tests of netlists use only ports.
fn accessible(ip: &Ip, bench: &Bench, texts: &[String]) -> Result<String> {
    if bench.of_netlist {
        return Ok(String::new());
    }
    let used = ip.plan.uses.iter().map(|name| folder_of(name));
    let mut tests = String::new();
    for folder in [ip.dir.clone(), prim()].into_iter().chain(used) {
        for path in files(&folder.join("tb"), "py")? {
            tests += &fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
    }
    let declared: BTreeSet<&str> = texts.iter().flat_map(|text| words(text)).collect();
    // With its variable accessible, a loop that generates blocks would be one more block for cocotb, without an index.
    let loops = texts.iter().flat_map(|text| text.split("genvar ").skip(1));
    let loops: BTreeSet<&str> = loops.filter_map(|text| words(text).next()).collect();
    let named = &named(&tests) - &loops;
    let line =
        |module: &str, name: &str| format!("public_flat_rw -module \"{module}\" -var \"{name}\"\n");
    // Tests put the names of ports together.
    let ports = ["*_i", "*_o"].map(|name| line(&bench.top, name)).concat();
    let signals: String = named.intersection(&declared).map(|name| line("*", name)).collect();
    Ok(format!("`verilator_config\n{ports}{signals}"))
}

/// Returns the names of attributes in a Python source, and the words of its strings without spaces, which may be names
/// or paths of signals.
fn named(source: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in source.lines() {
        for (at, part) in line.split('"').enumerate() {
            if at % 2 == 0 {
                names.extend(part.split('.').skip(1).filter_map(|part| words(part).next()));
            } else if !part.contains(' ') {
                names.extend(words(part));
            }
        }
    }
    names
}

/// Returns the identifiers, keywords and numbers of a source.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .filter(|word| !word.is_empty())
}

fn models() -> Result<PathBuf> {
    Ok(project::cache_dir()?.join("models"))
}

fn cocotb(tools: &Tools) -> PathBuf {
    tools.ip.dir().join("cocotb")
}

/// Returns the folder of the compiled library of Verilator, and the digest of its inputs.
pub fn library(tools: &Tools) -> Result<(PathBuf, String)> {
    let identities = [tools.machine.identity(), tools.ip.identity()];
    let mut parts = vec![LAYOUT, &tools.compiler, &identities[0], &identities[1]];
    parts.extend(LIBRARY);
    let digest = packages::digest(&parts);
    let dir = models()?.join(format!("cocotb-{digest}"));
    if !dir.exists() {
        build("the library of simulations", &dir, |tree| {
            let root = tools.machine.verilator();
            let sources = LIBRARY.map(|file| (root.join("include").join(file), "-O1"));
            Units { root: &root, has_waves: false }.objects(&sources, ARCHIVE, tree)
        })?;
    }
    Ok((dir, digest))
}

/// Translates SystemVerilog to C++.
fn translate(tools: &Tools, ip: &Ip, bench: &Bench, form: ModelForm, tree: &Path) -> Result<()> {
    let root = tools.machine.verilator();
    let mut verilator = Command::new(root.join("bin/verilator_bin"));
    verilator.env("VERILATOR_ROOT", &root);
    verilator.args(VERILATOR_FLAGS).args(["--top-module", &bench.top, "--prefix", PREFIX]);
    if bench.of_netlist {
        verilator.args(["-Wno-lint", "-Wno-style", "-Mdir"]).arg(tree);
        verilator.args(netlist::cells(tools, ip, bench, tree)?);
        return run::quietly(&mut verilator).map(drop);
    }
    verilator.args(bench.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
    verilator.arg(format!("-I{}", prim().display())).arg("-Mdir").arg(tree);
    verilator.args(ip.includes().iter().map(|folder| format!("-I{}", folder.display())));
    verilator.arg(tree.join(ACCESSIBLE));
    match form {
        ModelForm::Plain => verilator.args(&ip.sources),
        ModelForm::Choices(mutants) => verilator.args(schemata::write(ip, mutants, tree)?),
    };
    run::quietly(&mut verilator).map(drop)
}

/// Compiles the C++ files and `extra` into an archive.
pub fn compile(tools: &Tools, fast: &str, extra: &[PathBuf], tree: &Path) -> Result<()> {
    let root = tools.machine.verilator();
    Units { root: &root, has_waves: false }.archive(PREFIX, fast, extra, tree)
}

/// Links a simulation.
fn link(tools: &Tools, library: &Path, tree: &Path) -> Result<()> {
    let libraries = cocotb(tools).join("libs");
    let mut linker = Command::new("g++");
    linker.arg("-o").arg(tree.join("simulation"));
    // The function `main` is in the archive.
    linker.arg("-Wl,--whole-archive").arg(tree.join(format!("{PREFIX}__ALL.a")));
    linker.arg("-Wl,--no-whole-archive").arg(library.join(ARCHIVE));
    linker.arg(format!("-Wl,-rpath,{}", libraries.display()));
    linker.arg("-L").arg(&libraries).args(["-lcocotbvpi_verilator", "-pthread"]);
    run::quietly(&mut linker).map(drop)
}

fn keep_only(tree: &Path, name: &str) -> Result<()> {
    for entry in fs::read_dir(tree)? {
        let path = entry?.path();
        if path.file_name().is_none_or(|file| file != name) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_tests_name_are_found() {
        let source = "register = dut.u_core.state_q  # of A\nPATH = \"u_bank[0].count_q\"\nf(\"not these\")\n";
        assert_eq!(
            named(source).into_iter().collect::<Vec<_>>(),
            ["0", "count_q", "state_q", "u_bank", "u_core"]
        );
    }
}
