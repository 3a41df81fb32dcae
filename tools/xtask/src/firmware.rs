//! `cargo xtask firmware` builds the boot stages and device trees into `target/firmware`.
//!
//! A *variant* is another program built from the library of a stage, for tests or measurements
//! (`verif/programs/*-variants`).

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSymbol, elf};

use crate::{Verdict, project, run, tools};

mod jumps;
use jumps::Jumps;

/// The target of the boot stages: the lowest CPU of every supported board, without floating point.
pub const TARGET: &str = "riscv64imac-unknown-none-elf";
/// The target of programs of the root of trust (hw/soc): Ibex without bit manipulation.
pub const ROT_TARGET: &str = "riscv32imc-unknown-none-elf";
/// Maximum size in bytes of the ROM with Ed25519. The linker script reserves 128 KiB before the root-of-trust block,
/// for ROMs with more algorithms.
pub const ROM_LIMIT: u64 = 64 << 10;
/// The symbol that every panic path calls (device/virt/src/panic.rs).
const PANIC_SENTINEL: &str = "hartlock_panic_sentinel";

/// The stages that verify, on a hart of the board and on the root of trust, and their variants, which are built with
/// the same flags.
const STAGES: [&str; 6] =
    ["rom", "loader", "rot-rom", "rom-variants", "loader-variants", "rot-rom-variants"];
/// Flags that protect jumps if an attacker makes a hart skip one instruction. With linker relaxation a call is one
/// instruction; without, it is two, and if the first is skipped the second jumps to an old address in the register.
/// Without jump tables, no index is used whose comparison may have been skipped.
const STAGE_FLAGS: [&str; 2] =
    ["-Ctarget-feature=+relax", "-Cllvm-args=-riscv-min-jump-table-entries=1000"];

/// Number of jumps of the ROM through a register: into OpenSBI, on the boot hart and on the others.
const ROM_EXITS: usize = 2;

/// The file that states the size of the ROM.
const STATUS: &str = "docs/status.toml";

#[derive(clap::Args)]
pub struct FirmwareArgs {
    /// Build only a ROM that verifies signatures of this algorithm as well; may be repeated
    #[arg(long, value_name = "ALGORITHM", value_parser = ["ecdsa", "ed25519", "lms", "ml-dsa", "rsa", "slh-dsa", "xmss"])]
    with: Vec<String>,
}

#[derive(clap::Args)]
pub struct BenchProgramArgs {}

/// Builds all firmware and prints the sizes.
pub fn main(args: &FirmwareArgs) -> Result<Verdict> {
    if !args.with.is_empty() {
        let features: Vec<_> = args.with.iter().map(String::as_str).collect();
        let rom = stage("rom", &features)?;
        println!("{}\t{} bytes\t{}", rom.name, rom.size()?, rom.bin.display());
        return Ok(Verdict::Yes);
    }
    let built = build()?;
    for stage in [&built.rom, &built.loader] {
        println!("{}\t{} bytes\t{}", stage.name, stage.size()?, stage.bin.display());
    }
    // The program that `hartlock kat --target` runs.
    let bench = stage("jobs", &[])?;
    println!("{}\t{} bytes\t{}", bench.name, bench.size()?, bench.bin.display());
    println!("boot-fdt\t{}", built.boot_fdt.display());
    println!("system-fdt\t{}", built.system_fdt.display());
    Ok(Verdict::Yes)
}

/// A linked stage.
#[derive(Clone, Debug)]
pub struct StageFiles {
    pub name: &'static str,
    pub elf: PathBuf,
    pub bin: PathBuf,
}

impl StageFiles {
    /// Returns the size in bytes of the flat binary.
    pub fn size(&self) -> Result<u64> {
        Ok(fs::metadata(&self.bin)?.len())
    }
}

/// The files of everything that the board runs before Linux.
#[derive(Clone, Debug)]
pub struct Firmware {
    pub rom: StageFiles,
    pub loader: StageFiles,
    pub boot_fdt: PathBuf,
    pub system_fdt: PathBuf,
}

