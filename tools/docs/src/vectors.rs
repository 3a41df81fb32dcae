//! Generates the tables of `spec/vectors/image`, where each bundle has one fault or none.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

const EXPECTED: &str = "spec/vectors/image/expected.json";

/// The fields of a vector in `expected.json` that the table shows.
#[derive(Deserialize)]
pub struct Vector {
    pub name: String,
    pub reason: Option<String>,
    pub description: String,
}

impl Vector {
    /// Returns a link to the row of the vector, from a page one folder below the root of the book.
    pub fn link(&self) -> String {
        format!("[`{0}`](../vectors.md#{0})", self.name)
    }
}

pub fn load(root: &Path) -> Result<Vec<Vector>> {
    let text = fs::read_to_string(root.join(EXPECTED)).context(EXPECTED)?;
    serde_json::from_str(&text).context(EXPECTED)
}

/// Returns two tables: vectors that must be accepted, and vectors that must be refused.
pub fn table(vectors: &[Vector]) -> String {
    let (accepted, refused): (Vec<_>, Vec<_>) =
        vectors.iter().partition(|vector| vector.reason.is_none());
    let mut out = format!("## Accepted: {} bundles\n\n", accepted.len());
    out += "| vector | what is special about it |\n|---|---|\n";
    for Vector { name, description, .. } in accepted {
        let _ = writeln!(out, "| <span id=\"{name}\"></span>`{name}` | {description} |");
    }
    let _ = writeln!(out, "\n## Refused: {} bundles with one fault each\n", refused.len());
    out += "| vector | reason | the fault |\n|---|---|---|\n";
    for Vector { name, reason, description } in refused {
        let code = reason.as_deref().unwrap_or_default();
        let link = format!("[{code}](reasons/{code}.md)");
        let _ = writeln!(out, "| <span id=\"{name}\"></span>`{name}` | {link} | {description} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_listed_by_its_verdict_and_has_an_anchor() {
        let vector = |name: &str, reason: Option<&str>| Vector {
            name: name.into(),
            reason: reason.map(str::to_owned),
            description: "Something.".into(),
        };
        let text = table(&[vector("good", None), vector("bad", Some("E0301"))]);
        assert!(text.contains("## Accepted: 1 bundles"), "{text}");
        assert!(text.contains("| <span id=\"bad\"></span>`bad` | [E0301]("), "{text}");
        assert!(vector("bad", None).link().ends_with("vectors.md#bad)"));
    }
}
