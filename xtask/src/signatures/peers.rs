//! Verifiers of other projects in the program of ours (`lab/signatures/peers`).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::catalogue::Algorithm;
use super::measure::{self, Program};
use super::record::Peer;
use crate::{firmware, project, run};

/// For speed, as most of their users would build them, and for size.
pub const OPT_LEVELS: &[&str] = &["3", "s"];

/// Measures a peer, by its feature.
pub fn measure(name: &str, opt_level: &str, algorithm: &Algorithm, pack: &Path) -> Result<Peer> {
    let (package, version) = package(name)?;
    let empty = build(None, opt_level)?.flash()?;
    let program = build(Some(name), opt_level)?;
    let (run, console) = measure::count_with_console(&program, algorithm, pack, "rv64")?;
    let heap = console.lines().find_map(|line| line.strip_prefix("heap "));
    Ok(Peer {
        algorithm: algorithm.name.to_owned(),
        name: package,
        version,
        opt_level: opt_level.to_owned(),
        flash: program.flash()?.saturating_sub(empty),
        most: run.most,
        mean: run.mean,
        stack: run.stack,
        heap: heap.context("a line about the heap")?.parse()?,
    })
}

fn build(feature: Option<&str>, opt_level: &str) -> Result<Program> {
    let folder = project::target_dir().join("lab/signatures");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root().join("lab/signatures/peers"));
    cargo.args(["build", "--quiet", "--locked", "--release", "--target", firmware::TARGET]);
    cargo.args(feature.map(|feature| format!("--features={feature}")));
    cargo.arg("--target-dir").arg(std::path::absolute(folder.join("build"))?);
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level);
    run::quietly(&mut cargo)?;
    let built = folder.join("build").join(firmware::TARGET).join("release/signature-peers");
    Program::keep(&built, &folder, &format!("{}-{opt_level}", feature.unwrap_or("empty")))
}

/// The crate behind a feature and its version: the feature is its name, perhaps with a parameter set.
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
