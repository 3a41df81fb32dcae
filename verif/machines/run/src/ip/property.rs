//! The description of proofs in `data/ip.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A property that is proven.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// The maximum length of the induction.
    #[serde(default)]
    pub steps: u32,
    /// Ports between which there must be no combinational path, from any of these inputs of the block to any of these
    /// outputs. It is proven instead of assertions.
    pub no_path: Option<Ports>,
    /// The way in which the proof has to refuse this property, if it is a wrong variant.
    pub must_fail: Option<Refusal>,
    /// The change of a source that makes the variant wrong, if no parameter does.
    pub change: Option<Change>,
}

/// The way in which a wrong variant is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Inputs lead from the reset to a failed assertion.
    Counterexample,
    /// The induction does not end within the steps that are enough for the right variant.
    NoProof,
}

/// A change of a source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub file: String,
    /// A text that occurs once in the file.
    pub text: String,
    pub instead: String,
}

/// Patterns of port names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    pub from: Vec<String>,
    pub to: Vec<String>,
}

impl Proof {
    pub fn name(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        let what = self.no_path.as_ref().map_or_else(String::new, |path| {
            format!(" no path {} to {}", path.from.join(", "), path.to.join(", "))
        });
        let change = self.change.as_ref().map_or_else(String::new, |change| {
            format!(" with `{}` in {}", change.instead, change.file)
        });
        format!("{}{}{what}{change}", self.top, parameters.collect::<String>())
    }
}

impl Change {
    /// Writes the changed file into a folder.
    pub fn apply(&self, source: &Path, folder: &Path) -> Result<()> {
        let text = fs::read_to_string(source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        ensure!(
            text.matches(&self.text).count() == 1,
            "{} does not have `{}` once",
            self.file,
            self.text
        );
        fs::write(folder.join(&self.file), text.replacen(&self.text, &self.instead, 1))?;
        Ok(())
    }
}
