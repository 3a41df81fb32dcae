//! Mutants: for each assertion a small fault in the RTL that it has to detect (`data/mutants.toml`).
//!
//! All mutants of a bench are built into one model, so that a model is built once for many mutants, and a run
//! takes seconds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A fault, and the assertion that has to fail first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The source that is changed, by its name.
    pub file: String,
    /// An expression that the file has once; between « and », if text around it is needed to find it.
    pub text: String,
    pub instead: String,
    /// `module.Name_A`.
    pub assertion: String,
    /// The bench that runs it, by the start of its name; without one, the first whose top is the file.
    pub bench: Option<String>,
    /// Tests of the bench that show it; without any, all of them.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Part of `cargo xtask test`.
    #[serde(default)]
    pub is_daily: bool,
}

/// `data/mutants.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    mutant: Vec<Mutant>,
}

/// The mutants of an engine; none if it has no table.
pub fn load(dir: &Path) -> Result<Vec<Mutant>> {
    let path = dir.join("data/mutants.toml");
    if path.exists() { read(&path) } else { Ok(Vec::new()) }
}

/// The mutants of a table.
pub fn read(path: &Path) -> Result<Vec<Mutant>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table =
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    Ok(table.mutant)
}
