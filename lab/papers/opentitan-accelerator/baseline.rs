//! Measures the same functions in software on CVA6 (`lab/baseline`): BearSSL, as in the paper, and for hashes
//! also this project's kernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::payload;
use super::runs::Function;
use crate::counts::{self, Count};
use hartlock_hw::machines::cva6;
use xtask::{project, run, tools};

/// Source files of BearSSL that contain the functions.
const SOURCES: [&str; 31] = [
    "aead/gcm.c",
    "codec/ccopy.c",
    "codec/dec32be.c",
    "codec/dec32le.c",
    "codec/enc32be.c",
    "codec/enc32le.c",
    "hash/ghash_ctmul.c",
    "hash/ghash_ctmul64.c",
    "hash/sha2small.c",
    "mac/hmac.c",
    "symcipher/aes_big_cbcenc.c",
    "symcipher/aes_big_ctr.c",
    "symcipher/aes_big_enc.c",
    "symcipher/aes_common.c",
    "symcipher/aes_ct.c",
    "symcipher/aes_ct64.c",
    "symcipher/aes_ct64_cbcenc.c",
    "symcipher/aes_ct64_ctr.c",
    "symcipher/aes_ct64_enc.c",
    "symcipher/aes_ct_cbcenc.c",
    "symcipher/aes_ct_enc.c",
    "symcipher/aes_small_cbcenc.c",
    "symcipher/aes_small_enc.c",
    "rsa/rsa_i15_priv.c",
    "rsa/rsa_i15_pub.c",
    "rsa/rsa_i31_priv.c",
    "rsa/rsa_i31_pub.c",
    "rsa/rsa_i32_priv.c",
    "rsa/rsa_i32_pub.c",
    "rsa/rsa_i62_priv.c",
    "rsa/rsa_i62_pub.c",
];
/// Folder of BearSSL's big-number code, of which all files are compiled.
const BIG_NUMBERS: &str = "int";
/// Compiler flags for CVA6 as it is built here, and for a program without a C library.
const TARGET_FLAGS: [&str; 4] =
    ["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding"];
/// Optimisation levels. The first is that of BearSSL's own makefile; the others are for comparison.
pub const OPTIMISATIONS: [&str; 3] = ["-Os", "-O2", "-O3"];

/// Header of the table of [`csv`].
pub const CSV_HEADER: &str = "flags,who,function,bytes,instructions,cycles\n";

/// Formats counts as CSV, one line for each.
pub fn csv(flags: &str, counts: &[Count]) -> String {
    let line = |it: &Count| {
        let Count { who, what, bytes, cycles, instructions } = it;
        format!("{flags},{who},{what},{bytes},{instructions},{cycles}\n")
    };
    counts.iter().map(line).collect()
}

/// Returns the configuration that tables use for a count of a hash.
pub fn config(count: &Count) -> String {
    let function = Function::of_baseline(&count.what).map_or("another", Function::name);
    format!("{function}, {} bytes", count.bytes)
}

/// The part of the functions that is counted (`HARTLOCK_PART` in `lab/baseline`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedFunctions {
    /// SHA-256 and HMAC, with all payloads.
    Hashes,
    /// Every implementation of AES and RSA.
    Ciphers,
    /// Modes of AES that the paper does not have.
    Modes,
    /// One implementation of each function, with the longest payload and the short key.
    Chosen,
    /// All hashes, the longest payload of AES, and the encryption with the short key.
    Quick,
}

impl CountedFunctions {
    const fn name(self) -> &'static str {
        match self {
            Self::Hashes => "hashes",
            Self::Ciphers => "ciphers",
            Self::Modes => "modes",
            Self::Chosen => "chosen",
            Self::Quick => "quick",
        }
    }
}

/// Counts a part, with BearSSL built with this optimisation level, and with options of the bench.
///
/// # Errors
/// Fails if a program cannot be built, or if a result is wrong.
pub fn measure(part: CountedFunctions, optimisation: &str, options: &[&str]) -> Result<Vec<Count>> {
    let library = library(optimisation)?;
    let target = folder(optimisation).join(part.name());
    let variables = [("HARTLOCK_BEARSSL", &*library), ("HARTLOCK_PART", Path::new(part.name()))];
    let program = counts::build("baseline", &target, &variables)?;
    eprintln!("BearSSL {optimisation} on CVA6, {} {}", part.name(), options.join(" "));
    read(&cva6::run(&program, options)?)
}

/// Builds the library and returns its folder.
fn library(optimisation: &str) -> Result<PathBuf> {
    let baseline = tools::baseline()?;
    let folder = folder(optimisation);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut objects = Vec::new();
    for source in sources(&baseline.sources.join("src"))? {
        let name = source.file_name().context("a source has a name")?;
        let object = folder.join(name).with_extension("o");
        let mut compiler = Command::new(&baseline.compiler);
        compiler.arg(optimisation).args(TARGET_FLAGS);
        compiler.arg("-I").arg(project::root().join("lab/baseline/include"));
        for include in ["inc", "src"] {
            compiler.arg("-I").arg(baseline.sources.join(include));
        }
        compiler.arg("-c").arg(&source).arg("-o").arg(&object);
        run::quietly(&mut compiler)?;
        objects.push(object);
    }
    let archive = folder.join("libbearssl.a");
    // An existing archive would keep its old members.
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

/// Returns the files to be compiled, always in the same order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let numbers = folder.join(BIG_NUMBERS);
    let entries = fs::read_dir(&numbers).with_context(|| numbers.display().to_string())?;
    let mut sources = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    sources.extend(SOURCES.map(|source| folder.join(source)));
    sources.sort();
    Ok(sources)
}

/// Parses the counts that the program printed: by `hartlock`, by `bearssl`, or by `bearssl-` and the name of an
/// implementation.
fn read(console: &str) -> Result<Vec<Count>> {
    counts::read(console, |what, bytes| payload::result(what, bytes).context("an unknown function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_wrong_digest_and_an_early_end() {
        let digest = payload::result("sha256", 64).unwrap();
        let line = format!("count bearssl sha256 64 5000 4000 {digest}\n");
        let counts = read(&format!("{line}bench: done\n")).unwrap();
        assert_eq!((counts.len(), counts[0].cycles, counts[0].instructions), (1, 5000, 4000));
        assert!(read(&line).is_err());
        assert!(read(&format!("{}bench: done\n", line.replace("sha256", "hmac-sha256"))).is_err());
    }
}
