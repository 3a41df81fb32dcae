//! `cargo xtask u-boot`: builds U-Boot with the verification of `integrations/u-boot`.
//!
//! A build is kept in the cache under a digest of everything that it depends on: sources, our files, configuration,
//! compiler, linker, the C library and this recipe.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::c_library::{self, Selection};
use crate::packages::{self, Root};
use crate::{Verdict, consent, project, run, tools};

/// The package set of the sources and of the programs that only this build needs.
pub const SET: &str = "u-boot";
/// A part of every digest. Raise it when the build below changes.
const RECIPE: &str = "2";
/// The beginning of the names of compiler and linker. U-Boot's EFI loader takes its architecture from what is before the first `-`.
const PREFIX: &str = "riscv64-hartlock-";
/// The folder of the integration.
pub const FOLDER: &str = "integrations/u-boot";
/// The configuration of the board.
const BOARD: &str = "qemu-riscv64_smode_defconfig";
/// Debian's fixes of published faults, in the order in which they apply.
const FIXES: [&str; 4] = [
    "CVE-2024-42040.patch",
    "CVE-2026-46728-1.patch",
    "CVE-2026-46728-2.patch",
    "CVE-2026-46728-3.patch",
];
/// The packages whose versions a build depends on, beside the sources.
const PROGRAMS: [&str; 2] = ["gcc-riscv64-unknown-elf", "binutils-riscv64-unknown-elf"];

#[derive(clap::Args)]
pub struct UBootArgs {
    /// The build to make: it boots verified bundles alone, or more
    #[arg(long, value_enum, default_value = "locked")]
    variant: Variant,
}

/// A form of U-Boot, by the programs that it boots beside verified bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Variant {
    /// Nothing: `hartlock.config`
    Locked,
    /// Everything that the board's own configuration has; it says at each boot that it is unlocked
    Unlocked,
    /// The board's own configuration, without any file of ours, to compare sizes
    Original,
}

impl Variant {
    const fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Unlocked => "unlocked",
            Self::Original => "original",
        }
    }

    /// Returns the fragments of configuration that are merged into that of the board.
    const fn fragments(self) -> &'static [&'static str] {
        match self {
            Self::Locked => &["verify.config", "hartlock.config"],
            Self::Unlocked => &["verify.config"],
            Self::Original => &[],
        }
    }
}

/// A build of U-Boot.
#[derive(Clone, Debug)]
pub struct UBoot {
    /// The program without a device tree. A tree follows it at its end.
    pub bin: PathBuf,
    /// The same with symbols.
    pub elf: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
    pub version: String,
}

/// Builds U-Boot, and prints its version and its path.
///
/// # Errors
/// If it cannot be built.
pub fn main(args: &UBootArgs) -> Result<Verdict> {
    let built = built(args.variant)?;
    println!("u-boot\t{}\t{}", built.version, built.bin.display());
    println!("size\t{}", fs::metadata(&built.bin)?.len());
    Ok(Verdict::Yes)
}

/// Returns a build, which is made unless the cache has it. Fetches what is missing if the user consents.
///
/// # Errors
/// If it cannot be built.
pub fn built(variant: Variant) -> Result<UBoot> {
    consent::obtain(consent::Consent::Ask, &packages::missing(&[tools::COMPILER, SET])?)?;
    let [compiler, set] = packages::ensure_sets([tools::COMPILER, SET])?;
    let archive = c_library::archive("riscv64gc-unknown-none-elf", Selection::Everything)?;
    let source = package(&set, "u-boot")?;
    let mut parts = vec![RECIPE.to_owned(), variant.name().to_owned()];
    parts.extend([source.sha256.clone(), package(&set, "u-boot-fixes")?.sha256.clone()]);
    parts.push(package(&set, "binutils-riscv64-linux-gnu")?.sha256.clone());
    for name in PROGRAMS {
        parts.push(package(&compiler, name)?.sha256.clone());
    }
    if variant != Variant::Original {
        let own = own_files()?.into_iter().map(|file| Path::new(FOLDER).join(file));
        for file in own.chain([c_library::HEADER.into(), archive.clone()]) {
            let bytes = fs::read(project::root().join(&file))?;
            parts.push(file.file_name().context("a file")?.to_string_lossy().into_owned());
            parts.push(packages::digest_of_bytes(&bytes));
        }
    }
    let digest = packages::digest(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    let version = source.version.split('-').next().unwrap_or(&source.version).to_owned();
    let cache = project::cache_dir()?;
    let folder = cache.join("u-boot").join(format!("{}-{digest}", variant.name()));
    let [bin, elf, config] = RESULTS.map(|name| folder.join(name));
    if !folder.exists() {
        let _lock = packages::lock(&cache)?;
        // The previous holder of the lock may have built it.
        if !folder.exists() {
            eprintln!("building U-Boot {version}, {} (about a minute)", variant.name());
            let scratch = packages::scratch(&cache)?;
            let made = scratch.path().join("made");
            make(&compiler, &set, variant, &archive, &made)?;
            fs::create_dir_all(cache.join("u-boot"))?;
            fs::rename(&made, &folder).with_context(|| folder.display().to_string())?;
        }
    }
    Ok(UBoot { bin, elf, config, version })
}

/// The files of a build.
const RESULTS: [&str; 3] = ["u-boot-nodtb.bin", "u-boot", ".config"];

fn package<'a>(root: &'a Root, name: &str) -> Result<&'a packages::Pin> {
    let found = root.manifest.package.iter().find(|it| it.name == name);
    found.with_context(|| format!("{name} has no version"))
}

