//! Fetches and builds everything that the runners of this project need: emulator, firmware, packages.
//!
//! The runners (`verif/campaigns`, `verif/machines/run`, `lab`, `tools`, `tools/docs`, `verif/fuzz/run`) are built on this library, and
//! the program `cargo xtask` starts them. The library depends on no crate of the product.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

// The macros of this module replace those of the standard library in all modules below.
#[macro_use]
pub mod output;

pub mod c_library;
pub mod consent;
pub mod firmware;
pub mod initramfs;
pub mod monitor;
pub mod packages;
pub mod project;
pub mod python;
pub mod run;
pub mod tools;
pub mod u_boot;

mod apt;

/// The verdict of a subcommand. An error means that it could not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All checks passed.
    Yes,
    /// A check failed.
    No,
}

/// The outcome of a step of `cargo xtask test`. An error counts as a failure, because a check that could not run proves
/// nothing.
#[derive(Debug)]
pub enum Outcome {
    /// The check passed.
    Passed,
    /// The check failed, for the reason in this text.
    Failed(String),
    /// The check did not run, for the reason in this text, because something outside of the tree is missing.
    Skipped(String),
}

/// The exit code of a step that was skipped. The last line of its output is the reason.
pub const SKIPPED: u8 = 77;

/// The name and the function of a step of `cargo xtask test`.
pub type Step = (&'static str, fn(&Path) -> Result<Outcome>);

/// Runs a step of a runner and prints the text that explains its outcome.
///
/// # Errors
/// If no step has this name, or the step could not decide.
pub fn run_step(steps: &[Step], name: &str) -> Result<ExitCode> {
    let Some((_, step)) = steps.iter().find(|(known, _)| *known == name) else {
        let names: Vec<_> = steps.iter().map(|(name, _)| *name).collect();
        bail!("there is no step {name}; use one of {}", names.join(", "));
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

/// Returns the exit code of a subcommand, as the `hartlock` command has them: 0 yes, 1 no (a check failed), 2 could not
/// decide (a missing tool, no network).
pub fn exit_code(verdict: Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Yes) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) => {
            // `{:#}` joins the causes on one line. A backtrace would not help a user.
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
