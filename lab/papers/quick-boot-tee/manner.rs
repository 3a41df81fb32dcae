//! Engines driven in the paper's manner, on a bare hart of the same machine (`lab/portable/src/paper.rs`): the
//! processor stores each word and then a command that commits it. Ed25519 takes the cycles of the paper's engine, which
//! does not verify its result.
//!
//! This project's engine takes fewer cycles for a product, and more for S, because it verifies S before it shows it.
//! The program counts the cycles of each command, and they are replaced here by those of the paper's engine. The
//! difference includes the cycles of a status poll, about 20 of 463,294.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result};

use super::boot::Booted;
use super::software;
use super::sweep::{self, Parts};
use crate::counts::{self, Count};
use hartlock_hw::machines::tee::Tee;
use hartlock_hw::machines::tee_boot::Prepared;
use hartlock_results::paper::Paper;
use xtask::project;

/// Folder in which both programs are built.
const FOLDER: &str = "portable";
const NAME: &str = "paper";
/// Size in bytes of the monitor that is endorsed; all monitors consist of zeros.
const ENDORSED: usize = 64 << 10;

/// Cycles of the paper's engine for a product, and for S.
struct PaperEngineCycles {
    product: u64,
    s: u64,
}

/// Runs the program with all sizes, or with the smallest one.
///
/// # Errors
/// Fails if a program cannot be built, or if a result is wrong.
pub fn measure(machine: Tee, is_quick: bool, paper: &Paper) -> Result<Vec<Booted>> {
    let variable = ("QUICK", std::path::Path::new("1"));
    let variables = if is_quick { &[variable][..] } else { &[] };
    let target = project::target_dir().join("lab").join(FOLDER);
    let program = counts::build_one(FOLDER, NAME, &target, variables)?;
    eprintln!("engines in the manner of the paper on {}", machine.name);
    let start = Instant::now();
    let prepared = Prepared::of_program(machine, fs::read(program)?)?;
    let kept = project::cache_dir()?.join("boots").join(machine.name);
    let ran = prepared.run_once(&kept).context("engines in the manner of the paper")?;
    eprintln!("engines in the manner of the paper ({:.0} s)", start.elapsed().as_secs_f64());
    let counts = counts::read(&ran.console, right)?;
    let constant = |name| Ok::<_, anyhow::Error>(paper.constant(name)? as u64);
    let product = constant("repository_product_cycles")?;
    booted(&counts, &PaperEngineCycles { product, s: constant("repository_s_cycles")? })
}

/// Returns the correct result. Commands of the engine have the results of the parts to which they belong.
fn right(what: &str, bytes: usize) -> Result<String> {
    let zeros = vec![0; if what == "measure" { bytes } else { ENDORSED }];
    software::right_of(&zeros, what.split('-').next().unwrap_or(what))
}

/// Returns the cycles of each part and size, with the paper's engine in place of this project's.
fn booted(counts: &[Count], engine: &PaperEngineCycles) -> Result<Vec<Booted>> {
    let cycles = |what: &str| {
        let found = counts.iter().find(|it| it.what == what);
        found.map(|it| it.cycles).with_context(|| format!("no count of {what}"))
    };
    // Cycles outside the commands are kept, and those of the paper's commands are added.
    let pair = |what: &str, command: &str| {
        let rest = cycles(what)?.checked_sub(cycles(command)?);
        Ok::<_, anyhow::Error>(
            rest.context("a command takes longer than its part")? + engine.product,
        )
    };
    let (key_pair, device_key) = (pair("key", "key-product")?, pair("device", "device-product")?);
    let sign = pair("sign", "sign-product")?.checked_sub(cycles("sign-s")?);
    let sign = sign.context("a command takes longer than its part")? + engine.s;
    let derive = cycles("derive")?;
    let sizes = counts.iter().filter(|it| it.what == "measure");
    let parts =
        sizes.map(|it| Parts { bytes: it.bytes, measure: it.cycles, derive, key_pair, sign });
    Ok(parts.map(|parts| Booted::from_steps(sweep::PAPER, parts, device_key)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(commands: [u64; 4]) -> Vec<Count> {
        let [key, device, sign, s] = commands;
        let parts = [
            ("measure", 1 << 16, 170_000),
            ("measure", 1 << 18, 680_000),
            ("derive", 64, 3000),
            ("key", 32, 15_000),
            ("key-product", 32, key),
            ("device", 32, 15_000),
            ("device-product", 32, device),
            ("sign", 96, 60_000),
            ("sign-product", 96, sign),
            ("sign-s", 96, s),
        ];
        let count = |(what, bytes, cycles): (&str, usize, u64)| Count {
            who: NAME.to_owned(),
            what: what.to_owned(),
            bytes,
            cycles,
            instructions: 1,
        };
        parts.map(count).to_vec()
    }

    #[test]
    fn the_paper_s_engine_takes_the_place_of_ours() {
        let engine = PaperEngineCycles { product: 463_294, s: 5464 };
        let boots = booted(&counts([13_000, 13_000, 13_300, 40_000]), &engine).unwrap();
        let rest = |it: &Booted| it.parts.map(|it| (it.bytes, it.measure, it.key_pair, it.sign));
        assert_eq!(boots.len(), 2);
        assert_eq!(rest(&boots[0]), Some((1 << 16, 170_000, 465_294, 6700 + 463_294 + 5464)));
        assert_eq!(rest(&boots[1]).map(|it| it.1), Some(680_000));
    }

    #[test]
    fn a_command_is_no_longer_than_its_part() {
        let engine = PaperEngineCycles { product: 463_294, s: 5464 };
        assert!(booted(&counts([15_001, 1, 1, 1]), &engine).is_err());
        assert!(booted(&counts([1, 1, 30_000, 500_000]), &engine).is_err());
        assert!(booted(&[], &engine).is_err());
    }

    #[test]
    fn a_command_has_the_result_of_its_part() {
        assert_eq!(right("sign-s", 96).unwrap(), right("sign", 96).unwrap());
        assert_ne!(right("measure", 8).unwrap(), right("measure", 16).unwrap());
        assert_ne!(right("key", 32).unwrap(), right("device", 32).unwrap());
    }
}
