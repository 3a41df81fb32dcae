//! Tests keys and signatures with a newer `openssl` than most systems have: 3.5 is the first with FIPS 204 and FIPS
//! 205.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use xtask::Outcome;
use xtask::{run, tools};

/// Runs the step `openssl` of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    let mut command = Command::new("cargo");
    command
        // Without `--package`, the features are those of all members, with which the step `build` compiled these tests.
        .args(["test", "--locked", "--test", "integration", "openssl::"])
        .current_dir(root)
        .env("HARTLOCK_OPENSSL", tools::openssl()?)
        // The configuration of the system is written for another version.
        .env("OPENSSL_CONF", "/dev/null");
    let output = run::capture(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    // If a test is skipped, or the filter selects none, nothing is proved.
    let has_run = String::from_utf8_lossy(&output.stdout).contains("test openssl::");
    if output.status.success() && has_run && !said.contains("SKIPPED") {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(run::tail(&output, 40)))
}
