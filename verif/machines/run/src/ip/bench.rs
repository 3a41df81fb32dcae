//! Runs the cocotb tests of an engine and checks their report.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::engine::{Bench, Ip, Tools, folder_of, prim};
use super::model::{self, ModelForm};
use super::schemata::{self, Mutants};
use xtask::{project, run};

/// The time limit for the run of a mutant.
const PATIENCE_SECONDS: &str = "300";
/// The text that begins a note in the log.
const NOTE: &str = "stored vectors: ";

/// The result of a run.
pub struct Run {
    /// A line for the terminal.
    pub line: String,
    /// Notes of the tests about the vectors that they ran, which are shown after success, too.
    pub notes: Vec<String>,
    pub log: String,
    pub faults: Vec<String>,
}

/// The result of one test in the report.
struct TestCase {
    name: String,
    passed: bool,
}

/// Builds the simulation if it does not exist, and runs its tests.
pub fn run(tools: &Tools, ip: &Ip, bench: &Bench) -> Result<Run> {
    run_in(tools, ip, bench, &bench.folder(), &bench.must_fail)
}

/// Does the same as [`run()`] in a folder of this name. If `only` names tests, only these are run.
pub fn run_in(tools: &Tools, ip: &Ip, bench: &Bench, folder: &str, only: &[String]) -> Result<Run> {
    let program = model::simulation(tools, ip, bench, ModelForm::of(ip, bench)?)?;
    let folder = project::work_dir("ip").join(&ip.name).join(folder);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let report = folder.join("results.xml");
    // The report of an earlier run must not be taken for that of this run.
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let start = Instant::now();
    let mut simulation = Command::new(&program);
    environment(&mut simulation, tools, ip, bench, only)?;
    simulation.env("COCOTB_RESULTS_FILE", &report).current_dir(&folder);
    // Every register starts with a random value.
    simulation.arg("+verilator+rand+reset+2");
    simulation.args(bench.without.iter().map(|name| schemata::option_without(name)));
    let output = run::capture(&mut simulation)?;
    let log = run::tail(&output, 200);
    fs::write(folder.join("log"), &log)?;

    // The exit code is not reliable: cocotb may end with 0 after a failed test.
    let text = fs::read_to_string(&report).unwrap_or_default();
    let mut faults = match cases(&text) {
        Ok(cases) => judge(bench, &cases),
        Err(error) => vec![format!("no report of the tests: {error:#}")],
    };
    if bench.must_fail.is_empty() && !output.status.success() {
        faults.push(format!("the simulation ended with {}", output.status));
    }
    let verdict = if faults.is_empty() { "ok" } else { "FAILED" };
    let seconds = start.elapsed().as_secs_f64();
    let line = format!("{verdict:<6} {} {} ({seconds:.1} s)", bench.name(), bench.tests);
    if !faults.is_empty() {
        faults.insert(0, format!("{}, {}:\n{}", bench.name(), bench.tests, run::tail(&output, 40)));
    }
    Ok(Run { line, notes: notes(&log), log, faults })
}

/// Runs a mutant until its first failed assertion, or to the end, and returns its log. Only the tests in `tests` are
/// run, or all if it is empty.
pub fn run_mutant(
    tools: &Tools,
    ip: &Ip,
    bench: &Bench,
    number: usize,
    tests: &[String],
) -> Result<String> {
    let is_daily = ip.mutants.get(number - 1).is_some_and(|mutant| mutant.is_daily);
    let mutants = if is_daily { Mutants::Daily } else { Mutants::All };
    let program = model::simulation(tools, ip, bench, ModelForm::Choices(mutants))?;
    let folder = project::work_dir("ip").join(&ip.name).join(format!("mutant-{number}"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // The fault of a mutant may make the bench hang.
    let mut simulation = Command::new("timeout");
    simulation.arg(PATIENCE_SECONDS).arg(&program);
    environment(&mut simulation, tools, ip, bench, tests)?;
    simulation.env("COCOTB_RESULTS_FILE", folder.join("results.xml")).current_dir(&folder);
    simulation.arg("+verilator+rand+reset+2").arg(format!("+mutant={number}"));
    let log = run::tail(&run::capture(&mut simulation)?, usize::MAX);
    fs::write(folder.join("log"), &log)?;
    Ok(log)
}

/// Sets the environment by which a simulation finds its tests. If `only` names tests, only these are run.
fn environment(
    command: &mut Command,
    tools: &Tools,
    ip: &Ip,
    bench: &Bench,
    only: &[String],
) -> Result<()> {
    let Python { executable, library, entry } = python(tools)?;
    command.env("PYGPI_PYTHON_BIN", executable);
    command.env("GPI_USERS", format!("{library};{entry}"));
    // The folder of the engine's own tests comes first, because other engines have modules of the same names.
    let used = ip.plan.uses.iter().map(|name| folder_of(name).join("tb"));
    let own = [tools.ip.dir().to_owned(), ip.dir.join("tb"), prim().join("tb")];
    let path = std::env::join_paths(own.into_iter().chain(used))?;
    command.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("COCOTB_TOPLEVEL", &bench.top).env("TOPLEVEL_LANG", "verilog");
    command.env("COCOTB_TEST_MODULES", &bench.tests);
    // The tests cannot read the parameters from a netlist (`hw/prim/tb/plan.py`).
    command.env("HARTLOCK_PARAMETERS", bench.parameters().trim_start());
    command.env("COCOTB_TRUST_INERTIAL_WRITES", "1").env("COCOTB_ANSI_OUTPUT", "0");
    command.env("COCOTB_RANDOM_SEED", crate::seed());
    if !only.is_empty() {
        command.env("COCOTB_TEST_FILTER", format!(r"\.({})$", only.join("|")));
    }
    Ok(())
}

/// The files with which a simulation starts Python.
struct Python {
    executable: String,
    library: String,
    entry: String,
}

/// Returns the files with which a simulation starts Python. They are determined once, which takes as long as a short
/// test.
fn python(tools: &Tools) -> Result<&'static Python> {
    static KNOWN: OnceLock<Python> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known);
    }
    let script = "import sys, find_libpython, cocotb_tools.config as config\n\
                  print(sys.executable, find_libpython.find_libpython() or '', \
                  config.pygpi_entry_point(), sep='\\n')";
    let mut python = Command::new("python3");
    python.args(["-c", script]).env("PYTHONPATH", tools.ip.dir());
    let answer = run::quietly(&mut python)?;
    let mut lines = answer.lines().map(str::to_owned);
    let mut next = || lines.next().unwrap_or_default();
    let found = Python { executable: next(), library: next(), entry: next() };
    ensure!(
        !found.library.is_empty(),
        "Python has no shared library (Debian package libpython3-dev); `tools/setup` installs it"
    );
    Ok(KNOWN.get_or_init(|| found))
}

