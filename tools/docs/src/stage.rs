//! Collects the sources of the book below the target directory, in the layout that mdbook reads.
//!
//! A page can be read in the checkout as well, so its links lead to files of the checkout. On the site they lead to the
//! pages that are generated from these files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::directives::{self, Generated};
use super::{decisions, markdown, reasons, results, status, steps, vectors};
use hartlock_gen::errors::{self, List};

/// The table of contents, by its path from the root of the checkout.
const SUMMARY: &str = "docs/src/SUMMARY.md";
/// The table of all reason codes in the specification. On the site each code has a page of its own.
const CODES: &str = "spec/errors.md";

/// Removes `dir`, creates it again with the sources of the book, and returns its path.
pub fn lay_out(root: &Path, dir: &Path) -> Result<PathBuf> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::create_dir_all(dir.join("src"))?;
    for file in ["book.toml", "hartlock.css"] {
        fs::copy(root.join("docs").join(file), dir.join(file)).context(file)?;
    }
    let list = errors::load(root)?;
    let catalogue = vectors::load(root)?;
    let generated = Generated {
        summary: reasons::summary(&list),
        reasons: reasons::index(&list),
        vectors: vectors::table(&catalogue),
        results: results::page(&root.join("lab/runs"), &root.join("verif/runs/fuzz"))?,
        boards: hartlock_results::boards::page(&root.join("lab/runs/boards"))?,
        status: status::page(&status::load(root)?),
        decisions: decisions::summary(root)?,
        steps: steps::page(root)?,
    };
    let summary = directives::expand(&read(root, SUMMARY)?, root, SUMMARY, &generated)?;
    let mut pages = BTreeMap::new();
    for page in reasons::pages(&list, &catalogue, root)? {
        pages.insert(page.path, page.text);
    }
    markdown::relink(&summary, |_, target| {
        let path = markdown::resolve(SUMMARY, target)?;
        pages.entry(path).or_default();
        None
    });
    pages.insert(SUMMARY.to_owned(), summary);
    for (path, text) in &mut pages {
        if text.is_empty() {
            let page = read(root, path)?;
            *text =
                directives::expand(&page, root, path, &generated).with_context(|| path.clone())?;
        }
    }
    let book = Book { root, source: dir.join("src"), pages, list };
    for (path, text) in &book.pages {
        let text = book.for_site(path, text).with_context(|| path.clone())?;
        write(&book.source.join(place(path)), text)?;
    }
    Ok(dir.to_owned())
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| path.to_owned())
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(path.parent().context("a page has a folder")?)?;
    fs::write(path, content).with_context(|| path.display().to_string())
}

/// Returns the path of a file of the checkout in the book.
pub fn place(path: &str) -> String {
    let inside = ["docs/src/", "docs/"].iter().find_map(|folder| path.strip_prefix(folder));
    let inside = inside.unwrap_or(path);
    let folder = inside.strip_suffix("README.md");
    folder.map_or(inside.to_owned(), |folder| format!("{folder}index.md"))
}

/// The pages of a book, and the folder to which they are written.
struct Book<'a> {
    root: &'a Path,
    source: PathBuf,
    /// The pages by their paths from the root of the checkout, with all directives replaced.
    pages: BTreeMap<String, String>,
    list: List,
}

