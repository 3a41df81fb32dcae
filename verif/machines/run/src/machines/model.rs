//! Builds models of the machine: programs made from Rocket's Verilog, cached by a digest of their inputs.
//!
//! A model is built in two steps. The *core* is the Verilog of a configuration, translated and compiled. This takes a
//! minute or more, but only changes with the pinned packages. The *machine* is the test bench of `verif/machines/sim/src` linked
//! with a core, which takes seconds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::python::{self, PackageSet, Packages};
use crate::rtl;
use crate::units::Units;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the models.
pub const LAYOUT: &str = "1";
/// The top module, and the prefix of its C++ class, which the test bench uses.
const TOP: &str = "ExampleRocketSystem";
const PREFIX: &str = "Vrocket";
/// The flags for a fast model without assertions and timing. Warnings are off because the code is generated and not
/// edited here.
pub const VERILATOR_FLAGS: [&str; 12] = [
    "--cc",
    "-O3",
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
/// The modules that the generator takes from a library of its own.
const LIBRARY: [&str; 3] = ["plusarg_reader.v", "EICG_wrapper.v", "AsyncResetReg.v"];
/// The optimisation of code that runs in every cycle, and of Verilator's library. Other code is half of the text and is
/// not optimised, because that would only cost minutes. Verilator's code is so simple that -O2 takes twice as long to
/// compile, for a machine of the same speed.
pub const OPTIMISATION: [&str; 2] = ["-O1", "-O2"];
/// The parts of Verilator's library that a machine needs. Its archive is [`ARCHIVE`].
const LIBRARY_OF_MACHINES: [&str; 3] =
    ["verilated.cpp", "verilated_dpi.cpp", "verilated_threads.cpp"];
const ARCHIVE: &str = "libverilated.a";
pub const BENCH_FLAGS: [&str; 6] = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror"];

/// A configuration of Rocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// The name of the configuration in the package.
    pub config: &'static str,
    pub harts: usize,
    /// A description in one line.
    pub about: &'static str,
    /// True if `cargo xtask hw` runs it by default. Of the machines with four harts, that is the one which the lab
    /// builds anyway.
    pub is_daily: bool,
}

/// All configurations that are used.
pub const CORES: [Core; 4] = [
    Core {
        name: "rocket-1",
        config: "LitexLinuxConfig",
        harts: 1,
        about: "one hart RV64IMAC, caches of 4 KiB, 64 bits to memory",
        is_daily: true,
    },
    Core {
        name: "rocket-4",
        config: "LitexLinux4Config",
        harts: 4,
        about: "four harts RV64IMAC, caches of 4 KiB, 64 bits to memory",
        is_daily: false,
    },
    Core {
        name: "rocket-1-full",
        config: "LitexFullQConfig",
        harts: 1,
        about: "one hart of rocket-4-full, four times as fast to simulate",
        is_daily: false,
    },
    Core {
        name: "rocket-4-full",
        config: "LitexFull4QConfig",
        harts: 4,
        about: "four harts RV64GC, caches of 16 KiB, 256 bits to memory; for figures that are published",
        is_daily: true,
    },
];

/// The configuration whose numbers may be quoted.
pub const QUOTED: Core = CORES[3];

/// Finds a configuration by its name.
pub fn core(name: &str) -> Result<Core, String> {
    let names = || CORES.map(|core| core.name).join(", ");
    let found = CORES.into_iter().find(|core| core.name == name);
    found.ok_or_else(|| format!("no such core; there are {}", names()))
}

/// Returns the program that simulates a machine with this core, and builds it if it does not exist.
///
/// # Errors
/// If a package or a compiler is missing, or something does not compile.
pub fn machine(core: Core, has_waves: bool) -> Result<PathBuf> {
    let python = python::locate(PackageSet::Machine)?;
    let compiler = python::need_compiler()?;
    let cache = project::cache_dir()?;
    let (library, library_digest) = library(core, has_waves, &python, &compiler)?;

    let sources = Sources::read(&project::root().join("verif/machines/sim/src"))?;
    let mut parts = vec![LAYOUT, &library_digest, &compiler];
    parts.extend(BENCH_FLAGS);
    parts.extend(sources.parts());
    let dir = cache.join("models").join(format!("{}-{}", core.name, packages::digest(&parts)));
    let program = dir.join("machine");
    if !program.exists() {
        build(&format!("the machine {}", core.name), &dir, |tree| {
            link(&sources, has_waves, &python, &library, PREFIX, tree)
        })?;
    }
    Ok(program)
}

