//! Reads mutants: for each assertion, a small fault in the RTL that it has to detect (`data/mutants.toml`).
//!
//! All mutants of a bench are built into one model. So only one model is built for many mutants, and a run takes
//! seconds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A fault, and the assertion that has to fail first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The name of the source that is changed.
    pub file: String,
    /// An expression that occurs once in the file. If text around it is needed to find it, the expression is between «
    /// and ».
    pub text: String,
    pub instead: String,
    /// The assertion as `module.Name_A`.
    pub assertion: String,
    /// The start of the name of the bench that runs it; if absent, the first bench whose top module is the file.
    pub bench: Option<String>,
    /// The tests of the bench that show the fault; if absent, all of them.
    #[serde(default)]
    pub tests: Vec<String>,
    /// True if it is part of `cargo xtask test`.
    #[serde(default)]
    pub is_daily: bool,
}

/// The contents of `data/mutants.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    mutant: Vec<Mutant>,
}

/// Reads the mutants of an engine; none if it has no table.
pub fn load(dir: &Path) -> Result<Vec<Mutant>> {
    let path = dir.join("data/mutants.toml");
    if path.exists() { read(&path) } else { Ok(Vec::new()) }
}

/// Reads the mutants of a table.
pub fn read(path: &Path) -> Result<Vec<Mutant>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table =
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    Ok(table.mutant)
}
