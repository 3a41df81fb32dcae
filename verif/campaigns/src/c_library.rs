//! Tests the C library (`device/verify-capi`) from programs in C: all vectors, wrong calls, sizes, and the header.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hartlock_handoff::{HANDOFF_SIZE, Handoff};
use hartlock_image::{
    BundleType, CallReason, HashId, Head, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, Name,
    PAGE_SIZE, Policy, Reason, SignatureBlocks, TrustList, u32_at,
};
use hartlock_jobs::vectors::Vector;
use hartlock_maps::qemu_virt as map;
use hartlock_testkit::bundle::{self, Draft};
use hartlock_testkit::expected::answer;
use hartlock_testkit::generator::{BundleVector, SETS};
use object::{Object, ObjectSection};
use xtask::c_library::{self, Selection};
use xtask::{Outcome, firmware, run};

use crate::bench;
use crate::vectors::judge;

const SOURCES: &str = "verif/campaigns/c-library";
/// Target triple of this machine.
const HOST: &str = "x86_64-unknown-linux-gnu";
/// Every warning is an error in the header and in the programs.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
/// Size in bytes of `struct hartlock_requirements`.
const REQUIREMENTS_SIZE: usize = 16 + 16 + 8 + 64 + 8 * 56;
/// Most bytes of text and data that an archive may add to a program for rv64gc: today's. The targets are 165,000, 107,000
/// and 70,000.
const SIZES: [(Selection, u64); 3] =
    [(Selection::Everything, 219_000), (Selection::Ed25519, 144_000), (Selection::Small, 84_000)];

/// Most bytes of stack that the calls may use, with everything and with Ed25519 alone, for which the target is 16 KiB.
const STACK: u64 = 48 << 10;
const STACK_OF_SMALL: u64 = 19 << 10;
/// Extensions of the hart on the emulated board.
const HART: &str = "rv64,v=true,vlen=256,zvbb=true,zvknhb=true,zknh=true";

/// Test step: the vectors and the wrong calls, on this machine.
///
/// # Errors
/// If a program cannot be built or run.
pub fn first_step(root: &Path) -> Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    let archive = c_library::archive(HOST, Selection::Everything)?;
    let findings = on_host(root, &archive, scratch.path())?;
    Ok(if findings.is_empty() { Outcome::Passed } else { Outcome::Failed(findings.join("\n")) })
}

/// Test step: the header, the archives, the files beside them, and the emulated board.
///
/// # Errors
/// If a program cannot be built or run.
pub fn step(root: &Path) -> Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    let mut findings = header_faults(root)?;
    findings.extend(example_faults(root, scratch.path())?);
    findings.extend(of_riscv(scratch.path())?);
    findings.extend(of_others(scratch.path())?);
    let archive = c_library::archive(HOST, Selection::Everything)?;
    findings.extend(packages(&archive, scratch.path())?);
    findings.extend(on_boards(root, scratch.path())?);
    Ok(if findings.is_empty() { Outcome::Passed } else { Outcome::Failed(findings.join("\n")) })
}

/// Compares the committed header with the one that cbindgen makes, and compiles it as every language that it is for.
fn header_faults(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let path = root.join(c_library::HEADER);
    if fs::read_to_string(&path).unwrap_or_default() != c_library::header()? {
        findings.push("hartlock.h is old: run `cargo xtask c-library --header`".to_owned());
    }
    for (compiler, language, standard) in
        [("gcc", "c", "c99"), ("gcc", "c", "c11"), ("g++", "c++", "c++17")]
    {
        let mut compile = Command::new(compiler);
        compile.args(WARNINGS).args(["-fsyntax-only", "-x", language]);
        let output = run::capture(compile.arg(format!("-std={standard}")).arg(&path))?;
        if !output.status.success() {
            findings.push(format!("{standard}: {}", run::tail(&output, 10)));
        }
    }
    Ok(findings)
}

