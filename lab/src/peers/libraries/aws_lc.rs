//! Builds AWS-LC's libcrypto, which has no assembly for RISC-V. Its ML-DSA is mldsa-native.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

use anyhow::{Context, Result, anyhow, ensure};

use super::{Compiler, LibraryPart};
use xtask::run;

/// Compiler options for a program without threads, files and network, and a prefix for all functions, because some
/// have the same names as OpenSSL's.
pub const OPTIONS: [&str; 8] = [
    "-DNDEBUG",
    "-DOPENSSL_NO_ASM",
    "-DOPENSSL_NO_SOCK",
    "-DOPENSSL_NO_FILESYSTEM",
    "-DOPENSSL_NO_THREADS_CORRUPT_MEMORY_AND_LEAK_SECRETS_IF_THREADED",
    "-DDISABLE_CPU_JITTER_ENTROPY",
    "-DBORINGSSL_IMPLEMENTATION=1",
    "-DBORINGSSL_PREFIX=aws_lc",
];

/// Sources of the hashes, and a header that they need. AWS-LC normally includes them in one larger source.
const HASHES: [&str; 4] = ["sha256", "sha512", "sha3", "keccak1600"];
const BEFORE_HASHES: &str = "crypto/fipsmodule/service_indicator/internal.h";

/// Folder of a third-party library for random numbers, which is not needed.
const LEFT_OUT: &str = "third_party/jitterentropy/";

/// A header of mldsa-native, whose code AWS-LC has for ML-DSA. The page of signatures names it.
const ML_DSA: &str = "crypto/fipsmodule/ml_dsa/mldsa/mldsa_native.h";

/// Compiles the library from the folder of its crate.
pub fn build(
    compiler: &Compiler<'_>,
    sources: &Path,
    folder: &Path,
    part: LibraryPart,
) -> Result<()> {
    let code = sources.join("aws-lc");
    ensure!(code.join(ML_DSA).exists(), "AWS-LC's ML-DSA is not mldsa-native any more");
    let files: Vec<String> = match part {
        LibraryPart::Hashes => {
            HASHES.iter().map(|name| format!("crypto/fipsmodule/sha/{name}.c")).collect()
        }
        LibraryPart::Ciphers | LibraryPart::Everything => {
            listed(&fs::read_to_string(sources.join("builder/cc_builder/universal.rs"))?)?
        }
    };
    let work = folder.join("aws-lc");
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let compile = |file: &str| {
        let object = work.join(file.replace('/', "-")).with_extension("o");
        let mut command = compiler.command();
        command.args(OPTIONS).arg("-I").arg(sources.join("generated-include"));
        command.arg("-I").arg(code.join("include"));
        if part == LibraryPart::Hashes {
            command.arg("-include").arg(code.join(BEFORE_HASHES));
        }
        run::quietly(command.arg("-c").arg(code.join(file)).arg("-o").arg(&object))?;
        Ok(object)
    };
    let next = AtomicUsize::new(0);
    let work_through = || {
        let mine = std::iter::from_fn(|| files.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.map(|file| compile(file)).collect::<Result<Vec<_>>>()
    };
    let objects = thread::scope(|scope| {
        let count = available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work_through)).collect();
        let ends =
            workers.into_iter().map(|it| it.join().map_err(|_| anyhow!("a worker panicked"))?);
        ends.collect::<Result<Vec<_>>>()
    })?;
    let mut objects = objects.concat();
    objects.sort();
    compiler.archive(&folder.join("libaws-lc.a"), &objects)
}

/// Returns the source files from the crate's own list, which is Rust source text.
fn listed(list: &str) -> Result<Vec<String>> {
    let names = list.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    let files: Vec<String> = names
        .filter(|name| name.ends_with(".c") && !name.starts_with(LEFT_OUT))
        .map(str::to_owned)
        .collect();
    ensure!(!files.is_empty(), "the list of sources names none");
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_those_of_the_list() {
        let list = "const A: &[&str] = &[\n    \"crypto/a.c\",\n    \"crypto/b.S\",\n    \
                    \"third_party/jitterentropy/c.c\",\n];\n";
        assert_eq!(listed(list).unwrap(), ["crypto/a.c"]);
        assert!(listed("const A: &[&str] = &[];\n").is_err());
    }
}