/// Returns the notes in a log, from their prefix to the end of the line.
fn notes(log: &str) -> Vec<String> {
    log.lines().filter_map(|line| line.find(NOTE).map(|at| line[at..].to_owned())).collect()
}

/// Returns the tests of a report.
fn cases(text: &str) -> Result<Vec<TestCase>> {
    let document = roxmltree::Document::parse(text).context("cannot parse results.xml")?;
    let nodes = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let is_bad = |name: &str| matches!(name, "failure" | "error" | "skipped");
    let cases = nodes.map(|node| TestCase {
        name: node.attribute("name").unwrap_or_default().to_owned(),
        passed: !node.children().any(|child| is_bad(child.tag_name().name())),
    });
    Ok(cases.collect())
}

fn judge(bench: &Bench, cases: &[TestCase]) -> Vec<String> {
    let mut faults = Vec::new();
    if cases.is_empty() {
        faults.push("no test ran".to_owned());
    }
    let must_fail = |case: &TestCase| bench.must_fail.contains(&case.name);
    for case in cases {
        match (case.passed, must_fail(case)) {
            (false, false) => faults.push(format!("{} failed", case.name)),
            (true, true) => faults.push(format!("{} passed, and should notice", case.name)),
            _ => {}
        }
    }
    for name in &bench.must_fail {
        if !cases.iter().any(|case| case.name == *name) {
            faults.push(format!("{name} did not run"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<testsuites name="results"><testsuite name="all">
        <testcase name="a" classname="t"/><testcase name="b" classname="t"><failure/></testcase>
        </testsuite></testsuites>"#;

    #[test]
    fn no_two_benches_share_a_folder() {
        for name in crate::ip::all_names().unwrap() {
            let ip = Ip::load(&name).unwrap();
            let folders: Vec<_> = ip.plan.bench.iter().map(Bench::folder).collect();
            let different: std::collections::BTreeSet<_> = folders.iter().collect();
            assert_eq!(different.len(), folders.len(), "{name}: {folders:#?}");
        }
    }

    #[test]
    fn notes_are_found_in_the_log() {
        let log = "0 ns INFO a\n5 ns INFO cocotb.top  stored vectors: 3, all of them\n9 ns INFO b";
        assert_eq!(notes(log), ["stored vectors: 3, all of them"]);
    }

    fn bench(must_fail: &[&str]) -> Bench {
        Bench {
            top: "top".into(),
            parameters: [("N".to_owned(), 1)].into(),
            without: Vec::new(),
            tests: "t".into(),
            of_netlist: false,
            must_fail: must_fail.iter().map(|&name| name.to_owned()).collect(),
            is_first: false,
            is_daily: true,
        }
    }

    #[test]
    fn a_failure_in_the_report_is_a_fault() {
        let cases = cases(REPORT).unwrap();
        assert_eq!(judge(&bench(&[]), &cases), ["b failed"]);
        assert!(judge(&bench(&["b"]), &cases).is_empty());
        let blind = judge(&bench(&["a", "c"]), &cases);
        assert_eq!(blind, ["a passed, and should notice", "b failed", "c did not run"]);
    }

    #[test]
    fn a_report_that_is_missing_or_empty_is_a_fault() {
        assert!(cases("").is_err());
        assert_eq!(judge(&bench(&[]), &cases("<testsuites/>").unwrap()), ["no test ran"]);
    }

    #[test]
    fn a_bench_is_named_by_its_parameters() {
        let without = Bench { without: vec!["A".into()], ..bench(&[]) };
        assert_eq!(bench(&[]).name(), "top N=1");
        assert_eq!(without.name(), "top A=0 N=1");
        assert_eq!(without.model_name(), "top N=1");
        assert!(without.is_of_model(&bench(&[])));
    }
}
