//! Tested Debian packages, unpacked into private folders below the cache.
//!
//! `tools/packages.toml` names sets of packages. A set is unpacked into a directory whose name contains a digest of the
//! request. So a changed pin leads to a new directory, and an old checkout still finds its own. A directory is created
//! atomically, by a rename. If it exists, nothing is run and nothing is downloaded.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::apt::{self, Apt};
use crate::{project, run};

/// A part of every digest. Raise it when the layout of an unpacked set changes.
const LAYOUT: &str = "1";

/// The value of an architecture that stands for sources, as apt calls them.
const SOURCE: &str = "source";

/// The contents of `tools/packages.toml`.
#[derive(Deserialize)]
pub struct PinFile {
    pub archive: Archive,
    pub set: BTreeMap<String, Set>,
    pub cargo: BTreeMap<String, CargoPin>,
}

/// The archive that packages are downloaded from.
#[derive(Deserialize)]
pub struct Archive {
    pub mirror: String,
    pub suite: String,
    pub architectures: Vec<String>,
}

/// A set of packages that are unpacked into one directory.
#[derive(Serialize, Deserialize)]
pub struct Set {
    /// True if all dependencies are downloaded too, down to the C library.
    closure: bool,
    megabytes: u32,
    /// Programs for which a launcher is written to `run/`.
    programs: Vec<String>,
    package: Vec<Pin>,
    /// Source packages, which are unpacked into `src/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    source: Vec<SourcePin>,
    /// An archive inside of a package, of which a part is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<ArchivePart>,
}

/// Folders of an archive that a package contains. They are unpacked into `src/`, and the archive is deleted.
#[derive(Serialize, Deserialize)]
struct ArchivePart {
    /// Path of the archive in the unpacked set.
    archive: String,
    /// Folders below the archive's top folder.
    folders: Vec<String>,
}

/// The upstream archive of a source package. Of several with one name, the first one is taken that the archive has.
#[derive(Clone, Serialize, Deserialize)]
struct SourcePin {
    name: String,
    version: String,
    file: String,
    sha256: String,
    /// The folder of the archive that has the file. If it is given, no index is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

/// A tested package.
#[derive(Serialize, Deserialize)]
pub struct Pin {
    pub name: String,
    pub architecture: String,
    pub version: String,
    pub sha256: String,
    /// The folder of the archive that has the file. If it is given, no index is needed as long as the archive has this
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

/// A program that is built from crates.io.
#[derive(Deserialize)]
pub struct CargoPin {
    pub version: String,
    pub minutes: u32,
    /// The features, instead of the default ones; if absent, the default ones.
    pub features: Option<Vec<String>>,
}

/// The actual contents of a set, written next to it.
#[derive(Default, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(default)]
    pub package: Vec<Pin>,
}

/// A set that is unpacked.
pub struct Root {
    pub dir: PathBuf,
    pub manifest: Manifest,
}

impl PinFile {
    pub fn load() -> Result<PinFile> {
        let path = project::root().join("tools/packages.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
    }

    fn set(&self, name: &str) -> Result<&Set> {
        self.set.get(name).with_context(|| format!("tools/packages.toml has no set {name}"))
    }
}

impl Pin {
    /// Returns the package name with the architecture, as apt expects it. For `all`, apt expects no architecture.
    pub fn apt_name(&self) -> String {
        match self.architecture.as_str() {
            "all" => self.name.clone(),
            architecture => format!("{}:{architecture}", self.name),
        }
    }

    /// Returns the path of the file in the archive. The version in it has no epoch (Debian Policy §5.6.12).
    fn file(&self) -> Option<String> {
        let version = self.version.split_once(':').map_or(&*self.version, |(_, version)| version);
        let folder = self.folder.as_ref()?;
        Some(format!("{folder}/{}_{version}_{}.deb", self.name, self.architecture))
    }