/// Compiles the example of the documentation.
fn example_faults(root: &Path, scratch: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join("docs/src/port/c-library.md"))?;
    let example = page.split_once("```c\n").and_then(|(_, rest)| rest.split_once("```"));
    let source = scratch.join("example.c");
    fs::write(&source, example.context("the page has no example")?.0)?;
    let mut compile = Command::new("gcc");
    compile.args(WARNINGS).args(["-std=c11", "-fsyntax-only", "-Wno-misleading-indentation"]);
    compile.arg("-I").arg(root.join(c_library::HEADER).parent().context("a folder")?);
    let output = run::capture(compile.arg(&source))?;
    let fault = || format!("the example: {}", run::tail(&output, 10));
    Ok(if output.status.success() { Vec::new() } else { vec![fault()] })
}

/// Builds every archive for RISC-V, and links it with all its functions: no panic is reachable, nothing else is needed,
/// there is no variable, and it is not too large.
fn of_riscv(scratch: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for target in ["riscv64gc-unknown-none-elf", "riscv64imac-unknown-none-elf"] {
        for (selection, most) in SIZES {
            let program = scratch.join("program.elf");
            let name = format!("{} for {target}", selection.name());
            let archive = c_library::archive(target, selection)?;
            let kept = match size(&name, target, &archive, &program) {
                Ok(kept) => kept,
                Err(error) => {
                    findings.push(format!("{name}: {error:#}"));
                    continue;
                }
            };
            if target.starts_with("riscv64gc") && kept > most {
                findings.push(format!("{name}: {kept} bytes, more than {most}"));
            }
        }
    }
    Ok(findings)
}

/// Links an archive with all its functions, which have no variables, and returns the bytes of text and data without those
/// that a boot can do without.
fn size(name: &str, target: &str, archive: &Path, program: &Path) -> Result<u64> {
    c_library::linked(archive, target, true, program)?;
    let all = size_of_program(program)?;
    ensure!(all.variables == 0, "{} bytes of variables", all.variables);
    c_library::linked(archive, target, false, program)?;
    let kept = size_of_program(program)?.kept;
    println!("    {name}: {kept} bytes of text and data, and {} of helpers", all.kept - kept);
    Ok(kept)
}

/// Links archives for other processors, which have no kernels of their own.
fn of_others(scratch: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for target in ["x86_64-unknown-none", "aarch64-unknown-none"] {
        if !c_library::has_target(target)? {
            println!("    {target}: not run, because `rustup target add {target}` was not");
            continue;
        }
        let program = scratch.join("program.elf");
        for selection in [Selection::Everything, Selection::Small] {
            let archive = c_library::archive(target, selection)?;
            let name = format!("{} for {target}", selection.name());
            if let Err(error) = size(&name, target, &archive, &program) {
                findings.push(format!("{name}: {error:#}"));
            }
        }
    }
    Ok(findings)
}

