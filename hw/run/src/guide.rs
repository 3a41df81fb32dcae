//! Follows the guide to a first engine (`docs/src/hardware/first-ip.md`) literally, to show that it is correct.
//!
//! In a copy of the tree without the mailbox, a block that includes a file puts that file in its place, and a
//! block marked `console` is typed. Every line of output that the guide shows has to appear, in that order.
//! A line may be longer than shown (times), and there may be more of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use xtask::Outcome;
use xtask::python::PackageSet;
use xtask::{project, run};

const GUIDE: &str = "docs/src/hardware/first-ip.md";
/// Files that the guide creates, which must not exist before.
const MADE: [&str; 2] = ["hw/ip/mailbox", "crates/regs/src/mailbox.rs"];
/// The line that it adds, and the file.
const DECLARED: (&str, &str) = ("crates/regs/src/lib.rs", "pub mod mailbox;\n");
/// Folders that it writes to. Everything else of the tree is linked.
const COPIED: [&str; 2] = ["hw", "crates"];
/// Definitions of a shell, so that `cargo xtask` is this program, on the copy.
const PRELUDE: &str = "cargo() { if [ \"$1\" = xtask ]; then shift; \"$XTASK\" \"$@\"; \
                       else command cargo \"$@\"; fi; }\n";

/// A step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Ip, PackageSet::Regs] {
        if let Some(skipped) = xtask::python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    let text = fs::read_to_string(root.join(GUIDE)).context(GUIDE)?;
    let scratch = tempfile::tempdir().context("no temporary folder")?;
    // Its name is the same in every run, because messages may contain it.
    let copy = scratch.path().join("tree");
    lay_out(root, &copy)?;
    for action in actions(&text)? {
        if let Err(error) = follow(root, &copy, &action) {
            return Ok(Outcome::Failed(format!("{GUIDE}: {error:#}")));
        }
    }
    Ok(Outcome::Passed)
}

/// A step of the reader.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    /// Writes a file, whose path counts from the root.
    Write(String),
    /// Types a command, whose output has these lines.
    Type { command: String, shown: Vec<String> },
}

fn actions(text: &str) -> Result<Vec<Action>> {
    let mut actions = Vec::new();
    let mut language = None;
    for line in text.lines() {
        match (language, line.strip_prefix("```")) {
            (None, Some(name)) => language = Some(name),
            (None, None) => {}
            (Some(_), Some(_)) => language = None,
            (Some("console"), None) => match line.strip_prefix("$ ") {
                Some(command) => {
                    actions.push(Action::Type { command: command.to_owned(), shown: Vec::new() });
                }
                None => match actions.last_mut() {
                    Some(Action::Type { shown, .. }) => shown.push(line.to_owned()),
                    _ => bail!("output without a command: {line}"),
                },
            },
            (Some(_), None) => {
                let path =
                    line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
                let from_root = path.map(|path| path.trim_start_matches("../").to_owned());
                actions.extend(from_root.map(Action::Write));
            }
        }
    }
    ensure!(!actions.is_empty(), "nothing is done in it");
    Ok(actions)
}

fn follow(root: &Path, copy: &Path, action: &Action) -> Result<()> {
    match action {
        Action::Write(file) => {
            // A folder that the guide did not create is an error of the guide.
            fs::copy(root.join(file), copy.join(file))
                .with_context(|| format!("cannot write {file}"))?;
            Ok(())
        }
        Action::Type { command, shown } => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{PRELUDE}{command}")).current_dir(copy);
            let runner = std::env::current_exe()?;
            let folder = runner.parent().context("a program without a folder")?;
            shell.env("XTASK", folder.join("xtask")).env("HARTLOCK_RUNNERS", folder);
            shell.env("CARGO_MANIFEST_DIR", copy.join("xtask"));
            shell.env("CARGO_TARGET_DIR", project::work_dir("guide"));
            let output = run::capture(&mut shell)?;
            let text = run::tail(&output, usize::MAX);
            missing(shown, &text).map_or(Ok(()), |line| {
                bail!("`{command}` does not print `{line}`\n{}", run::tail(&output, 40))
            })
        }
    }
}

/// The first of the lines that does not follow those before it.
fn missing<'a>(shown: &'a [String], text: &str) -> Option<&'a str> {
    let mut lines = text.lines();
    shown.iter().map(String::as_str).find(|line| !lines.any(|real| real.starts_with(*line)))
}

/// A copy of the tree as it was before there was a mailbox.
fn lay_out(root: &Path, copy: &Path) -> Result<()> {
    fs::create_dir_all(copy)?;
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        let is_copied = COPIED.iter().any(|folder| name == *folder);
        // Cargo may write its lock file, but with the same versions.
        if name == "Cargo.lock" {
            fs::copy(root.join(&name), copy.join(&name))?;
        } else if !is_copied && name != "target" && name != ".git" {
            symlink(root.join(&name), copy.join(&name))?;
        }
    }
    let made = MADE.map(|path| root.join(path));
    for folder in COPIED {
        copy_folder(&root.join(folder), &copy.join(folder), &made)?;
    }
    let (file, line) = DECLARED;
    let text = fs::read_to_string(copy.join(file))?;
    let before = text.replacen(line, "", 1);
    ensure!(before != text, "{file} does not have the line {line}");
    fs::write(copy.join(file), before)?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, leave_out: &[PathBuf]) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if leave_out.contains(&path) || entry.file_name() == "target" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &target, leave_out)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_writes_files_and_types_commands() {
        let text = "```text\n{{#include ../../../hw/a.rdl}}\n```\n```console\n$ one\nprints\nthis\n\
                    $ two\n```\n```rust\n{{#excerpt a \"b\" \"c\"}}\n```\n";
        let shown = ["prints", "this"].map(str::to_owned).to_vec();
        let typed = |command: &str, shown| Action::Type { command: command.into(), shown };
        let expected =
            [Action::Write("hw/a.rdl".into()), typed("one", shown), typed("two", Vec::new())];
        assert_eq!(actions(text).unwrap(), expected);
        assert!(actions("no block\n").is_err());
    }

    #[test]
    fn output_has_to_come_in_the_order_that_is_shown() {
        let shown = ["ok     a", "ok     b"].map(str::to_owned);
        assert_eq!(missing(&shown, "building\nok     a (1 s)\nok     b (2 s)\n"), None);
        assert_eq!(missing(&shown, "ok     b\nok     a\n"), Some("ok     b"));
        assert_eq!(missing(&shown, "FAILED a\nok     b\n"), Some("ok     a"));
    }

    #[test]
    fn the_guide_makes_what_is_taken_out_of_its_copy() {
        let root = project::root();
        let text = fs::read_to_string(root.join(GUIDE)).unwrap();
        let actions = actions(&text).unwrap();
        let written = actions.iter().filter(|action| matches!(action, Action::Write(_)));
        assert!(written.count() >= 8);
        let dir = tempfile::tempdir().unwrap();
        lay_out(&root, &dir.path().join("tree")).unwrap();
        assert!(MADE.iter().all(|path| !dir.path().join("tree").join(path).exists()));
    }
}
