//! `cargo xtask c-library`: builds the archives of the C library (`device/verify-capi`) and makes its header.
//!
//! Beside each archive are the header and what pkg-config and CMake find it by. The folder can be moved.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::{Verdict, project, run, tools};

#[derive(clap::Args)]
pub struct CLibraryArgs {
    /// Target triple of the archive; may be given several times
    #[arg(long, value_name = "TRIPLE", default_values = ["riscv64gc-unknown-none-elf", "riscv64imac-unknown-none-elf"])]
    target: Vec<String>,
    /// Algorithms in it
    #[arg(long, value_enum, default_value = "everything")]
    selection: Selection,
    /// Only make the header again
    #[arg(long)]
    header: bool,
}

/// The algorithms in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Selection {
    /// Every signature algorithm and every hash kernel
    Everything,
    /// Ed25519 and every hash kernel
    Ed25519,
    /// Ed25519 and SHA-2 without vectors, and no texts
    Small,
}

impl Selection {
    /// Returns the name of the feature.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Ed25519 => "ed25519",
            Self::Small => "small",
        }
    }
}

const FOLDER: &str = "device/verify-capi";
/// The committed header.
pub const HEADER: &str = "device/verify-capi/include/hartlock.h";

pub fn main(args: &CLibraryArgs) -> Result<Verdict> {
    if args.header {
        fs::write(project::root().join(HEADER), header()?)?;
        println!("{HEADER}");
        return Ok(Verdict::Yes);
    }
    for target in &args.target {
        let archive = archive(target, args.selection)?;
        println!("{}\t{}", archive.display(), args.selection.name());
        for file in package(&archive)? {
            println!("{}", file.display());
        }
    }
    Ok(Verdict::Yes)
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the header and the files for pkg-config and CMake beside an archive, and returns their paths.
///
/// # Errors
/// If one cannot be written.
pub fn package(archive: &Path) -> Result<Vec<PathBuf>> {
    let folder = archive.parent().context("an archive is in a folder")?;
    let header = fs::read_to_string(project::root().join(HEADER))?;
    let (major_minor, _) = VERSION.rsplit_once('.').context("a version has three numbers")?;
    let files = [
        ("hartlock.h", header),
        ("hartlock.pc", format!(include_str!("c_library/hartlock.pc"), version = VERSION)),
        ("hartlock-config.cmake", include_str!("c_library/hartlock-config.cmake").to_owned()),
        (
            "hartlock-config-version.cmake",
            format!(
                include_str!("c_library/hartlock-config-version.cmake"),
                version = VERSION,
                major_minor = major_minor,
            ),
        ),
    ];
    files
        .into_iter()
        .map(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string())?;
            Ok(path)
        })
        .collect()
}

/// Returns true if the toolchain can build for a target.
///
/// # Errors
/// If `rustc` cannot be run, or does not know the target.
pub fn has_target(target: &str) -> Result<bool> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).current_dir(project::root());
    let output = run::capture(&mut rustc)?;
    ensure!(output.status.success(), "{target}: {}", run::tail(&output, 3));
    Ok(Path::new(String::from_utf8(output.stdout)?.trim()).is_dir())
}

/// Makes the header.
///
/// # Errors
/// If cbindgen fails.
pub fn header() -> Result<String> {
    let folder = project::root().join(FOLDER);
    let mut command = Command::new(tools::cargo_tool("cbindgen")?);
    command.args(["--quiet", "--config"]).arg(folder.join("cbindgen.toml")).arg(&folder);
    let output = run::capture(&mut command)?;
    ensure!(output.status.success(), "cbindgen failed\n{}", run::tail(&output, 20));
    Ok(String::from_utf8(output.stdout)?)
}

/// Builds an archive. Returns its path, which is another one for each target and selection.
///
/// # Errors
/// If it cannot be built.
pub fn archive(target: &str, selection: Selection) -> Result<PathBuf> {
    ensure!(
        has_target(target)?,
        "the Rust target {target} is not installed; run `rustup target add {target}`"
    );
    let folder = project::target_dir().join("c-library");
    let mut cargo = Command::new("cargo");
    cargo.args(["rustc", "--quiet", "--locked", "-p", "hartlock-capi", "--lib"]);
    cargo.args(["--crate-type", "staticlib", "--profile", "archive", "--target", target]);
    cargo.args(["--features", &format!("{},archive", selection.name())]);
    cargo.env("CARGO_TARGET_DIR", folder.join("build")).current_dir(project::root());
    let flags = ["-Crelocation-model=pic", "-Cforce-unwind-tables=no"];
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let output = run::capture(&mut cargo)?;
    ensure!(output.status.success(), "the C library: {}", run::tail(&output, 30));
    let built = folder.join("build").join(target).join("archive/libhartlock_capi.a");
    let place = folder.join(target).join(selection.name());
    fs::create_dir_all(&place)?;
    let archive = place.join("libhartlock.a");
    fs::copy(&built, &archive).with_context(|| built.display().to_string())?;
    Ok(archive)
}

/// Returns the names of the functions that a header declares: names before a parenthesis.
fn functions(header: &str) -> BTreeSet<&str> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let before = header.split('(').filter_map(|text| text.rsplit(|it| !is_of_name(it)).next());
    before.filter(|name| name.starts_with("hartlock_")).collect()
}

/// Functions that a boot can do without: whoever does not call them does not link them.
const HELPERS: [&str; 2] = ["hartlock_requirements_of_handoff", "hartlock_tree"];

/// Links an archive with the functions of the header for its target, all of them or those that a boot needs, and writes
/// the program. The functions of the C library that it needs are at address 0.
///
/// # Errors
/// If a symbol is missing: a panic can be reached, or the archive needs something else.
pub fn linked(archive: &Path, target: &str, has_helpers: bool, program: &Path) -> Result<()> {
    let is_riscv = target.starts_with("riscv");
    let sysroot = run::capture(Command::new("rustc").args(["--print", "sysroot"]))?;
    let sysroot = String::from_utf8(sysroot.stdout)?;
    let linker =
        Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    let mut link = Command::new(linker);
    link.args(["-flavor", "gnu", "--gc-sections", "--strip-debug", "-e", "hartlock_begin"]);
    let header = fs::read_to_string(project::root().join(HEADER))?;
    // The functions for `attempt` are those of RISC-V.
    let is_there = |name: &&str| {
        (is_riscv || !name.starts_with("hartlock_attempt_"))
            && (has_helpers || !HELPERS.contains(name))
    };
    for function in functions(&header).into_iter().filter(is_there) {
        // The linker takes an undefined name from `-u` without a word, and none from `--defsym`.
        link.arg(format!("--defsym=required_{function}={function}")).args(["-u", function]);
    }
    for function in ["memcpy", "memset", "memcmp", "memmove"] {
        link.arg(format!("--defsym={function}=0"));
    }
    let output = run::capture(link.arg("-o").arg(program).arg(archive))?;
    ensure!(output.status.success(), "{}: {}", archive.display(), run::tail(&output, 5));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_and_types_of_functions_are_not() {
        let header = "#define A (1)\ntypedef int (*hartlock_type)(int (*x)(void));\nint hartlock_one(int a,\n  int b);\nvoid *hartlock_two(void);\n";
        assert_eq!(functions(header), BTreeSet::from(["hartlock_one", "hartlock_two"]));
    }
}
