//! Models for campaigns: an engine without assertions, with the bench of `hw/sim/upsets`, cached by a digest of
//! its inputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::registers::Design;
use crate::ip::engine::{Ip, Tools, prim};
use crate::machines::model::{BENCH_FLAGS, OPTIMISATION, Sources, build, compile, link};
use xtask::{packages, project, run};

/// Part of every digest: raise it when a change here changes the models.
const LAYOUT: &str = "1";
const PREFIX: &str = "Vtop";
/// As on a chip, without assertions, which would end a run. `--flatten`: all state is in one object, which is copied.
const VERILATOR_FLAGS: [&str; 13] = [
    "--cc",
    "-O3",
    "--flatten",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "--no-timing",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "+define+SYNTHESIS",
];

/// A program, and what it simulates.
pub struct Model {
    pub program: PathBuf,
    pub design: Design,
    pub digest: String,
}

/// Builds the model of a top module if it does not exist.
pub fn model(tools: &Tools, ip: &Ip, top: &str, parameters: &[String]) -> Result<Model> {
    let folder = project::root().join("hw/sim/upsets");
    let bench = Sources::read(&folder)?;
    let identity = tools.machine.identity();
    let texts = ip.texts()?;
    let mut parts = vec![LAYOUT, &identity, &tools.compiler, top];
    parts.extend(parameters.iter().map(String::as_str));
    parts.extend(VERILATOR_FLAGS);
    parts.extend(OPTIMISATION);
    parts.extend(BENCH_FLAGS);
    parts.extend(texts.iter().map(String::as_str));
    parts.extend(bench.parts());
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{top}-upsets-{digest}"));
    let name = format!("{top} {} for upsets", parameters.join(" "));
    if !dir.join("machine").exists() {
        build(&name, &dir, |tree| {
            let source = Source { tools, ip, top, parameters };
            let design = source.elaborate(tree)?;
            source.translate(&design, tree)?;
            fs::write(tree.join("signals.cpp"), design.table(PREFIX))?;
            compile(&tools.machine, PREFIX, tree)?;
            let is_table = |stem: &str| stem == "signals";
            let bench = Sources::read_where(&[(&folder, &|_| true), (tree, &is_table)])?;
            link(&bench, false, &tools.machine, tree, PREFIX, tree)?;
            keep(tree, &["machine", &tree_file(top)])
        })?;
    }
    let tree = dir.join(tree_file(top));
    let text =
        fs::read_to_string(&tree).with_context(|| format!("cannot read {}", tree.display()))?;
    Ok(Model { program: dir.join("machine"), design: Design::read(&text, top)?, digest })
}

fn tree_file(top: &str) -> String {
    format!("V{top}.tree.json")
}

/// What is translated.
struct Source<'a> {
    tools: &'a Tools,
    ip: &'a Ip,
    top: &'a str,
    parameters: &'a [String],
}

impl Source<'_> {
    fn verilator(&self, tree: &Path) -> Command {
        let root = self.tools.machine.verilator();
        let mut verilator = Command::new(root.join("bin/verilator_bin"));
        verilator.env("VERILATOR_ROOT", &root).args(["--top-module", self.top]);
        verilator.args(self.parameters.iter().map(|parameter| format!("-G{parameter}")));
        verilator
            .arg(format!("-I{}", prim().display()))
            .arg("-y")
            .arg(prim())
            .arg("-Mdir")
            .arg(tree);
        verilator
    }

    /// The tree of the design.
    fn elaborate(&self, tree: &Path) -> Result<Design> {
        let mut verilator = self.verilator(tree);
        verilator
            .args(VERILATOR_FLAGS.iter().filter(|flag| !matches!(**flag, "--cc" | "--flatten")));
        verilator.arg("--json-only").args(&self.ip.sources);
        run::quietly(&mut verilator)?;
        Design::read(&fs::read_to_string(tree.join(tree_file(self.top)))?, self.top)
    }

    /// SystemVerilog to C++, with registers that can be changed.
    fn translate(&self, design: &Design, tree: &Path) -> Result<()> {
        let configuration = tree.join("registers.vlt");
        fs::write(&configuration, design.configuration())?;
        let mut verilator = self.verilator(tree);
        verilator.args(VERILATOR_FLAGS).args(["--prefix", PREFIX]).arg(configuration);
        verilator.args(&self.ip.sources);
        run::quietly(&mut verilator).map(drop)
    }
}

fn keep(tree: &Path, names: &[&str]) -> Result<()> {
    for entry in fs::read_dir(tree)? {
        let path = entry?.path();
        let is_kept = path.file_name().is_some_and(|file| names.iter().any(|name| file == *name));
        if !is_kept {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}
