//! The driver of fuzzing, for `cargo xtask fuzz`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_fuzz_run as runner;

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the fuzz targets, briefly or for a given time
    Fuzz(runner::Args),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program implements.
const STEPS: &[xtask::Step] = &[("fuzz", runner::step), ("fuzz-replay", runner::replay_step)];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Fuzz(args) => runner::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
