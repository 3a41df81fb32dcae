//! `cargo xtask test`: every check of the project as an ordered list of steps.
//!
//! To add a check, add a line to `STEPS`: a command, or a function when there is more to decide.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::consent::Consent;
use crate::{
    Verdict, boots, deny, docs, emulator, errors, firmware, flips, fuzz, guide, hw, ip, kat,
    kernels, lab, openssl, project, regs, run, signatures, skips, tidy, tools, vectors,
    walkthrough,
};

#[derive(clap::Args)]
pub struct Args {
    /// Run only this step; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print the names of all steps and what they do
    #[arg(long)]
    list: bool,
    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,
}

/// One check.
struct Step {
    name: &'static str,
    about: &'static str,
    /// Whether it works with something out of the cache, which may have to be fetched first.
    needs_tools: bool,
    action: Action,
}

enum Action {
    /// A program and its arguments, run at the root of the checkout. Success is a pass.
    Command(&'static [&'static str]),
    Function(fn(&Path) -> Result<Outcome>),
}

/// How a step ended. An error counts as a failure: a check that could not run proves nothing.
pub enum Outcome {
    Passed,
    /// With the text that explains it.
    Failed(String),
    /// Neither passed nor failed, with the reason. For what depends on more than this tree.
    Skipped(String),
}

