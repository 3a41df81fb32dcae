//! Lays the book out below the target directory, as the site generator reads it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::directives::{self, Generated};
use super::{decisions, reasons, results, status, steps, vectors};
use hartlock_gen::errors::{self, List};

/// The directive by which a page of the book includes another file of the tree.
const INCLUDE: &str = "{{#include ";

/// Creates `dir` again: a checkout in which `docs/` is a copy with all directives replaced, and all the
/// rest are links, so that a path out of `docs/` has the same target in both. Returns the book.
pub fn lay_out(root: &Path, dir: &Path) -> Result<PathBuf> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        if !["docs", "target", ".git"].map(OsStr::new).contains(&name.as_os_str()) {
            symlink(root.join(&name), dir.join(&name))?;
        }
    }
    let book = dir.join("docs");
    copy(&root.join("docs"), &book)?;

    let source = book.join("src");
    let list = errors::load(root)?;
    let catalogue = vectors::load(root)?;
    let generated = Generated {
        summary: reasons::summary(&list),
        reasons: reasons::index(&list),
        vectors: vectors::table(&catalogue),
        results: results::page(&root.join("lab/runs"))?,
        status: status::page(root, &status::load(root)?),
        decisions: decisions::bring(root, &source)?,
        steps: steps::page(&root.join("lab/runs"))?,
    };
    for page in reasons::pages(&list, &catalogue, root)? {
        let path = source.join(&page.path);
        fs::create_dir_all(path.parent().context("a page has a folder")?)?;
        fs::write(&path, page.text).with_context(|| path.display().to_string())?;
    }
    Filler { root, source: &source, generated, list: &list }.fill(&source)?;
    Ok(book)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Fills in the pages of a book.
struct Filler<'a> {
    root: &'a Path,
    source: &'a Path,
    generated: Generated,
    list: &'a List,
}

impl Filler<'_> {
    fn fill(&self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.fill(&path)?;
            } else if path.extension() == Some(OsStr::new("md")) {
                let name = path.strip_prefix(self.source).unwrap_or(&path).to_owned();
                self.fill_page(&path, &name).with_context(|| name.display().to_string())?;
            }
        }
        Ok(())
    }

    fn fill_page(&self, path: &Path, name: &Path) -> Result<()> {
        let text = fs::read_to_string(path)?;
        if let Some(original) = whole_inclusion(path, &text) {
            let text =
                fs::read_to_string(&original).with_context(|| original.display().to_string())?;
            let to_root = "../".repeat(name.components().count() - 1);
            let linked = reasons::linked(&text, self.list, &to_root);
            // A page of the site, as a file of the tree names it.
            let linked = linked.replace(&format!("]({to_root}docs/src/"), &format!("]({to_root}"));
            fs::write(path, linked)?;
            return bring_companions(self.source, path, &original, &text);
        }
        let filled = directives::expand(&text, self.root, &self.generated)?;
        if filled != text {
            fs::write(path, filled)?;
        }
        Ok(())
    }
}

/// Of a page that is nothing but the inclusion of a file of the tree, that file.
fn whole_inclusion(page: &Path, text: &str) -> Option<PathBuf> {
    let included = text.trim().strip_prefix(INCLUDE)?.strip_suffix("}}")?;
    (!included.contains('\n')).then_some(page.parent()?.join(included))
}

/// A page of the tree links to files beside it: those go to the same place of the site.
fn bring_companions(source: &Path, page: &Path, original: &Path, text: &str) -> Result<()> {
    let (Some(beside), Some(folder)) = (original.parent(), page.parent()) else { return Ok(()) };
    for target in relative_links(text) {
        let (from, to) = (beside.join(target), folder.join(target));
        let is_page = from.extension() == Some(OsStr::new("md"));
        // Not out of the site: such a link is dead, and the check of links says so.
        let is_inside = !target.split('/').any(|part| part == "..") && to.starts_with(source);
        if from.is_file() && !is_page && is_inside && !to.exists() {
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
        }
    }
    Ok(())
}

/// Targets of inline links, without those that name a scheme or an anchor only.
fn relative_links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.match_indices("](").filter_map(|(at, mark)| {
        let rest = text.get(at + mark.len()..)?;
        rest.get(..rest.find(')')?)
    });
    let without_anchor = targets.map(|target| target.split('#').next().unwrap_or(target));
    without_anchor.filter(|target| !target.is_empty() && !target.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_have_no_scheme_and_no_anchor() {
        let text = "[a](x.py), [b](y/z.hlk#part) [c](#here) [d](https://host/x) `a](b`";
        assert_eq!(relative_links(text).collect::<Vec<_>>(), ["x.py", "y/z.hlk"]);
    }

    #[test]
    fn only_a_page_that_is_one_inclusion_is_taken_whole() {
        let page = Path::new("docs/src/a.md");
        let whole = whole_inclusion(page, "{{#include ../../A.md}}\n");
        assert_eq!(whole.as_deref(), Some(Path::new("docs/src/../../A.md")));
        assert_eq!(whole_inclusion(page, "# Title\n{{#include ../../A.md}}\n"), None);
        assert_eq!(whole_inclusion(page, "{{#include a}}\n\n{{#generated b}}"), None);
    }

    #[test]
    fn files_beside_an_included_page_come_along_and_nothing_from_above() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("spec/format.md", "[code](verify.py) [key](../key.pem) [more](flow.md)");
        write("spec/verify.py", "code");
        write("key.pem", "secret");
        write("spec/flow.md", "text");
        let stub = "{{#include ../../../spec/format.md}}\n";
        write("docs/src/spec/format.md", stub);
        let source = dir.path().join("docs/src");
        let page = source.join("spec/format.md");
        let original = whole_inclusion(&page, stub).unwrap();
        let text = fs::read_to_string(&original).unwrap();
        bring_companions(&source, &page, &original, &text).unwrap();
        assert_eq!(fs::read_to_string(source.join("spec/verify.py")).unwrap(), "code");
        assert!(!source.join("key.pem").exists());
        assert!(!source.join("spec/flow.md").exists());
    }
}
