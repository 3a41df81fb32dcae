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
    ("boards", "gen", "Make all files that depend on a board from device/boards/*/board.toml"),
    ("boots", "device", "Boot the emulated board for real: good devices and ones with one fault"),
    ("demo", "device", "Sign and boot a real Linux, then show that a tampered image is refused"),
    ("docs", "docs", "Build the documentation site and check its links"),
    ("errors", "gen", "Make the reason codes in code and documentation from spec/errors.toml"),
    ("flips", "device", "Change bits of the demo's bundle and have `hartlock verify` judge each"),
    (
        "fuzz",
        "fuzz",
        "Run the fuzz targets: a short run each, or a long one with its figures stored",
    ),
    ("hw", "hw", "Build the cycle-accurate machine and run the smoke program, or another, on it"),
    (
        "ip",
        "hw",
        "Test engines of hw/ip by simulation, and count the look-up tables that they take",
    ),
    ("kat", "device", "Run public test vectors through the engine of `hartlock kat`"),
    ("kernels", "device", "Check and count the hash kernels on emulated harts with each extension"),
    ("lab", LAB, "Measure against targets and store the run in lab/runs"),
    ("regs", "gen", "Make all files that depend on the registers of hw from their descriptions"),
    ("screenshots", "docs", "Take pictures of site, timeline and terminal, to be looked at"),
    ("signatures", LAB, "Measure signature verifications: flash, stack and instructions"),
    (
        "skips",
        "device",
        "Skip instructions of a boot stage, one at a time, and see that it still refuses",
    ),
    (
        "tidy",
        "tidy",
        "Check what compilers do not: paths of one machine, unsafe code, assertions of RTL",
    ),
    ("vectors", "device", "Make, compare or run the bundles of spec/vectors/image"),
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
    anyhow::ensure!(status.success(), "the runner {runner} does not build");
    Ok(built(runner))
}

/// Returns the path of a runner that the step `build` has built.
pub fn built(runner: &str) -> PathBuf {
    project::target_dir().join("debug").join(runner)
}
