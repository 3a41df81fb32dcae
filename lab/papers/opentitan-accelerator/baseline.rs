//! Measures the same functions in software on CVA6 (`lab/baseline`): BearSSL, as in the paper, and for hashes
//! and AES also this project's kernels.

use std::path::Path;

use anyhow::{Context, Result};

use super::payload;
use super::runs::Function;
use crate::bearssl;
use crate::counts::{self, Count};
use hartlock_hw::machines::cva6;
use xtask::project;

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
    let library =
        project::target_dir().join("lab/baseline").join(optimisation.trim_start_matches('-'));
    bearssl::library(&library, optimisation)?;
    let target = library.join(part.name());
    let variables = [("HARTLOCK_BEARSSL", &*library), ("HARTLOCK_PART", Path::new(part.name()))];
    let program = counts::build("baseline", &target, &variables)?;
    eprintln!("BearSSL {optimisation} on CVA6, {} {}", part.name(), options.join(" "));
    read(&cva6::run(&program, options)?)
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
