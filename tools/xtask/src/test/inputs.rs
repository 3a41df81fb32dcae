//! Computes a digest of everything that the outcome of a step depends on.
//!
//! The digest covers the definition of the step, the files of the tree that it reads, and the packages from which its
//! programs are built: their folders, the versions of the libraries that they link, and the profiles of the workspace.
//! Fetched tools are covered by the files that pin them. A second digest also covers inputs outside of the tree: the
//! compilers and programs of this machine that the step names, and the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};
use xtask::run;

use super::steps::{Action, Outside, TestStep};

/// A part of every digest. Raise it when all steps check more than before.
const VERSION: &str = "3";

/// Variables that change what is built or run. A name that ends with `_` is a prefix.
const VARIABLES: [&str; 21] = [
    "AR",
    "AR_",
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CC",
    "CC_",
    "CFLAGS",
    "CFLAGS_",
    "CXX",
    "CXXFLAGS",
    "CXXFLAGS_",
    "CXX_",
    "HARTLOCK_",
    "PYTHONHOME",
    "PYTHONOPTIMIZE",
    "PYTHONPATH",
    "RUSTC",
    "RUSTC_",
    "RUSTFLAGS",
];
/// Variables that this program sets itself, or that do not influence a result.
const NOT_VARIABLES: [&str; 5] = [
    "HARTLOCK_ANY_FILE_SYSTEM",
    "HARTLOCK_CACHE",
    "HARTLOCK_MIRROR",
    "HARTLOCK_RUNNERS",
    "HARTLOCK_STEP",
];

/// The folder of the lab, a workspace of its own.
const LAB: &str = "lab";
/// The files that fix the versions of libraries.
const LOCKS: [&str; 2] = ["Cargo.lock", "lab/Cargo.lock"];
/// The folder of this package. Programs link its library, whose modules are not in `PROGRAM`.
const XTASK: &str = "tools/xtask";
/// Modules of the program `xtask`, which no other program is built from.
const PROGRAM: &[&str] = &[
    "tools/xtask/src/deny.rs",
    "tools/xtask/src/emulator.rs",
    "tools/xtask/src/fetch.rs",
    "tools/xtask/src/install.rs",
    "tools/xtask/src/main.rs",
    "tools/xtask/src/openssl.rs",
    "tools/xtask/src/runners.rs",
    "tools/xtask/src/test",
    "tools/xtask/src/test.rs",
    "tools/xtask/src/walkthrough.rs",
];

/// The digests of all files of the tree at one time.
#[derive(Clone, Default)]
pub struct Tree {
    /// The digest of each file, by its path.
    files: BTreeMap<String, [u8; 32]>,
    workspace: Workspace,
}

/// The packages of the workspace, as cargo resolves them.
#[derive(Clone, Default)]
struct Workspace {
    packages: BTreeMap<String, Package>,
    /// The package folder of each program.
    programs: BTreeMap<String, String>,
    /// The profiles, lints and editions.
    settings: String,
}

/// The parts from which a package is built, including itself.
#[derive(Clone, Default)]
struct Package {
    /// The folders of packages of the workspace.
    folders: BTreeSet<String>,
    /// The names and versions of external libraries.
    libraries: BTreeSet<String>,
}

/// A reader of the tree. It does not read a file again that did not change since the last time.
pub struct Reader {
    root: PathBuf,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    files: BTreeMap<String, (Stamp, [u8; 32])>,
    /// The workspace, with the digest of the manifests from which it was derived.
    workspace: Option<([u8; 32], Workspace)>,
}

/// The modification time and the size of a file.
type Stamp = (u128, u64);

impl Reader {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), known: Mutex::default() }
    }

    /// Reads the files that git tracks, and also untracked files that are not ignored.
    ///
    /// # Errors
    /// If this is not a checkout, or cargo cannot resolve the workspace.
    pub fn read(&self) -> Result<Tree> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root);
        let list = run::quietly(&mut git)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = BTreeMap::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            // A file that was deleted is treated as absent.
            let Ok(metadata) = fs::metadata(self.root.join(path)) else { continue };
            let stamp = stamp(&metadata);
            let digest = match known.files.get(path) {
                Some((before, digest)) if *before == stamp => *digest,
                _ => match fs::read(self.root.join(path)) {
                    Ok(bytes) => Sha256::digest(bytes).into(),
                    Err(_) => continue,
                },
            };
            known.files.insert(path.to_owned(), (stamp, digest));
            files.insert(path.to_owned(), digest);
        }
        let workspace = self.workspace(&files, &mut known)?;
        Ok(Tree { files, workspace })
    }

    fn workspace(
        &self,
        files: &BTreeMap<String, [u8; 32]>,
        known: &mut Known,
    ) -> Result<Workspace> {
        let is_manifest =
            |path: &str| LOCKS.contains(&path) || path.rsplit('/').next() == Some("Cargo.toml");
        let mut manifests = Sha256::new();
        for (path, digest) in files.iter().filter(|(path, _)| is_manifest(path)) {
            manifests.update(format!("{path}\0"));
            manifests.update(digest);
        }
        let manifests: [u8; 32] = manifests.finalize().into();
        if !files.contains_key("Cargo.toml") {
            return Ok(Workspace::default());
        }
        if let Some((of, workspace)) = &known.workspace
            && *of == manifests
        {
            return Ok(workspace.clone());
        }
        let workspace = Workspace::resolve(&self.root)?;
        known.workspace = Some((manifests, workspace.clone()));
        Ok(workspace)
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (changed.map_or(0, |time| time.as_nanos()), metadata.len())
}

