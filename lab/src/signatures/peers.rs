//! Measures verifiers of other projects in the same test program (`lab/signatures/peers`).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::catalogue::{Algorithm, HARTS};
use super::measure::{self, Program};
use super::record::{Library, Peer, Run};
use crate::peers::LIBRARIES;
use crate::peers::libraries::{self, LibraryPart};
use xtask::{firmware, project, run};

/// Optimisation levels of crates: for speed, as most users build them, and for size.
const OPT_LEVELS: &[&str] = &["3", "s"];

/// Returns the optimisation levels with which a peer is built.
pub fn opt_levels(name: &str) -> &'static [&'static str] {
    if library(name).is_some() { &[libraries::OPT_LEVEL] } else { OPT_LEVELS }
}

/// Measures a peer that is selected by its feature.
pub fn measure(name: &str, opt_level: &str, algorithm: &Algorithm, pack: &Path) -> Result<Peer> {
    if let Some(library) = library(name) {
        return measure_library(name, library, algorithm, pack);
    }
    let (package, version) = package(name)?;
    let empty = build(None, opt_level)?.flash()?;
    let program = build(Some(name), opt_level)?;
    let console = measure::run_to_end(&program, pack, HARTS[0])?;
    let run = measure::read(&console).with_context(|| format!("{name}\n{console}"))?;
    Ok(Peer {
        algorithm: algorithm.name.to_owned(),
        name: package,
        version,
        opt_level: opt_level.to_owned(),
        flash: Some(program.flash()?.saturating_sub(empty)),
        most: run.most,
        mean: run.mean,
        stack: run.stack,
        heap: number(&console, "heap")?,
        library: None,
    })
}

/// Returns the C library that a feature names.
fn library(feature: &str) -> Option<&'static str> {
    let is_of = |name: &str| feature.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    LIBRARIES.into_iter().find(|name| is_of(name))
}

fn measure_library(feature: &str, name: &str, algorithm: &Algorithm, pack: &Path) -> Result<Peer> {
    let folder = libraries::build(HARTS[0], LibraryPart::Everything)?;
    let program = build_with(Some(feature), "3", Some(&folder))?;
    let console = measure::run_to_end(&program, pack, HARTS[0])?;
    let Passes { first, run, mean_with_key, kept } =
        Passes::read(&console).with_context(|| format!("{feature}\n{console}"))?;
    Ok(Peer {
        algorithm: algorithm.name.to_owned(),
        name: name.to_owned(),
        version: libraries::versions()?.remove(name).context("no version")?,
        opt_level: libraries::OPT_LEVEL.to_owned(),
        flash: None,
        most: run.most,
        mean: run.mean,
        stack: run.stack,
        heap: number(&console, "heap")?,
        library: Some(Library { first, mean_with_key, kept, linked: program.flash()? }),
    })
}

/// Results of a program with a C library, which runs the cases in three passes
/// (lab/signatures/peers/src/main.rs).
struct Passes {
    first: u64,
    run: Run,
    mean_with_key: u64,
    kept: u64,
}

impl Passes {
    fn read(console: &str) -> Result<Self> {
        let (first, rest) = console.split_once("\nagain\n").context("no second pass")?;
        let (again, with_key) = rest.split_once("\nwith a key\n").context("no third pass")?;
        let kept = number(first, "kept")?;
        ensure!(number(again, "kept")? == kept, "it keeps more memory after each pass");
        // Only the first case of the first pass counts, but all answers of the pass must be correct.
        measure::read(first)?;
        let line = first.lines().find_map(|line| line.strip_prefix("case 0 right "));
        let first = line.and_then(|line| line.split(' ').next()).context("no first case")?;
        Ok(Self {
            first: first.parse()?,
            run: measure::read(again)?,
            mean_with_key: measure::read(with_key)?.mean,
            kept,
        })
    }
}

/// Returns the number in the line that begins with this word.
fn number(console: &str, word: &str) -> Result<u64> {
    let prefix = format!("{word} ");
    let found = console.lines().find_map(|line| line.strip_prefix(&prefix));
    Ok(found.with_context(|| format!("no line about {word}\n{console}"))?.parse()?)
}

fn build(feature: Option<&str>, opt_level: &str) -> Result<Program> {
    build_with(feature, opt_level, None)
}

/// Builds the program, with the C libraries if their folder is given.
fn build_with(feature: Option<&str>, opt_level: &str, libraries: Option<&Path>) -> Result<Program> {
    let folder = project::target_dir().join("lab/signatures");
    let target = if libraries.is_some() { crate::peers::TARGET } else { firmware::TARGET };
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root().join("lab/signatures/peers"));
    cargo.args(["build", "--quiet", "--locked", "--release", "--target", target]);
    cargo.args(feature.map(|feature| format!("--features={feature}")));
    cargo.arg("--target-dir").arg(std::path::absolute(folder.join("build"))?);
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level);
    cargo.envs(libraries.map(|libraries| (crate::peers::FOLDER_VARIABLE, libraries)));
    run::quietly(&mut cargo)?;
    let built = folder.join("build").join(target).join("release/signature-peers");
    Program::keep(&built, &folder, &format!("{}-{opt_level}", feature.unwrap_or("empty")))
}

/// Returns the name and version of the crate of a feature. The feature is the name of the crate,
/// optionally followed by a parameter set.
fn package(feature: &str) -> Result<(String, String)> {
    let path = project::root().join("lab/signatures/peers/Cargo.lock");
    let lock: toml::Table = toml::from_str(&fs::read_to_string(&path)?)?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("packages")?;
    let name_of = |it: &toml::Value| it.get("name")?.as_str().map(str::to_owned);
    let found = packages.iter().find(|it| {
        name_of(it).is_some_and(|name| {
            let rest = feature.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('-'));
            name == feature || rest.is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
    });
    let found = found.with_context(|| format!("Cargo.lock has no crate for {feature}"))?;
    let version = found.get("version").and_then(|it| it.as_str()).context("a version")?;
    Ok((name_of(found).context("a name")?, version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSOLE: &str = "case 0 right 900 64\ncase 1 right 9 8\nkept 7\nagain\n\
                           case 0 right 300 32\ncase 1 right 9 8\nheap 8\nkept 7\nwith a key\n\
                           case 0 right 200 96\ncase 1 right 9 8\nfootprint: done\n";

    #[test]
    fn a_library_is_counted_when_it_is_set_up() {
        let Passes { first, run, mean_with_key, kept } = Passes::read(CONSOLE).unwrap();
        assert_eq!((first, run.mean, run.stack, mean_with_key, kept), (900, 300, 32, 200, 7));
        assert_eq!(number(CONSOLE, "heap").unwrap(), 8);
    }

    #[test]
    fn refuses_a_library_that_judges_wrongly_or_leaks() {
        for (from, to) in [
            ("0 right 900", "0 WRONG 900"),
            ("0 right 300", "0 WRONG 300"),
            ("0 right 200", "0 WRONG 200"),
            ("kept 7\nwith", "kept 8\nwith"),
            ("again", ""),
        ] {
            assert!(Passes::read(&CONSOLE.replace(from, to)).is_err(), "{from}");
        }
    }

    #[test]
    fn libraries_are_told_from_crates() {
        assert_eq!(library("openssl-p256"), Some("openssl"));
        assert_eq!(library("ml-dsa-65"), None);
        assert_eq!(opt_levels("openssl-p256").len(), 1);
        assert_eq!(opt_levels("p256").len(), 2);
    }
}
