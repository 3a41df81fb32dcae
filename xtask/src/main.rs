//! `cargo xtask`: builds, fetches, tests and gates Hartlock.
//!
//! One module per subcommand; this file only dispatches. Exit codes follow the `hartlock`
//! command: 0 yes, 1 no (a check failed), 2 could not decide (a missing tool, no network).

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod apt;
mod bench;
mod boots;
mod consent;
mod demo;
mod deny;
mod docs;
mod emulator;
mod errors;
mod fetch;
mod firmware;
mod flips;
mod fuzz;
mod guide;
mod hw;
mod initramfs;
mod ip;
mod kat;
mod kernels;
mod lab;
mod openssl;
mod packages;
mod project;
mod regs;
mod run;
mod signatures;
mod skips;
mod test;
mod tidy;
mod tools;
mod vectors;
mod walkthrough;

#[derive(Parser)]
#[command(name = "cargo xtask", about, disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Boot the emulated board for real: good devices and ones with one fault
    Boots(boots::Args),
    /// Sign and boot a real Linux, then show that a tampered image is refused
    Demo(demo::Args),
    /// Build the documentation site and check its links
    Docs(docs::Args),
    /// Make the reason codes in code and documentation from spec/errors.toml
    Errors(errors::Args),
    /// Build the ROM, the loader and the device trees into target/firmware
    Firmware(firmware::Args),
    /// Fetch the emulator, firmware, kernel and test tools into the cache
    Fetch(fetch::Args),
    /// Build the cycle-accurate machine and run the smoke program, or another, on it
    Hw(hw::Args),
    /// Test engines of hw/ip by simulation, and count the look-up tables that they take
    Ip(ip::Args),
    /// Run public test vectors through the engine of `hartlock kat`
    Kat(kat::Args),
    /// Check and count the hash kernels on emulated harts with and without each extension
    Kernels(kernels::Args),
    /// Measure against targets and store the run in lab/runs
    Lab(lab::Args),
    /// Make everything that knows the registers of hw from their descriptions
    Regs(regs::Args),
    /// Measure signature verifications: flash, stack and instructions, of ours and of others
    Signatures(signatures::Args),
    /// Skip instructions of a boot stage, one at a time, and see that it still refuses
    Skips(skips::Args),
    /// Run every check of the project, or some of them
    Test(test::Args),
    /// Check what compilers do not: paths, sizes, layering, comments on unsafe code
    Tidy(tidy::Args),
    /// Change bits of the demo's bundle and have `hartlock verify` judge each
    Flips(flips::Args),
    /// Run the fuzz targets: a short run each, or a long one with its figures stored
    Fuzz(fuzz::Args),
    /// Make, compare or run the bundles of spec/vectors/image
    Vectors(vectors::Args),
}

/// What a subcommand found. Errors are the third answer: it could not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Yes,
    No,
}

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Boots(args) => boots::main(&args),
        Command::Demo(args) => demo::main(&args),
        Command::Docs(args) => docs::main(&args),
        Command::Errors(args) => errors::main(&args),
        Command::Flips(args) => flips::main(&args),
        Command::Fuzz(args) => fuzz::main(&args),
        Command::Firmware(args) => firmware::main(&args),
        Command::Fetch(args) => fetch::main(&args),
        Command::Hw(args) => hw::main(&args),
        Command::Ip(args) => ip::main(&args),
        Command::Kat(args) => kat::main(&args),
        Command::Kernels(args) => kernels::main(&args),
        Command::Lab(args) => lab::main(&args),
        Command::Regs(args) => regs::main(&args),
        Command::Signatures(args) => signatures::main(&args),
        Command::Skips(args) => skips::main(&args),
        Command::Test(args) => test::main(&args),
        Command::Tidy(args) => tidy::main(&args),
        Command::Vectors(args) => vectors::main(&args),
    };
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
