//! Keys and signatures judged by a newer `openssl` than most systems have: those of FIPS 204 and FIPS 205 came with 3.5.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use xtask::Outcome;
use xtask::{run, tools};

/// A step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    let mut command = Command::new("cargo");
    command
        // Without `--package`: the step `build` has compiled these tests, with the features of all members.
        .args(["test", "--locked", "--test", "integration", "openssl::"])
        .current_dir(root)
        .env("HARTLOCK_OPENSSL", tools::openssl()?)
        // The system's settings are those of another version.
        .env("OPENSSL_CONF", "/dev/null");
    let output = run::capture(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    // A test that skipped proves nothing here, and neither does a filter that selects none.
    let has_run = String::from_utf8_lossy(&output.stdout).contains("test openssl::");
    if output.status.success() && has_run && !said.contains("SKIPPED") {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(run::tail(&output, 40)))
}