/// Builds a program that finds the library by pkg-config, and one that finds it by CMake, in a folder to which the files of
/// `cargo xtask c-library` were moved.
fn packages(archive: &Path, scratch: &Path) -> Result<Vec<String>> {
    const PROGRAM: &str = "#include <hartlock.h>\n\nint main(void)\n{\n    \
        return hartlock_version() != HARTLOCK_VERSION || hartlock_load(0) != 1501;\n}\n";
    const LISTS: &str = "cmake_minimum_required(VERSION 3.18)\nproject(trial C)\n\
        find_package(hartlock VERSION REQUIRED CONFIG)\nadd_executable(trial trial.c)\n\
        target_link_libraries(trial PRIVATE hartlock::hartlock)\n";
    let folder = scratch.join("moved to here");
    let source = scratch.join("trial.c");
    fs::create_dir_all(&folder)?;
    fs::write(&source, PROGRAM)?;
    fs::copy(archive, folder.join("libhartlock.a"))?;
    for file in c_library::package(archive)? {
        fs::copy(&file, folder.join(file.file_name().context("a file has a name")?))?;
    }
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let mut findings = Vec::new();
    if has("pkg-config") {
        // pkg-config escapes what the shell splits, so the line is read by the shell twice.
        let line = "flags=$(pkg-config --cflags --libs hartlock) && \
            eval \"gcc -o trial trial.c $flags\" && ./trial";
        let mut build = Command::new("sh");
        build.args(["-c", line]).env("PKG_CONFIG_PATH", &folder).current_dir(scratch);
        let output = run::capture(&mut build)?;
        if !output.status.success() {
            findings.push(format!("pkg-config: {}", run::tail(&output, 10)));
        }
    } else {
        println!("    pkg-config: not run, because it is not installed");
    }
    if has("cmake") {
        let (major_minor, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').context("a version")?;
        for (wanted, is_met) in [("", true), (major_minor, true), ("99.0", false)] {
            let build = scratch.join(format!("cmake{wanted}"));
            fs::write(
                scratch.join("CMakeLists.txt"),
                LISTS.replace("VERSION REQUIRED", &format!("{wanted} REQUIRED")),
            )?;
            let mut configure = Command::new("cmake");
            configure.arg("-S").arg(scratch).arg("-B").arg(&build).env("hartlock_DIR", &folder);
            configure.arg(format!("-Dhartlock_DIR={}", folder.display()));
            if !is_met {
                if run::capture(&mut configure)?.status.success() {
                    findings.push(format!("CMake takes it for version {wanted}"));
                }
                continue;
            }
            let mut make = Command::new("cmake");
            make.arg("--build").arg(&build);
            for command in [&mut configure, &mut make, &mut Command::new(build.join("trial"))] {
                let output = run::capture(command)?;
                if !output.status.success() {
                    findings.push(format!("CMake: {}", run::tail(&output, 10)));
                    break;
                }
            }
        }
    } else {
        println!("    cmake: not run, because it is not installed");
    }
    Ok(findings)
}

/// Bytes of a linked program.
struct ProgramSize {
    /// Text, constants, and constants with addresses.
    kept: u64,
    variables: u64,
}

fn size_of_program(program: &Path) -> Result<ProgramSize> {
    let bytes = fs::read(program)?;
    let file = object::File::parse(&*bytes)?;
    let size = |names: &[&str]| -> u64 {
        let sections = file.sections().filter(|it| it.name().is_ok_and(|it| names.contains(&it)));
        sections.map(|section| section.size()).sum()
    };
    Ok(ProgramSize {
        kept: size(&[".text", ".rodata", ".data.rel.ro", ".got"]),
        variables: size(&[".data", ".bss", ".sdata", ".sbss", ".tdata", ".tbss"]),
    })
}

/// Returns the vectors that a device can be asked for, as the programs read them.
fn entries(all: &[BundleVector]) -> Result<Vec<(&BundleVector, Entry)>> {
    let mut entries = Vec::new();
    for made in all {
        let vector = judge::vector(&made.expected.options, &made.bundle)?;
        if let Some(entry) = Entry::of(&vector, made.expected.answer()) {
            entries.push((made, entry));
        }
    }
    let left_out = all.len() - entries.len();
    println!("    {} vectors, {left_out} that no device has left out", entries.len());
    Ok(entries)
}

fn vectors(root: &Path) -> Result<Vec<BundleVector>> {
    let mut all = Vec::new();
    for set in &SETS {
        all.extend(set.load(root)?);
    }
    Ok(all)
}

/// Returns a pack of good bundles, for a device that requires what the first vector has.
fn packed_bundles(entries: &[(&BundleVector, Entry)], bundles: &[&[u8]]) -> Result<Vec<u8>> {
    let options = &entries.first().context("no vectors")?.0.expected.options;
    let entry = |bundle: &&[u8]| {
        let vector = Vector { bundle, ..judge::vector(options, bundle)? };
        Entry::of(&vector, &answer(None)).context("the bundle is for devices")
    };
    Ok(packed(&bundles.iter().map(entry).collect::<Result<Vec<_>>>()?))
}

/// Verifies all vectors by a program in C, and calls the library wrongly by another one, both under the sanitizers.
fn on_host(root: &Path, archive: &Path, scratch: &Path) -> Result<Vec<String>> {
    let all = vectors(root)?;
    let entries = entries(&all)?;
    let pack = scratch.join("vectors.bin");
    let verifying = program(root, archive, scratch, "vectors")?;
    fs::write(&pack, packed(entries.iter().map(|(_, entry)| entry)))?;
    let mut findings = compared(&entries, &output_of(&verifying, &pack)?);
    let (trees, wanted) = boot_trees(root, &entries)?;
    fs::write(&pack, packed(&trees))?;
    let console = output_of(&verifying, &pack)?;
    if console != wanted {
        findings.push(format!("boot trees:\n{console}expected is\n{wanted}"));
    }
    let [plain, encrypted] = [good_bundle(false)?, good_bundle(true)?];
    let mut tampered = encrypted.clone();
    let at = tampered.iter().rposition(|byte| *byte != 0).context("a payload")?;
    tampered[at] ^= 1;
    let mut bytes = packed_bundles(&entries, &[&plain, &encrypted, &tampered])?;
    let options = &entries.first().context("no vectors")?.0.expected.options;
    bytes.extend(handoff_block(&judge::vector(options, &plain)?)?);
    fs::write(&pack, bytes)?;
    let console = output_of(&program(root, archive, scratch, "calls")?, &pack)?;
    if !console.ends_with("\n0 failures\n") && console != "0 failures\n" {
        findings.push(format!("calls:\n{console}"));
    }
    Ok(findings)
}

/// Verifies all vectors on the emulated board, and measures the stack.
fn on_boards(root: &Path, scratch: &Path) -> Result<Vec<String>> {
    let all = vectors(root)?;
    let entries = entries(&all)?;
    let pack = scratch.join("vectors.bin");
    fs::write(&pack, packed(entries.iter().map(|(_, entry)| entry)))?;
    let mut findings = on_board(&entries, &pack)?;
    fs::write(&pack, packed_bundles(&entries, &[&good_bundle(false)?])?)?;
    findings.extend(stack_of_small(&pack)?);
    Ok(findings)
}

/// Verifies all vectors on the emulated board, with the best kernels of a hart.
fn on_board(entries: &[(&BundleVector, Entry)], pack: &Path) -> Result<Vec<String>> {
    let stage = firmware::stage("capi-board", &[])?;
    let console = bench::emulate(&stage.bin, pack, &["-cpu", HART])?;
    let (console, stack) = console.split_once("stack ").context("the stack was not measured")?;
    let mut findings: Vec<String> =
        compared(entries, console).iter().map(|finding| format!("the board: {finding}")).collect();
    findings.extend(too_deep("everything", stack, STACK)?);
    Ok(findings)
}

/// Measures the stack of the smallest selection, which has Ed25519 alone.
fn stack_of_small(pack: &Path) -> Result<Vec<String>> {
    let stage = firmware::stage_without_defaults("capi-board", &["small"])?;
    let console = bench::emulate(&stage.bin, pack, &["-cpu", HART])?;
    ensure!(console.starts_with("vector 0 0 0\ndone\n"), "the board with `small`: {console}");
    let (_, stack) = console.split_once("stack ").context("the stack was not measured")?;
    too_deep("small", stack, STACK_OF_SMALL)
}

fn too_deep(name: &str, stack: &str, most: u64) -> Result<Vec<String>> {
    let stack: u64 = stack.trim().parse().context("the stack")?;
    println!("    {name}: {stack} bytes of stack");
    let why = || format!("{name} takes {stack} bytes of stack, more than {most}");
    Ok(if stack <= most { Vec::new() } else { vec![why()] })
}

/// Returns a system bundle with all payloads, in every mode, and pages of zeros behind each. Its device tree is that of the board.
fn good_bundle(is_encrypted: bool) -> Result<Vec<u8>> {
    let mut draft = Draft::system();
    draft.payloads[1].data = fs::read(firmware::device_tree("system")?)?;
    draft.add_initramfs(300_001, map::SYSTEM.start + 0x400_0000).use_blocks(4096);
    draft.payloads[0].use_parallelhash(HashId::Shake128, 1024);
    draft.payloads.iter_mut().for_each(|payload| payload.memory_size += 16384);
    if is_encrypted {
        draft.encrypt(1);
    }
    Ok(bundle::build(draft, &[]).0)
}

/// Trees that close nothing, or not on every hart, and trees that are none: those that the library refuses without a
/// description of the board.
const OPEN_TREES: [(&str, Reason); 7] = [
    ("cut", Reason::DeviceTreeUnusable),
    ("empty", Reason::DeviceTreeUnusable),
    ("property_after_child", Reason::DeviceTreeUnusable),
    ("emulator", Reason::MemoryNotClosed),
    ("two_domains", Reason::MemoryNotClosed),
    ("boot_hart_without_domain", Reason::MemoryNotClosed),
    ("last_hart_without_domain", Reason::MemoryNotClosed),
];

/// Returns boot bundles with these trees and with those that nothing is wrong with, and what is expected on the console.
fn boot_trees(root: &Path, entries: &[(&BundleVector, Entry)]) -> Result<(Vec<Entry>, String)> {
    let options = &entries.first().context("no vectors")?.0.expected.options;
    let folder = root.join("spec/vectors/trees");
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        names.extend(entry?.path().file_stem().and_then(|it| it.to_str()).map(str::to_owned));
    }
    names.retain(|it| it.starts_with("right") || OPEN_TREES.iter().any(|(name, _)| name == it));
    names.sort();
    let (mut all, mut wanted) = (Vec::new(), String::new());
    for (index, name) in names.iter().enumerate() {
        let mut draft = Draft::boot();
        let tree = &mut draft.payloads[2];
        tree.data = fs::read(folder.join(format!("{name}.dtb")))?;
        tree.memory_size = (tree.data.len() as u64).next_multiple_of(PAGE_SIZE);
        let (bundle, _) = bundle::build(draft, &[]);
        let vector = Vector { bundle: &bundle, ..judge::vector(options, &bundle)? };
        all.push(Entry::of(&vector, &answer(None)).context("the bundle is for devices")?);
        let reason = OPEN_TREES.iter().find(|(it, _)| it == name).map(|(_, reason)| *reason);
        let number = reason.map_or(0, |reason| reason as u32);
        let _ = writeln!(wanted, "vector {index} {number} {number}");
    }
    ensure!(names.len() > OPEN_TREES.len(), "trees are missing in {}", folder.display());
    wanted += "done\n";
    Ok((all, wanted))
}