    fn is(&self, name: &str, architecture: &str) -> bool {
        self.name == name && self.architecture == architecture
    }
}

impl Root {
    /// Returns the path of a file of the set, which must exist.
    pub fn file(&self, path: &str) -> Result<PathBuf> {
        let file = self.dir.join(path);
        ensure!(
            file.exists(),
            "{} is missing; remove its package root and fetch again",
            file.display()
        );
        Ok(file)
    }
}

/// Returns a line for each of the sets that would have to be downloaded.
pub fn missing(names: &[&str]) -> Result<Vec<String>> {
    let pins = PinFile::load()?;
    let cache = project::cache_dir()?;
    let mut needs = Vec::new();
    for name in names {
        let set = pins.set(name)?;
        if !is_complete(&set_dir(&cache, &pins.archive, name, set)?) {
            let sources = set.source.iter().map(|pin| pin.name.as_str());
            let mut packages: Vec<_> =
                set.package.iter().map(|pin| pin.name.as_str()).chain(sources).collect();
            packages.dedup();
            needs.push(format!(
                "{} ({} MB from the Debian archive, into {})",
                packages.join(", "),
                set.megabytes,
                cache.display()
            ));
        }
    }
    Ok(needs)
}

/// Returns the unpacked sets, and downloads those that are missing. Obtain consent first.
pub fn ensure_sets<const N: usize>(names: [&str; N]) -> Result<[Root; N]> {
    let pins = PinFile::load()?;
    let cache = project::cache_dir()?;
    let place = |name: &str| set_dir(&cache, &pins.archive, name, pins.set(name)?);
    let mut wanted = Vec::new();
    for name in names {
        let target = place(name)?;
        if !is_complete(&target) {
            wanted.push((name, pins.set(name)?, target));
        }
    }
    if !wanted.is_empty() {
        fetch(&pins.archive, &wanted, &cache)?;
    }
    let mut roots = Vec::new();
    for name in names {
        let dir = place(name)?;
        let text = fs::read_to_string(dir.join("manifest.toml"))?;
        roots.push(Root { manifest: toml::from_str(&text)?, dir });
    }
    roots.try_into().map_err(|_| anyhow!("a package set vanished while it was read"))
}

/// Locks the cache for one writer. A second writer waits and then finds the packages.
pub fn lock(cache: &Path) -> Result<File> {
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let file = File::create(cache.join("lock"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("waiting for another download to finish");
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the cache"),
    }
    Ok(file)
}

/// Returns an empty directory in the cache, on the same file system as the directory that it will be renamed to.
///
/// The caller must hold the lock, because remains of an interrupted run are removed.
pub fn scratch(cache: &Path) -> Result<TempDir> {
    let parent = cache.join("tmp");
    if parent.exists() {
        fs::remove_dir_all(&parent)?;
    }
    fs::create_dir_all(&parent)?;
    Ok(tempfile::tempdir_in(parent)?)
}

fn is_complete(dir: &Path) -> bool {
    dir.join("manifest.toml").exists()
}

fn set_dir(cache: &Path, archive: &Archive, name: &str, set: &Set) -> Result<PathBuf> {
    let digest = digest(&[LAYOUT, &archive.suite, &toml::to_string(set)?]);
    Ok(cache.join("packages").join(format!("{name}-{digest}")))
}

/// Returns a short name for a product that depends on these texts.
pub fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    let mut digest = hex(&digest.finalize());
    digest.truncate(12);
    digest
}

/// Returns the SHA-256 of these bytes in hexadecimal.
pub fn digest_of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn fetch(archive: &Archive, sets: &[(&str, &Set, PathBuf)], cache: &Path) -> Result<()> {
    let _lock = lock(cache)?;
    let scratch = scratch(cache)?;
    let mut archives = Archives::new(archive, scratch.path())?;
    for (name, set, target) in sets {
        // The previous holder of the lock may have fetched it.
        if is_complete(target) {
            continue;
        }
        let tree = scratch.path().join(name);
        fill(&mut archives, name, set, &tree)?;
        fs::create_dir_all(target.parent().context("the cache has a parent")?)?;
        fs::rename(&tree, target)
            .with_context(|| format!("cannot move the packages to {}", target.display()))?;
    }
    Ok(())
}

/// The archive with the indexes of this machine's architecture, and with the indexes of all architectures. While a
/// mirror is being updated, it may have consistent indexes of one architecture and not of another.
struct Archives {
    native: Apt,
    all: Apt,
    native_architecture: String,
}

impl Archives {
    /// Prepares the archives in the scratch directory. The indexes need 200 MB and are soon out of date, so they are
    /// deleted with it.
    fn new(archive: &Archive, scratch: &Path) -> Result<Archives> {
        let native = archive.architectures.first().context("an archive has architectures")?.clone();
        Ok(Archives {
            native: Apt::prepare(&scratch.join("apt"), archive, slice::from_ref(&native))?,
            all: Apt::prepare(&scratch.join("apt-all"), archive, &archive.architectures)?,
            native_architecture: native,
        })
    }

