//! Measurements, for `cargo xtask lab` and `cargo xtask signatures`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_lab::signatures;

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the measurements, and store them in lab/runs
    Lab(hartlock_lab::LabArgs),
    /// Measure flash, stack and instructions of signature verification
    Signatures(signatures::SignaturesArgs),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program implements.
const STEPS: &[xtask::Step] = &[
    ("lab", hartlock_lab::step),
    ("accelerator", hartlock_lab::accelerator_step),
    ("post-quantum-xmss", hartlock_lab::post_quantum_step),
    ("quick-boot-tee", hartlock_lab::quick_boot_step),
    ("vector-crypto", hartlock_lab::vector_step),
    ("host-speed", hartlock_lab::speed_step),
    ("signatures", signatures::step),
];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Lab(args) => hartlock_lab::main(&args),
        Command::Signatures(args) => signatures::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
