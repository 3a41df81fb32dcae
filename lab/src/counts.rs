//! Builds and reads programs that are counted on a bare hart of a cycle-accurate machine (`lab/baseline`,
//! `lab/portable`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use xtask::{firmware, project, run};

/// Cost of a function of a program for one payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// Name of the implementation.
    pub who: String,
    pub what: String,
    pub bytes: usize,
    pub cycles: u64,
    pub instructions: u64,
}

impl Count {
    pub fn cycles_per_byte(&self) -> f64 {
        self.cycles as f64 / self.bytes as f64
    }
}

/// Builds the program of `lab/<name>` into the folder `target`, with environment variables for its build script.
///
/// # Errors
/// Fails if the program does not compile.
pub fn build(name: &str, target: &Path, variables: &[(&str, &Path)]) -> Result<PathBuf> {
    build_one(name, name, target, variables)
}

/// Same as [`build`], for one of several programs in `lab/<folder>`.
///
/// # Errors
/// Fails for the same reasons as [`build`].
pub fn build_one(
    folder: &str,
    name: &str,
    target: &Path,
    variables: &[(&str, &Path)],
) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root().join("lab").join(folder));
    cargo.args([
        "build",
        "--bin",
        name,
        "--quiet",
        "--locked",
        "--release",
        "--target",
        firmware::TARGET,
    ]);
    cargo.arg("--target-dir").arg(target).envs(variables.iter().copied());
    // Some workspace crates give warnings with the features that are selected here, which their own tests do not use.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "-Awarnings");
    run::quietly(&mut cargo)?;
    Ok(target.join(firmware::TARGET).join("release").join(name))
}

/// Parses the output of a program: lines of the form `count <who> <what> <bytes> <cycles> <instructions> <result>`, and
/// a last line. `right` returns the correct result of a function for a payload size.
///
/// # Errors
/// Fails if a line is malformed, if a result is wrong, or if the last line is missing.
pub fn read(console: &str, right: impl Fn(&str, usize) -> Result<String>) -> Result<Vec<Count>> {
    let mut counts = Vec::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["count", who, what, bytes, cycles, instructions, result] = words[..] else { continue };
        let bytes = bytes.parse()?;
        ensure!(right(what, bytes)? == result, "{who} has another result of {what}, {bytes} bytes");
        counts.push(Count {
            who: who.to_owned(),
            what: what.to_owned(),
            bytes,
            cycles: cycles.parse()?,
            instructions: instructions.parse()?,
        });
    }
    ensure!(console.ends_with("bench: done\n"), "the program did not end\n{console}");
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_wrong_result_and_an_early_end() {
        let right = |what: &str, _| Ok(format!("right-{what}"));
        let line = "count crates key 32 5000 4000 right-key\n";
        let counts = read(&format!("{line}bench: done\n"), right).unwrap();
        assert_eq!((counts.len(), counts[0].cycles, counts[0].instructions), (1, 5000, 4000));
        assert!(read(line, right).is_err());
        assert!(read(&format!("{}bench: done\n", line.replace(" key", " sign")), right).is_err());
    }
}
