//! The simulated machine with CVA6, an application core with one hart. It is the software baseline of the fifth paper
//! (`hw/soc/cva6`, `verif/machines/sim/cva6`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::kept;
use super::model::{self, BENCH_FLAGS, OPTIMISATION, Sources, build};
use super::python::{self, PackageSet, Packages};
use crate::rtl::code;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the models.
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
    // The sources are third-party, so their warnings are not fixed here.
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "+define+SYNTHESIS",
    "+define+WT_DCACHE",
    "--quiet",
];
/// Units of the test bench that are also used for the machines of Rocket.
const SHARED: [&str; 5] = ["cache", "devices", "ram", "slave", "storage"];
/// The RTL files of this project, packages first.
const OURS: [&str; 2] = ["cva6_config_pkg.sv", "cva6_host.sv"];

/// Returns the program that simulates a machine with CVA6, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine() -> Result<PathBuf> {
    let (verilator, core) =
        (python::locate(PackageSet::Machine)?, python::locate(PackageSet::Cva6)?);
    let compiler = python::need_compiler()?;
    let rtl = OURS.map(|file| project::root().join("hw/soc/cva6").join(file));
    let sim = project::root().join("verif/machines/sim");
    let sources = Sources::read_where(&[
        (&sim.join("cva6"), &|_| true),
        (&sim.join("src"), &|stem| SHARED.contains(&stem)),
    ])?;
    let identities = [verilator.identity(), core.identity()];
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path);
        text.map(|text| code(&text)).with_context(|| format!("cannot read {}", path.display()))
    };
    let texts = rtl.iter().map(read).collect::<Result<Vec<_>>>()?;
    let mut parts = vec![LAYOUT, &identities[0], &identities[1], &compiler];
    for list in [&VERILATOR_FLAGS[..], &OPTIMISATION, &BENCH_FLAGS] {
        parts.extend(list);
    }
    parts.extend(texts.iter().map(String::as_str));
    parts.extend(sources.parts());
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("cva6-{digest}"));
    if !dir.exists() {
        build("the machine cva6", &dir, |tree| {
            let library = tree.join("model");
            translate(&verilator, &core, &rtl, &library)?;
            model::compile(&verilator, false, PREFIX, &library)?;
            model::link(&sources, false, &verilator, &library, PREFIX, tree)?;
            fs::remove_dir_all(&library).context("cannot remove what was compiled")
        })?;
    }
    Ok(dir.join("machine"))
}

/// Translates Verilog to C++.
fn translate(
    verilator: &Packages,
    core: &Packages,
    [config, host]: &[PathBuf; 2],
    model: &Path,
) -> Result<()> {
    let root = verilator.verilator();
    let mut command = Command::new(root.join("bin/verilator_bin"));
    command.env("VERILATOR_ROOT", &root).args(VERILATOR_FLAGS);
    command.args(["--top-module", TOP, "--prefix", PREFIX, "-Mdir"]).arg(model);
    let list = core.dir().join("pythondata_cpu_cva6/system_verilog").join(LIST);
    let text =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let repository = core.dir().join("pythondata_cpu_cva6/system_verilog");
    // The configuration of this project is a SystemVerilog package, so it replaces the original at the same position.
    for line in sources(&text) {
        let path = line.replace("${CVA6_REPO_DIR}", &repository.to_string_lossy());
        if path.ends_with("_config_pkg.sv") {
            command.arg(config);
        } else if path.starts_with('+') || Path::new(&path).exists() {
            command.arg(path);
        }
    }
    command.arg(host);
    run::quietly(&mut command).map(drop)
}

/// Returns the lines of the package's list that name sources or folders. The tracer is left out because it is for other
/// simulators. Files that do not exist are skipped by the caller: the package lacks a divider of the floating-point
/// unit.
fn sources(list: &str) -> impl Iterator<Item = &str> {
    let lines = list.lines().map(str::trim);
    lines.filter(|line| {
        let is_named = line.starts_with("${CVA6_REPO_DIR}") || line.starts_with("+incdir+");
        is_named && (!line.contains("instr_tracer") || line.ends_with("_pkg.sv"))
    })
}

/// Runs a program to its end and returns its console. The options must not name files.
///
/// # Errors
/// If it does not end with success.
pub fn run(program: &Path, options: &[&str]) -> Result<String> {
    let machine = machine()?;
    kept::console(&machine, &[program], options, || {
        // The core writes a listing of the executed instructions into its current folder.
        let scratch = tempfile::tempdir()?;
        let mut command = Command::new(&machine);
        command.args(options).arg(program).current_dir(scratch.path());
        let output = run::capture(&mut command)?;
        ensure!(output.status.success(), "{}", run::tail(&output, 20));
        String::from_utf8(output.stdout).context("the console is not UTF-8")
    })
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
