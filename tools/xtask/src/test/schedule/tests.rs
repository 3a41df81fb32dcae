use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::bail;

use super::super::passes::{RECORD, RunDecision, Takes};
use super::super::steps::{Action, Resource, Tier};
use super::*;

const fn step(name: &'static str) -> TestStep {
    let action = Action::Command(&[]);
    TestStep {
        name,
        about: "",
        tier: Tier::Full,
        after: &[],
        uses: &[],
        packages: &[],
        reads: &[],
        ignored_paths: &[],
        outside: &[],
        vectors: false,
        action,
    }
}

const READS_INPUT: TestStep = TestStep { reads: &[&["input"]], ..step("good") };

fn plan<'a>(
    steps: &'a [&'a TestStep],
    lanes: usize,
    known: Option<(&'a Reader, &'a Passes)>,
) -> Plan<'a> {
    Plan { steps, lanes, fail_fast: false, known, expected: &|_| None, progress: None }
}

fn report_of(
    steps: &[TestStep],
    fail_fast: bool,
    execute: &(dyn Fn(&TestStep) -> Result<Outcome> + Sync),
) -> (Tally, String) {
    let steps: Vec<&TestStep> = steps.iter().collect();
    let mut out = Vec::new();
    let tally = run(&Plan { fail_fast, ..plan(&steps, 1, None) }, execute, &mut out).unwrap();
    (tally, String::from_utf8(out).unwrap())
}

fn mixed(step: &TestStep) -> Result<Outcome> {
    Ok(match step.name {
        "good" => Outcome::Passed,
        "bad" => Outcome::Failed("the cause\n".into()),
        "absent" => Outcome::Skipped("no network".into()),
        _ => bail!("no such tool"),
    })
}

#[test]
fn goes_on_after_a_failure_and_tells_each_end() {
    let steps = ["good", "bad", "broken", "absent"].map(step);
    let (tally, text) = report_of(&steps, false, &mixed);
    assert_eq!((tally.passed, tally.skipped), (1, 1));
    assert_eq!(tally.failed, ["bad", "broken"]);
    assert!(text.contains("[1/4] good … ok ("), "{text}");
    assert!(text.contains("the cause") && text.contains("no such tool"), "{text}");
    assert!(text.contains("[4/4] absent … skipped: no network\n"), "{text}");
    // The causes stand beside the steps, and once more at the end.
    let end = "bad failed, its last lines:\nthe cause\nbroken failed, its last lines:\nerror: no such tool\nfailed: bad, broken\n";
    assert!(text.ends_with(end), "{text}");
    let (tally, _) = report_of(&steps, true, &mixed);
    assert_eq!((tally.passed, tally.failed.len()), (1, 1));
}

#[test]
fn a_step_waits_for_what_it_needs_and_fails_with_it() {
    let needy = TestStep { after: &["good", "elsewhere"], ..step("needy") };
    let (tally, text) = report_of(&[needy, step("good")], false, &|_| Ok(Outcome::Passed));
    assert_eq!(tally.passed, 2);
    assert!(text.find("good").unwrap() < text.find("needy").unwrap(), "{text}");
    let needy = TestStep { after: &["bad"], ..step("needy") };
    let (tally, text) = report_of(&[needy, step("bad")], false, &mixed);
    assert_eq!(tally.failed, ["bad", "needy"]);
    assert!(text.contains("not run, because bad did not pass"), "{text}");
}

#[test]
fn steps_run_side_by_side_unless_they_share_a_resource() {
    let largest = |steps: &[TestStep]| {
        let steps: Vec<&TestStep> = steps.iter().collect();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let execute = |_: &TestStep| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // This is long enough for a second lane to begin. A slow machine cannot make the test
            // fail.
            for _ in 0..200 {
                if now.load(Ordering::SeqCst) > 1 {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(Outcome::Passed)
        };
        run(&plan(&steps, 2, None), &execute, &mut Vec::new()).unwrap();
        most.into_inner()
    };
    assert_eq!(largest(&[step("a"), step("b")]), 2);
    let uses: &[Resource] = &[Resource::Cargo];
    assert_eq!(largest(&[TestStep { uses, ..step("a") }, TestStep { uses, ..step("b") }]), 1);
}

#[test]
fn the_status_names_what_runs_and_estimates_the_rest() {
    let steps = ["a", "b", "c"].map(step);
    let steps: Vec<&TestStep> = steps.iter().collect();
    let plan = Plan { expected: &|it| (it.name != "c").then_some(300.0), ..plan(&steps, 2, None) };
    let mut out = Vec::new();
    let states =
        [("a", State::Running(Instant::now())), ("b", State::Waiting), ("c", State::Waiting)];
    let shared = Shared {
        states: states.into(),
        tally: Tally::default(),
        causes: Vec::new(),
        out: &mut out,
        ended: 0,
        error: None,
    };
    assert_eq!(shared.status(&plan), "0 of 3 ended; running a for 0 s; about 5 min left");
    let unknown = Plan { expected: &|_| None, ..plan };
    assert_eq!(shared.status(&unknown), "0 of 3 ended; running a for 0 s");
}

/// Creates a checkout with the file `input`.
fn checkout() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut git = Command::new("git");
    xtask::run::quietly(git.args(["init", "-q"]).current_dir(dir.path())).unwrap();
    fs::write(dir.path().join("input"), "1").unwrap();
    dir
}

