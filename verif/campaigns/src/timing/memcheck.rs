//! The computations on this machine under memcheck.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hartlock_timing::{LEAKS, SUBJECTS};
use xtask::{project, run, tools};

use super::TimingRow;

/// The target of this machine. With a target, flags do not apply to build scripts.
const HOST: &str = "x86_64-unknown-linux-gnu";

/// Runs all computations once.
pub fn run() -> Result<Vec<TimingRow>> {
    let folder = project::work_dir("timing");
    fs::create_dir_all(&folder)?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root()).args(["build", "--locked", "--quiet", "--release"]);
    cargo.args(["--package", "hartlock-timing", "--example", "memcheck", "--target", HOST]);
    cargo.arg("--target-dir").arg(&folder);
    // Reports name functions. A static program needs no dynamic linker, of whose symbols memcheck would need a package.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
    cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Ctarget-feature=+crt-static");
    run::quietly(&mut cargo)?;
    let program = folder.join(HOST).join("release/examples/memcheck");
    let log = folder.join("memcheck.log");
    let suppressions = project::root().join("verif/programs/timing/memcheck.supp");
    let mut memcheck = tools::memcheck()?;
    memcheck.args(["--num-callers=30", "--error-limit=no"]);
    memcheck.arg(format!("--suppressions={}", suppressions.display()));
    memcheck.arg(format!("--log-file={}", log.display())).arg(program);
    let output = run::quietly(&mut memcheck)
        .with_context(|| format!("the report of memcheck is {}", log.display()))?;
    let lines: Vec<_> = output.lines().collect();
    let subjects = SUBJECTS.iter().chain(LEAKS);
    ensure!(lines.len() == SUBJECTS.len() + LEAKS.len(), "not all computations were run\n{output}");
    subjects
        .zip(lines)
        .map(|(subject, line)| {
            let reports = line.strip_prefix(subject.name).context("another computation")?;
            let reports: u64 = reports.trim().parse().context("no number of reports")?;
            Ok(TimingRow {
                subject: subject.name.to_owned(),
                tier: "portable".to_owned(),
                observed: format!("{} public decisions", subject.decisions),
                leak: (reports != subject.decisions)
                    .then(|| format!("{reports} branches or addresses ({})", log.display())),
            })
        })
        .collect()
}