/// Returns the folder of the compiled core, and the digest of its inputs.
fn library(
    core: Core,
    has_waves: bool,
    python: &Packages,
    compiler: &str,
) -> Result<(PathBuf, String)> {
    let observed = project::root().join("verif/machines/sim/observe.vlt");
    let observed_text = rtl::code(
        &fs::read_to_string(&observed)
            .with_context(|| format!("cannot read {}", observed.display()))?,
    );
    let identity = python.identity();
    let mut parts = vec![LAYOUT, core.config, &identity, compiler, &observed_text];
    parts.push(if has_waves { "waves" } else { "" });
    parts.extend(VERILATOR_FLAGS);
    parts.extend(OPTIMISATION);
    let digest = packages::digest(&parts);
    let dir = project::cache_dir()?.join("models").join(format!("{}-{digest}", core.config));
    if !dir.exists() {
        build(&format!("the core {} ({})", core.name, core.config), &dir, |tree| {
            translate(core, has_waves, python, &observed, tree)?;
            compile(python, has_waves, PREFIX, tree)?;
            drop_intermediates(tree)
        })?;
    }
    Ok((dir, digest))
}

/// Builds into a new directory, renames it to `dir`, and prints the time. Each model is built only once. Different
/// models may be built at the same time, because a translation uses only one core.
pub fn build(what: &str, dir: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let (parent, name) = dir.parent().zip(dir.file_name()).context("a model has a folder")?;
    let beside = |end: &str| parent.join(format!(".{}{end}", name.to_string_lossy()));
    fs::create_dir_all(parent)?;
    let guard = beside(".lock");
    let lock = File::create(&guard).with_context(|| format!("cannot use {}", guard.display()))?;
    lock.lock()?;
    // The previous holder of the lock may have built it.
    if dir.exists() {
        return Ok(());
    }
    eprintln!("building {what}");
    let start = Instant::now();
    let tree = beside("");
    // An interrupted build may have left the folder.
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir(&tree)?;
    if let Err(error) = make(&tree) {
        fs::remove_dir_all(&tree)?;
        return Err(error).with_context(|| format!("cannot build {what}"));
    }
    fs::rename(&tree, dir).with_context(|| format!("cannot move to {}", dir.display()))?;
    // The model exists, so a process that creates the lock again finds it.
    fs::remove_file(&guard)?;
    eprintln!("built {what} in {}", seconds(start.elapsed()));
    Ok(())
}

/// Translates Verilog to C++.
fn translate(
    core: Core,
    has_waves: bool,
    python: &Packages,
    observed: &Path,
    tree: &Path,
) -> Result<()> {
    // This is the program itself: the script `verilator` next to it is written in Perl and searches PATH for other
    // programs.
    let mut verilator = Command::new(python.verilator().join("bin/verilator_bin"));
    verilator.env("VERILATOR_ROOT", python.verilator());
    verilator.args(VERILATOR_FLAGS).args(["--top-module", TOP, "--prefix", PREFIX]);
    if has_waves {
        verilator.arg("--trace");
    }
    verilator.arg("-Mdir").arg(tree).arg(observed);
    verilator.args(rocket_sources(core, python));
    run::quietly(&mut verilator).map(drop)
}

/// Returns the source files of a configuration.
pub fn rocket_sources(core: Core, python: &Packages) -> Vec<PathBuf> {
    let rocket = python.rocket();
    let stem = format!("freechips.rocketchip.system.{}", core.config);
    let generated = ["v", "behav_srams.v"]
        .map(|end| rocket.join("generated-src").join(format!("{stem}.{end}")));
    let library = LIBRARY.map(|file| rocket.join("vsrc").join(file));
    generated.into_iter().chain(library).collect()
}

/// Compiles C++ to an archive, and Verilator's own library to another one.
pub fn compile(python: &Packages, has_waves: bool, prefix: &str, tree: &Path) -> Result<()> {
    let root = python.verilator();
    let units = Units { root: &root, has_waves };
    let identity = python.identity();
    let mut parts = vec![LAYOUT, &identity, if has_waves { "waves" } else { "" }];
    parts.extend(OPTIMISATION);
    let dir = project::cache_dir()?.join("models");
    let dir = dir.join(format!("library-{}", packages::digest(&parts)));
    if !dir.exists() {
        build("the library of machines", &dir, |tree| {
            let traces = has_waves.then_some("verilated_vcd_c.cpp");
            let files = LIBRARY_OF_MACHINES.into_iter().chain(traces);
            let sources: Vec<_> =
                files.map(|file| (root.join("include").join(file), OPTIMISATION[1])).collect();
            units.objects(&sources, ARCHIVE, tree)
        })?;
    }
    units.archive(prefix, OPTIMISATION[0], &[], tree)?;
    fs::copy(dir.join(ARCHIVE), tree.join(ARCHIVE)).context("the library of machines")?;
    Ok(())
}