/// Builds the release firmware.
pub fn build() -> Result<Firmware> {
    Ok(Firmware {
        rom: stage("rom", &[])?,
        loader: stage("loader", &[])?,
        boot_fdt: device_tree("boot")?,
        system_fdt: device_tree("system")?,
    })
}

/// Returns the folder of built firmware, which depends on the board.
pub fn folder() -> PathBuf {
    let folder = project::target_dir().join("firmware");
    let board = project::board();
    if board == project::DEFAULT_BOARD { folder } else { folder.join("boards").join(board) }
}

/// Builds a stage with these features in addition to its default features.
pub fn stage(name: &'static str, features: &[&str]) -> Result<StageFiles> {
    build_stage(name, features, true)
}

/// Builds a stage with only these features.
pub fn stage_without_defaults(name: &'static str, features: &[&str]) -> Result<StageFiles> {
    build_stage(name, features, false)
}

fn build_stage(name: &'static str, features: &[&str], has_defaults: bool) -> Result<StageFiles> {
    let base = if has_defaults { folder() } else { folder().join("only") };
    // Each variant has a folder of its own; otherwise building one would overwrite another.
    let folder = features.iter().fold(base, |folder, feature| folder.join(feature));
    let elf = compile(name, TARGET, features, has_defaults, &folder)?;
    let bin = elf.with_extension("bin");
    replace(&bin, &flat_binary(&elf)?)?;
    Ok(StageFiles { name, elf, bin })
}

/// Builds a program for the root of trust, and returns the path of its ELF file.
pub fn rot_program(name: &str, features: &[&str]) -> Result<PathBuf> {
    let folder = features.iter().fold(folder(), |folder, feature| folder.join(feature));
    compile(name, ROT_TARGET, features, true, &folder)
}

/// Builds a stage of a host that has a signature verification unit, and returns its flat binary.
pub fn svu_stage(name: &str) -> Result<Vec<u8>> {
    flat_binary(&compile(name, ROT_TARGET, &[], true, &folder())?)
}

/// The program for boards under Linux, and the maximum of its size in bytes.
const BENCH_PROGRAM: &str = "hartlock-bench";
const BENCH_LIMIT: u64 = 2_000_000;

/// Builds the program that owners of boards run, and returns its path.
pub fn bench_program() -> Result<PathBuf> {
    let build = folder().join("build");
    fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["build", "--locked", "--quiet", "--profile", "board"]);
    cargo.args(["--package", BENCH_PROGRAM, "--target", TARGET, "--target-dir"]).arg(&build);
    let lock = File::create(build.join("lock"))?;
    lock.lock()?;
    run::quietly(&mut cargo)?;
    let built = fs::read(build.join(TARGET).join("board").join(BENCH_PROGRAM))?;
    ensure!(built.len() as u64 <= BENCH_LIMIT, "{BENCH_PROGRAM} has {} bytes", built.len());
    let program = folder().join(BENCH_PROGRAM);
    replace(&program, &built)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program)
}

/// Builds the program for boards, and prints its size.
pub fn bench_program_main(_: &BenchProgramArgs) -> Result<Verdict> {
    let program = bench_program()?;
    println!("{BENCH_PROGRAM}\t{} bytes\t{}", fs::metadata(&program)?.len(), program.display());
    Ok(Verdict::Yes)
}

/// Builds a package and puts its ELF file into `folder`.
fn compile(
    name: &str,
    target: &str,
    features: &[&str],
    has_defaults: bool,
    folder: &Path,
) -> Result<PathBuf> {
    let package = format!("hartlock-{name}");
    let build = self::folder().join("build");
    fs::create_dir_all(&build).with_context(|| build.display().to_string())?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["build", "--locked", "--quiet"]);
    if STAGES.contains(&name) {
        let name = target.to_uppercase().replace('-', "_");
        cargo.env(format!("CARGO_TARGET_{name}_RUSTFLAGS"), STAGE_FLAGS.join(" "));
    }
    cargo.args(["--package", &package, "--profile", "firmware", "--target", target]);
    // All variants share this directory, so that crates without the feature are compiled once.
    cargo.arg("--target-dir").arg(&build);
    if !has_defaults {
        cargo.arg("--no-default-features");
    }
    for feature in features {
        cargo.args(["--features", feature]);
    }
    // The lock keeps other builds from replacing the program before it is copied.
    let lock = File::create(build.join("lock"))?;
    lock.lock()?;
    run::quietly(&mut cargo)?;
    let built = build.join(target).join("firmware").join(name);
    let elf = folder.join(name).with_extension("elf");
    replace(&elf, &fs::read(&built).with_context(|| built.display().to_string())?)?;
    Ok(elf)
}

