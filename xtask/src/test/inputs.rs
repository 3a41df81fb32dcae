//! What the outcome of a step depends on, as one digest, and the passes that are known by it.
//!
//! The digest covers the files of the tree that the step reads, the versions of compilers and of Python, the
//! variables of the environment that builds and runners read, cargo's configuration, an emulator that a
//! variable names, and the folder of public vectors. Fetched tools are covered by the files that pin them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use xtask::run;

use super::steps::Step;

/// Part of every key: raise it when a step does more than it did.
const VERSION: &str = "2";

/// Variables that change what is built or run, by the beginning of their names.
const VARIABLES: [&str; 11] = [
    "AR",
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CC",
    "CFLAGS",
    "CXX",
    "HARTLOCK_",
    "PYTHON",
    "RUST",
];
/// Set by this program itself, or without influence on a result.
const NOT_VARIABLES: [&str; 3] = ["HARTLOCK_RUNNERS", "HARTLOCK_STEP", "RUST_RECURSION_COUNT"];

/// A state of everything that steps depend on.
pub struct Inputs {
    root: PathBuf,
    /// Digest of each file of the tree, by its path.
    files: BTreeMap<String, [u8; 32]>,
    /// Digest of what is outside of the tree.
    outside: [u8; 32],
}

impl Inputs {
    /// Reads the files that git tracks or would track.
    ///
    /// # Errors
    /// If this is not a checkout, or a file cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root);
        let list = run::quietly(&mut git)?;
        let mut files = BTreeMap::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            // A file that was deleted is one that is not there.
            if let Ok(bytes) = fs::read(root.join(path)) {
                files.insert(path.to_owned(), Sha256::digest(bytes).into());
            }
        }
        Ok(Self { root: root.to_owned(), files, outside: outside(root) })
    }

    /// Whether everything that the step reads is now as it was, so that a run between then and now judged
    /// that state and no other.
    pub fn are_as_before(&self, step: &Step) -> bool {
        Self::read(&self.root).is_ok_and(|now| now.key(step) == self.key(step))
    }

    /// The key of a step; `None` for one that depends on more than can be read.
    pub fn key(&self, step: &Step) -> Option<String> {
        if step.reads.is_empty() {
            return None;
        }
        let mut digest = Sha256::new();
        digest.update(format!("{VERSION}\n{}\n{:?}\n", step.name, self.outside));
        for (path, file) in &self.files {
            if is_input(step, path) {
                digest.update(format!("{path}\0"));
                digest.update(file);
            }
        }
        Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Whether the outcome of a step depends on this file.
fn is_input(step: &Step, path: &str) -> bool {
    step.reads.iter().copied().flatten().any(|input| covers(input, path))
        && !step.but.iter().any(|other| covers(other, path))
}

/// Whether a file or folder that a step reads is, or has, this file.
pub fn covers(input: &str, path: &str) -> bool {
    let rest = path.strip_prefix(input);
    input.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Compilers, interpreter, environment, configuration and vectors.
fn outside(root: &Path) -> [u8; 32] {
    let mut digest = Sha256::new();
    for (program, argument) in [
        ("rustc", "-vV"),
        ("c++", "--version"),
        ("g++", "--version"),
        ("python3", "-VV"),
        ("openssl", "version"),
    ] {
        let said = run::capture(Command::new(program).arg(argument).current_dir(root));
        digest.update(said.map_or_else(|_| Vec::new(), |output| output.stdout));
    }
    let mut variables: Vec<(String, String)> = env::vars_os()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .filter(|(name, _)| VARIABLES.iter().any(|start| name.starts_with(start)))
        .filter(|(name, _)| !NOT_VARIABLES.contains(&name.as_str()))
        .collect();
    variables.sort_unstable();
    digest.update(format!("{variables:?}"));
    let mut list = Vec::new();
    for named in ["HARTLOCK_VECTORS", "HARTLOCK_QEMU"].into_iter().filter_map(env::var_os) {
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

/// Cargo's configuration outside of the tree: that of the user, and those of the folders above.
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

/// Path, size and time of change of a file, or of every file of a folder: they are too large to be read
/// each time.
fn names_and_times(path: &Path, list: &mut Vec<(PathBuf, u64, u128)>) {
    let Ok(metadata) = fs::metadata(path) else { return };
    if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            names_and_times(&entry.path(), list);
        }
        return;
    }
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |time| time.as_nanos());
    list.push((path.to_owned(), metadata.len(), changed));
}

/// The passes of earlier runs, below the target directory.
pub struct Passes {
    folder: PathBuf,
}

impl Passes {
    /// Those in a folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// How many seconds the step took when it passed with this key.
    pub fn find(&self, step: &Step, key: &str) -> Option<f64> {
        let text = fs::read_to_string(self.folder.join(step.name)).ok()?;
        let (known, seconds) = text.trim_end().split_once(' ')?;
        if known == key { seconds.parse().ok() } else { None }
    }

    /// Remembers a pass.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, step: &Step, key: &str, seconds: f64) -> Result<()> {
        let path = self.folder.join(step.name);
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        fs::write(&path, format!("{key} {seconds:.1}\n"))
            .with_context(|| path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::{Action, COMMAND, STEPS};
    use super::*;

    /// A tree with these files.
    fn tree(paths: &[&str], text: impl Fn(&str) -> Option<&'static str>) -> Inputs {
        let digest =
            |path: &&str| text(path).map(|text| ((*path).to_owned(), Sha256::digest(text).into()));
        Inputs {
            root: PathBuf::new(),
            files: paths.iter().filter_map(digest).collect(),
            outside: [0; 32],
        }
    }

    #[test]
    fn every_input_of_every_step_changes_its_key_and_others_do_not() {
        for step in STEPS.iter().filter(|step| !step.reads.is_empty()) {
            let inputs: Vec<String> =
                step.reads.iter().copied().flatten().map(|it| format!("{it}/file")).collect();
            let mut paths: Vec<&str> = inputs.iter().map(|it| it.trim_start_matches('/')).collect();
            paths.extend(["elsewhere/file", "crates/cli/src/main.rs", "crates/clip/file"]);
            let key = |changed: &str, to: Option<&'static str>| {
                tree(&paths, |path| if path == changed { to } else { Some("before") }).key(step)
            };
            let before = key("", None);
            for path in &paths {
                let is_covered =
                    step.reads.iter().copied().flatten().any(|input| covers(input, path));
                let is_left_out = path.starts_with("crates/cli/") && step.but == COMMAND;
                let expected = is_covered && !is_left_out;
                assert_eq!(before != key(path, Some("after")), expected, "{}: {path}", step.name);
                assert_eq!(before != key(path, None), expected, "{}: no {path}", step.name);
            }
            let other = Inputs { outside: [1; 32], ..tree(&paths, |_| Some("before")) };
            assert_ne!(before, other.key(step), "{}: another environment", step.name);
        }
    }

    #[test]
    fn reads_what_git_tracks_or_would_track() {
        let dir = tempfile::tempdir().unwrap();
        run::quietly(Command::new("git").args(["init", "-q"]).current_dir(dir.path())).unwrap();
        for (name, text) in
            [(".gitignore", "ignored\n"), ("ignored", ""), ("new", "1"), ("sub", "")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let inputs = Inputs::read(dir.path()).unwrap();
        assert_eq!(inputs.files.keys().collect::<Vec<_>>(), [".gitignore", "new", "sub"]);
    }

    #[test]
    fn folders_cover_what_is_in_them_and_no_neighbour() {
        assert!(covers("hw", "hw/ip/a.sv") && covers("Cargo.toml", "Cargo.toml"));
        assert!(!covers("hw", "hwx/a") && !covers("hw/run", "hw/a") && covers("", "a"));
    }

    #[test]
    fn a_pass_is_found_by_its_key_alone() {
        let dir = tempfile::tempdir().unwrap();
        let passes = Passes::in_folder(dir.path().join("deep/er"));
        assert_eq!(passes.find(&STEPS[0], "k"), None);
        passes.keep(&STEPS[0], "k", 1.25).unwrap();
        assert_eq!(passes.find(&STEPS[0], "k"), Some(1.2));
        assert_eq!(passes.find(&STEPS[0], "other"), None);
        assert_eq!(passes.find(&STEPS[1], "k"), None);
    }

    #[test]
    fn what_is_outside_of_the_tree_is_part_of_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path.into_os_string()
        };
        // Set for a child: this process has other threads.
        let key = |name: &str, value: &std::ffi::OsStr| {
            let mut test = Command::new(env::current_exe().unwrap());
            test.args(["--exact", "test::inputs::tests::prints_a_key", "--nocapture", "--ignored"]);
            let said = run::quietly(test.env(name, value)).unwrap();
            said.lines().find(|line| line.starts_with("key ")).map(str::to_owned).unwrap()
        };
        for name in ["HARTLOCK_TRIED", "CXX", "CARGO_TARGET_X_RUSTFLAGS", "RUSTFLAGS", "PYTHONPATH"]
        {
            let one = key(name, "a".as_ref());
            assert_ne!(one, key(name, "b".as_ref()), "{name}");
            assert_eq!(one, key(name, "a".as_ref()), "{name}");
        }
        assert_eq!(key("HARTLOCK_STEP", "a".as_ref()), key("HARTLOCK_STEP", "b".as_ref()));
        // An emulator that is built again, and a configuration that sets other flags.
        for (variable, name) in [("HARTLOCK_QEMU", "qemu"), ("CARGO_HOME", "config.toml")] {
            let path = file(name, "1");
            let value = if name == "qemu" { path } else { dir.path().as_os_str().to_owned() };
            let one = key(variable, &value);
            assert_eq!(one, key(variable, &value), "{variable}");
            file(name, "another");
            assert_ne!(one, key(variable, &value), "{variable}");
        }
    }

    #[test]
    #[ignore = "the test above runs it"]
    fn prints_a_key() {
        println!("\nkey {:?}", outside(&xtask::project::root()));
    }

    #[test]
    fn what_a_runner_is_built_from_is_an_input_of_its_steps() {
        let metadata = run::quietly(
            Command::new("cargo")
                .args(["metadata", "--format-version", "1", "--locked", "--no-deps"])
                .current_dir(xtask::project::root()),
        )
        .unwrap();
        let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
        let root = metadata["workspace_root"].as_str().unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let folder = |manifest: &str| {
            let folder = Path::new(manifest).parent().unwrap().strip_prefix(root).unwrap();
            folder.to_str().unwrap().to_owned()
        };
        for step in STEPS {
            let Action::Runner(runner) = step.action else { continue };
            let has_bin = |package: &&serde_json::Value| {
                package["targets"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|target| target["name"] == runner && target["kind"][0] == "bin")
            };
            let first = packages.iter().find(has_bin).unwrap()["name"].as_str().unwrap();
            let (mut seen, mut open) = (vec![first.to_owned()], vec![first.to_owned()]);
            while let Some(name) = open.pop() {
                let package = packages.iter().find(|it| it["name"] == *name).unwrap();
                let path = folder(package["manifest_path"].as_str().unwrap());
                let is_read =
                    step.reads.iter().copied().flatten().any(|input| covers(input, &path));
                assert!(is_read, "{} does not read {path}", step.name);
                for dependency in package["dependencies"].as_array().unwrap() {
                    let name = dependency["name"].as_str().unwrap().to_owned();
                    if dependency["path"].is_string()
                        && dependency["kind"] != "dev"
                        && !seen.contains(&name)
                    {
                        seen.push(name.clone());
                        open.push(name);
                    }
                }
            }
        }
    }

    /// Packages of the workspace that a program is built from.
    fn parts(of: &str) -> Vec<String> {
        let mut tree = Command::new("cargo");
        tree.args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"]);
        tree.args(["--format", "{p}", "--package", of]).current_dir(xtask::project::root());
        let said = run::quietly(&mut tree).unwrap();
        said.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    #[test]
    fn a_runner_whose_steps_leave_the_command_out_is_not_built_from_it() {
        let mut runners: Vec<&str> = STEPS
            .iter()
            .filter(|step| step.but == COMMAND)
            .map(|step| match step.action {
                Action::Runner(runner) => runner,
                _ => panic!("{}: no runner", step.name),
            })
            .collect();
        runners.sort_unstable();
        runners.dedup();
        assert_eq!(runners, ["device", "fuzz", "hw", "lab"]);
        for runner in runners {
            let package = match runner {
                "fuzz" => "hartlock-fuzz-run".to_owned(),
                _ => format!("hartlock-{runner}"),
            };
            let parts = parts(&package);
            assert!(parts.contains(&package), "{runner}: {parts:?}");
            assert!(!parts.iter().any(|part| part == "hartlock-cli"), "{runner}");
        }
        // The fuzz targets are a workspace of their own.
        let fuzz = fs::read_to_string(xtask::project::root().join("fuzz/Cargo.toml")).unwrap();
        assert!(fuzz.contains("crates/verify") && !fuzz.contains("crates/cli"));
        assert!(parts("hartlock-cli").iter().any(|part| part == "hartlock-cli"));
    }
}
