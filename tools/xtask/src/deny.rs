//! Checks the dependencies: with cargo-deny by the rules in `deny.toml`, and the lock files of all workspaces.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use xtask::Outcome;
use xtask::{run, tools};

/// The address of the advisory database. It is fetched only if it can be reached.
const ADVISORY_DATABASE: &str = "https://github.com/rustsec/advisory-db";

/// Checks lock files, licences, bans and sources. These depend only on the tree, so a finding is a failure.
pub fn step(root: &Path) -> Result<Outcome> {
    if let Some(stale) = stale_lock(root)? {
        return Ok(Outcome::Failed(stale));
    }
    let output = run::capture(&mut cargo_deny(root, &["bans", "licenses", "sources"])?)?;
    if output.status.success() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(run::tail(&output, 200)))
}

/// Checks for advisories. New ones appear without a change of the tree, so they are reported but are not a failure.
pub fn advisories_step(root: &Path) -> Result<Outcome> {
    if !is_reachable(ADVISORY_DATABASE) {
        return Ok(Outcome::Skipped("the advisory database cannot be reached".into()));
    }
    let output = run::capture(&mut cargo_deny(root, &["advisories"])?)?;
    if output.status.success() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!("there is something to read\n{}", run::tail(&output, 60))))
}

/// Finds a lock file that does not fit the manifests of its workspace. A build with `--locked` refuses it, but that
/// build may be run much later.
fn stale_lock(root: &Path) -> Result<Option<String>> {
    let mut git = Command::new("git");
    let listed = run::capture(git.args(["ls-files", "*Cargo.lock"]).current_dir(root))?;
    for lock in String::from_utf8_lossy(&listed.stdout).lines() {
        let manifest = Path::new(lock).with_file_name("Cargo.toml");
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]);
        let output = run::capture(cargo.arg(&manifest).current_dir(root))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Ok(Some(format!(
                "{lock} is stale; `cargo metadata --manifest-path {}` mends it\n{why}",
                manifest.display()
            )));
        }
    }
    Ok(None)
}

fn cargo_deny(root: &Path, checks: &[&str]) -> Result<Command> {
    let mut command = Command::new(tools::cargo_deny()?);
    command.args(["--all-features", "check", "--hide-inclusion-graph"]);
    command.args(checks).current_dir(root);
    Ok(command)
}

/// Returns true if the address can be reached. curl uses the user's proxies, which a plain connection would not.
fn is_reachable(url: &str) -> bool {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--head", "--fail", "--location", "--max-time", "10"]);
    run::capture(curl.args(["--output", "/dev/null", url]))
        .is_ok_and(|output| output.status.success())
}
