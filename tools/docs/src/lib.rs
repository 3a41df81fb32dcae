//! `cargo xtask docs` builds the documentation site and checks every link and command in it.
//!
//! The text is written by hand in `docs/src`. Pages that repeat data (status, reason codes, vectors, stored runs) are
//! generated from that data, and the specification is included from its own folder. The sources of the site are
//! collected below the target directory, so no generated page is in the tree.

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
use xtask::python::{self, PackageSet};
use xtask::{Verdict, project, run, tools};

mod commands;
mod decisions;
mod directives;
mod markdown;
mod reasons;
mod results;
mod stage;
pub mod status;
mod steps;
mod vectors;

#[derive(clap::Args)]
pub struct DocsArgs {}

/// Builds the site and prints one line for each finding, `page: what`.
pub fn main(_args: &DocsArgs) -> Result<Verdict> {
    let root = project::root();
    if let Some(readme) = steps::changed_readme(&root)? {
        fs::write(root.join("README.md"), readme)?;
        eprintln!("updated the quoted test run in README.md");
    }
    let site = build(&root)?;
    let findings = site.findings(&root)?;
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("{}", site.folder.join("index.html").display());
    }
    Ok(if findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Runs the step `docs` of `cargo xtask test`: fails if there is a finding.
pub fn step(root: &Path) -> Result<Outcome> {
    if let Some(skipped) = python::without_packages(PackageSet::Docs)? {
        return Ok(skipped);
    }
    let findings = build(root)?.findings(root)?;
    Ok(match findings.as_slice() {
        [] => Outcome::Passed,
        found => Outcome::Failed(found.join("\n")),
    })
}

/// A site that is built.
struct Site {
    folder: PathBuf,
}

impl Site {
    /// Returns one line for each page that is in no table of contents, dead link, and command that does not exist.
    fn findings(&self, root: &Path) -> Result<Vec<String>> {
        let pages = pages_of_checkout(root)?;
        let mut findings = forgotten(&pages, &self.folder);
        if steps::changed_readme(root)?.is_some() {
            findings.push(
                "README.md: quotes no stored run, or an older one; run `cargo xtask docs`".into(),
            );
        }
        let lychee = python::locate(PackageSet::Docs)?.dir().join("bin/lychee");
        findings.extend(dead_links(&lychee, root, pages.iter().map(String::as_str))?);
        findings.extend(dead_links(&lychee, &self.folder, ["."])?);
        let read = |name: String| Ok((name.clone(), fs::read_to_string(root.join(name))?));
        let pages: Vec<_> = pages.into_iter().map(read).collect::<Result<_>>()?;
        findings.extend(commands::check(root, &pages, &status::load(root)?)?);
        Ok(findings)
    }
}

/// Returns the paths of all Markdown files of the checkout.
fn pages_of_checkout(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.arg("-c").arg(format!("safe.directory={}", root.display())).current_dir(root);
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]);
    let names = run::quietly(&mut git)?;
    Ok(names.lines().filter(|name| root.join(name).is_file()).map(str::to_owned).collect())
}

/// Returns pages of the site that are missing in its table of contents.
fn forgotten(pages: &[String], site: &Path) -> Vec<String> {
    let is_of_site = |page: &&String| page.starts_with("docs/") && !page.ends_with("SUMMARY.md");
    let is_there = |page: &String| site.join(stage::place(page)).with_extension("html").is_file();
    let lost = pages.iter().filter(is_of_site).filter(|page| !is_there(page));
    lost.map(|page| format!("{page}: not in SUMMARY.md")).collect()
}

/// Finds links to files and anchors that do not exist, in these files or folders. Links to other servers are not
/// checked.
fn dead_links<'a>(
    lychee: &Path,
    folder: &Path,
    inputs: impl IntoIterator<Item = &'a str>,
) -> Result<Option<String>> {
    let mut command = Command::new(lychee);
    command.args(["--offline", "--include-fragments", "--no-progress", "--extensions", "md,html"]);
    command.arg("--").args(inputs).current_dir(folder);
    let output = run::capture(&mut command)?;
    Ok(match output.status.code() {
        Some(0) => None,
        Some(2) => Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
        _ => bail!(
            "{} fails
{}",
            run::describe(&command),
            run::tail(&output, 20)
        ),
    })
}

/// Builds the site; its links are not checked here.
fn build(root: &Path) -> Result<Site> {
    let mdbook = tools::cargo_tool("mdbook")?;
    let target = std::path::absolute(project::target_dir())?;
    let book = stage::lay_out(root, &target.join("docs-source"))?;
    let site = Site { folder: target.join("docs") };
    let mut command = Command::new(mdbook);
    // The log of mdbook is read below, so its level must not be lowered.
    command.env_remove("MDBOOK_LOG").arg("build").arg(&book).arg("--dest-dir").arg(&site.folder);
    let output = run::capture(&mut command)?;
    let log = run::tail(&output, 60);
    // If a file cannot be included, mdbook logs that but does not fail.
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
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/in.html"), "").unwrap();
        let pages = ["docs/src/a/in.md", "docs/src/a/out.md", "docs/src/SUMMARY.md", "spec/x.md"];
        let found = forgotten(&pages.map(str::to_owned), dir.path());
        assert_eq!(found, ["docs/src/a/out.md: not in SUMMARY.md"]);
    }

    #[test]
    fn a_file_that_was_not_included_is_a_complaint() {
        assert!(has_complaint(" INFO Book building has started\nERROR Error updating \"x\"\n"));
        assert!(has_complaint(" WARN The output directory is odd\n"));
        assert!(!has_complaint(" INFO Running the html backend without an ERROR\n"));
    }
}
