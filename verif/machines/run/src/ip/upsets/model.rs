//! Builds models for campaigns: an engine without assertions, linked with the bench of `verif/machines/sim/upsets`, and cached by a
//! digest of its inputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::registers::Design;
use crate::ip::engine::{Ip, Tools, files, prim};
use crate::ip::model::{ARCHIVE, PREFIX, compile, library};
use crate::ip::schemata::{self, Mutants};
use crate::machines::model::{BENCH_FLAGS, Sources, build};
use crate::rtl;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the models.
const LAYOUT: &str = "2";
/// The optimisation of code that runs in every cycle.
const FAST: &str = "-O2";
/// The optimisation for the quick form, in which compiling takes far longer than the upsets.
const QUICK: &str = "-O1";
/// The flags of Verilator. As on a chip there are no assertions, which would end a run. With `--flatten` all state is
/// in one object, which the bench copies.
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

/// The program of a model, and the design that it simulates.
pub struct Model {
    pub program: PathBuf,
    pub design: Design,
    pub digest: String,
    /// The options of its runs, which switch protections off.
    pub options: Vec<String>,
}

/// Builds the model of a top module if it does not exist.
pub fn model(
    tools: &Tools,
    ip: &Ip,
    top: &str,
    parameters: &[String],
    is_quick: bool,
) -> Result<Model> {
    let source = ModelInputs { tools, ip, top, parameters, has_choices: false };
    source.model(if is_quick { QUICK } else { FAST }, Vec::new())
}

/// Does the same as [`model()`] for the quick form, with protections that an option of a run can switch off.
pub fn with_choices(
    tools: &Tools,
    ip: &Ip,
    top: &str,
    parameters: &[String],
    options: Vec<String>,
) -> Result<Model> {
    ModelInputs { tools, ip, top, parameters, has_choices: true }.model(QUICK, options)
}

fn tree_file(top: &str) -> String {
    format!("V{top}.tree.json")
}

/// The inputs of the translation.
struct ModelInputs<'a> {
    tools: &'a Tools,
    ip: &'a Ip,
    top: &'a str,
    parameters: &'a [String],
    has_choices: bool,
}

impl ModelInputs<'_> {
    fn model(&self, fast: &str, options: Vec<String>) -> Result<Model> {
        let ModelInputs { tools, ip, top, parameters, has_choices } = *self;
        let folder = project::root().join("verif/machines/sim/upsets");
        let bench = Sources::read(&folder)?;
        let (objects, library_digest) = library(tools)?;
        let mut texts = ip.texts()?;
        if has_choices {
            let sources = schemata::sources(ip, Mutants::None)?;
            texts.extend(sources.into_iter().map(|(_, text)| rtl::without_comments(&text)));
        }
        let mut parts = vec![LAYOUT, &library_digest, fast, top];
        parts.extend(parameters.iter().map(String::as_str));
        parts.extend(VERILATOR_FLAGS);
        parts.extend(BENCH_FLAGS);
        parts.extend(texts.iter().map(String::as_str));
        parts.extend(bench.parts());
        let digest = packages::digest(&parts);
        let dir = project::cache_dir()?.join("models").join(format!("{top}-upsets-{digest}"));
        let name = format!("{top} {} for upsets", parameters.join(" "));
        if !dir.join("bench").exists() {
            build(&name, &dir, |tree| {
                let sources = match has_choices {
                    true => schemata::write(ip, Mutants::None, tree)?,
                    false => ip.sources.clone(),
                };
                let design = self.elaborate(&sources, tree)?;
                self.translate(&design, &sources, tree)?;
                fs::write(tree.join("signals.cpp"), design.table(PREFIX))?;
                compile(tools, fast, &[], tree)?;
                link(tools, &folder, &objects, tree)?;
                keep(tree, &["bench", &tree_file(top)])
            })?;
        }
        let tree = dir.join(tree_file(top));
        let text =
            fs::read_to_string(&tree).with_context(|| format!("cannot read {}", tree.display()))?;
        Ok(Model { program: dir.join("bench"), design: Design::read(&text, top)?, digest, options })
    }

    fn verilator(&self, tree: &Path) -> Command {
        let root = self.tools.machine.verilator();
        let mut verilator = Command::new(root.join("bin/verilator_bin"));
        verilator.env("VERILATOR_ROOT", &root).args(["--top-module", self.top]);
        verilator.args(self.parameters.iter().map(|parameter| format!("-G{parameter}")));
        verilator.arg(format!("-I{}", prim().display())).arg("-Mdir").arg(tree);
        verilator
    }

    /// Reads the tree of the design.
    fn elaborate(&self, sources: &[PathBuf], tree: &Path) -> Result<Design> {
        let mut verilator = self.verilator(tree);
        verilator
            .args(VERILATOR_FLAGS.iter().filter(|flag| !matches!(**flag, "--cc" | "--flatten")));
        verilator.arg("--json-only").args(sources);
        run::quietly(&mut verilator)?;
        Design::read(&fs::read_to_string(tree.join(tree_file(self.top)))?, self.top)
    }

    /// Translates SystemVerilog to C++ whose registers the bench can change.
    fn translate(&self, design: &Design, sources: &[PathBuf], tree: &Path) -> Result<()> {
        let configuration = tree.join("registers.vlt");
        fs::write(&configuration, design.configuration())?;
        let mut verilator = self.verilator(tree);
        verilator.args(VERILATOR_FLAGS).args(["--prefix", PREFIX]).arg(configuration);
        verilator.args(sources);
        run::quietly(&mut verilator).map(drop)
    }
}

/// Links the bench with a model.
fn link(tools: &Tools, bench: &Path, objects: &Path, tree: &Path) -> Result<()> {
    let include = tools.machine.verilator().join("include");
    let mut compiler = Command::new("g++");
    compiler.args(BENCH_FLAGS).arg("-pthread");
    for switch in ["TRACE", "TRACE_VCD", "TRACE_FST", "COVERAGE", "SC", "TIMING"] {
        compiler.arg(format!("-DVM_{switch}=0"));
    }
    // These are system headers, so that warnings are only about sources of this project.
    for folder in [tree, &include, &include.join("vltstd")] {
        compiler.arg("-isystem").arg(folder);
    }
    compiler.arg("-I").arg(bench).args(files(bench, "cpp")?).arg(tree.join("signals.cpp"));
    compiler.arg(tree.join(format!("{PREFIX}__ALL.a"))).arg(objects.join(ARCHIVE));
    compiler.arg("-o").arg(tree.join("bench"));
    run::quietly(&mut compiler).map(drop)
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
