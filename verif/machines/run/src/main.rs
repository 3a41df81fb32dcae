//! The program for simulated machines and engines, for `cargo xtask hw` and `cargo xtask ip`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_hw::{ip, machines};

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: HwCommand,
}

#[derive(Subcommand)]
enum HwCommand {
    /// Build cycle-accurate machines and run a program on them
    Hw(machines::MachineArgs),
    /// Test the engines of hw/ip by simulation, and measure their area
    Ip(ip::IpArgs),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program runs.
const STEPS: &[xtask::Step] = &[
    ("hw", machines::step),
    ("rot", machines::rot_step),
    ("rot-first", machines::rot_first_step),
    ("soc", machines::soc_step),
    ("svu", machines::svu_step),
    ("hw-release-first", machines::release_step),
    ("ip", ip::step),
    ("ip-first", ip::first_step),
];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        HwCommand::Hw(args) => machines::main(&args),
        HwCommand::Ip(args) => ip::main(&args),
        HwCommand::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
