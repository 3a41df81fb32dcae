//! Fetches and builds what the runners of this project work with: emulator, firmware, packages.
//!
//! The runners (`verif/campaigns`, `verif/machines/run`, `lab`, `tools`, `tools/docs`, `verif/fuzz/run`) are built on this
//! library; the program `cargo xtask` dispatches to them. Nothing here knows a crate of the product.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

// Its macros replace those of the standard library from here on.
#[macro_use]
pub mod output;

pub mod consent;
pub mod firmware;
pub mod initramfs;
pub mod packages;
pub mod project;
pub mod python;
pub mod run;
pub mod tools;

mod apt;

/// The verdict of a subcommand. An error is the third answer: it could not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All checks passed.
    Yes,
    /// A check failed.
    No,
}

/// How a step of `cargo xtask test` ended. An error counts as a failure: a check that could not run
/// proves nothing.
#[derive(Debug)]
pub enum Outcome {
    /// The check passed.
    Passed,
    /// With the text that explains it.
    Failed(String),
    /// Neither passed nor failed, with the reason. For what depends on more than this tree.
    Skipped(String),
}

/// The exit code of a step that was skipped; its last line of output is the reason.
pub const SKIPPED: u8 = 77;

/// A step of `cargo xtask test` by its name.
pub type Step = (&'static str, fn(&Path) -> Result<Outcome>);

/// Runs a step of a runner and prints what explains its end.
///
/// # Errors
/// If there is no such step, or it could not decide.
pub fn run_step(steps: &[Step], name: &str) -> Result<ExitCode> {
    let Some((_, step)) = steps.iter().find(|(known, _)| *known == name) else {
        let names: Vec<_> = steps.iter().map(|(name, _)| *name).collect();
        bail!("no step {name}; there are {}", names.join(", "));
    };
    Ok(match step(&project::root())? {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed(why) => {
            println!("{}", why.trim_end());
            ExitCode::from(1)
        }
        Outcome::Skipped(reason) => {
            println!("{reason}");
            ExitCode::from(SKIPPED)
        }
    })
}

/// The exit code of a subcommand, as that of the `hartlock` command: 0 yes, 1 no (a check failed),
/// 2 could not decide (a missing tool, no network).
pub fn exit_code(verdict: Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Yes) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) => {
            // `{:#}` joins the causes in one line; a backtrace would tell a user nothing.
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