/// Returns the paths of our files, relative to their folder and sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn own_files() -> Result<Vec<PathBuf>> {
    let folder = project::root().join(FOLDER);
    let mut files = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|it| it != "md") {
                files.push(path.strip_prefix(&folder)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Builds U-Boot in a folder of its own and puts its files into the folder `made`.
fn make(compiler: &Root, set: &Root, variant: Variant, archive: &Path, made: &Path) -> Result<()> {
    // Makefiles cannot have spaces in their paths, which the folder of the cache may have.
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    let programs = programs(compiler, set, scratch.path())?;
    prepare(set, &programs, variant, &tree)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([programs.clone()].into_iter().chain(std::env::split_paths(&path)))?;
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let make = |targets: &[&str]| -> Result<()> {
        let mut make = Command::new("make");
        // A `make` around this one passes options and jobs through its environment.
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH"] {
            make.env_remove(name);
        }
        make.env("PATH", &path).env("LC_ALL", "C").env("SOURCE_DATE_EPOCH", "0");
        make.env("BISON_PKGDATADIR", set.file("usr/share/bison")?).env("M4", programs.join("m4"));
        make.arg("--silent").arg(format!("--jobs={jobs}")).arg("--directory").arg(&tree);
        make.args([&format!("CROSS_COMPILE={PREFIX}"), "DTC=dtc", "NO_PYTHON=1"]);
        make.arg(format!("HARTLOCK_LIB={}", archive.display()));
        make.args(targets);
        run::quietly(&mut make).map(drop)
    };
    make(&[BOARD])?;
    let mut merge = Command::new("sh");
    merge.current_dir(&tree).args(["scripts/kconfig/merge_config.sh", "-m", ".config"]);
    merge.arg(project::root().join(FOLDER).join("tools.config"));
    for fragment in variant.fragments() {
        merge.arg(project::root().join(FOLDER).join(fragment));
    }
    run::quietly(&mut merge)?;
    make(&["olddefconfig"])?;
    make(&["u-boot-nodtb.bin"])?;
    fs::create_dir_all(made)?;
    for name in RESULTS {
        fs::copy(tree.join(name), made.join(name)).with_context(|| name.to_owned())?;
    }
    Ok(())
}

/// Copies the sources, applies the fixes, and adds our files.
fn prepare(set: &Root, programs: &Path, variant: Variant, tree: &Path) -> Result<()> {
    run::quietly(Command::new("cp").arg("-R").arg(set.file("src/u-boot")?).arg(tree))?;
    let patch = |file: &Path| -> Result<()> {
        let mut patch = Command::new(programs.join("patch"));
        patch.args(["--strip=1", "--batch", "--fuzz=0", "--directory"]).arg(tree);
        run::quietly(patch.arg("--input").arg(file)).map(drop)
    };
    for fix in FIXES {
        patch(&set.file(&format!("src/u-boot-fixes/patches/{fix}"))?)?;
    }
    if variant == Variant::Original {
        return Ok(());
    }
    let folder = project::root().join(FOLDER);
    for file in own_files()? {
        if let Ok(place) = file.strip_prefix("tree") {
            let place = tree.join(place);
            fs::create_dir_all(place.parent().context("a folder")?)?;
            fs::copy(folder.join(&file), &place).with_context(|| place.display().to_string())?;
        }
    }
    fs::copy(project::root().join(c_library::HEADER), tree.join("boot/hartlock/hartlock.h"))?;
    patch(&folder.join("existing.patch"))
}

/// Makes a folder with the programs of the build, and returns it.
fn programs(compiler: &Root, set: &Root, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("programs");
    fs::create_dir(&folder)?;
    let launcher = |name: &str, program: &Path| -> Result<()> {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display()))?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
    };
    // In a pipe only the first program would be started with the libraries of its own set.
    let gcc = folder.join(format!("{PREFIX}gcc"));
    let filter = "for it do shift; [ \"$it\" = -pipe ] || set -- \"$@\" \"$it\"; done";
    let real = compiler.file("run/riscv64-unknown-elf-gcc")?;
    fs::write(&gcc, format!("#!/bin/sh\n{filter}\nexec '{}' \"$@\"\n", real.display()))?;
    fs::set_permissions(&gcc, fs::Permissions::from_mode(0o755))?;
    launcher(&format!("{PREFIX}ar"), &compiler.file("run/riscv64-unknown-elf-ar")?)?;
    for name in ["ld.bfd", "objcopy", "objdump", "nm", "readelf", "strip", "size"] {
        let program = set.file(&format!("run/riscv64-linux-gnu-{name}"))?;
        launcher(&format!("{PREFIX}{name}"), &program)?;
    }
    launcher(&format!("{PREFIX}ld"), &set.file("run/riscv64-linux-gnu-ld.bfd")?)?;
    for name in ["m4", "bison", "flex", "bc", "patch"] {
        launcher(name, &set.file(&format!("run/{name}"))?)?;
    }
    launcher("dtc", &tools::locate()?.dtc)?;
    Ok(folder)
}
