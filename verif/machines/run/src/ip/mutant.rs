//! Reads mutants: for each assertion, a small fault in the RTL that it has to detect (`data/mutants.toml`).
//!
//! All mutants of a bench are built into one model. So only one model is built for many mutants, and a run takes
//! seconds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A fault, and the assertion that has to fail first.
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
    pub tests: Vec<String>,
    /// True if it is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// The contents of `data/mutants.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    group: Vec<Group>,
}

/// Mutants that the same tests of a bench show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    bench: Option<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    is_daily: bool,
    /// Assertion, text, and what takes its place; then the file, if it is not that of the assertion's module.
    mutants: Vec<Vec<String>>,
}

impl Group {
    fn mutant(&self, row: &[String]) -> Result<Mutant> {
        let (assertion, text, instead, file) = match row {
            [assertion, text, instead] => {
                let module = assertion.split('.').next().unwrap_or_default();
                (assertion, text, instead, format!("{module}.sv"))
            }
            [assertion, text, instead, file] => (assertion, text, instead, file.clone()),
            _ => bail!("a mutant has three columns or four: {row:?}"),
        };
        Ok(Mutant {
            file,
            text: text.clone(),
            instead: instead.clone(),
            assertion: assertion.clone(),
            bench: self.bench.clone(),
            tests: self.tests.clone(),
            is_daily: self.is_daily,
        })
    }
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
    let all = || -> Result<Vec<Mutant>> {
        let table: Table = toml::from_str(&text)?;
        let rows = table.group.iter().flat_map(|it| it.mutants.iter().map(move |row| (it, row)));
        rows.map(|(group, row)| group.mutant(row)).collect()
    };
    all().with_context(|| format!("cannot parse {}", path.display()))
}
