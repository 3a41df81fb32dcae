//! Builds OpenSBI from its upstream sources with the calls and drivers of `device/monitor/defconfig` alone, and with the
//! project's own call (`device/monitor/system_map.c`).
//!
//! A build is kept in the cache under a digest of everything that it depends on: sources, configuration, compiler,
//! linker and this recipe. Its bytes depend on nothing else, so two machines make the same file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSymbol};

use crate::packages::{self, Root};
use crate::{Outcome, Verdict, project, run, tools};

/// The package set of the sources.
pub const SOURCES: &str = "monitor";
/// The name of the sources.
const NAME: &str = "opensbi";
/// A part of every digest. Raise it when the build below changes.
const RECIPE: &str = "3";
/// The folder with the configuration.
const FOLDER: &str = "device/monitor";
/// The file with the digests of builds.
const DIGESTS: &str = "device/monitor/digests";
/// Name of the configuration among those of OpenSBI's generic platform.
const CONFIG: &str = "hartlock_defconfig";
/// The files of the project that are compiled into OpenSBI, and their folder in the sources of its generic platform.
const OWN_FILES: [&str; 2] = ["objects.mk", "system_map.c"];
const OWN_FOLDER: &str = "platform/generic/hartlock";

/// The function that judges a range of addresses which S-mode passed. Both published faults of such checks are in it,
/// and every service that uses it reads or writes memory for S-mode.
const RANGE_CHECK: &str = "sbi_domain_check_addr_range";

/// The files that state under what conditions OpenSBI may be given on.
pub const LICENCES: [&str; 2] = ["COPYING.BSD", "ThirdPartyNotices.md"];

/// A build of OpenSBI.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// The folder with the files of the build, and with the licences.
    pub folder: PathBuf,
    /// `fw_dynamic` as a flat binary.
    pub bin: PathBuf,
    pub elf: PathBuf,
    /// OpenSBI's version, without the revision of the package.
    pub version: String,
}

#[derive(clap::Args)]
pub struct MonitorArgs {}

/// Builds OpenSBI, and prints its version, its digest and its path.
pub fn main(_: &MonitorArgs) -> Result<Verdict> {
    let monitor = built()?;
    println!("opensbi\t{}\t{}", monitor.version, monitor.bin.display());
    println!("sha256\t{}", monitor.digest()?);
    println!("calls\t{}", calls(&config(&[])?).join(" "));
    Ok(Verdict::Yes)
}

/// Returns OpenSBI as it boots. Fetches what is missing if the user consents.
pub fn built() -> Result<Monitor> {
    variant(&[])
}

/// Returns OpenSBI with lines of Kconfig that win over the project's own, for tests of what must not boot.
pub fn variant(lines: &[&str]) -> Result<Monitor> {
    tools::locate()?;
    let [compiler, sources] = packages::ensure_sets([tools::COMPILER, SOURCES])?;
    build(&compiler, &sources, lines)
}

impl Monitor {
    /// Returns the SHA-256 of the flat binary.
    pub fn digest(&self) -> Result<String> {
        let bytes = fs::read(&self.bin).with_context(|| self.bin.display().to_string())?;
        Ok(packages::digest_of_bytes(&bytes))
    }

    /// Returns a description for the label of a bundle.
    pub fn label(&self) -> Result<String> {
        Ok(format!("OpenSBI {} ({})", self.version, calls(&config(&[])?).join(" ")))
    }

    fn has(&self, function: &str) -> Result<bool> {
        let bytes = fs::read(&self.elf)?;
        let file = object::File::parse(&*bytes)?;
        ensure!(file.symbols().next().is_some(), "{} has no symbols", self.elf.display());
        Ok(file.symbols().any(|symbol| symbol.name() == Ok(function)))
    }
}

/// Returns the configuration with these lines in addition.
fn config(lines: &[&str]) -> Result<String> {
    let path = project::root().join(FOLDER).join("defconfig");
    let mut text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    for line in lines {
        text += line;
        text += "\n";
    }
    Ok(text)
}

