//! Runs every target on its stored corpus, with a program that is built without fuzzing engine and
//! instrumentation.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use xtask::{project, run};

use crate::record::{ACCEPTED, REFUSED};
use crate::{Target, inputs, side_by_side};

/// Runs the targets, and returns a message for each one that failed.
pub fn run(root: &Path, targets: &[&Target]) -> Result<Vec<String>> {
    let mut cargo = Command::new("cargo");
    // Without `--package`, the whole workspace selects the features, so nothing is compiled twice.
    cargo.args(["build", "--quiet", "--locked", "--bin", "fuzz-replay"]).current_dir(root);
    run::quietly(&mut cargo)?;
    let program = project::target_dir().join("debug/fuzz-replay");
    let work = project::target_dir().join("fuzz-replay");
    let failures = side_by_side(targets, |target| replay(&program, root, &work, target))?;
    Ok(failures.into_iter().flatten().collect())
}

fn replay(program: &Path, root: &Path, work: &Path, target: &Target) -> Result<Option<String>> {
    let folders = inputs(root, work, target)?;
    let mut count = 0;
    for folder in &folders {
        count += folder.read_dir()?.count();
    }
    ensure!(count > 0, "{} has no corpus", target.name);
    let mut command = Command::new(program);
    let output = run::capture(command.arg(target.name).args(folders))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let input = said.lines().last().unwrap_or("FILE");
        return Ok(Some(format!(
            "{0}: {1}\n{2}\nto see it again: cargo xtask fuzz {0} --input {input}",
            target.name,
            output.status,
            errors.trim_end()
        )));
    }
    let ran = said.lines().count();
    if ran != count {
        return Ok(Some(format!("{}: {ran} of {count} inputs ran", target.name)));
    }
    let has_seen = |verdict: &str| {
        let counts = errors.lines().filter_map(|line| line.strip_prefix(verdict));
        counts.map(str::trim).any(|count| count != "0")
    };
    if target.is_of_signatures && !(has_seen(ACCEPTED) && has_seen(REFUSED)) {
        let what = "the corpus has to have signatures of both verdicts";
        return Ok(Some(format!("{}: {what}", target.name)));
    }
    Ok(None)
}
