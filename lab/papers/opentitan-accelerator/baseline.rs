//! The same functions in software, on CVA6 (`lab/baseline`): BearSSL, as the paper has it, and our own
//! kernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::payload;
use crate::counts::{self, Count};
use hartlock_hw::machines::cva6;
use xtask::{project, run, tools};

/// What of BearSSL SHA-256 and HMAC consist of.
const SOURCES: [&str; 4] = ["hash/sha2small.c", "mac/hmac.c", "codec/dec32be.c", "codec/enc32be.c"];
/// For CVA6 as it is built here, and free of a C library.
const TARGET_FLAGS: [&str; 4] =
    ["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding"];
/// How BearSSL's own makefile builds it, and what others may prefer.
pub const OPTIMISATIONS: [&str; 3] = ["-Os", "-O2", "-O3"];

/// Columns of [`csv`].
pub const CSV_HEADER: &str = "flags,who,function,bytes,instructions,cycles\n";

/// A line for each count.
pub fn csv(flags: &str, counts: &[Count]) -> String {
    let line = |it: &Count| {
        let Count { who, what, bytes, cycles, instructions } = it;
        format!("{flags},{who},{what},{bytes},{instructions},{cycles}\n")
    };
    counts.iter().map(line).collect()
}

/// Counts everything with BearSSL built in this way.
///
/// # Errors
/// If something cannot be built, or a digest is wrong.
pub fn measure(optimisation: &str) -> Result<Vec<Count>> {
    measure_with(optimisation, &[])
}

/// The same with options of the bench.
///
/// # Errors
/// As [`measure`].
pub fn measure_with(optimisation: &str, options: &[&str]) -> Result<Vec<Count>> {
    let library = library(optimisation)?;
    let program = program(optimisation, &library)?;
    eprintln!("BearSSL {optimisation} on CVA6 {}", options.join(" "));
    read(&cva6::run(&program, options)?)
}

/// Builds the library and returns its folder.
fn library(optimisation: &str) -> Result<PathBuf> {
    let baseline = tools::baseline()?;
    let folder = folder(optimisation);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut objects = Vec::new();
    for source in SOURCES {
        let name = Path::new(source).file_name().context("a source has a name")?;
        let object = folder.join(name).with_extension("o");
        let mut compiler = Command::new(&baseline.compiler);
        compiler.arg(optimisation).args(TARGET_FLAGS);
        compiler.arg("-I").arg(project::root().join("lab/baseline/include"));
        for include in ["inc", "src"] {
            compiler.arg("-I").arg(baseline.sources.join(include));
        }
        compiler.arg("-c").arg(baseline.sources.join("src").join(source)).arg("-o").arg(&object);
        run::quietly(&mut compiler)?;
        objects.push(object);
    }
    let archive = folder.join("libbearssl.a");
    // Members of an earlier one would stay in it.
    if archive.exists() {
        fs::remove_file(&archive)?;
    }
    run::quietly(Command::new(&baseline.archiver).arg("rcD").arg(&archive).args(objects))?;
    Ok(folder)
}

fn folder(optimisation: &str) -> PathBuf {
    let name = optimisation.trim_start_matches('-');
    project::target_dir().join("lab/baseline").join(name)
}

fn program(optimisation: &str, library: &Path) -> Result<PathBuf> {
    let target = folder(optimisation).join("program");
    counts::build("baseline", &target, &[("HARTLOCK_BEARSSL", library)])
}

/// What the program counted: `bearssl` or `hartlock`, `sha256` or `hmac-sha256`.
fn read(console: &str) -> Result<Vec<Count>> {
    counts::read(console, |what, bytes| payload::digest(what, bytes).context("an unknown function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_wrong_digest_and_an_early_end() {
        let digest = payload::digest("sha256", 64).unwrap();
        let line = format!("count bearssl sha256 64 5000 4000 {digest}\n");
        let counts = read(&format!("{line}bench: done\n")).unwrap();
        assert_eq!((counts.len(), counts[0].cycles, counts[0].instructions), (1, 5000, 4000));
        assert!(read(&line).is_err());
        assert!(read(&format!("{}bench: done\n", line.replace("sha256", "hmac-sha256"))).is_err());
    }
}