/// In this order: cheap and local first.
const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        about: "sources are formatted",
        needs_tools: false,
        action: Action::Command(&["cargo", "fmt", "--all", "--check"]),
    },
    Step {
        name: "tidy",
        about: "paths, sizes, layering and comments on unsafe code",
        needs_tools: false,
        action: Action::Function(tidy::step),
    },
    Step {
        name: "errors",
        about: "generated reason codes are those of spec/errors.toml",
        needs_tools: false,
        action: Action::Function(errors::step),
    },
    Step {
        name: "boards",
        about: "what is generated of a board is what boards/*/board.toml makes",
        needs_tools: false,
        action: Action::Command(&[
            "cargo",
            "run",
            "--locked",
            "--quiet",
            "--package",
            "hartlock-gen",
            "--",
            "boards",
            "--check",
        ]),
    },
    Step {
        name: "clippy",
        about: "no warnings from the compiler or the linter",
        needs_tools: false,
        action: Action::Command(&[
            "cargo",
            "clippy",
            "--locked",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "clippy-firmware",
        about: "the same for what runs on the board",
        needs_tools: false,
        action: Action::Command(&[
            "cargo",
            "clippy",
            "--locked",
            "--profile",
            "firmware",
            "--target",
            firmware::TARGET,
            "--package",
            "hartlock-rom",
            "--package",
            "hartlock-loader",
            "--package",
            "hartlock-probe",
            "--package",
            "hartlock-devmem",
            "--package",
            "hartlock-stub",
            "--package",
            "hartlock-bench",
            "--package",
            "hartlock-footprint",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "clippy-soc",
        about: "the same for what runs on the cycle-accurate machine",
        needs_tools: false,
        action: Action::Command(&[
            "cargo",
            "clippy",
            "--locked",
            "--profile",
            "firmware",
            "--target",
            firmware::TARGET,
            "--package",
            "hartlock-smoke",
            "--package",
            "hartlock-bench",
            "--package",
            "hartlock-loader",
            "--package",
            "hartlock-rot-host",
            "--features",
            "hartlock-bench/soc,hartlock-loader/soc",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "clippy-rot",
        about: "the same for what runs on the root of trust",
        needs_tools: false,
        action: Action::Command(&[
            "cargo",
            "clippy",
            "--locked",
            "--profile",
            "firmware",
            "--target",
            firmware::ROT_TARGET,
            "--package",
            "hartlock-rot-smoke",
            "--package",
            "hartlock-rot-rom",
            "--package",
            "hartlock-accelerator",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "unit",
        about: "unit and integration tests on this machine",
        needs_tools: false,
        // No stage carries these algorithms yet, so nothing else would have them built.
        action: Action::Command(&[
            "cargo",
            "test",
            "--locked",
            "--features",
            "hartlock-kernels/signatures,hartlock-kernels/ed25519-contexts,hartlock-kernels/lanes",
        ]),
    },
    Step {
        name: "vectors",
        about: "the one-fault bundles are those that the generator makes",
        needs_tools: false,
        action: Action::Function(vectors::check_step),
    },
    Step {
        name: "vectors-host",
        about: "library and spec/verify.py judge every bundle as expected",
        needs_tools: false,
        action: Action::Function(vectors::host_step),
    },
    Step {
        name: "spec",
        about: "spec/verify.py passes its own tests",
        needs_tools: false,
        action: Action::Command(&[
            "python3",
            "-B",
            "-m",
            "unittest",
            "discover",
            "-s",
            "spec",
            "-p",
            "test_*.py",
        ]),
    },
    Step {
        name: "walkthrough",
        about: "the hex dump of the specification is that of its vector",
        needs_tools: false,
        action: Action::Function(walkthrough::step),
    },
    Step {
        name: "openssl",
        about: "a newer openssl and we take each other's keys and signatures",
        needs_tools: true,
        action: Action::Function(openssl::step),
    },
    Step {
        name: "emulator",
        about: "QEMU, OpenSBI and the device tree compiler run on this machine",
        needs_tools: true,
        action: Action::Function(emulator::step),
    },
    Step {
        name: "firmware",
        about: "the boot stages build, fit, and hold no panic path",
        needs_tools: true,
        action: Action::Function(firmware::gates),
    },
    Step {
        name: "vectors-target",
        about: "the emulated board judges every bundle as expected",
        needs_tools: true,
        action: Action::Function(vectors::target_step),
    },
    Step {
        name: "kernels",
        about: "every hash kernel agrees with the portable form, on its own tier",
        needs_tools: true,
        action: Action::Function(kernels::step),
    },
    Step {
        name: "signatures",
        about: "no verification takes more flash, stack or instructions than was recorded",
        needs_tools: true,
        action: Action::Function(signatures::step),
    },
    Step {
        name: "kat",
        about: "public test vectors: all on this machine, a sample on an emulated hart",
        needs_tools: true,
        action: Action::Function(kat::step),
    },
    Step {
        name: "linux",
        about: "Debian's kernel boots on 1, 2 and 5 harts",
        needs_tools: true,
        action: Action::Function(boots::linux_step),
    },
    Step {
        name: "refusals",
        about: "one fault, one refusal, on the emulated board",
        needs_tools: true,
        action: Action::Function(boots::refusals_step),
    },
    Step {
        name: "harts",
        about: "missing, faulting, late and disobedient harts",
        needs_tools: true,
        action: Action::Function(boots::harts_step),
    },
    Step {
        name: "kernels-boot",
        about: "each board boots with the best kernels that it has, and with none that is wrong",
        needs_tools: true,
        action: Action::Function(boots::kernels_step),
    },
    Step {
        name: "protection",
        about: "what S-mode and Linux cannot touch",
        needs_tools: true,
        action: Action::Function(boots::protection_step),
    },
    Step {
        name: "verdict",
        about: "both checks of the verdict are alive in the linked stages",
        needs_tools: true,
        action: Action::Function(boots::verdict_step),
    },
    Step {
        name: "algorithms",
        about: "root keys of every family boot; what is made of their bundles does not",
        needs_tools: true,
        action: Action::Function(boots::algorithms_step),
    },
    Step {
        name: "skips",
        about: "one skipped instruction boots nothing that has to be refused (a sample)",
        needs_tools: true,
        action: Action::Function(skips::step),
    },
    Step {
        name: "flips",
        about: "500 changed bits of a real bundle are 500 refusals",
        needs_tools: true,
        action: Action::Function(flips::step),
    },
    Step {
        name: "fuzz",
        about: "a short run of every fuzz target finds nothing",
        needs_tools: true,
        action: Action::Function(fuzz::step),
    },
    Step {
        name: "regs",
        about: "what is generated from descriptions of registers is what they make",
        needs_tools: true,
        action: Action::Function(regs::step),
    },
    Step {
        name: "hw",
        about: "the cycle-accurate machine builds, repeats itself, and notices what fails",
        needs_tools: true,
        action: Action::Function(hw::step),
    },
    Step {
        name: "ip",
        about: "engines pass their tests, notice what is forced on them, and fit their bounds",
        needs_tools: true,
        action: Action::Function(ip::step),
    },
    Step {
        name: "guide",
        about: "the guide to a first engine leads to one, by the commands that it shows",
        needs_tools: true,
        action: Action::Function(guide::step),
    },
    Step {
        name: "lab",
        about: "the first paper in small, cycle by cycle, keeps its bounds",
        needs_tools: true,
        action: Action::Function(lab::step),
    },
    Step {
        name: "accelerator",
        about: "the fifth paper in small, instruction by instruction, is reproduced",
        needs_tools: true,
        action: Action::Function(lab::accelerator_step),
    },
    Step {
        name: "docs",
        about: "the documentation site builds, and every link in it leads somewhere",
        needs_tools: true,
        action: Action::Function(docs::step),
    },
    Step {
        name: "deny",
        about: "licences, bans and sources of all dependencies",
        needs_tools: true,
        action: Action::Function(deny::step),
    },
    Step {
        name: "advisories",
        about: "known vulnerabilities in dependencies, when the database can be reached",
        needs_tools: true,
        action: Action::Function(deny::advisories_step),
    },
];

pub fn main(args: &Args) -> Result<Verdict> {
    if args.list {
        for step in STEPS {
            println!("{:<12} {}", step.name, step.about);
        }
        return Ok(Verdict::Yes);
    }
    let steps = select(STEPS, &args.only)?;
    if steps.iter().any(|step| step.needs_tools) {
        // The question comes before the first step, not in the middle of a long run.
        tools::ensure_all(Consent::Ask)?;
    }
    let root = project::root();
    let logs = log_dir(&root);
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let tally = run_steps(&steps, &root, &logs, args.fail_fast, &mut io::stdout().lock())?;
    Ok(if tally.failed.is_empty() { Verdict::Yes } else { Verdict::No })
}

fn select<'a>(steps: &'a [Step], only: &[String]) -> Result<Vec<&'a Step>> {
    for name in only {
        if !steps.iter().any(|step| step.name == name) {
            let names: Vec<_> = steps.iter().map(|step| step.name).collect();
            bail!("no step {name}; there are {}", names.join(", "));
        }
    }
    let wanted = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(steps.iter().filter(wanted).collect())
}

fn log_dir(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root.join("target")).join("test-logs")
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<&'static str>,
}

/// Runs the steps and reports on `out`; the last line is the tally that CI reads.
fn run_steps(
    steps: &[&Step],
    root: &Path,
    logs: &Path,
    fail_fast: bool,
    out: &mut impl Write,
) -> Result<Tally> {
    let mut tally = Tally::default();
    for (index, step) in steps.iter().enumerate() {
        write!(out, "[{}/{}] {} … ", index + 1, steps.len(), step.name)?;
        out.flush()?;
        let start = Instant::now();
        let outcome = match &step.action {
            Action::Command(words) => run_command(words, root, &logs.join(step.name)),
            Action::Function(function) => function(root),
        };
        let time = seconds(start.elapsed());
        match outcome {
            Ok(Outcome::Passed) => {
                writeln!(out, "ok ({time})")?;
                for line in skipped(step, &logs.join(step.name)) {
                    writeln!(out, "      {line}")?;
                }
                tally.passed += 1;
            }
            Ok(Outcome::Skipped(reason)) => writeln!(out, "skipped: {reason}")?,
            Ok(Outcome::Failed(why)) => {
                writeln!(out, "FAILED ({time})\n{}\n", why.trim_end())?;
                tally.failed.push(step.name);
            }
            Err(error) => {
                writeln!(out, "FAILED ({time})\nerror: {error:#}\n")?;
                tally.failed.push(step.name);
            }
        }
        if fail_fast && !tally.failed.is_empty() {
            break;
        }
    }
    if !tally.failed.is_empty() {
        writeln!(out, "failed: {}", tally.failed.join(", "))?;
    }
    writeln!(out, "{} passed, {} failed", tally.passed, tally.failed.len())?;
    Ok(tally)
}

/// What the tests of a passed step say that they could not ask, each once.
fn skipped(step: &Step, log: &Path) -> Vec<String> {
    const MARK: &str = "SKIPPED: ";
    let Action::Command(_) = step.action else { return Vec::new() };
    let text = fs::read(log.with_extension("log")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // The line may begin with the name of a test that was running.
    let mut lines: Vec<String> =
        text.lines().filter_map(|line| Some(line[line.find(MARK)?..].to_owned())).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Runs a command with both streams in one log, in the order in which they were written.
fn run_command(words: &[&str], root: &Path, log: &Path) -> Result<Outcome> {
    let log = log.with_extension("log");
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let [program, arguments @ ..] = words else { bail!("a step without a command") };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    command.stdout(file.try_clone()?).stderr(file);
    let status = command.status().map_err(|error| run::not_started(&command, &error))?;
    if status.success() {
        return Ok(Outcome::Passed);
    }
    let text = fs::read(&log)?;
    Ok(Outcome::Failed(format!(
        "{}\n{} ended with {status}",
        String::from_utf8_lossy(&text),
        run::describe(&command)
    )))
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn step(name: &'static str, action: Action) -> Step {
        Step { name, about: "", needs_tools: false, action }
    }

    fn report(steps: &[Step], fail_fast: bool) -> (Tally, String) {
        let logs = tempfile::tempdir().unwrap();
        let mut out = Vec::new();
        let steps: Vec<&Step> = steps.iter().collect();
        let tally = run_steps(&steps, Path::new("/"), logs.path(), fail_fast, &mut out).unwrap();
        (tally, String::from_utf8(out).unwrap())
    }

    const MIXED: [Step; 4] = [
        step("good", Action::Command(&["true"])),
        step("bad", Action::Command(&["sh", "-c", "echo the cause; exit 1"])),
        step("broken", Action::Function(|_| bail!("no such tool"))),
        step("absent", Action::Function(|_| Ok(Outcome::Skipped("no network".into())))),
    ];

    #[test]
    fn goes_on_after_a_failure_and_ends_with_the_tally() {
        let (tally, text) = report(&MIXED, false);
        assert_eq!(tally.failed, ["bad", "broken"]);
        assert!(text.contains("[1/4] good … ok ("), "{text}");
        assert!(text.contains("the cause") && text.contains("no such tool"), "{text}");
        assert!(text.contains("[4/4] absent … skipped: no network\n"), "{text}");
        assert_eq!(text.lines().last(), Some("1 passed, 2 failed"));
    }

    #[test]
    fn shows_what_the_tests_of_a_passed_step_skipped() {
        const SAYS: &str = "echo 'test a ... SKIPPED: no tool' >&2; echo SKIPPED: no tool";
        const STEP: [Step; 1] = [step("unit", Action::Command(&["sh", "-c", SAYS]))];
        let (_, text) = report(&STEP, false);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1..], ["      SKIPPED: no tool", "1 passed, 0 failed"], "{text}");
    }

    #[test]
    fn fail_fast_stops_at_the_first_failure() {
        let (tally, text) = report(&MIXED, true);
        assert_eq!((tally.passed, tally.failed.len()), (1, 1));
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed"));
    }

    #[test]
    fn selects_by_name_and_refuses_unknown_names() {
        let chosen = select(&MIXED, &["bad".into()]).unwrap();
        assert_eq!(chosen.iter().map(|step| step.name).collect::<Vec<_>>(), ["bad"]);
        assert_eq!(select(&MIXED, &[]).unwrap().len(), 4);
        assert!(select(&MIXED, &["worse".into()]).is_err());
    }

    #[test]
    fn step_names_are_unique() {
        let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn the_readme_names_the_number_of_steps() {
        let readme = fs::read_to_string(project::root().join("README.md")).unwrap();
        assert!(readme.contains(&format!("\n{} passed, 0 failed\n", STEPS.len())));
    }
}