fn passes(root: &Path) -> Passes {
    Passes::load(root, root.join("target")).unwrap()
}

/// Runs a step with this outcome, and calls `meanwhile` while it runs.
fn run_one(root: &Path, step: &TestStep, outcome: fn() -> Outcome, meanwhile: &(dyn Fn() + Sync)) {
    let (reader, passes) = (Reader::new(root), passes(root));
    let execute = |_: &TestStep| {
        meanwhile();
        Ok(outcome())
    };
    run(&plan(&[step], 1, Some((&reader, &passes))), &execute, &mut Vec::new()).unwrap();
}

fn decide(root: &Path, step: &TestStep, local: bool, record: bool) -> RunDecision {
    passes(root).decide(step, &Reader::new(root).read().unwrap(), Takes { local, record })
}

#[test]
fn a_pass_is_known_here_and_in_the_record_until_an_input_changes() {
    let dir = checkout();
    let root = dir.path();
    let is_run = |local, record| decide(root, &READS_INPUT, local, record) == RunDecision::Run;
    assert!(is_run(true, true));
    run_one(root, &READS_INPUT, || Outcome::Passed, &|| ());
    assert!(matches!(decide(root, &READS_INPUT, true, true), RunDecision::Unchanged(_)));
    let RunDecision::Recorded(pass) = decide(root, &READS_INPUT, false, true) else { panic!() };
    assert_eq!(pass.date.len(), 10);
    assert!(is_run(false, false), "a fresh run takes no pass");
    // The record is part of the tree; the passes of a machine are not.
    fs::remove_dir_all(root.join("target")).unwrap();
    assert!(matches!(decide(root, &READS_INPUT, true, true), RunDecision::Recorded(_)));
    fs::write(root.join("elsewhere"), "").unwrap();
    assert!(!is_run(true, true));
    fs::write(root.join("input"), "2").unwrap();
    assert!(is_run(true, true));
    // A step that does more than before has another definition.
    fs::write(root.join("input"), "1").unwrap();
    assert!(!is_run(true, true));
    let more = TestStep { action: Action::Command(&["more"]), ..READS_INPUT };
    assert_eq!(decide(root, &more, true, true), RunDecision::Run);
}

#[test]
fn what_fails_or_is_skipped_or_belongs_to_the_first_tier_is_not_recorded() {
    let dir = checkout();
    let root = dir.path();
    run_one(root, &READS_INPUT, || Outcome::Failed(String::new()), &|| ());
    run_one(root, &READS_INPUT, || Outcome::Skipped(String::new()), &|| ());
    assert_eq!(decide(root, &READS_INPUT, true, true), RunDecision::Run);
    let first = TestStep { tier: Tier::First, ..READS_INPUT };
    run_one(root, &first, || Outcome::Passed, &|| ());
    assert!(!root.join(RECORD).exists());
    assert!(matches!(decide(root, &first, true, true), RunDecision::Unchanged(_)));
}

#[test]
fn a_pass_on_inputs_that_changed_meanwhile_is_not_kept() {
    let dir = checkout();
    let root = dir.path();
    let write = |text: &'static str| move || fs::write(root.join("input"), text).unwrap();
    run_one(root, &READS_INPUT, || Outcome::Passed, &write("after"));
    assert_eq!(decide(root, &READS_INPUT, true, true), RunDecision::Run);
    run_one(root, &READS_INPUT, || Outcome::Passed, &write("after"));
    assert!(matches!(decide(root, &READS_INPUT, true, true), RunDecision::Unchanged(_)));
}

#[test]
fn a_record_that_cannot_be_read_is_an_error() {
    let dir = checkout();
    let path = dir.path().join(RECORD);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[good]\ninputs = 5\n").unwrap();
    assert!(Passes::load(dir.path(), dir.path().join("target")).is_err());
}
