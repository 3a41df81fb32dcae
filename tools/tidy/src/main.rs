//! The program that checks the tree, for `cargo xtask tidy`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_tidy as runner;

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check paths, unsafe code and RTL assertions in the source tree
    Tidy(runner::Args),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program runs.
const STEPS: &[xtask::Step] = &[("tidy", runner::step)];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Tidy(args) => runner::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
