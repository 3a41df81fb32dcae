//! The program that runs the generators, for `cargo xtask boards`, `errors` and `regs`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_gen::{boards, errors, regs};

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate the files of each board from device/boards/*/board.toml
    Boards(boards::BoardsArgs),
    /// Generate the reason codes in code and documentation from spec/errors.toml
    Errors(errors::ErrorsArgs),
    /// Generate the register files of hw from their descriptions
    Regs(regs::RegsArgs),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program runs.
const STEPS: &[xtask::Step] =
    &[("boards", boards::step), ("errors", errors::step), ("regs", regs::step)];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Boards(args) => boards::main(&args),
        Command::Errors(args) => errors::main(&args),
        Command::Regs(args) => regs::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