impl Workspace {
    fn resolve(root: &Path) -> Result<Self> {
        let mut all = Self::of_manifest(root, "Cargo.toml")?;
        // Of the lab's workspace the lab itself: the other packages in it are those of the first.
        let lab = Self::of_manifest(root, "lab/Cargo.toml")?;
        all.programs.extend(lab.programs.into_iter().filter(|(_, folder)| folder == LAB));
        all.packages.extend(lab.packages.into_iter().filter(|(folder, _)| folder == LAB));
        Ok(all)
    }

    fn of_manifest(root: &Path, manifest: &str) -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest]);
        let metadata = serde_json::from_str(&run::quietly(cargo.current_dir(root))?)?;
        let manifest: toml::Table = toml::from_str(&fs::read_to_string(root.join(manifest))?)?;
        Self::from_metadata(root, &metadata, &manifest).context("cargo metadata has another form")
    }

    fn from_metadata(root: &Path, metadata: &Value, manifest: &toml::Table) -> Option<Self> {
        let (mut names, mut own, mut programs) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for package in metadata["packages"].as_array()? {
            let id = package["id"].as_str()?;
            let version = package["version"].as_str()?;
            names.insert(id, format!("{} {version}", package["name"].as_str()?));
            if !package["source"].is_null() {
                continue;
            }
            let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
            let folder = folder.strip_prefix(root).ok()?.to_str()?.to_owned();
            for target in package["targets"].as_array()? {
                if target["kind"][0] == "bin" {
                    programs.insert(target["name"].as_str()?.to_owned(), folder.clone());
                }
            }
            own.insert(id, folder);
        }
        let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in metadata["resolve"]["nodes"].as_array()? {
            let mut targets = Vec::new();
            for edge in node["deps"].as_array()? {
                let is_of_tests = |kind: &Value| kind["kind"] == "dev";
                if !edge["dep_kinds"].as_array()?.iter().all(is_of_tests) {
                    targets.push(edge["pkg"].as_str()?);
                }
            }
            edges.insert(node["id"].as_str()?, targets);
        }
        let mut packages = BTreeMap::new();
        for (id, folder) in &own {
            let mut seen = BTreeSet::from([*id]);
            let mut open = vec![*id];
            while let Some(next) = open.pop() {
                for target in edges.get(next).into_iter().flatten() {
                    if seen.insert(target) {
                        open.push(target);
                    }
                }
            }
            let mut package = Package::default();
            for id in seen {
                match own.get(id) {
                    Some(folder) => package.folders.insert(folder.clone()),
                    None => package.libraries.insert(names.get(id)?.clone()),
                };
            }
            packages.insert(folder.clone(), package);
        }
        // Adding or removing a member does not change the parts from which other packages are built.
        let mut settings = manifest.clone();
        let workspace = settings.get_mut("workspace")?.as_table_mut()?;
        workspace.remove("members");
        workspace.remove("default-members");
        Some(Self { packages, programs, settings: settings.to_string() })
    }
}

impl Tree {
    /// Returns the digest of the inputs in the tree, or `None` for a step that depends on more than can be read.
    pub fn key(&self, step: &TestStep) -> Option<String> {
        if !step.has_key() {
            return None;
        }
        let mut digest = Sha256::new();
        digest.update(format!("{VERSION}\n{}\n", step.name));
        let runner = match step.action {
            Action::Command(words) => {
                digest.update(format!("{words:?}\n"));
                None
            }
            Action::Function(_) => None,
            Action::Runner(program) => Some(self.workspace.programs.get(program)?.as_str()),
        };
        let (mut folders, mut libraries) = (BTreeSet::new(), BTreeSet::new());
        let named = |folder: &str| step.packages.iter().any(|named| covers(named, folder));
        for (folder, package) in &self.workspace.packages {
            if runner == Some(folder) || named(folder) {
                folders.extend(&package.folders);
                libraries.extend(&package.libraries);
            }
        }
        if !folders.is_empty() {
            digest.update(format!("{}\n{libraries:?}\n", self.workspace.settings));
        }
        for (path, file) in &self.files {
            let is_source = folders.iter().any(|folder| is_source(folder, path));
            if is_source && !is_left_out(step, path) || is_read(step, path) {
                digest.update(format!("{path}\0"));
                digest.update(file);
            }
        }
        Some(hex(&digest.finalize()))
    }