/// Writes a file completely or not at all, and only if its contents differ, because another step may be reading it.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let folder = path.parent().context("a file without a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // The file gets the usual mode of a built file, readable for everyone; the umask applies.
    let mode = fs::Permissions::from_mode(0o644);
    let scratch = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
    fs::write(scratch.path(), bytes)?;
    scratch.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}

/// Compiles the device tree `name` of the board.
///
/// # Errors
/// If it cannot be compiled.
pub fn device_tree(name: &str) -> Result<PathBuf> {
    let board = project::root().join("device/boards").join(project::board());
    let source = board.join(name).with_extension("dts");
    let output = folder().join(name).with_extension("dtb");
    let scratch = tempfile::tempdir()?;
    let compiled = scratch.path().join("tree.dtb");
    let mut dtc = Command::new(tools::locate()?.dtc);
    dtc.args(["-q", "-I", "dts", "-O", "dtb", "-i"]).arg(board.join("generated"));
    dtc.arg("-o").arg(&compiled).arg(&source);
    run::quietly(&mut dtc)?;
    replace(&output, &fs::read(&compiled)?)?;
    Ok(output)
}

/// Returns the bytes of the loadable segments of an ELF file as a board sees them, from the lowest address.
pub fn flat_binary(path: &Path) -> Result<Vec<u8>> {
    flat_binary_of(&fs::read(path).with_context(|| format!("cannot read {}", path.display()))?)
}

/// Does the same as [`flat_binary`] for an ELF file in memory.
pub fn flat_binary_of(elf: &[u8]) -> Result<Vec<u8>> {
    match FileKind::parse(elf)? {
        FileKind::Elf32 => flatten::<elf::FileHeader32<Endianness>>(elf),
        _ => flatten::<elf::FileHeader64<Endianness>>(elf),
    }
}

fn flatten<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Result<Vec<u8>> {
    let file = ElfFile::<Elf>::parse(bytes)?;
    let endian = file.endian();
    let mut segments: Vec<(u64, &[u8])> = Vec::new();
    for header in file.elf_program_headers() {
        if header.p_type(endian) == elf::PT_LOAD && header.p_filesz(endian).into() > 0 {
            let data = header.data(endian, bytes).ok().context("a segment outside the file")?;
            segments.push((header.p_paddr(endian).into(), data));
        }
    }
    segments.sort_unstable();
    let start = segments.first().context("no loadable segment")?.0;
    let mut flat = Vec::new();
    for (address, data) in segments {
        let offset = usize::try_from(address - start)?;
        ensure!(offset >= flat.len(), "segments overlap");
        ensure!(offset < 1 << 26, "a segment is {offset:#x} bytes after the first");
        flat.resize(offset, 0);
        flat.extend_from_slice(data);
    }
    Ok(flat)
}

/// Returns the offset in the flat binary of the only function whose mangled name contains all of `parts`.
pub fn function_offset(path: &Path, parts: &[&str]) -> Result<usize> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes)?;
    let function = function(&file, parts).with_context(|| path.display().to_string())?;
    Ok(usize::try_from(function.address() - file.entry())?)
}

/// Returns the offset in the ELF file of the only function whose mangled name contains all of `parts`.
pub fn function_in_file(elf: &[u8], parts: &[&str]) -> Result<usize> {
    let file = object::File::parse(elf)?;
    let function = function(&file, parts)?;
    let index = function.section_index().context("a function in no section")?;
    let section = file.section_by_index(index)?;
    let (start, _) = section.file_range().context("a section that is not in the file")?;
    Ok(usize::try_from(start + (function.address() - section.address()))?)
}

