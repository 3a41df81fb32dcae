//! Breaks, one at a time, the code behind each promise of SECURITY.md, and checks that the named test fails.
//!
//! `verif/promises.toml` has a change of one place for each named test, the command that runs the test, and words that
//! its failure prints, so that code which does not compile is not taken for a failed test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use xtask::{Verdict, project, run};

const LIST: &str = "verif/promises.toml";

#[derive(clap::Args)]
pub struct PromisesArgs {
    /// Only tests whose name contains this text
    #[arg(value_name = "TEXT")]
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promises {
    promise: Vec<Promise>,
    /// Tests whose own run breaks something and has to see it.
    #[serde(default)]
    elsewhere: Vec<Other>,
    /// Tests that were not seen to fail.
    #[serde(default)]
    open: Vec<Other>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    /// The test as the table names it.
    test: String,
    /// What the change breaks.
    breaks: String,
    file: String,
    from: String,
    to: String,
    /// The test, or the part of it that has to fail.
    command: String,
    /// Words that the failed test prints.
    says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    test: String,
    why: String,
}

impl Promises {
    fn load(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(LIST)).context(LIST)?;
        toml::from_str(&text).context(LIST)
    }
}

impl Promise {
    /// Returns the text of the file with the change.
    fn broken(&self, root: &Path) -> Result<String> {
        let text = fs::read_to_string(root.join(&self.file)).with_context(|| self.file.clone())?;
        let places = text.matches(&self.from).count();
        ensure!(places == 1, "{} has {places} places of {:?}", self.file, self.from);
        Ok(text.replacen(&self.from, &self.to, 1))
    }
}

pub fn main(args: &PromisesArgs) -> Result<Verdict> {
    let root = project::root();
    let promises = Promises::load(&root)?;
    let text = args.name.as_deref().unwrap_or("");
    let chosen: Vec<&Promise> =
        promises.promise.iter().filter(|it| it.test.contains(text)).collect();
    ensure!(!chosen.is_empty(), "{LIST} has no such test");
    let copy = Copy::new(&root)?;
    let mut verdict = Verdict::Yes;
    let mut passed = BTreeSet::new();
    for promise in chosen {
        if let Err(why) = seen_red(promise, &copy, &mut passed) {
            println!("{}: {why:#}", promise.test);
            verdict = Verdict::No;
        } else {
            println!("{}: fails when {}", promise.test, promise.breaks);
        }
    }
    for other in promises.elsewhere.iter().filter(|it| it.test.contains(text)) {
        println!("{}: by itself, {}", other.test, other.why);
    }
    for other in promises.open.iter().filter(|it| it.test.contains(text)) {
        println!("{}: not seen to fail, {}", other.test, other.why);
    }
    Ok(verdict)
}

/// Checks that the test passes, and that it fails after the change, with the words that it then prints.
fn seen_red<'a>(promise: &'a Promise, copy: &Copy, passed: &mut BTreeSet<&'a str>) -> Result<()> {
    let broken = promise.broken(&copy.tree)?;
    if !passed.contains(promise.command.as_str()) {
        let output = run::capture(&mut copy.command(&promise.command)?)?;
        ensure!(output.status.success(), "fails without a change\n{}", run::tail(&output, 25));
        passed.insert(promise.command.as_str());
    }
    let path = copy.tree.join(&promise.file);
    let whole = fs::read_to_string(&path)?;
    fs::write(&path, broken)?;
    let output = run::capture(&mut copy.command(&promise.command)?);
    fs::write(&path, whole)?;
    let output = output?;
    ensure!(!output.status.success(), "passes although {}", promise.breaks);
    let all = run::tail(&output, usize::MAX);
    if !all.contains(&promise.says) {
        bail!("fails without the words {:?}\n{}", promise.says, run::tail(&output, 25));
    }
    Ok(())
}

/// A copy of the tree, in which code is changed, with a target folder of its own.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies what git knows, and new files that it does not ignore. A file that is the same stays as it is, so that
    /// nothing is built twice.
    fn new(root: &Path) -> Result<Self> {
        let folder = project::target_dir().join("promises");
        let copy = Copy { tree: folder.join("tree"), target: folder.join("target") };
        let listed = run::quietly(
            Command::new("git")
                .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
                .current_dir(root),
        )?;
        for file in listed.split_terminator('\0') {
            let (from, to) = (root.join(file), copy.tree.join(file));
            // A file that was deleted and not committed is in the list.
            if !from.exists()
                || fs::read(&to).is_ok_and(|old| fs::read(&from).is_ok_and(|new| new == old))
            {
                continue;
            }
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            fs::copy(&from, &to).with_context(|| file.to_owned())?;
        }
        Ok(copy)
    }

    fn command(&self, words: &str) -> Result<Command> {
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next().context("a command has a program")?);
        command.args(words).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        // These name the root of this checkout, or programs that were built from it.
        for name in ["CARGO_MANIFEST_DIR", "HARTLOCK_RUNNERS", "HARTLOCK_STEP"] {
            command.env_remove(name);
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "SECURITY.md";

    /// Returns the tests that the table of promises names: what is in backticks in its last column.
    fn named(table: &str) -> BTreeSet<String> {
        let rows = table.lines().skip_while(|line| !line.starts_with("| attacker | promise |"));
        let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
        let cell =
            |row: &str| row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap().to_owned();
        let tests = |cell: String| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        // Boards and files are in backticks, too.
        let is_test = |it: &String| it.contains(' ');
        rows.map(cell).flat_map(tests).filter(is_test).collect()
    }

    #[test]
    fn every_test_of_the_table_has_a_change_or_a_reason() {
        let root = project::root();
        let promises = Promises::load(&root).unwrap();
        let table = fs::read_to_string(root.join(TABLE)).unwrap();
        let wanted = named(&table);
        assert!(wanted.len() > 15, "{wanted:?}");
        let others = promises.elsewhere.iter().chain(&promises.open);
        assert!(others.clone().all(|it| !it.why.is_empty()));
        let mut names: Vec<&String> = others.map(|it| &it.test).collect();
        names.extend(promises.promise.iter().map(|it| &it.test));
        let all: BTreeSet<String> = names.iter().copied().cloned().collect();
        assert_eq!(all.len(), names.len(), "a test is named twice");
        assert_eq!(all, wanted);
    }

    #[test]
    fn every_change_has_one_place() {
        let root = project::root();
        for promise in Promises::load(&root).unwrap().promise {
            let broken = promise.broken(&root);
            assert!(broken.is_ok(), "{}: {:#}", promise.test, broken.unwrap_err());
            assert_ne!(promise.from, promise.to, "{}", promise.test);
        }
    }
}