    /// Returns the archive after reading the indexes that these packages need.
    fn indexed(&mut self, pins: &[&Pin]) -> Result<&Apt> {
        let is_native =
            |pin: &&Pin| ["all", &self.native_architecture].contains(&&*pin.architecture);
        let apt = if pins.iter().all(is_native) { &mut self.native } else { &mut self.all };
        apt.refresh()?;
        Ok(apt)
    }
}

/// Downloads a set and unpacks it into `tree`. The manifest is written last.
fn fill(from: &mut Archives, name: &str, set: &Set, tree: &Path) -> Result<()> {
    let archives = tree.with_extension("archives");
    fs::create_dir_all(&archives)?;
    fs::create_dir_all(tree)?;
    eprintln!("downloading the {name} packages ({} MB)", set.megabytes);
    let mut others = Vec::new();
    for pin in &set.package {
        let Some(file) = pin.file() else {
            others.push(pin);
            continue;
        };
        if let Err(error) = from.native.download_file(&file, &pin.sha256, &archives) {
            eprintln!("notice: the archive does not have {file}: {error}");
            others.push(pin);
        }
    }
    if !others.is_empty() {
        let apt = from.indexed(&others)?;
        let mut wanted = Vec::new();
        for pin in others {
            let offered = apt.versions(pin)?;
            let version = choose_version(pin, &offered)?;
            wanted.push(format!("{}={version}", pin.apt_name()));
        }
        apt.download(&wanted, set.closure, &archives)?;
    }

    let mut manifest = Manifest::default();
    let mut debs: Vec<PathBuf> = fs::read_dir(&archives)?
        .map(|entry| Ok(entry?.path()))
        .filter(|path: &Result<PathBuf>| {
            path.as_ref().is_ok_and(|path| path.extension().is_some_and(|ext| ext == "deb"))
        })
        .collect::<Result<_>>()?;
    debs.sort();
    eprintln!("checking and unpacking {} packages", debs.len());
    for deb in &debs {
        let package = identify(deb)?;
        check_pin(&set.package, &package)?;
        apt::unpack(deb, tree)?;
        manifest.package.push(package);
    }
    let mut sources = set.source.iter().peekable();
    while let Some(source) = sources.next() {
        if manifest.package.iter().any(|it| it.name == source.name && it.architecture == SOURCE) {
            continue;
        }
        let folder = archives.join(&source.name);
        fs::create_dir_all(&folder)?;
        let has_other = sources.peek().is_some_and(|next| next.name == source.name);
        match download_source(from, source, &folder) {
            Err(_) if has_other => {
                eprintln!("notice: no {} in the archive, taking the next version", source.file);
                continue;
            }
            result => result.with_context(|| {
                format!(
                    "{} is not in the archive any more; HARTLOCK_MIRROR may name a mirror that keeps old files",
                    source.file
                )
            })?,
        }
        let archive = folder.join(&source.file);
        let package = identify_source(source, &archive)?;
        apt::unpack_source(&archive, &tree.join("src").join(&source.name))?;
        manifest.package.push(package);
    }
    if let Some(part) = &set.part {
        let archive = tree.join(&part.archive);
        apt::unpack_part(&archive, &tree.join("src"), &part.folders)?;
        fs::remove_file(&archive).with_context(|| archive.display().to_string())?;
    }
    for program in &set.programs {
        write_launcher(tree, program)?;
    }
    fs::write(tree.join("manifest.toml"), toml::to_string(&manifest)?)?;
    Ok(())
}

/// Downloads the upstream archive of a source package into a folder.
fn download_source(from: &mut Archives, source: &SourcePin, into: &Path) -> Result<()> {
    match &source.folder {
        Some(folder) => {
            from.native.download_file(&format!("{folder}/{}", source.file), &source.sha256, into)
        }
        None => {
            from.indexed(&[])?.download_source(&format!("{}={}", source.name, source.version), into)
        }
    }
}

/// Checks that an upstream archive is the file that was tested.
fn identify_source(source: &SourcePin, archive: &Path) -> Result<Pin> {
    let bytes = fs::read(archive).with_context(|| format!("{} was not downloaded", source.file))?;
    let sha256 = digest_of_bytes(&bytes);
    ensure!(
        sha256 == source.sha256,
        "{} is not the file that was tested: SHA-256 {sha256}, expected {}",
        source.file,
        source.sha256
    );
    Ok(Pin {
        name: source.name.clone(),
        architecture: SOURCE.into(),
        version: source.version.clone(),
        sha256,
        folder: None,
    })
}

/// Returns the tested version if it is offered; otherwise prints a notice and returns the newest one.
fn choose_version<'a>(pin: &'a Pin, offered: &'a [String]) -> Result<&'a str> {
    if offered.contains(&pin.version) {
        return Ok(&pin.version);
    }
    let Some(newest) = offered.first() else {
        bail!("the Debian archive does not offer {}", pin.apt_name());
    };
    eprintln!(
        "notice: {} {newest} instead of the tested {}, which the archive no longer has",
        pin.name, pin.version
    );
    Ok(newest)
}

fn identify(deb: &Path) -> Result<Pin> {
    let (name, version, architecture) = apt::describe_deb(deb)?;
    let mut digest = Sha256::new();
    digest.update(fs::read(deb)?);
    let sha256 = hex(&digest.finalize());
    Ok(Pin { name, architecture, version, sha256, folder: None })
}

/// Checks that a package of the tested version is the file that was tested, whatever the archive signs today.
fn check_pin(pins: &[Pin], package: &Pin) -> Result<()> {
    let pin = pins.iter().find(|pin| pin.is(&package.name, &package.architecture));
    let Some(pin) = pin.filter(|pin| pin.version == package.version) else {
        return Ok(());
    };
    ensure!(
        pin.sha256 == package.sha256,
        "{} {} is not the file that was tested: SHA-256 {}, expected {}",
        pin.name,
        pin.version,
        package.sha256,
        pin.sha256
    );
    Ok(())
}

/// Writes `run/<program>`, which starts a program with the libraries of its own set, and runs it once as a test.
///
/// The launcher calls the dynamic linker of the set, because the path inside the program is that of the system. It uses
/// `readlink`, so that it can be called through a link.
fn write_launcher(tree: &Path, program: &str) -> Result<()> {
    let arguments = if program.starts_with("qemu-system-") {
        // QEMU searches for this folder relative to its executable, which is the dynamic linker here.
        " -L \"$root/usr/share/qemu\""
    } else if program.ends_with("-gcc") {
        // The programs that the compiler starts need the same dynamic linker.
        " -wrapper \"$root/usr/lib64/ld-linux-x86-64.so.2,--inhibit-cache,--library-path,\
$root/usr/lib/x86_64-linux-gnu\""
    } else {
        ""
    };
    let script = format!(
        r#"#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
export QEMU_MODULE_DIR="$root/usr/lib/x86_64-linux-gnu/qemu"
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --inhibit-cache \
    --library-path "$root/usr/lib/x86_64-linux-gnu" \
    "$root/usr/bin/{program}"{arguments} "$@"
"#
    );
    let path = tree.join("run").join(program);
    fs::create_dir_all(tree.join("run"))?;
    fs::write(&path, script)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    run::quietly(Command::new(&path).arg("--version"))
        .with_context(|| format!("{program} does not run on this machine"))?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(version: &str, sha256: &str) -> Pin {
        Pin {
            name: "opensbi".into(),
            architecture: "all".into(),
            version: version.into(),
            sha256: sha256.into(),
            folder: Some("pool/main/o/opensbi".into()),
        }
    }

    #[test]
    fn a_file_is_named_without_the_epoch() {
        assert_eq!(pin("1:1.6-1", "").file().unwrap(), "pool/main/o/opensbi/opensbi_1.6-1_all.deb");
        assert_eq!(Pin { folder: None, ..pin("1.6-1", "") }.file(), None);
    }

    /// Checks that the archive folder of each such package is given. Otherwise the files of the board would need an
    /// index of another architecture, which nothing else needs.
    #[test]
    fn what_is_taken_without_dependencies_needs_no_index() {
        for set in PinFile::load().unwrap().set.values().filter(|set| !set.closure) {
            assert!(set.package.iter().all(|pin| pin.file().is_some()));
        }
    }

    #[test]
    fn prefers_the_tested_version_and_takes_a_newer_one_when_it_is_gone() {
        let tested = pin("1.6-1", "");
        let offered = |list: &[&str]| list.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        assert_eq!(choose_version(&tested, &offered(&["1.7-1", "1.6-1"])).unwrap(), "1.6-1");
        assert_eq!(choose_version(&tested, &offered(&["1.7-1"])).unwrap(), "1.7-1");
        assert!(choose_version(&tested, &[]).is_err());
    }

    #[test]
    fn refuses_another_file_under_a_tested_version() {
        let pins = [pin("1.6-1", "aa")];
        check_pin(&pins, &pin("1.6-1", "aa")).unwrap();
        check_pin(&pins, &pin("1.7-1", "bb")).unwrap();
        let message = check_pin(&pins, &pin("1.6-1", "bb")).unwrap_err().to_string();
        assert!(message.contains("not the file that was tested"), "{message}");
    }

    #[test]
    fn a_changed_pin_gets_its_own_directory() {
        let archive = Archive {
            mirror: String::new(),
            suite: "trixie".into(),
            architectures: vec!["amd64".into()],
        };
        let set = |version| Set {
            closure: false,
            megabytes: 1,
            programs: vec![],
            package: vec![pin(version, "aa")],
            source: vec![],
            part: None,
        };
        let dir = |version| set_dir(Path::new("/c"), &archive, "board", &set(version)).unwrap();
        assert_eq!(dir("1.6-1"), dir("1.6-1"));
        assert_ne!(dir("1.6-1"), dir("1.7-1"));
    }

    #[test]
    fn scratch_removes_what_an_interrupted_run_left() {
        let cache = tempfile::tempdir().unwrap();
        let left = cache.path().join("tmp/half/archive.deb");
        fs::create_dir_all(left.parent().unwrap()).unwrap();
        fs::write(&left, "half").unwrap();
        let _scratch = scratch(cache.path()).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn committed_pin_file_parses() {
        let pins = PinFile::load().unwrap();
        assert!(pins.set.contains_key("host") && pins.set.contains_key("board"));
        let all = pins.set.values().flat_map(|set| &set.package);
        for pin in all {
            assert_eq!(pin.sha256.len(), 64, "{}", pin.name);
        }
    }
}
