//! The runners, which are the programs that implement the subcommands of `cargo xtask`. Each is a
//! crate next to its subject.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Arg, ArgMatches};
use xtask::{project, run};

/// The environment variable that names a folder of built runners. With it, cargo does not check if
/// they are up to date.
const FOLDER: &str = "HARTLOCK_RUNNERS";

/// The program that has a workspace of its own, in `lab/`.
const LAB: &str = "lab";

/// Subcommand, program, and what `cargo xtask --help` says.
const RUNNERS: &[(&str, &str, &str)] = &[
    ("boards", "gen", "Generate the files of each board from device/boards/*/board.toml"),
    ("boots", "device", "Boot emulated boards, intact ones and ones with one fault each"),
    (
        "demo",
        "device",
        "Sign and boot Linux under QEMU, then show that a tampered image is refused",
    ),
    ("docs", "docs", "Build the documentation site and check its links"),
    ("errors", "gen", "Generate the reason codes in code and documentation from spec/errors.toml"),
    (
        "flips",
        "device",
        "Flip bits of the demo's bundle, and check that `hartlock verify` refuses each",
    ),
    ("fuzz", "fuzz", "Run the fuzz targets, briefly or for a given time"),
    ("hw", "hw", "Build cycle-accurate machines and run a program on them"),
    ("ip", "hw", "Test the engines of hw/ip by simulation, and measure their area"),
    ("kat", "device", "Run public test vectors, with the code of `hartlock kat`"),
    (
        "kernels",
        "device",
        "Test kernels of hashes and AES on emulated harts with each extension, and count instructions",
    ),
    ("lab", LAB, "Run the measurements, and store them in lab/runs"),
    ("regs", "gen", "Generate the register files of hw from their descriptions"),
    ("signatures", LAB, "Measure flash, stack and instructions of signature verification"),
    (
        "skips",
        "device",
        "Skip instructions of a boot stage, and check that it still refuses bad bundles",
    ),
    ("tidy", "tidy", "Check paths, unsafe code and RTL assertions in the source tree"),
    ("u-boot-boots", "device", "Boot U-Boot with verified bundles and with faulty ones"),
    ("timing", "device", "Check that no instruction and no address depends on a secret"),
    ("vectors", "device", "Generate, compare or run the test bundles of spec/vectors/image"),
];

/// Returns the subcommands. The runner parses all arguments after the name, also `--help`.
pub fn commands() -> impl Iterator<Item = clap::Command> {
    RUNNERS.iter().map(|(name, _, about)| {
        let rest = Arg::new("args").num_args(..).trailing_var_arg(true).allow_hyphen_values(true);
        clap::Command::new(*name)
            .about(*about)
            .disable_help_flag(true)
            .arg(rest.value_parser(clap::value_parser!(OsString)))
    })
}

/// Runs a subcommand with the streams of this process.
///
/// # Errors
/// If the runner does not build or cannot be started.
pub fn run(name: &str, matches: &ArgMatches) -> Result<ExitCode> {
    let found = RUNNERS.iter().find(|(subcommand, ..)| *subcommand == name);
    let (_, runner, _) = found.expect("clap knows the same names");
    let mut command = Command::new(program(runner)?);
    command.arg(name).args(matches.get_many::<OsString>("args").into_iter().flatten());
    let status = command.status().map_err(|error| run::not_started(&command, &error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::from(2), ExitCode::from))
}

/// Builds a runner and returns its path.
///
/// # Errors
/// If the runner does not build.
pub fn program(runner: &str) -> Result<PathBuf> {
    let known = env::var_os(FOLDER).map(|folder| PathBuf::from(folder).join(runner));
    if let Some(program) = known.filter(|program| program.is_file()) {
        return Ok(program);
    }
    // Without `--package`, the whole workspace decides the features, so nothing is compiled twice.
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--bin", runner]).current_dir(project::root());
    if runner == LAB {
        cargo
            .args(["--manifest-path", "lab/Cargo.toml", "--target-dir"])
            .arg(project::target_dir());
    }
    let status = cargo.status().map_err(|error| run::not_started(&cargo, &error))?;
    anyhow::ensure!(status.success(), "cannot build the program {runner}");
    Ok(built(runner))
}

/// Returns the path of a runner that the step `build` has built.
pub fn built(runner: &str) -> PathBuf {
    project::target_dir().join("debug").join(runner)
}