/// Returns the hand-off block of a ROM that trusts what the vector trusts.
fn handoff_block(vector: &Vector<'_>) -> Result<[u8; HANDOFF_SIZE]> {
    let manifest = manifest_of(vector.bundle).context("a good bundle")?;
    let identity = manifest.identities().next().context("an identity")?;
    let handoff = Handoff {
        generation: 7,
        harts: 0b1001,
        boot_hart: 3,
        system_floor: manifest.security_version,
        boot_version: 9,
        lifecycle: Lifecycle::Production,
        trust: TrustList { policy: Policy::Any, keys: vector.trust.keys },
        board: identity.board,
        soc: identity.soc,
        boot_digest: [0x5c; 48],
        log: List::new(),
    };
    let mut block = [0; HANDOFF_SIZE];
    handoff.encode(&mut block);
    Ok(block)
}

/// Compiles a program against the archive.
fn program(root: &Path, archive: &Path, scratch: &Path, name: &str) -> Result<PathBuf> {
    let sources = root.join(SOURCES);
    let program = scratch.join(name);
    let mut compile = Command::new("gcc");
    compile.args(WARNINGS).args(["-std=c11", "-g", "-O1", "-pthread"]);
    compile.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    compile.arg("-I").arg(root.join(c_library::HEADER).parent().context("a folder")?);
    compile.arg("-I").arg(&sources).arg("-Wl,--gc-sections").arg("-o").arg(&program);
    for source in ["platform.c", &format!("{name}.c")] {
        compile.arg(sources.join(source));
    }
    let output = run::capture(compile.arg(archive))?;
    ensure!(output.status.success(), "{name}.c: {}", run::tail(&output, 30));
    Ok(program)
}

