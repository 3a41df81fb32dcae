//! `cargo xtask docs`: the documentation site, and a check of every link and command in it.
//!
//! The text is written by hand in `docs/src`; pages that repeat data (status, reason codes, vectors,
//! stored runs) are made from that data, and the specification is included from its own folder. All
//! of that is laid out below the target directory, so no generated page is in the tree.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use xtask::Outcome;
use xtask::{Verdict, project, run, tools};

mod commands;
mod decisions;
mod directives;
mod hosting;
mod links;
mod reasons;
mod results;
pub mod screenshots;
mod stage;
pub mod status;
mod steps;
mod vectors;

#[derive(clap::Args)]
pub struct Args {}

/// Builds the site and prints one line for each finding, `page: what`.
pub fn main(_args: &Args) -> Result<Verdict> {
    let site = build(&project::root())?;
    let findings = site.findings(&project::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("{}", site.folder.join("index.html").display());
    }
    Ok(if findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// A step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    let findings = build(root)?.findings(root)?;
    Ok(match findings.as_slice() {
        [] => Outcome::Passed,
        found => Outcome::Failed(found.join("\n")),
    })
}

/// A site that was built.
struct Site {
    /// The pages that it was made from.
    source: PathBuf,
    folder: PathBuf,
}

impl Site {
    /// Pages that are in no table of contents, dead links, and commands that do not exist.
    fn findings(&self, root: &Path) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        forgotten(&self.source, &self.folder, Path::new(""), &mut findings)?;
        findings.extend(links::check(&self.folder)?);
        findings.extend(hosting::check(&self.folder)?);
        findings.extend(commands::check(root, &self.source, &status::load(root)?)?);
        Ok(findings)
    }
}

/// Finds sources in `folder` of `source` of which no page was made.
fn forgotten(source: &Path, site: &Path, folder: &Path, findings: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(source.join(folder))? {
        let name = folder.join(entry?.file_name());
        let is_page = name.extension().is_some_and(|it| it == "md");
        let is_contents = name == Path::new("SUMMARY.md");
        if source.join(&name).is_dir() {
            forgotten(source, site, &name, findings)?;
        } else if is_page && !is_contents && !site.join(&name).with_extension("html").is_file() {
            findings.push(format!("{}: not in SUMMARY.md", name.display()));
        }
    }
    Ok(())
}

/// Builds the site, with whatever links are in it.
fn build(root: &Path) -> Result<Site> {
    let mdbook = tools::cargo_tool("mdbook")?;
    let target = std::path::absolute(project::target_dir())?;
    let book = stage::lay_out(root, &target.join("docs-source"))?;
    let site = Site { source: book.join("src"), folder: target.join("docs") };
    let mut command = Command::new(mdbook);
    // Its log is read below, so it must not be turned down.
    command.env_remove("MDBOOK_LOG").arg("build").arg(&book).arg("--dest-dir").arg(&site.folder);
    let output = run::capture(&mut command)?;
    let log = run::tail(&output, 60);
    // A file that cannot be included is a line in its log and nothing more.
    if !output.status.success() || has_complaint(&log) {
        bail!("{} complains\n{log}", run::describe(&command));
    }
    Ok(site)
}

fn has_complaint(log: &str) -> bool {
    log.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("ERROR") || line.starts_with("WARN")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_outside_of_the_table_of_contents_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let (source, site) = (dir.path().join("src"), dir.path().join("site"));
        for file in ["src/a/in.md", "src/a/out.md", "src/SUMMARY.md", "src/x.svg", "site/a/in.html"]
        {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut findings = Vec::new();
        forgotten(&source, &site, Path::new(""), &mut findings).unwrap();
        assert_eq!(findings, ["a/out.md: not in SUMMARY.md"]);
    }

    #[test]
    fn a_file_that_was_not_included_is_a_complaint() {
        assert!(has_complaint(" INFO Book building has started\nERROR Error updating \"x\"\n"));
        assert!(has_complaint(" WARN The output directory is odd\n"));
        assert!(!has_complaint(" INFO Running the html backend without an ERROR\n"));
    }
}