    /// Returns the digest of the inputs in the tree together with those outside of it.
    pub fn local_key(&self, root: &Path, step: &TestStep) -> Option<String> {
        let mut digest = Sha256::new();
        digest.update(self.key(step)?);
        digest.update(outside(root, step));
        Some(hex(&digest.finalize()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if a program that links the package is built from this file. The files of its tests do not count.
fn is_source(folder: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let is_of_tests = rest.starts_with("tests/")
        || rest.contains("/tests/")
        || rest.ends_with("/tests.rs")
        || rest.ends_with(".md");
    !(is_of_tests || folder == XTASK && PROGRAM.iter().any(|module| covers(module, path)))
}

/// Returns true if the step itself reads this file.
fn is_read(step: &TestStep, path: &str) -> bool {
    step.reads.iter().copied().flatten().any(|input| covers(input, path))
        && !is_left_out(step, path)
}

/// Returns true for a file that does not count as an input of the step. No step reads the record, since that is a
/// result of the steps.
fn is_left_out(step: &TestStep, path: &str) -> bool {
    path == super::passes::RECORD || step.ignored_paths.iter().any(|other| covers(other, path))
}

/// Returns true if `input` is this file or a folder that contains it. `*` with a suffix stands for all files that end
/// with it.
pub fn covers(input: &str, path: &str) -> bool {
    if let Some(ending) = input.strip_prefix('*') {
        return path.ends_with(ending);
    }
    let rest = path.strip_prefix(input);
    input.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a digest of the inputs outside of the tree: programs of this machine that the step names, and the
/// environment.
fn outside(root: &Path, step: &TestStep) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut says = |program: &'static str, argument: &str| {
        digest.update(version_output(root, program, argument))
    };
    says("rustc", "-vV");
    for it in step.outside {
        match it {
            Outside::Compiler => says("c++", "--version"),
            Outside::Openssl => says("openssl", "version"),
            Outside::Python => says("python3", "-VV"),
        }
    }
    digest.update(format!("{:?}", variables(step)));
    let mut list = Vec::new();
    let emulator = env::var_os("HARTLOCK_QEMU");
    let vectors = env::var_os("HARTLOCK_VECTORS").filter(|_| step.vectors);
    for named in emulator.into_iter().chain(vectors) {
        names_and_times(Path::new(&named), &mut list);
    }
    list.sort_unstable();
    digest.update(format!("{list:?}"));
    for path in cargo_configurations(root) {
        let bytes = fs::read(&path).unwrap_or_default();
        digest.update(format!("{}\n{}\n", path.display(), bytes.len()));
        digest.update(bytes);
    }
    digest.finalize().into()
}

/// Returns the output of a program that prints its version. Each program is run once.
fn version_output(root: &Path, program: &'static str, argument: &str) -> Vec<u8> {
    static KNOWN: Mutex<BTreeMap<&str, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let ask = || {
        let output = run::capture(Command::new(program).arg(argument).current_dir(root));
        output.map_or_else(|_| Vec::new(), |output| output.stdout)
    };
    known.entry(program).or_insert_with(ask).clone()
}

/// Returns the variables of the environment that change what the step builds or runs.
pub fn variables(step: &TestStep) -> Vec<(String, String)> {
    let counts = |name: &str| {
        VARIABLES.iter().any(|it| name == *it || it.ends_with('_') && name.starts_with(it))
            && !NOT_VARIABLES.contains(&name)
            && (step.vectors || name != "HARTLOCK_VECTORS")
    };
    let mut variables: Vec<(String, String)> = env::vars_os()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .filter(|(name, _)| counts(name))
        .collect();
    variables.sort_unstable();
    variables
}

/// Returns the files of cargo's configuration outside of the tree: in the user's folder and in the folders above the
/// tree.
fn cargo_configurations(root: &Path) -> Vec<PathBuf> {
    let of_user = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let above = root.ancestors().skip(1).map(|folder| folder.join(".cargo"));
    of_user
        .into_iter()
        .chain(above)
        .flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name)))
        .filter(|path| path.exists())
        .collect()
}

/// Lists path, size and modification time of a file, or of every file of a folder. The files are too large to be read
/// each time.
fn names_and_times(path: &Path, list: &mut Vec<(PathBuf, Stamp)>) {
    let Ok(metadata) = fs::metadata(path) else { return };
    if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            names_and_times(&entry.path(), list);
        }
        return;
    }
    list.push((path.to_owned(), stamp(&metadata)));
}

#[cfg(test)]
mod tests;
