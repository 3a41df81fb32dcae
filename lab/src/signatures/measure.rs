//! Builds the programs and runs them on an emulated hart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectSection, SectionFlags, SectionKind, elf};

use super::catalogue::Algorithm;
use super::record::{Flash, Run};
use hartlock_device::{bench, kernels};
use xtask::{firmware, project, run};

/// The algorithm that must take the same number of instructions in every case, including the one that
/// is refused.
const KEY_PAIR: &str = "ed25519-key-pair";

/// Compiler options of the kernels that replace those of the profile.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    pub opt_level: Option<&'a str>,
}

/// A linked program.
pub struct Program {
    pub elf: PathBuf,
    pub bin: PathBuf,
}

impl Program {
    /// Copies the file that cargo built, so that the next build does not replace it.
    pub fn keep(built: &Path, folder: &Path, name: &str) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let elf = folder.join(name).with_extension("elf");
        let bin = folder.join(name).with_extension("bin");
        fs::copy(built, &elf).with_context(|| format!("cannot copy {}", built.display()))?;
        fs::write(&bin, firmware::flat_binary(&elf)?)?;
        Ok(Self { elf, bin })
    }

    /// Returns the size in bytes of all sections that a board would store in flash.
    pub fn flash(&self) -> Result<u64> {
        let bytes = fs::read(&self.elf)?;
        let file = object::File::parse(&*bytes)?;
        let is_loaded = |flags| match flags {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(elf::SHF_ALLOC),
            _ => false,
        };
        let kept = file.sections().filter(|section| {
            is_loaded(section.flags())
                && !matches!(
                    section.kind(),
                    SectionKind::UninitializedData | SectionKind::UninitializedTls
                )
        });
        Ok(kept.map(|section| section.size()).sum())
    }
}

/// Builds this project's program with these features.
fn build(features: &[&str], options: Options<'_>) -> Result<Program> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["build", "--locked", "--quiet"]);
    cargo.args(["--package", "hartlock-footprint", "--profile", "firmware"]);
    cargo.args(["--target", firmware::TARGET, "--features", &features.join(",")]);
    // All builds share one folder: cargo stores crates with different features separately and replaces
    // only the program.
    let folder = firmware::folder().join("footprint");
    cargo.arg("--target-dir").arg(folder.join("build"));
    if let Some(level) = options.opt_level {
        let level = if level.parse::<u8>().is_ok() { level.into() } else { format!("\"{level}\"") };
        let setting = format!("profile.firmware.package.hartlock-kernels.opt-level={level}");
        cargo.args(["--config", &setting]);
    }
    run::quietly(&mut cargo)?;
    let built = folder.join("build").join(firmware::TARGET).join("firmware/footprint");
    let name = if features.is_empty() { "empty".to_owned() } else { features.join("-") };
    Program::keep(&built, &folder, &name)
}

/// Measures the flash size of an algorithm, and returns the program that is run, with every kernel that
/// a loader contains.
///
/// The size of the scalar assembly is the difference between two programs that select kernels at run
/// time, of which one has only portable kernels. A boot stage selects kernels in any case.
pub fn ours(feature: &'static str, options: Options<'_>) -> Result<(Flash, Program)> {
    let size = |features: &[&str]| build(features, options)?.flash();
    let alone = size(&[feature])?
        .checked_sub(size(&[])?)
        .with_context(|| format!("the program without {feature} is larger"))?;
    let added = size(&[feature, "scalar"])?.saturating_sub(size(&[feature, "choose"])?);
    let shipped = build(&[feature, "shipped"], options)?;
    ensure!(
        !firmware::has_panic_path(&shipped.elf)?,
        "{feature} can reach a panic: {}",
        shipped.elf.display()
    );
    let flash = Flash { feature: feature.to_owned(), alone, scalar: alone + added };
    Ok((flash, shipped))
}

/// Runs a program with the cases of an algorithm on a hart of `cargo xtask kernels`.
///
/// # Errors
/// Fails if the program judges a case wrongly, because its counts would then be meaningless.
pub fn count(program: &Program, algorithm: &Algorithm, pack: &Path, hart: &str) -> Result<Run> {
    let console = run_to_end(program, pack, hart)?;
    let run = read(&console).with_context(|| format!("{} on {hart}\n{console}", algorithm.name))?;
    // Seeds are secret: a number of instructions that depends on a seed would reveal information about
    // it.
    let is_of_secrets = algorithm.name == KEY_PAIR;
    ensure!(!is_of_secrets || run.most == run.mean, "the time depends on the seed\n{console}");
    Ok(Run { algorithm: algorithm.name.to_owned(), hart: hart.to_owned(), ..run })
}

/// Runs a program on a hart and returns its output.
pub fn run_to_end(program: &Program, pack: &Path, hart: &str) -> Result<String> {
    let found = kernels::HARTS.iter().find(|it| it.name == hart);
    let options = found.with_context(|| format!("no hart {hart}"))?.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let console = bench::emulate(&program.bin, pack, &options)?;
    ensure!(console.contains("footprint: done"), "it did not come to its end\n{console}");
    Ok(console)
}

/// Returns the maximum instructions and stack bytes of all cases, and the mean instructions of the
/// accepted cases.
pub fn read(console: &str) -> Result<Run> {
    let mut run = Run::default();
    let mut accepted = Vec::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["case", index, judged, instructions, stack] = words[..] {
            if judged != "right" {
                bail!("case {index} was judged wrongly");
            }
            let instructions: u64 = instructions.parse()?;
            run.most = run.most.max(instructions);
            run.stack = run.stack.max(stack.parse()?);
            accepted.push(instructions);
        }
    }
    // The last case must be refused, possibly early, so it does not count in the mean.
    accepted.pop();
    ensure!(!accepted.is_empty(), "there were no cases");
    run.mean = accepted.iter().sum::<u64>() / accepted.len() as u64;
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_most_and_the_mean_and_no_wrong_answer() {
        let console = "hartlock: hashes\ncase 0 right 100 32\ncase 1 right 300 64\n\
                       case 2 right 9 8\nfootprint: done\n";
        let run = read(console).unwrap();
        assert_eq!((run.most, run.mean, run.stack), (300, 200, 64));
        assert!(read(&console.replace("1 right", "1 WRONG")).is_err());
        assert!(read("footprint: done\n").is_err());
    }
}
