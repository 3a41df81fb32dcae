//! The program that builds the documentation site, for `cargo xtask docs`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_docs as runner;

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the documentation site and check its links
    Docs(runner::DocsArgs),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program runs.
const STEPS: &[xtask::Step] = &[("docs", runner::step)];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Docs(args) => runner::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