fn output_of(program: &Path, pack: &Path) -> Result<String> {
    let output = run::capture(Command::new("timeout").arg("300").arg(program).arg(pack))?;
    if !matches!(output.status.code(), Some(0 | 1)) || !output.stderr.is_empty() {
        bail!("{}: {}", program.display(), run::tail(&output, 30));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A vector as the programs read it.
struct Entry {
    /// The expected code, empty if the bundle is accepted.
    expected: String,
    bytes: Vec<u8>,
}

impl Entry {
    /// Returns `None` for what no device can be asked: requirements that only a workstation has.
    fn of(vector: &Vector<'_>, expected: &str) -> Option<Self> {
        let bundle = vector.bundle;
        let manifest = manifest_of(bundle);
        let mut expected = if expected == answer(None) { "" } else { expected }.to_owned();
        // A medium may be longer than its bundle.
        let others = [Reason::OutsideProfile, Reason::SignerWithoutKey, Reason::TrailingBytes];
        if vector.trust.keys.is_empty() || others.map(code).contains(&expected) {
            return None;
        }
        // A boot loader of others has no class key, and sees that before it reads payloads.
        let is_encrypted =
            manifest.as_ref().is_some_and(|it| it.extensions.encrypted().next().is_some());
        let is_late = expected.is_empty() || expected == code(Reason::PayloadDigestMismatch);
        if is_encrypted && is_late {
            expected = code(Reason::ClassKeyMissing);
        }
        let mut ids: Vec<_> = vector.trust.keys.iter().map(|key| key.key_id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            expected = format!("E{}", CallReason::CallRequirements as u32);
        }
        let mut bytes = Vec::new();
        let answers = answers(manifest.as_ref());
        bytes.extend((answers.len() as u32).to_le_bytes());
        bytes.extend(answers.iter().flatten().flat_map(|number| number.to_le_bytes()));
        bytes.extend(requirements(vector, manifest.as_ref()));
        bytes.extend((bundle.len() as u32).to_le_bytes());
        bytes.extend(bundle);
        Some(Self { expected, bytes })
    }
}

fn code(reason: Reason) -> String {
    answer(Some(reason))
}

/// Parses the manifest of a bundle, whatever its signatures are.
fn manifest_of(bundle: &[u8]) -> Option<Manifest<'_>> {
    let head = Head::parse(bundle).ok()?;
    let (signed, rest) = bundle.split_at_checked(head.signed_size())?;
    let area = rest.get(..head.total_size().checked_sub(head.signed_size())?)?;
    let mut keys = List::<KeyRecord, MAX_SIGNERS>::new();
    for block in SignatureBlocks::parse(area).ok()?.iter() {
        if !keys.push(hartlock_verify::key_record(block)) {
            return None;
        }
    }
    Manifest::parse(signed, &keys).ok()
}

/// Returns what the maps of the boards that a manifest names say of its payloads: type and code of those that are refused.
fn answers(manifest: Option<&Manifest<'_>>) -> Vec<[u32; 2]> {
    let Some(manifest) = manifest else { return Vec::new() };
    let known = |name: &Name| hartlock_maps::ALL.iter().find(|board| name.is(board.name));
    let boards: Vec<_> =
        manifest.identities().filter_map(|identity| known(&identity.board)).collect();
    let refused = manifest.payloads.iter().filter_map(|payload| {
        let mut all = boards.iter().map(|board| board.check(manifest.bundle_type, payload));
        let reason = all.find_map(Result::err)?;
        Some([payload.payload_type as u32, reason as u32])
    });
    refused.collect()
}

/// Encodes `struct hartlock_requirements`. What a vector leaves open is what its bundle has.
fn requirements(vector: &Vector<'_>, manifest: Option<&Manifest<'_>>) -> Vec<u8> {
    let field = |offset: usize| -> Option<Name> {
        Name::from_field(vector.bundle.get(offset..)?.first_chunk()?)
    };
    let any = || bundle::name("any");
    let identities = || manifest.into_iter().flat_map(|it| it.identities());
    let is_wanted = |identity: &hartlock_image::Identity| {
        vector.board.is_none_or(|it| it == identity.board)
            && vector.soc.is_none_or(|it| it == identity.soc)
    };
    let found = identities().find(is_wanted);
    let board = vector.board.or(found.map(|it| it.board)).or_else(|| field(64));
    let soc = vector.soc.or(found.map(|it| it.soc)).or_else(|| field(96));
    let (board, soc) = (board.unwrap_or_else(any), soc.unwrap_or_else(any));
    let mask = u32_at(vector.bundle, 48).unwrap_or(0);
    let allowed = Lifecycle::ALL.into_iter().find(|state| mask & state.bit() != 0);
    let lifecycle = vector.lifecycle.or(allowed).unwrap_or(Lifecycle::Production);
    let is_boot = vector.bundle.starts_with(BundleType::Boot.tag());
    let own = if is_boot { BundleType::Boot } else { BundleType::System };
    let known = |identity: &hartlock_image::Identity| {
        hartlock_maps::ALL.iter().find(|board| identity.board.is(board.name))
    };
    let boards = identities().filter_map(|it| known(&it));
    let most = boards.map(|board| board.max_bootargs as u32).min().unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    let bundle_type = match vector.bundle_type.unwrap_or(own) {
        BundleType::Boot => 1,
        BundleType::System => 2,
    };
    // The policy of a workstation, that every signer is trusted, is no device's.
    let policy = match vector.trust.policy {
        Policy::EverySigner => Policy::Any,
        policy => policy,
    };
    for number in [bundle_type, policy.number(), lifecycle as u32, 0] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [vector.floor.unwrap_or(0), vector.boot_version.unwrap_or(u64::MAX)] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [most, vector.trust.keys.len() as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(board.field());
    bytes.extend(soc.field());
    for key in vector.trust.keys.iter() {
        bytes.extend(key.algorithm.to_le_bytes());
        bytes.extend(key.parameters.to_le_bytes());
        bytes.extend(key.key_id);
    }
    bytes.resize(REQUIREMENTS_SIZE, 0);
    bytes
}

fn packed<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<u8> {
    let (mut count, mut body) = (0_u32, Vec::new());
    for entry in entries {
        count += 1;
        body.extend(&entry.bytes);
    }
    [&count.to_le_bytes()[..], &body].concat()
}

/// Compares what the program printed: for each vector the code by a device that reads on request, and by one that reads by
/// itself.
fn compared(entries: &[(&BundleVector, Entry)], console: &str) -> Vec<String> {
    let mut wanted = String::new();
    for (index, (_, entry)) in entries.iter().enumerate() {
        let number: u32 = entry.expected.trim_start_matches('E').parse().unwrap_or(0);
        let _ = writeln!(wanted, "vector {index} {number} {number}");
    }
    wanted += "done\n";
    let lines = console.lines().zip(wanted.lines()).enumerate();
    let mut findings: Vec<String> = lines
        .filter(|(_, (line, wanted))| line != wanted)
        .map(|(index, (line, wanted))| {
            let name = entries.get(index).map_or("the end", |(made, _)| &made.expected.name);
            format!("{name}: {line}, expected is {wanted}")
        })
        .collect();
    if console.lines().count() != wanted.lines().count() {
        findings.push(format!("{} lines", console.lines().count()));
    }
    findings
}
