//! Expands the directives of a page of the book.
//!
//! * `{{#include FILE}}`: the text of a file, by its path from the page.
//! * `{{#generated NAME}}`: text generated from data; the names are the fields of [`Generated`].
//! * `{{#excerpt FILE "FROM" "TO"}}`: the lines of a file from the one that begins with FROM to the
//!   next one that begins with TO. The path is relative to the root of the checkout. If not exactly one
//!   line of the file begins with FROM, that is an error. So sources need neither line numbers nor markers.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::markdown;

/// The texts generated from data, by their names in a directive.
pub struct Generated {
    pub summary: String,
    pub reasons: String,
    pub vectors: String,
    pub results: String,
    pub boards: String,
    pub status: String,
    pub decisions: String,
    pub steps: String,
}

impl Generated {
    fn get(&self, name: &str) -> Option<&str> {
        Some(match name {
            "summary" => &self.summary,
            "reasons" => &self.reasons,
            "vectors" => &self.vectors,
            "results" => &self.results,
            "boards" => &self.boards,
            "status" => &self.status,
            "decisions" => &self.decisions,
            "steps" => &self.steps,
            _ => return None,
        })
    }
}

/// Replaces the directives of a page. Each directive is on a line of its own.
pub fn expand(text: &str, root: &Path, page: &str, generated: &Generated) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let directive = line.strip_prefix("{{#").and_then(|rest| rest.strip_suffix("}}"));
        match directive.and_then(|directive| directive.split_once(' ')) {
            Some(("generated", name)) => {
                let text = generated.get(name);
                out += text.with_context(|| format!("nothing is generated as {name}"))?;
            }
            Some(("excerpt", what)) => {
                let Some((file, from, to)) = parse_excerpt(what) else {
                    bail!("not of the form FILE \"FROM\" \"TO\": {what}");
                };
                let path = root.join(file);
                let source = fs::read_to_string(&path).with_context(|| file.to_owned())?;
                out += &excerpt(&source, from, to).with_context(|| file.to_owned())?;
            }
            Some(("include", file)) => {
                let path =
                    markdown::resolve(page, file).context("a file outside of the checkout")?;
                out += &fs::read_to_string(root.join(&path)).context(path)?;
            }
            Some((name, _)) => bail!("unknown directive {name}"),
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    Ok(out)
}

fn parse_excerpt(what: &str) -> Option<(&str, &str, &str)> {
    let (file, rest) = what.split_once(" \"")?;
    let (from, to) = rest.strip_suffix('"')?.split_once("\" \"")?;
    Some((file, from, to))
}

/// Returns the lines from the only one that begins with `from` to the next one that begins with
/// `to`. The indentation of the first line is removed from all lines. `from` is compared with lines
/// without any indentation, `to` with lines after this removal.
fn excerpt(source: &str, from: &str, to: &str) -> Result<String> {
    let lines: Vec<&str> = source.lines().collect();
    let begins: Vec<usize> =
        (0..lines.len()).filter(|index| lines[*index].trim_start().starts_with(from)).collect();
    let [first] = begins[..] else {
        bail!("{} lines begin with `{from}`, not one", begins.len());
    };
    let indent = lines[first].len() - lines[first].trim_start().len();
    let inside = |line: &str| line.get(indent..).unwrap_or("").to_owned();
    let mut out = String::new();
    for line in &lines[first..] {
        let line = inside(line);
        out += &line;
        out.push('\n');
        if line.starts_with(to) {
            return Ok(out);
        }
    }
    ensure!(false, "no line begins with `{to}` after `{from}`");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
use x;

mod inner {
    /// Reads.
    fn read() {
        if a {
        }
    }

    fn write() {}
}
";

    fn generated() -> Generated {
        let text = |name: &str| format!("<{name}>\n");
        Generated {
            summary: text("summary"),
            reasons: text("reasons"),
            vectors: text("vectors"),
            results: text("results"),
            boards: text("boards"),
            status: text("status"),
            decisions: text("decisions"),
            steps: text("steps"),
        }
    }

    #[test]
    fn an_excerpt_is_whole_and_loses_its_indentation() {
        let text = excerpt(SOURCE, "/// Reads.", "}").unwrap();
        assert_eq!(text, "/// Reads.\nfn read() {\n    if a {\n    }\n}\n");
        assert_eq!(excerpt(SOURCE, "fn write", "fn write").unwrap(), "fn write() {}\n");
    }

    #[test]
    fn an_excerpt_that_moved_away_is_an_error() {
        assert!(excerpt(SOURCE, "fn gone", "}").is_err());
        assert!(excerpt(SOURCE, "fn ", "}").is_err(), "two functions begin so");
        assert!(excerpt(SOURCE, "fn write", "mod").is_err());
    }

    #[test]
    fn directives_are_replaced_and_the_generators_own_stay() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rs"), SOURCE).unwrap();
        fs::write(dir.path().join("x.md"), "X\n").unwrap();
        let text = "a\n{{#generated reasons}}\n{{#include ../x.md}}\n\
                    {{#excerpt a.rs \"fn write\" \"fn write\"}}\nend\n";
        let expanded = expand(text, dir.path(), "docs/a.md", &generated()).unwrap();
        assert_eq!(expanded, "a\n<reasons>\nX\nfn write() {}\nend\n");
        let broken =
            ["{{#generated nothing}}", "{{#excerpt a.rs fn}}", "{{#excerpt b.rs \"a\" \"b\"}}"];
        for text in broken {
            assert!(expand(text, dir.path(), "docs/a.md", &generated()).is_err(), "{text}");
        }
    }
}