impl Book<'_> {
    /// Returns the text of a page for the site, with links and drawings replaced.
    fn for_site(&self, path: &str, text: &str) -> Result<String> {
        let text = reasons::linked(text, &self.list, |code| {
            markdown::relative(path, &format!("docs/src/reasons/{code}.md"))
        });
        let text = with_pictures(self.root, path, &text)?;
        let mut failure = None;
        let text = markdown::relink(&text, |title, target| {
            self.link(path, title, target).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        failure.map_or(Ok(text), Err)
    }

    /// Returns the new text of a link, or nothing if it stays because its target is outside of the checkout or does not
    /// exist.
    fn link(&self, page: &str, title: &str, target: &str) -> Result<Option<String>> {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        if file.is_empty() || file.contains(':') {
            return Ok(None);
        }
        let Some(mut path) = markdown::resolve(page, file) else { return Ok(None) };
        let full = self.root.join(&path);
        if full.is_dir() {
            path += "/README.md";
        }
        let code = code_in(title).filter(|_| path == CODES);
        if let Some(code) = code {
            path = format!("docs/src/reasons/{code}.md");
        }
        if !self.pages.contains_key(&path) {
            if full.is_dir() || path.ends_with(".md") {
                // The target is not a page of the site, so its path in the checkout is shown.
                let file = markdown::resolve(page, file).unwrap_or_default();
                let name = title.trim_matches('`');
                let is_named = name.trim_end_matches('/') == file;
                let text =
                    if is_named { format!("`{name}`") } else { format!("{title} (`{file}`)") };
                return Ok(full.exists().then_some(text));
            }
            if !full.is_file() {
                return Ok(None);
            }
            write(&self.source.join(place(&path)), fs::read(&full)?)?;
        }
        let to = markdown::relative(&place(page), &place(&path));
        let mut link = format!("[{title}]({to}");
        if !anchor.is_empty() && code.is_none() {
            let _ = write!(link, "#{anchor}");
        }
        Ok(Some(link + ")"))
    }
}

/// Returns the reason code if the title of a link is one.
fn code_in(title: &str) -> Option<&str> {
    let code = title.trim_matches('`');
    let digits = code.strip_prefix('E')?;
    (digits.len() == 4 && digits.chars().all(|c| c.is_ascii_digit())).then_some(code)
}

/// Inserts SVG drawings into the text, where the colours of the page apply to them. The title becomes the caption.
fn with_pictures(root: &Path, page: &str, text: &str) -> Result<String> {
    let mut out = Vec::new();
    for paragraph in text.split("\n\n") {
        let picture =
            paragraph.trim().strip_prefix("![").and_then(|rest| rest.strip_suffix(".svg)"));
        let Some((caption, target)) = picture.and_then(|rest| rest.rsplit_once("](")) else {
            out.push(paragraph.to_owned());
            continue;
        };
        let path = markdown::resolve(page, target).context("a picture outside of the checkout")?;
        let drawing = read(root, &format!("{path}.svg"))?;
        out.push(format!(
            "<figure class=\"picture\">\n{}\n<figcaption>{caption}</figcaption>\n</figure>",
            drawing.trim_end()
        ));
    }
    Ok(out.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_checkout_have_a_place_in_the_book() {
        for (path, expected) in [
            ("docs/src/start.md", "start.md"),
            ("docs/decisions/README.md", "decisions/index.md"),
            ("SECURITY.md", "SECURITY.md"),
            ("hw/ip/sha2/doc/README.md", "hw/ip/sha2/doc/index.md"),
        ] {
            assert_eq!(place(path), expected);
        }
    }

    #[test]
    fn links_lead_to_the_pages_that_were_made_of_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        for file in ["spec/format.md", "spec/verify.py", "spec/errors.md", "README.md"] {
            write(&root.join(file), file).unwrap();
        }
        let names = ["spec/format.md", "docs/src/a/b.md", "docs/src/reasons/E0101.md"];
        let pages = names.map(|name| (name.to_owned(), String::new())).into();
        let list = List { group: vec![], reason: vec![] };
        let source = dir.path().join("source");
        let book = Book { root: &root, source: source.clone(), pages, list };
        for (target, expected) in [
            ("[f](../../../spec/format.md#x)", "[f](../spec/format.md#x)"),
            ("[v](../../../spec/verify.py)", "[v](../spec/verify.py)"),
            ("[E0101](../../../spec/errors.md)", "[E0101](../reasons/E0101.md)"),
            ("[read me](../../../README.md)", "read me (`README.md`)"),
            ("[spec/](../../../spec)", "`spec/`"),
            ("[gone](../gone.md)", "[gone](../gone.md)"),
            ("[web](https://example.org)", "[web](https://example.org)"),
        ] {
            assert_eq!(book.for_site("docs/src/a/b.md", target).unwrap().trim_end(), expected);
        }
        assert_eq!(fs::read_to_string(source.join("spec/verify.py")).unwrap(), "spec/verify.py");
    }

    #[test]
    fn a_drawing_becomes_part_of_its_page() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("docs/img/a.svg"), "<svg/>\n").unwrap();
        let text =
            with_pictures(dir.path(), "docs/x/a.md", "a\n\n![What\nit is](../img/a.svg)\n\nb");
        let expected = "a\n\n<figure class=\"picture\">\n<svg/>\n<figcaption>What\nit is</figcaption>\n</figure>\n\nb";
        assert_eq!(text.unwrap(), expected);
    }
}
