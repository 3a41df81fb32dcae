//! Checks that each command of the documentation exists, without running it.
//!
//! A program of this project gets `--help` after the other arguments: it parses them, refuses those that it does not
//! know, and does nothing else. With `--list` it also says whether it knows a name. `make` only prints the commands
//! that it would run.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::status::{self, Capability};
use xtask::{project, run};

/// Returns one line for each command that does not exist, `page: command: what`. `pages` are names and texts.
pub fn check(
    root: &Path,
    pages: &[(String, String)],
    capabilities: &[Capability],
) -> Result<Vec<String>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--quiet", "--bins"]);
    run::quietly(cargo.current_dir(root))?;
    let listed = capabilities.iter().flat_map(|it| &it.commands);
    let mut all: Vec<_> =
        listed.flat_map(|line| split(line)).map(|words| (status::FILE, words)).collect();
    for (name, text) in pages {
        all.extend(commands(text).into_iter().map(|words| (name.as_str(), words)));
    }
    all.sort_by(|a, b| a.1.cmp(&b.1));
    all.dedup_by(|a, b| a.1 == b.1);
    let mut findings = Vec::new();
    for (page, words) in all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(what) = fault(root, &words)? {
            findings.push(format!("{page}: `{}`: {what}", words.join(" ")));
        }
    }
    Ok(findings)
}

/// Returns the fault of a command, or nothing if the command exists.
fn fault(root: &Path, words: &[&str]) -> Result<Option<String>> {
    Ok(match words {
        // A placeholder that a reader has to replace is in no list of names.
        _ if words.iter().any(|word| is_open(word)) => None,
        ["cargo", "xtask", "test", "--only", _, ..] => ask(root, "xtask", &words[2..], "--list")?
            .is_none()
            .then(|| "there is no such step".into()),
        ["cargo", "xtask", rest @ ..] => program(root, "xtask", rest)?,
        ["hartlock", rest @ ..] => program(root, "hartlock", rest)?,
        ["make", rest @ ..] => {
            let mut make = Command::new("make");
            make.arg("--dry-run").args(rest).current_dir(root);
            let output = run::capture(&mut make)?;
            (!output.status.success()).then(|| run::tail(&output, 3))
        }
        ["cargo", "test", rest @ ..] => test(root, rest)?,
        ["python3", file, ..] if file.ends_with(".py") => {
            (!root.join(file).is_file()).then(|| format!("there is no {file}"))
        }
        _ => None,
    })
}

/// Returns true if a word is a placeholder that a reader has to replace: `NAME`, `<name>`.
fn is_open(word: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c == '_';
    word.contains(['…', '<', '[']) || word.chars().all(is_capital)
}

fn program(root: &Path, program: &str, words: &[&str]) -> Result<Option<String>> {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let words = &words[..end];
    let Some(help) = ask(root, program, words, "--help")? else {
        // The text may mention only an option that needs a value: `hartlock boot --board`.
        let is_mentioned = match words {
            [rest @ .., option] if option.starts_with("--") => {
                ask(root, program, rest, "--help")?.is_some_and(|help| help.contains(option))
            }
            _ => false,
        };
        return Ok((!is_mentioned).then(|| "the program refuses its arguments".into()));
    };
    let names_nothing = help.contains("--list ")
        && ask(root, program, words, "--list")?.is_some_and(|list| list.trim().is_empty());
    Ok(names_nothing.then(|| "nothing has this name".into()))
}

/// Runs a program with one more option; returns its output, or nothing if it refuses the arguments.
fn ask(root: &Path, program: &str, words: &[&str], option: &str) -> Result<Option<String>> {
    let programs = project::target_dir().join("debug");
    let mut command = Command::new(programs.join(program));
    command.args(words).arg(option).env("HARTLOCK_RUNNERS", &programs).current_dir(root);
    let output = run::capture(&mut command)?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Looks up the package and the test of a `cargo test` command, which would compile them. `rest` are its arguments.
fn test(root: &Path, rest: &[&str]) -> Result<Option<String>> {
    let value = |option: &str| {
        let at = rest.iter().position(|word| *word == option)?;
        rest.get(at + 1).copied()
    };
    let Some(name) = value("-p").or(value("--package")) else { return Ok(None) };
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--locked", "--format-version", "1"]);
    let metadata: serde_json::Value =
        serde_json::from_str(&run::quietly(cargo.current_dir(root))?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let Some(package) = packages.into_iter().find(|it| it["name"] == name) else {
        return Ok(Some(format!("there is no package {name}")));
    };
    let Some(test) = value("--test") else { return Ok(None) };
    let mut targets = package["targets"].as_array().into_iter().flatten();
    let has_test = targets.any(|it| it["name"] == test && it["kind"][0] == "test");
    Ok((!has_test).then(|| format!("there is no test {test}")))
}

/// Returns the commands of a page, split into words: those in code spans, and those after `$ ` in consoles.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    // The part of a command that continues on the next line.
    let mut console = String::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            let spans = part.split('`').skip(1).step_by(2);
            found.extend(spans.flat_map(|span| split(&span.replace('\n', " "))));
            continue;
        }
        for line in part.lines() {
            let line =
                line.strip_prefix("$ ").unwrap_or(if console.is_empty() { "" } else { line });
            console += line.trim_end_matches('\\');
            if !line.ends_with(['\\', '|']) {
                found.extend(split(&std::mem::take(&mut console)));
            }
        }
    }
    found
}

/// Splits a line of a shell into commands and these into words, without assignments, redirections and comments.
fn split(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote) = (None::<String>, None);
    // The added space ends the last word.
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_whitespace() || "|&;>".contains(c) => {
                let is_assignment = |word: &String| word.contains('=') && !word.starts_with('-');
                if let (Some(word), Some(words)) = (word.take(), commands.last_mut())
                    && !(words.is_empty() && is_assignment(&word))
                {
                    words.push(word);
                }
                if !c.is_whitespace() {
                    commands.push(Vec::new());
                }
            }
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_spans_and_consoles() {
        let page = "Run `make demo` or `hartlock\nverify x` now.\n\n```console\n$ A=1 hartlock sign \\\n    \
                    --key 'a b' | tee x   # why\noutput `no`\n```\n`make hw`";
        let found: Vec<String> = commands(page).iter().map(|words| words.join("+")).collect();
        let expected =
            ["make+demo", "hartlock+verify+x", "hartlock+sign+--key+a b", "tee+x", "make+hw"];
        assert_eq!(found, expected);
    }

    #[test]
    fn commands_that_do_not_exist_are_found() {
        let root = project::root();
        for (command, is_right) in [
            ("make demo ALGORITHM=ed25519", true),
            ("make nonsense", false),
            ("cargo test -p hartlock-cli --test integration terminal::", true),
            ("cargo test -p hartlock-cli --test nonsense", false),
            ("cargo test -p nonsense", false),
            ("python3 spec/verify.py --key x", true),
            ("python3 spec/nonsense.py", false),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(fault(&root, &words).unwrap().is_none(), is_right, "{command}");
        }
    }
}
