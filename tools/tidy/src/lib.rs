//! `cargo xtask tidy` makes checks on the tree that a compiler does not make.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::path::Path;

use anyhow::Result;

use xtask::Outcome;
use xtask::{Verdict, project};

mod paths;
mod rtl;
mod safety;
mod tree;

use tree::Tree;

#[derive(clap::Args)]
pub struct Args {}

/// Prints one line for each finding, `file:line: what`.
pub fn main(_args: &Args) -> Result<Verdict> {
    let findings = check(&Tree::of_checkout(&project::root())?);
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Runs the same checks as a step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    let findings = check(&Tree::of_checkout(root)?);
    if findings.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(findings.join("\n")))
}

/// All checks, in the order in which their findings are printed.
const CHECKS: [fn(&Tree) -> Vec<String>; 4] =
    [paths::machine_paths, paths::forgotten_tests, safety::missing_forbid, rtl::too_few_assertions];

fn check(tree: &Tree) -> Vec<String> {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}
