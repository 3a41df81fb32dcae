//! Reads the text files of a checkout for the checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use xtask::run;

/// The text files of a checkout.
pub struct Tree {
    pub files: Vec<Source>,
}

/// A text file with its path from the root of the checkout.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Tree {
    /// Reads the files that git tracks, and also untracked files that are not ignored, so that a
    /// file is checked before it is added.
    pub fn of_checkout(root: &Path) -> Result<Tree> {
        let mut git = Command::new("git");
        // A runner may have checked the tree out as another user, and then git refuses to read it.
        // The tree can be trusted, because this program was built from it.
        git.arg("-c").arg(format!("safe.directory={}", root.display()));
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let list = run::quietly(git.current_dir(root))?;
        let paths = list.split('\0').filter(|path| !path.is_empty());
        Ok(Tree { files: paths.filter_map(|path| Source::read(root, path)).collect() })
    }

    pub fn get(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|source| source.path == path)
    }

    #[cfg(test)]
    pub fn of_texts<const N: usize>(files: [(&str, &str); N]) -> Tree {
        let source = |(path, text): (&str, &str)| Source { path: path.into(), text: text.into() };
        Tree { files: files.map(source).into() }
    }
}

impl Source {
    /// Reads a file; returns nothing if it is not text or has been removed.
    fn read(root: &Path, path: &str) -> Option<Source> {
        let full: PathBuf = root.join(path);
        let text = String::from_utf8(fs::read(full).ok()?).ok()?;
        Some(Source { path: path.to_owned(), text })
    }

    pub fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Returns the lines with their numbers, counted from one as editors do.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    pub fn finding(&self, line: usize, what: &str) -> String {
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
