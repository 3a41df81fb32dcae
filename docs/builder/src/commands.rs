//! Checks that every command in the documentation exists.
//!
//! Commands are found in code spans and after `$ ` in consoles. Subcommands, options and values are
//! compared with what the programs print about themselves (`-h`, `--list`), targets of make with
//! the Makefile, packages and tests with `cargo metadata`, scripts with their text. Nothing is run
//! that does work, so this shows that a command exists, and not that it succeeds.

mod help;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::status::{self, Capability};
use help::Help;
use xtask::{project, run};

/// Pages that are no part of the site.
const OTHER_PAGES: [&str; 3] = ["README.md", "lab/README.md", "hw/README.md"];

/// Variables of make whose values are arguments of another command.
const VALUES: [(&str, &[&str]); 2] =
    [("PAPER", &["cargo", "xtask", "lab"]), ("ALGORITHM", &["hartlock", "keygen", "--algorithm"])];

/// Options of `cargo test` that the documentation uses. A value follows those that are `true`.
const TEST_OPTIONS: [(&str, bool); 7] = [
    ("-p", true),
    ("--package", true),
    ("--test", true),
    ("--features", true),
    (concat!("--all-", "features"), false),
    ("--quiet", false),
    ("--release", false),
];
const HARNESS_OPTIONS: [&str; 4] = ["--exact", "--ignored", "--include-ignored", "--nocapture"];

/// One line for each command that does not exist, `page: command: what`.
pub fn check(root: &Path, pages: &Path, capabilities: &[Capability]) -> Result<Vec<String>> {
    let mut judge = Judge::new(root)?;
    let mut findings = Vec::new();
    for command in capabilities.iter().flat_map(|it| &it.commands) {
        if let Err(what) = judge.listed(command)? {
            findings.push(format!("{}: `{command}`: {what}", status::FILE));
        }
    }
    let mut texts = Vec::new();
    for page in OTHER_PAGES {
        texts.push((page.to_owned(), root.join(page)));
    }
    markdown_files(pages, Path::new(""), &mut texts)?;
    for (name, path) in texts {
        let text = fs::read_to_string(&path).with_context(|| name.clone())?;
        for command in text::commands(&text) {
            if let Err(what) = judge.judge(&command)? {
                findings.push(format!("{name}: `{}`: {what}", command.join(" ")));
            }
        }
    }
    Ok(findings)
}

fn markdown_files(root: &Path, folder: &Path, out: &mut Vec<(String, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let name = folder.join(entry?.file_name());
        let path = root.join(&name);
        if path.is_dir() {
            markdown_files(root, &name, out)?;
        } else if name.extension().is_some_and(|it| it == "md") {
            out.push((name.display().to_string(), path));
        }
    }
    out.sort();
    Ok(())
}

/// `Err` says what is wrong with a command.
type Judgement = Result<(), String>;

/// The sources that the commands are compared with.
struct Judge {
    root: PathBuf,
    /// The Makefile, and the script that it starts first.
    makefile: String,
    setup: String,
    packages: Vec<Package>,
    /// Starts a program with arguments; nothing if it refuses them.
    ask: Box<Ask>,
    answers: BTreeMap<Vec<String>, Option<String>>,
}

type Ask = dyn FnMut(&[String]) -> Result<Option<String>>;