fn function<'a>(file: &'a object::File<'a>, parts: &[&str]) -> Result<object::Symbol<'a, 'a>> {
    let has_all = |name: &str| parts.iter().all(|part| name.contains(part));
    let mut found = file
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter(|symbol| symbol.name().is_ok_and(has_all));
    match (found.next(), found.next()) {
        (Some(symbol), None) => Ok(symbol),
        (None, _) => bail!("no function {parts:?}"),
        (Some(_), Some(_)) => bail!("several functions {parts:?}"),
    }
}

/// Returns the address of the symbol with exactly this name.
pub fn symbol(path: &Path, name: &str) -> Result<u64> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    Ok(symbol.with_context(|| format!("{}: no symbol {name}", path.display()))?.address())
}

/// Returns true if a linked stage contains a panic path.
pub fn has_panic_path(path: &Path) -> Result<bool> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes)?;
    ensure!(file.symbols().next().is_some(), "{} has no symbols", path.display());
    Ok(file.symbols().any(|symbol| symbol.name() == Ok(PANIC_SENTINEL)))
}

/// Returns true if a linked stage contains something of a broken signature scheme, which is for measurements alone.
fn has_research(path: &Path) -> Result<bool> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes)?;
    Ok(file.symbols().any(|symbol| symbol.name().is_ok_and(|name| name.contains("walnut"))))
}

/// Returns a fault of the stages of a board, if there is any: a ROM that is too large, a panic path, a broken signature
/// scheme, a jump by `auipc` and `jalr`, or an unexpected jump of the ROM through a register.
pub fn fault(built: &Firmware) -> Result<Option<String>> {
    let size = built.rom.size()?;
    if size > ROM_LIMIT {
        return Ok(Some(format!("the ROM has {size} bytes, {ROM_LIMIT} are allowed")));
    }
    for stage in [&built.rom, &built.loader] {
        if has_panic_path(&stage.elf)? {
            return Ok(Some(format!("{} can reach a panic", stage.name)));
        }
        if has_research(&stage.elf)? {
            return Ok(Some(format!("{} contains WalnutDSA", stage.name)));
        }
        let jumps = Jumps::of(&stage.elf)?;
        if let Some(pair) = jumps.pairs.first() {
            return Ok(Some(format!("{}: auipc and jalr: {pair:x?}", stage.name)));
        }
        if stage.name == "rom" && jumps.computed.len() != ROM_EXITS {
            let found = &jumps.computed;
            return Ok(Some(format!("the ROM jumps through registers: {found:x?}")));
        }
    }
    Ok(None)
}

/// Runs the step of `cargo xtask test` that checks the sizes, and that neither stage has a panic path or a broken scheme.
pub fn gates(_: &Path) -> Result<crate::Outcome> {
    use crate::Outcome;
    let built = build()?;
    if let Some(fault) = fault(&built)? {
        return Ok(Outcome::Failed(fault));
    }
    let size = built.rom.size()?;
    // The build is reproducible, so its size must be the published one.
    let status = fs::read_to_string(project::root().join(STATUS))?;
    let figure = format!("{},{:03} bytes", size / 1000, size % 1000);
    if !status.contains(&figure) {
        return Ok(Outcome::Failed(format!("{STATUS} does not say that the ROM has {figure}")));
    }
    // The program `jobs` is built without those flags, so the search must find such jumps in it. It measures WalnutDSA.
    let bench = stage("jobs", &[])?.elf;
    if Jumps::of(&bench)?.pairs.is_empty() {
        return Ok(Outcome::Failed("the search for jumps in two halves finds none".into()));
    }
    if !has_research(&bench)? {
        return Ok(Outcome::Failed("the search for WalnutDSA finds nothing".into()));
    }
    // A stage that can panic tests the check itself.
    let panicking = stage("rom-variants", &["panic"])?;
    if !has_panic_path(&panicking.elf)? {
        return Ok(Outcome::Failed("the panic gate does not detect a panic".into()));
    }
    Ok(Outcome::Passed)
}
