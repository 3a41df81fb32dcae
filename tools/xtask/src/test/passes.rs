//! The passes of steps: those of this machine, below the target directory, and a record that is committed.
//!
//! The record is for steps that take too long to run on every change. An entry is valid for the digest of the inputs
//! that the step reads from the tree, and states the machine on which the step passed. Only the runner writes it, and
//! only after a pass.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xtask::run;

use super::inputs;
use super::steps::{TestStep, Tier};

/// The file of the record, below the root of the tree.
pub const RECORD: &str = "verif/passed.toml";

const HEAD: &str = "\
# Steps beyond the first tier of `make test` that passed: for which inputs, when, and where.
# Written by `cargo xtask test` after a pass. A change of a step's inputs voids its entry.

";

/// An entry of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// The digest of the inputs of the step in the tree (`inputs.rs`).
    pub inputs: String,
    /// The day of the pass, in UTC.
    pub date: String,
    pub seconds: f64,
    /// The machine on which the step passed.
    pub machine: String,
}

/// The decision whether a step runs.
#[derive(Debug, PartialEq)]
pub enum RunDecision {
    Run,
    /// The step passed on this machine with the same inputs, in this number of seconds.
    Unchanged(f64),
    /// The step passed with the same inputs, according to the record.
    Recorded(Pass),
}

/// The passes of this machine and of the record.
pub struct Passes {
    root: PathBuf,
    /// The folder of the passes of this machine, with a file for each step.
    folder: PathBuf,
    machine: String,
}

impl Passes {
    /// Reads the record of a tree. `folder` is for passes of this machine and need not exist.
    ///
    /// # Errors
    /// If the record exists and cannot be read.
    pub fn load(root: &Path, folder: PathBuf) -> Result<Self> {
        let passes = Self { root: root.to_owned(), folder, machine: machine() };
        passes.read()?;
        Ok(passes)
    }

    fn read(&self) -> Result<BTreeMap<String, Pass>> {
        let path = self.root.join(RECORD);
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).with_context(|| path.display().to_string()),
            Err(_) => Ok(BTreeMap::new()),
        }
    }

    #[cfg(test)]
    pub fn empty(folder: &Path) -> Self {
        Self { root: folder.to_owned(), folder: folder.join("local"), machine: String::new() }
    }

    #[cfg(test)]
    pub fn with_folder(self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self }
    }

    /// Decides if a step has to run. `takes` selects the kinds of passes that count.
    pub fn decide(&self, step: &TestStep, tree: &inputs::Tree, takes: Takes) -> RunDecision {
        if takes.local
            && let Some(key) = tree.local_key(&self.root, step)
            && let Some(seconds) = self.find(step, &key)
        {
            return RunDecision::Unchanged(seconds);
        }
        if takes.record
            && let Some(pass) = self.recorded(step, tree)
        {
            return RunDecision::Recorded(pass);
        }
        RunDecision::Run
    }

    /// Returns the entry of the record for the present inputs. There is none if a variable changes what is built or
    /// run.
    pub fn recorded(&self, step: &TestStep, tree: &inputs::Tree) -> Option<Pass> {
        if step.tier == Tier::First || !inputs::variables(step).is_empty() {
            return None;
        }
        let key = tree.key(step)?;
        self.read().ok()?.remove(step.name).filter(|pass| pass.inputs == key)
    }

    /// Returns the seconds that the step took when it passed on this machine with this key.
    fn find(&self, step: &TestStep, key: &str) -> Option<f64> {
        let text = fs::read_to_string(self.folder.join(step.name)).ok()?;
        let (known, seconds) = text.trim_end().split_once(' ')?;
        if known == key { seconds.parse().ok() } else { None }
    }

    /// Stores a pass for a state of the tree, which must not have changed during the run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, step: &TestStep, tree: &inputs::Tree, seconds: f64) -> Result<()> {
        let Some(key) = tree.local_key(&self.root, step) else { return Ok(()) };
        let path = self.folder.join(step.name);
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        fs::write(&path, format!("{key} {seconds:.1}\n"))
            .with_context(|| path.display().to_string())?;
        self.record(step, tree, seconds)
    }

    /// Adds a pass for a state of the tree to the record, and keeps entries that other runs have written meanwhile.
    ///
    /// # Errors
    /// If the record cannot be read or written.
    pub fn record(&self, step: &TestStep, tree: &inputs::Tree, seconds: f64) -> Result<()> {
        let Some(inputs) = tree.key(step) else { return Ok(()) };
        if step.tier == Tier::First || !inputs::variables(step).is_empty() {
            return Ok(());
        }
        let path = self.root.join(RECORD);
        let folder = path.parent().context("a file in a folder")?;
        fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        lock.lock()?;
        let mut record = self.read()?;
        let (date, machine) = (today()?, self.machine.clone());
        let pass = Pass { inputs, date, seconds: (seconds * 10.0).round() / 10.0, machine };
        record.insert(step.name.to_owned(), pass);
        let text = format!("{HEAD}{}", toml::to_string(&record)?);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path).with_context(|| path.display().to_string())?;
        Ok(())
    }
}

/// The kinds of passes that a run uses.
#[derive(Clone, Copy)]
pub struct Takes {
    pub local: bool,
    pub record: bool,
}

/// Returns the day in UTC.
///
/// # Errors
/// If `date` fails.
pub fn today() -> Result<String> {
    Ok(run::quietly(Command::new("date").args(["-u", "+%F"]))?.trim().to_owned())
}

/// Returns system, compiler and Python of this machine in one line.
fn machine() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let first = |program: &str, argument: &str| {
        let said = run::quietly(Command::new(program).arg(argument)).unwrap_or_default();
        said.trim().lines().next().unwrap_or("absent").to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {cores} cores, g++ {}, {}",
        name.unwrap_or("Linux").trim_matches('"'),
        first("g++", "-dumpfullversion"),
        first("python3", "--version"),
    )
}
