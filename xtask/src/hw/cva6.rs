//! CVA6, an application core with one hart: the software baseline of the fifth paper
//! (`hw/soc/cva6`, `hw/sim/cva6`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::model::{BENCH_FLAGS, OPTIMISATION, TOOLS, build, jobs};
use super::python::{self, PackageSet, Packages};
use crate::{packages, project, run};

/// Part of every digest: raise it when something here changes what is built.
const LAYOUT: &str = "1";
const TOP: &str = "cva6_host";
const PREFIX: &str = "Vcva6";
/// The package's own list of the sources of a core with a write-through data cache.
const LIST: &str = "core/Flist.cv64a6_imafdc_sv39";
const VERILATOR_FLAGS: [&str; 16] = [
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "--no-timing",
    "--unroll-count",
    "256",
    // Sources of others: their warnings are not ours to mend.
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "+define+SYNTHESIS",
    "+define+WT_DCACHE",
    "--quiet",
];
/// What the bench shares with the machines of Rocket.
const SHARED: [&str; 11] = [
    "axi.h",
    "cache.cpp",
    "cache.h",
    "devices.cpp",
    "devices.h",
    "ram.cpp",
    "ram.h",
    "slave.cpp",
    "slave.h",
    "storage.cpp",
    "storage.h",
];

/// Returns the program that is a machine with CVA6, and builds it if it is not there.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine() -> Result<PathBuf> {
    let (verilator, core) =
        (python::locate(PackageSet::Machine)?, python::locate(PackageSet::Cva6)?);
    let compiler = python::need_compiler()?;
    let bench = Bench::find();
    let identities = [verilator.identity(), core.identity()];
    let texts = bench.texts()?;
    let mut parts = vec![LAYOUT, &identities[0], &identities[1], &compiler];
    for list in [&VERILATOR_FLAGS[..], &OPTIMISATION, &BENCH_FLAGS] {
        parts.extend(list);
    }
    parts.extend(texts.iter().map(String::as_str));
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("cva6-{digest}"));
    if !dir.exists() {
        build("the machine cva6", &dir, |tree| {
            let model = tree.join("model");
            translate(&verilator, &core, &bench, &model)?;
            compile(&verilator, &model)?;
            link(&verilator, &bench, &model, tree)?;
            fs::remove_dir_all(&model).context("cannot remove what was compiled")
        })?;
    }
    Ok(dir.join("machine"))
}

/// Our own part of it.
struct Bench {
    /// SystemVerilog, packages first.
    rtl: Vec<PathBuf>,
    cpp: Vec<PathBuf>,
}

impl Bench {
    fn find() -> Self {
        let root = project::root();
        let rtl =
            ["cva6_config_pkg.sv", "cva6_host.sv"].map(|it| root.join("hw/soc/cva6").join(it));
        let shared = SHARED.map(|file| root.join("hw/sim/src").join(file));
        let mut cpp = vec![root.join("hw/sim/cva6/main.cpp")];
        cpp.extend(shared);
        Self { rtl: rtl.into(), cpp }
    }

    fn texts(&self) -> Result<Vec<String>> {
        let all = self.rtl.iter().chain(&self.cpp);
        all.map(|path| {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        })
        .collect()
    }
}

/// Verilog to C++.
fn translate(verilator: &Packages, core: &Packages, bench: &Bench, model: &Path) -> Result<()> {
    let root = verilator.verilator();
    let mut command = Command::new(root.join("bin/verilator_bin"));
    command.env("VERILATOR_ROOT", &root).args(VERILATOR_FLAGS);
    command.args(["--top-module", TOP, "--prefix", PREFIX, "-Mdir"]).arg(model);
    let list = core.dir().join("pythondata_cpu_cva6/system_verilog").join(LIST);
    let text =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let repository = core.dir().join("pythondata_cpu_cva6/system_verilog");
    // Our configuration stands for the package's, and in its place: it is a package of the language.
    for line in sources(&text) {
        let path = line.replace("${CVA6_REPO_DIR}", &repository.to_string_lossy());
        if path.ends_with("_config_pkg.sv") {
            command.arg(&bench.rtl[0]);
        } else if path.starts_with('+') || Path::new(&path).exists() {
            command.arg(path);
        }
    }
    command.arg(&bench.rtl[1]);
    run::quietly(&mut command).map(drop)
}

/// The lines of the package's list that name sources or folders. The tracer is for other simulators; a
/// divider that the package lacks belongs to the floating-point unit, which is left out.
fn sources(list: &str) -> impl Iterator<Item = &str> {
    let lines = list.lines().map(str::trim);
    lines.filter(|line| {
        let is_named = line.starts_with("${CVA6_REPO_DIR}") || line.starts_with("+incdir+");
        is_named && (!line.contains("instr_tracer") || line.ends_with("_pkg.sv"))
    })
}

/// C++ to an archive.
fn compile(verilator: &Packages, model: &Path) -> Result<()> {
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(model).arg("-f").arg(format!("{PREFIX}.mk"));
    make.arg(format!("-j{}", jobs())).args(TOOLS).args(OPTIMISATION);
    make.arg(format!("VERILATOR_ROOT={}", verilator.verilator().display()));
    make.arg(format!("{PREFIX}__ALL.a")).arg("libverilated.a");
    run::quietly(&mut make).map(drop)
}

/// The test bench with the core.
fn link(verilator: &Packages, bench: &Bench, model: &Path, tree: &Path) -> Result<()> {
    let include = verilator.verilator().join("include");
    let mut compiler = Command::new("g++");
    compiler.args(BENCH_FLAGS).arg("-pthread");
    for switch in ["TRACE", "TRACE_VCD", "TRACE_FST", "COVERAGE", "SC", "TIMING"] {
        compiler.arg(format!("-DVM_{switch}=0"));
    }
    for folder in [model, &include, &include.join("vltstd")] {
        compiler.arg("-isystem").arg(folder);
    }
    compiler.arg("-I").arg(project::root().join("hw/sim/src"));
    let is_unit = |path: &&PathBuf| path.extension().is_some_and(|end| end == "cpp");
    compiler.args(bench.cpp.iter().filter(is_unit));
    compiler.arg(model.join(format!("{PREFIX}__ALL.a"))).arg(model.join("libverilated.a"));
    compiler.arg("-o").arg(tree.join("machine"));
    run::quietly(&mut compiler).map(drop)
}

/// Runs a program to its end and returns its console.
///
/// # Errors
/// If it does not end with success.
pub fn run(program: &Path, options: &[&str]) -> Result<String> {
    // The core writes a listing of what it executed into the folder in which it runs.
    let scratch = tempfile::tempdir()?;
    let mut command = Command::new(machine()?);
    command.args(options).arg(program).current_dir(scratch.path());
    let output = run::capture(&mut command)?;
    ensure!(output.status.success(), "{}", run::tail(&output, 20));
    String::from_utf8(output.stdout).context("the console is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_packages_list() {
        let list = "// a comment\n+define+WT_DCACHE\n+incdir+${CVA6_REPO_DIR}/a/\n\
                    ${CVA6_REPO_DIR}/b.sv\n${CVA6_REPO_DIR}/instr_tracer.sv\n\
                    ${CVA6_REPO_DIR}/instr_tracer_pkg.sv\n";
        let lines: Vec<_> = sources(list).collect();
        assert_eq!(
            lines,
            [
                "+incdir+${CVA6_REPO_DIR}/a/",
                "${CVA6_REPO_DIR}/b.sv",
                "${CVA6_REPO_DIR}/instr_tracer_pkg.sv"
            ]
        );
    }
}
