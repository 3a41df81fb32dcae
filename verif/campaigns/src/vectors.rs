//! `cargo xtask vectors`: bundles with one fault each (`spec/vectors/image`), bundles with attacks that
//! broke other boot loaders (`spec/vectors/attacks`), first stages (`spec/vectors/first-stage`), and device trees for
//! OpenSBI (`spec/vectors/trees`) and for Linux (`spec/vectors/system-trees`).
//!
//! Generates the vectors, and verifies them with the library and with `spec/verify.py` on this machine,
//! and with the library on the emulated board. Authors of another verifier can start here.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use xtask::Outcome;
use xtask::{Verdict, project};

mod comparison;
mod host;
pub mod judge;
mod target;

use comparison::outcome_of;
use hartlock_testkit::generator::{self, SETS};
use hartlock_testkit::{first_stage, system_trees, trees};

#[derive(clap::Args)]
pub struct VectorsArgs {
    /// Write nothing; fail if a file is out of date
    #[arg(long, conflicts_with = "run")]
    check: bool,
    /// Write nothing; verify every test bundle
    #[arg(long, value_name = "WHERE")]
    run: Option<Where>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Where {
    /// On this machine, by the library and by spec/verify.py
    Host,
    /// On the emulated board, by the library
    Target,
}

pub fn main(args: &VectorsArgs) -> Result<Verdict> {
    let root = project::root();
    let outcome = match (args.check, args.run) {
        (true, _) => check_step(&root)?,
        (_, Some(Where::Host)) => host::step(&root)?,
        (_, Some(Where::Target)) => target::step(&root)?,
        _ => {
            for set in &SETS {
                let count = set.write(&root)?;
                eprintln!("{count} vectors in {}", set.folder(&root).display());
            }
            let count = first_stage::write(&root)?;
            eprintln!("{count} vectors in spec/vectors/{}", first_stage::FOLDER);
            let count = trees::write(&root)?;
            eprintln!("{count} vectors in spec/vectors/{}", trees::FOLDER);
            let count = system_trees::write(&root)?;
            eprintln!("{count} vectors in spec/vectors/{}", system_trees::FOLDER);
            return Ok(Verdict::Yes);
        }
    };
    Ok(match outcome {
        Outcome::Failed(why) => {
            println!("{why}");
            Verdict::No
        }
        Outcome::Passed | Outcome::Skipped(_) => Verdict::Yes,
    })
}

/// Test step: checks that the files equal the output of the generator, and that the page about attacks
/// names them.
///
/// # Errors
/// Fails if a folder cannot be read.
pub fn check_step(root: &Path) -> Result<Outcome> {
    Ok(outcome_of(&generator::differences(root)?))
}

/// Test step: checks that the library and the second verifier give the expected answer for every vector.
pub fn host_step(root: &Path) -> Result<Outcome> {
    host::step(root)
}

/// Test step: checks the same for the library on the emulated board.
pub fn target_step(root: &Path) -> Result<Outcome> {
    target::step(root)
}
