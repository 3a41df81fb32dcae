//! Lists the pages of `docs/decisions` for the table of contents.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const FOLDER: &str = "docs/decisions";

/// Returns the entries of the decisions in the table of contents, ordered by number.
pub fn summary(root: &Path) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER)).context(FOLDER)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name != "README.md");
    names.sort();
    let mut out = "- [Decisions](../decisions/README.md)\n".to_owned();
    for name in names {
        let text =
            fs::read_to_string(root.join(FOLDER).join(&name)).with_context(|| name.clone())?;
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.with_context(|| format!("{name} begins with no title"))?;
        let _ = writeln!(out, "  - [{}](../decisions/{name})", title.replace(". ", "\\. "));
    }
    Ok(out)
}