/// The fields of a package in `cargo metadata` that are needed.
#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Judge {
    fn new(root: &Path) -> Result<Self> {
        let read = |file: &str| fs::read_to_string(root.join(file)).context(file.to_owned());
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--no-deps", "--locked", "--format-version", "1"]);
        let metadata: Metadata = serde_json::from_str(&run::quietly(cargo.current_dir(root))?)?;
        // Without `--package`: the step `build` has compiled both, with the features of all members.
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--locked", "--quiet", "--bin", "xtask", "--bin", "hartlock"]);
        run::quietly(cargo.current_dir(root))?;
        let (folder, programs) = (root.to_owned(), project::target_dir().join("debug"));
        let ask = move |words: &[String]| {
            let (program, rest) = match words {
                [first, second, rest @ ..] if first == "cargo" && second == "xtask" => {
                    ("xtask", rest)
                }
                [_, rest @ ..] => ("hartlock", rest),
                [] => return Ok(None),
            };
            let mut command = Command::new(programs.join(program));
            let output = run::capture(command.args(rest).current_dir(&folder))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(output.status.success().then_some(text))
        };
        Ok(Self {
            root: root.to_owned(),
            makefile: read("Makefile")?,
            setup: read("tools/setup")?,
            packages: metadata.packages,
            ask: Box::new(ask),
            answers: BTreeMap::new(),
        })
    }

    /// A command that has to be of a known program.
    fn listed(&mut self, command: &str) -> Result<Judgement> {
        let commands = text::split(command);
        if commands.is_empty() || !commands.iter().all(|words| text::is_known(words)) {
            return Ok(Err("of a program that this check does not know".into()));
        }
        for words in commands {
            if let Err(what) = self.judge(&words)? {
                return Ok(Err(what));
            }
        }
        Ok(Ok(()))
    }

    fn judge(&mut self, words: &[String]) -> Result<Judgement> {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        match texts[..] {
            ["cargo", "xtask", ..] => self.program(2, words),
            ["hartlock", ..] => self.program(1, words),
            ["cargo", "test", ref rest @ ..] => self.test(rest),
            ["make", ref rest @ ..] => self.make(rest),
            ["python3", ref rest @ ..] => Ok(self.script(rest)),
            _ => Ok(Ok(())),
        }
    }

    /// The output of a program, which runs once.
    fn answer(&mut self, words: &[String], option: &str) -> Result<Option<String>> {
        let mut words = words.to_vec();
        words.push(option.to_owned());
        if let Some(known) = self.answers.get(&words) {
            return Ok(known.clone());
        }
        let answer = (self.ask)(&words)?;
        self.answers.insert(words, answer.clone());
        Ok(answer)
    }

    /// A command of a program of this project, whose name has this many words.
    fn program(&mut self, name_len: usize, words: &[String]) -> Result<Judgement> {
        let (mut path, mut rest) = words.split_at(name_len.min(words.len()));
        let mut help = self.help(path)?;
        while let Some((first, _)) = rest.split_first() {
            if help.subcommands.is_empty() || first.starts_with('-') || is_open(first) {
                break;
            }
            if !help.subcommands.contains(first) {
                return Ok(Err(format!("{} has no subcommand {first}", path.join(" "))));
            }
            (path, rest) = words.split_at(path.len() + 1);
            help = self.help(path)?;
        }
        let list = match help.option("--list") {
            Some(_) => self.answer(path, "--list")?,
            None => None,
        };
        Ok(help.judge(rest, list.as_deref()))
    }

    fn help(&mut self, path: &[String]) -> Result<Help> {
        let text = self.answer(path, "-h")?;
        let text = text.with_context(|| format!("{} -h failed", path.join(" ")))?;
        let help = Help::parse(&text);
        // With an unknown form of help every command would pass.
        ensure!(help.option("--help").is_some(), "{} -h names no option --help", path.join(" "));
        Ok(help)
    }

    fn test(&self, words: &[&str]) -> Result<Judgement> {
        let (mut packages, mut tests, mut filter) = (Vec::new(), Vec::new(), None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                filter = Some(*word);
                continue;
            }
            // What follows is for the test harness.
            if *word == "--" {
                match words.find(|it| !HARNESS_OPTIONS.contains(it)) {
                    Some(other) => return Ok(Err(format!("the test harness has no {other}"))),
                    None => break,
                }
            }
            let Some((option, has_value)) = TEST_OPTIONS.iter().find(|(name, _)| name == word)
            else {
                return Ok(Err(format!("{word} is not an option that this check knows")));
            };
            let value = if *has_value { words.next().copied().unwrap_or_default() } else { "" };
            match *option {
                "-p" | "--package" => match self.packages.iter().find(|it| it.name == value) {
                    Some(package) => packages.push(package),
                    None => return Ok(Err(format!("there is no package {value}"))),
                },
                "--test" => tests.push(value),
                _ => {}
            }
        }
        for test in tests {
            let is_it = |it: &Target| it.name == test && it.kind.iter().any(|kind| kind == "test");
            if !packages.iter().any(|package| package.targets.iter().any(is_it)) {
                return Ok(Err(format!("there is no test {test}")));
            }
        }
        if let Some(filter) = filter {
            for package in &packages {
                let folder = package.manifest_path.parent().context("a manifest has a folder")?;
                // Of a path each part: it is written as modules, mostly in their own files.
                let parts = filter.split("::").map(|part| has_in_sources(folder, part));
                if parts.collect::<Result<Vec<_>>>()?.into_iter().all(|has| has) {
                    return Ok(Ok(()));
                }
            }
            return Ok(Err(format!("no source of the package has {filter} in it")));
        }
        Ok(Ok(()))
    }

    fn make(&mut self, words: &[&str]) -> Result<Judgement> {
        for word in words.iter().filter(|word| !is_open(word)) {
            let Some((name, value)) = word.split_once('=') else {
                let is_rule = |line: &str| {
                    let targets = line.split_once(':').filter(|_| !line.starts_with(['\t', '.']));
                    targets.is_some_and(|(targets, _)| {
                        targets.split_whitespace().any(|it| it == *word)
                    })
                };
                if !self.makefile.lines().any(is_rule) {
                    return Ok(Err(format!("the Makefile has no target {word}")));
                }
                continue;
            };
            let is_used = self.makefile.contains(&format!("$({name})"))
                || self.makefile.contains(&format!("$(if $({name})"))
                || self.makefile.contains(&format!(" {name}=1 "))
                || self.setup.contains(&format!("${{{name}:-"));
            if !is_used {
                return Ok(Err(format!("neither Makefile nor tools/setup uses {name}")));
            }
            let target = VALUES.iter().find(|(variable, _)| *variable == name);
            for value in value.split_whitespace().filter(|value| !is_open(value)) {
                let Some((_, command)) = target else { continue };
                let command = command.iter().copied().chain([value]).map(str::to_owned);
                if let Err(what) = self.judge(&command.collect::<Vec<_>>())? {
                    return Ok(Err(what));
                }
            }
        }
        Ok(Ok(()))
    }

    fn script(&self, words: &[&str]) -> Judgement {
        let Some((file, options)) = words.split_first() else { return Ok(()) };
        let text = fs::read_to_string(self.root.join(file));
        let text = text.map_err(|_| format!("there is no {file}"))?;
        let mut options = options.iter().filter(|option| option.starts_with("--"));
        match options.find(|option| !text.contains(&format!("\"{option}\""))) {
            Some(option) => Err(format!("{file} has no {option}")),
            None => Ok(()),
        }
    }
}

/// Whether a word is a placeholder that a reader has to replace.
fn is_open(word: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || "_.-".contains(c);
    word.contains(['…', '<'])
        || (word.chars().all(is_capital) && word.contains(char::is_alphabetic))
}

fn has_in_sources(folder: &Path, word: &str) -> Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let has = if path.is_dir() {
            path.file_name().is_some_and(|name| name == word) || has_in_sources(&path, word)?
        } else {
            path.extension().is_some_and(|it| it == "rs")
                && (path.file_stem().is_some_and(|stem| stem == word)
                    || fs::read_to_string(&path)?.contains(word))
        };
        if has {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
