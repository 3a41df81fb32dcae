//! `cargo xtask` builds, fetches, tests and checks Hartlock.
//!
//! This program fetches and builds. To measure, boot, simulate or generate, it starts runners,
//! which are separate crates next to their subject (`runners.rs`). Exit codes are those of the
//! `hartlock` command: 0 yes, 1 no (a check failed), 2 could not decide (a missing tool, no
//! network).

#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

use std::process::ExitCode;

use clap::{ArgMatches, Args as _, FromArgMatches};

mod deny;
mod emulator;
mod fetch;
mod install;
mod mutants;
mod openssl;
mod promises;
mod runners;
mod test;
mod walkthrough;

use xtask::{c_library, firmware, monitor, u_boot};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let Some((name, arguments)) = matches.subcommand() else { return ExitCode::from(2) };
    let verdict = match name {
        "fetch" => run(arguments, fetch::main),
        "firmware" => run(arguments, firmware::main),
        "bench-program" => run(arguments, firmware::bench_program_main),
        "c-library" => run(arguments, c_library::main),
        "monitor" => run(arguments, monitor::main),
        "u-boot" => run(arguments, u_boot::main),
        "promises" => run(arguments, promises::main),
        "install" => run(arguments, install::main),
        "mutants" => run(arguments, mutants::main),
        "archive" => run(arguments, install::archive),
        "test" => run(arguments, test::main),
        name => match runners::run(name, arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
    };
    xtask::exit_code(verdict)
}

fn command() -> clap::Command {
    clap::Command::new("cargo xtask")
        .about("Build, test and install Hartlock")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(fetch::FetchArgs::augment_args(
            clap::Command::new("fetch")
                .about("Download QEMU, OpenSBI, a Linux kernel and test tools into the cache"),
        ))
        .subcommand(firmware::FirmwareArgs::augment_args(
            clap::Command::new("firmware")
                .about("Build the ROM, the loader and the device trees into target/firmware"),
        ))
        .subcommand(firmware::BenchProgramArgs::augment_args(
            clap::Command::new("bench-program")
                .about("Build the program that measures kernels on a board under Linux"),
        ))
        .subcommand(c_library::CLibraryArgs::augment_args(
            clap::Command::new("c-library")
                .about("Build the C library for boot loaders, or make its header"),
        ))
        .subcommand(u_boot::UBootArgs::augment_args(
            clap::Command::new("u-boot")
                .about("Build U-Boot with verified boot into the cache (integrations/u-boot)"),
        ))
        .subcommand(mutants::MutantsArgs::augment_args(
            clap::Command::new("mutants")
                .about("Change trusted code in one place at a time, and check that a test fails"),
        ))
        .subcommand(promises::PromisesArgs::augment_args(clap::Command::new("promises").about(
            "Break the code behind each promise of SECURITY.md, and check that its test fails",
        )))
        .subcommand(monitor::MonitorArgs::augment_args(
            clap::Command::new("monitor").about("Build OpenSBI into the cache (device/monitor)"),
        ))
        .subcommand(install::InstallArgs::augment_args(clap::Command::new("install").about(
            "Install the command, its manual pages and completions, and the firmware images",
        )))
        .subcommand(install::ArchiveArgs::augment_args(
            clap::Command::new("archive")
                .about("Pack what `install` installs into one file (reproducible from the commit)"),
        ))
        .subcommand(test::TestArgs::augment_args(
            clap::Command::new("test").about("Run the tests of the project, by tier or by name"),
        ))
        .subcommands(runners::commands())
}

fn run<A: FromArgMatches>(
    matches: &ArgMatches,
    main: fn(&A) -> anyhow::Result<xtask::Verdict>,
) -> anyhow::Result<xtask::Verdict> {
    main(&A::from_arg_matches(matches)?)
}
