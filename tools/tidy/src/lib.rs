//! `cargo xtask tidy`: checks on the tree that no compiler makes.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use xtask::Outcome;
use xtask::{Verdict, project, run};

mod faults;
mod layers;
mod matrix;
mod pages;
mod rtl;
mod safety;
mod text;

#[derive(clap::Args)]
pub struct Args {}

/// Prints one line for each finding, `file:line: what`.
pub fn main(_args: &Args) -> Result<Verdict> {
    let findings = check(&Tree::of_checkout(&project::root())?);
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// The same as a step of the test suite.
pub fn step(root: &Path) -> Result<Outcome> {
    let findings = check(&Tree::of_checkout(root)?);
    if findings.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(findings.join("\n")))
}

/// Every check, in the order of their reports.
const CHECKS: [fn(&Tree) -> Vec<String>; 17] = [
    text::machine_paths,
    text::long_files,
    text::leftovers,
    safety::unexplained_unsafe,
    safety::missing_forbid,
    safety::unsafe_accessors,
    layers::wrong_dependencies,
    layers::unused_dependencies,
    faults::misplaced_faults,
    matrix::wrong_matrix,
    pages::long_readme,
    pages::wrong_code_map,
    pages::wrong_decisions,
    pages::wrong_safe_crates,
    pages::idioms,
    rtl::too_few_comments,
    rtl::too_few_assertions,
];

fn check(tree: &Tree) -> Vec<String> {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}

/// The text files of a checkout.
struct Tree {
    files: Vec<Source>,
}

/// A text file, by its path from the root of the checkout.
struct Source {
    path: String,
    text: String,
}

impl Tree {
    /// Reads what git tracks or would track, so that a file is checked before it is added.
    fn of_checkout(root: &Path) -> Result<Tree> {
        let mut git = Command::new("git");
        // A runner may have checked the tree out as another user. git then refuses to read it,
        // although this program came out of the same tree.
        git.arg("-c").arg(format!("safe.directory={}", root.display()));
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let list = run::quietly(git.current_dir(root))?;
        let paths = list.split('\0').filter(|path| !path.is_empty());
        Ok(Tree { files: paths.filter_map(|path| Source::read(root, path)).collect() })
    }

    fn get(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|source| source.path == path)
    }

    #[cfg(test)]
    fn of_texts<const N: usize>(files: [(&str, &str); N]) -> Tree {
        let source = |(path, text): (&str, &str)| Source { path: path.into(), text: text.into() };
        Tree { files: files.map(source).into() }
    }
}

impl Source {
    /// Nothing for files that are not text, and for those that were just removed.
    fn read(root: &Path, path: &str) -> Option<Source> {
        let full: PathBuf = root.join(path);
        let text = String::from_utf8(fs::read(full).ok()?).ok()?;
        Some(Source { path: path.to_owned(), text })
    }

    fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Lines with their numbers, counted from one as editors do.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    fn finding(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_untracked_files_and_leaves_out_ignored_ones() {
        let dir = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            run::quietly(Command::new("git").args(words).current_dir(dir.path())).unwrap()
        };
        git(&["init", "--quiet"]);
        fs::write(dir.path().join(".gitignore"), "ignored\n").unwrap();
        fs::write(dir.path().join("ignored"), "x").unwrap();
        fs::write(dir.path().join("new.rs"), "x").unwrap();
        fs::write(dir.path().join("image.bin"), [0xff, 0xfe]).unwrap();
        let tree = Tree::of_checkout(dir.path()).unwrap();
        let mut paths: Vec<_> = tree.files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, [".gitignore", "new.rs"]);
    }
}