/// Removes all files except the headers and archives that the test bench needs.
pub fn drop_intermediates(tree: &Path) -> Result<()> {
    for entry in fs::read_dir(tree)? {
        let path = entry?.path();
        if !path.extension().is_some_and(|end| end == "h" || end == "a") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Links the test bench with a core.
pub fn link(
    sources: &Sources,
    has_waves: bool,
    python: &Packages,
    library: &Path,
    prefix: &str,
    tree: &Path,
) -> Result<()> {
    let include = python.verilator().join("include");
    let mut compiler = Command::new("g++");
    compiler.args(BENCH_FLAGS).arg("-pthread");
    for (name, value) in [
        ("VM_TRACE", has_waves),
        ("VM_TRACE_VCD", has_waves),
        ("VM_TRACE_FST", false),
        ("VM_COVERAGE", false),
        ("VM_SC", false),
        ("VM_TIMING", false),
    ] {
        compiler.arg(format!("-D{name}={}", u8::from(value)));
    }
    // These are system headers, so that warnings are only about sources of this project.
    for folder in [library, &include, &include.join("vltstd")] {
        compiler.arg("-isystem").arg(folder);
    }
    for folder in &sources.folders {
        compiler.arg("-I").arg(folder);
    }
    compiler.args(sources.files.iter().map(|(path, _)| path).filter(|path| is_unit(path)));
    compiler.arg(library.join(format!("{prefix}__ALL.a"))).arg(library.join(ARCHIVE));
    compiler.arg("-o").arg(tree.join("machine"));
    run::quietly(&mut compiler).map(drop)
}

/// A folder of a test bench, and a filter that returns true if the machine contains the unit of this name.
pub type Wanted<'a> = (&'a Path, &'a dyn Fn(&str) -> bool);

/// The sources of a test bench, sorted by name.
pub struct Sources {
    folders: Vec<PathBuf>,
    files: Vec<(PathBuf, String)>,
}

impl Sources {
    pub fn read(folder: &Path) -> Result<Sources> {
        Sources::read_where(&[(folder, &|_| true)])
    }

    /// Reads sources of several folders, with the units that the filters accept.
    pub fn read_where(folders: &[Wanted<'_>]) -> Result<Sources> {
        let mut files = Vec::new();
        for (folder, is_wanted) in folders {
            let entries = fs::read_dir(folder);
            for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
                let path = entry?.path();
                let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                let is_header = path.extension().is_some_and(|end| end == "h");
                if is_header || (is_unit(&path) && is_wanted(stem)) {
                    let text = fs::read_to_string(&path)
                        .with_context(|| format!("cannot read {}", path.display()))?;
                    files.push((path, text));
                }
            }
            ensure!(!files.is_empty(), "{} has no sources", folder.display());
        }
        files.sort_unstable();
        Ok(Sources { folders: folders.iter().map(|(folder, _)| folder.into()).collect(), files })
    }

    /// Returns names and texts, for a digest.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|(path, text)| {
            [path.file_name().and_then(|name| name.to_str()).unwrap_or_default(), text]
        })
    }
}

fn is_unit(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "cpp")
}

pub fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn cores_have_names_of_their_own() {
        for one in CORES {
            assert_eq!(core(one.name), Ok(one));
        }
        assert!(core("rocket").unwrap_err().contains("rocket-4-full"));
    }

    #[test]
    fn a_model_is_built_once_and_others_meanwhile() {
        let cache = tempfile::tempdir().unwrap();
        let (first, second) =
            (cache.path().join("models/first"), cache.path().join("models/second"));
        let builds = AtomicUsize::new(0);
        let make = |tree: &Path| -> Result<()> {
            builds.fetch_add(1, Ordering::SeqCst);
            // If one build excluded another, this call would never return.
            build("the second", &second, |tree| Ok(fs::write(tree.join("file"), "2")?))?;
            Ok(fs::write(tree.join("file"), "1")?)
        };
        thread::scope(|scope| {
            let all = [(); 3].map(|()| scope.spawn(|| build("the first", &first, make)));
            all.into_iter().for_each(|one| one.join().unwrap().unwrap());
        });
        assert_eq!(builds.into_inner(), 1);
        let mut names: Vec<_> = fs::read_dir(cache.path().join("models"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".lock"))
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["first", "second"]);
    }

    #[test]
    fn a_build_that_fails_leaves_nothing() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("model");
        assert!(build("it", &dir, |_| anyhow::bail!("no")).is_err());
        assert!(!dir.exists() && !cache.path().join(".model").exists());
        build("it", &dir, |_| Ok(())).unwrap();
        assert!(dir.exists());
    }

    #[test]
    fn reads_sources_and_headers_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.cpp", "a.h", "notes.md", "a.cpp"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let sources = Sources::read(dir.path()).unwrap();
        let texts: Vec<_> = sources.files.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.cpp", "a.h", "b.cpp"]);
    }
}
