//! The pages of `docs/decisions` on the site, at the same path, so that a link means the same there.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The folder, from the root of the checkout and from that of the site.
pub const FOLDER: &str = "docs/decisions";

/// The list of all decisions, which a site serves as the page of the folder.
const INDEX: &str = "README.md";

/// Copies the pages to the site, and returns their part of the table of contents.
pub fn bring(root: &Path, source: &Path) -> Result<String> {
    let (from, to) = (root.join(FOLDER), source.join(FOLDER));
    fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&from).context(FOLDER)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let target = if name == INDEX { "index.md" } else { &name };
        let text = fs::read_to_string(from.join(&name)).with_context(|| name.clone())?;
        // Pages of the site are beside this folder in the tree, and at the root of the site.
        fs::write(to.join(target), text.replace("](../src/", "](../../"))?;
        if name != INDEX {
            names.push(name);
        }
    }
    names.sort();
    let mut out = format!("- [Decisions]({FOLDER}/index.md)\n");
    for name in names {
        let text = fs::read_to_string(from.join(&name)).with_context(|| name.clone())?;
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.with_context(|| format!("{name} begins with no title"))?;
        let _ = writeln!(out, "  - [{}]({FOLDER}/{name})", title.replace(". ", "\\. "));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_listed_by_number_and_their_list_is_the_page_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let (root, source) = (dir.path(), dir.path().join("book"));
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        for (name, text) in [
            (INDEX, "# Decisions\n"),
            ("0002-b.md", "# 2. B\n\ntext\n"),
            ("0001-a.md", "# 1. A\n\n[b](../src/b.md) [c](../../c.md)\n"),
        ] {
            fs::write(root.join(FOLDER).join(name), text).unwrap();
        }
        let summary = bring(root, &source).unwrap();
        let expected = "- [Decisions](docs/decisions/index.md)\n  \
                        - [1\\. A](docs/decisions/0001-a.md)\n  \
                        - [2\\. B](docs/decisions/0002-b.md)\n";
        assert_eq!(summary, expected);
        assert!(source.join(FOLDER).join("index.md").is_file());
        let page = fs::read_to_string(source.join(FOLDER).join("0001-a.md")).unwrap();
        assert!(page.ends_with("[b](../../b.md) [c](../../c.md)\n"), "{page}");
    }
}