/// Returns the names of the calls that a configuration leaves in, and that of the project's own.
fn calls(config: &str) -> Vec<&'static str> {
    let is_off = |name: &str| {
        let off = format!("# CONFIG_SBI_ECALL_{} is not set", name.to_uppercase());
        config.lines().any(|line| line == off)
    };
    let standard = ["base", "time", "ipi", "rfence", "hsm", "srst"];
    standard.into_iter().filter(|it| !is_off(it)).chain(["system-map"]).collect()
}

/// Returns a build, which is made unless the cache has it.
pub(crate) fn build(compiler: &Root, sources: &Root, lines: &[&str]) -> Result<Monitor> {
    let config = config(lines)?;
    let toolchain = fs::read_to_string(project::root().join("rust-toolchain.toml"))?;
    let own = OWN_FILES
        .map(|name| fs::read_to_string(project::root().join(FOLDER).join(name)).context(name));
    let [objects, system_map] = own;
    let [source, gcc, binutils] = [
        (sources, NAME),
        (compiler, "gcc-riscv64-unknown-elf"),
        (compiler, "binutils-riscv64-unknown-elf"),
    ]
    .map(|(root, name)| root.manifest.package.iter().find(|it| it.name == name));
    let source = source.context("the sources of OpenSBI have no version")?;
    let (gcc, binutils) = gcc.zip(binutils).context("the compiler has no version")?;
    let digest = packages::digest(&[
        RECIPE,
        &source.sha256,
        &gcc.sha256,
        &binutils.sha256,
        &toolchain,
        &config,
        &objects?,
        &system_map?,
    ]);
    let version = source.version.split('-').next().unwrap_or(&source.version).to_owned();
    let cache = project::cache_dir()?;
    let folder = cache.join("monitor").join(format!("{NAME}-{version}-{digest}"));
    let [bin, elf] = ["fw_dynamic.bin", "fw_dynamic.elf"].map(|name| folder.join(name));
    let monitor = Monitor { folder: folder.clone(), bin, elf, version };
    if !folder.exists() {
        let _lock = packages::lock(&cache)?;
        // The previous holder of the lock may have built it.
        if !folder.exists() {
            eprintln!("building OpenSBI {} (about 15 seconds)", monitor.version);
            let scratch = packages::scratch(&cache)?;
            let made = scratch.path().join("made");
            make(compiler, &sources.file(&format!("src/{NAME}"))?, &config, &made)?;
            fs::create_dir_all(cache.join("monitor"))?;
            fs::rename(&made, &folder).with_context(|| folder.display().to_string())?;
        }
    }
    Ok(monitor)
}

/// Builds OpenSBI and puts its files into the folder `made`.
fn make(compiler: &Root, sources: &Path, config: &str, made: &Path) -> Result<()> {
    // Makefiles cannot have spaces in their paths, which the folder of the cache may have.
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    run::quietly(Command::new("cp").arg("-R").arg(sources).arg(&tree))?;
    fs::write(tree.join("platform/generic/configs").join(CONFIG), config)?;
    fs::create_dir(tree.join(OWN_FOLDER))?;
    for name in OWN_FILES {
        let from = project::root().join(FOLDER).join(name);
        fs::copy(from, tree.join(OWN_FOLDER).join(name)).context(name)?;
    }
    let programs = programs(compiler, scratch.path())?;
    let output = scratch.path().join("output");
    fs::create_dir(&output)?;

    let mut make = Command::new("make");
    // A `make` around this one passes options and jobs through its environment.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CROSS_COMPILE", "LLVM"] {
        make.env_remove(name);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)))?;
    make.env("PATH", path).env("LC_ALL", "C").env("SOURCE_DATE_EPOCH", "0");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    make.arg("--silent").arg(format!("--jobs={jobs}")).arg("--directory").arg(&tree);
    make.arg(format!("O={}", output.display())).arg(format!("PLATFORM_DEFCONFIG={CONFIG}"));
    make.args(["PLATFORM=generic", "PLATFORM_RISCV_XLEN=64", "FW_JUMP=n", "FW_PAYLOAD=n"]);
    // Otherwise OpenSBI states the version of a repository around its folder.
    make.args(["REPRODUCIBLE=y", "OPENSBI_VERSION_GIT="]);
    make.args(["CC=riscv-cc", "AR=riscv-ar", "LD=ld.lld", "OBJCOPY=riscv-objcopy"]);
    run::quietly(&mut make)?;

    fs::create_dir_all(made)?;
    for name in ["fw_dynamic.bin", "fw_dynamic.elf"] {
        let file = output.join("platform/generic/firmware").join(name);
        fs::copy(&file, made.join(name)).with_context(|| file.display().to_string())?;
    }
    for name in LICENCES {
        fs::copy(tree.join(name), made.join(name)).with_context(|| name.to_owned())?;
    }
    Ok(())
}

