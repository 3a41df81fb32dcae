//! Assembles Linux' kernels of hashes and ciphers in vector instructions.
//!
//! Their sources need a few names of the kernel's headers; those in `lab/peers/linux` are this project's own. Padding,
//! initial values and calls of the kernels are in the programs that count (`lab/peers/src/linux.rs`,
//! `lab/ciphers/src/linux.rs`), in place of the kernel's own code around them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Compiler, LINUX, LibraryPart};
use xtask::tools::Linux;
use xtask::{project, run};

const ARCHIVE: &str = "liblinux.a";

const HASHES: &[&str] = &["sha256-riscv64-zvknha_or_zvknhb-zvkb", "sha512-riscv64-zvknhb-zvkb"];
const CIPHERS: &[&str] = &["aes-riscv64-zvkned", "aes-riscv64-zvkned-zvkb", "ghash-riscv64-zvkg"];

/// Extension that the sources take for granted; they name those of cryptography themselves.
const VECTORS: &str = "_zve64x";

/// Returns what the library is made of, in addition to the compiler.
pub fn made_of(linux: &Linux, part: LibraryPart) -> Result<String> {
    let headers = ["linkage.h", "cfi_types.h"];
    let text = |name: &str| fs::read_to_string(headers_folder().join("linux").join(name));
    let [linkage, types] = headers.map(text);
    Ok(format!("{} {:?}{VECTORS}\n{}{}", linux.version, sources(part), linkage?, types?))
}

/// Assembles the library.
pub fn build(
    compiler: &Compiler<'_>,
    linux: &Linux,
    folder: &Path,
    part: LibraryPart,
) -> Result<()> {
    let work = folder.join(LINUX);
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let mut objects = Vec::new();
    for name in sources(part) {
        let object = work.join(name).with_extension("o");
        let mut command = compiler.command();
        if part == LibraryPart::Ciphers {
            // The last one counts.
            command.arg(format!("-march={}{VECTORS}", compiler.march));
        }
        command.arg("-I").arg(headers_folder());
        command.arg("-c").arg(linux.code.join(name).with_extension("S"));
        run::quietly(command.arg("-o").arg(&object))?;
        objects.push(object);
    }
    compiler.archive(&folder.join(ARCHIVE), &objects)
}

/// Removes a library of an earlier run, so that programs are linked without it.
pub fn remove(folder: &Path) -> Result<()> {
    for name in [ARCHIVE, "linux.made-of"] {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

fn sources(part: LibraryPart) -> &'static [&'static str] {
    match part {
        LibraryPart::Hashes => HASHES,
        LibraryPart::Ciphers => CIPHERS,
        LibraryPart::Everything => &[],
    }
}

fn headers_folder() -> std::path::PathBuf {
    project::root().join("lab/peers/linux")
}