/// Makes a folder with the programs of a compiler, under names without a path, and returns it.
fn programs(compiler: &Root, scratch: &Path) -> Result<PathBuf> {
    let sysroot = run::quietly(
        Command::new("rustc").args(["--print", "sysroot"]).current_dir(project::root()),
    )?;
    let linker = Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld");
    ensure!(linker.join("ld.lld").exists(), "the Rust toolchain has no linker; run `tools/setup`");
    let folder = scratch.join("programs");
    fs::create_dir(&folder)?;
    let launcher = |name: &str, program: &Path, arguments: &str| -> Result<()> {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\nexec '{}' {arguments} \"$@\"\n", program.display()))?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
    };
    let linking = format!("-fuse-ld=lld '-B{}'", linker.display());
    launcher("riscv-cc", &compiler.file("run/riscv64-unknown-elf-gcc")?, &linking)?;
    launcher("riscv-ar", &compiler.file("run/riscv64-unknown-elf-ar")?, "")?;
    launcher("riscv-objcopy", &compiler.file("run/riscv64-unknown-elf-objcopy")?, "")?;
    launcher("ld.lld", &linker.join("ld.lld"), "")?;
    Ok(folder)
}

/// Runs the step of `cargo xtask test` that checks that OpenSBI has the stated bytes, that a second build in another
/// folder makes the same, and that no check of a range is in it, because no call takes one.
pub fn step(root: &Path) -> Result<Outcome> {
    let monitor = built()?;
    let digest = monitor.digest()?;
    let stated = fs::read_to_string(root.join(DIGESTS))?;
    let line = format!("{digest}  {NAME} {}", monitor.version);
    if !stated.lines().any(|it| it == line) {
        return Ok(Outcome::Failed(format!("{DIGESTS} does not have this build:\n{line}")));
    }
    let [compiler, sources] = packages::ensure_sets([tools::COMPILER, SOURCES])?;
    let scratch = tempfile::tempdir()?;
    let again = scratch.path().join("again");
    make(&compiler, &sources.file(&format!("src/{NAME}"))?, &config(&[])?, &again)?;
    if fs::read(again.join("fw_dynamic.bin"))? != fs::read(&monitor.bin)? {
        return Ok(Outcome::Failed("a second build of OpenSBI has other bytes".into()));
    }
    if monitor.has(RANGE_CHECK)? {
        return Ok(Outcome::Failed("OpenSBI has a call that takes a range of memory".into()));
    }
    // With its console, which takes the addresses of texts, OpenSBI has the check.
    if !variant(&[CONSOLE])?.has(RANGE_CHECK)? {
        return Ok(Outcome::Failed("the search for the check of a range finds none".into()));
    }
    Ok(Outcome::Passed)
}

/// A line of Kconfig that adds OpenSBI's console.
pub const CONSOLE: &str = "CONFIG_SBI_ECALL_DBCN=y";

/// The settings that bring back what OpenSBI has of calls that take the address of memory.
pub const WITH_ADDRESSES: [&str; 5] = [
    CONSOLE,
    "CONFIG_SBI_ECALL_LEGACY=y",
    "CONFIG_SBI_ECALL_PMU=y",
    "CONFIG_SBI_ECALL_SSE=y",
    "CONFIG_SBI_ECALL_DBTR=y",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_calls_that_the_configuration_leaves_in() {
        let all = ["base", "time", "ipi", "rfence", "hsm", "srst", "system-map"];
        assert_eq!(calls(&config(&[]).unwrap()), all);
        assert_eq!(calls("# CONFIG_SBI_ECALL_IPI is not set\n").len(), all.len() - 1);
    }
}
