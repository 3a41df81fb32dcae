//! Runs steps side by side, as far as what they need is there and free.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use xtask::Outcome;

use super::inputs::{Inputs, Passes};
use super::steps::Step;

/// How to run.
pub struct Plan<'a> {
    pub steps: &'a [&'a Step],
    /// Steps at the same time.
    pub lanes: usize,
    /// Start nothing after a failure.
    pub fail_fast: bool,
    /// Where passes are kept and found; `None` keeps none and runs everything.
    pub known: Option<(&'a Inputs, &'a Passes)>,
    /// Run everything, whatever has passed before.
    pub fresh: bool,
    /// Files of public vectors that tests had to do without, when all steps have ended.
    pub missing: &'a (dyn Fn() -> usize + Sync),
}

/// How a run ended.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    /// Of those that passed: their inputs did not change since an earlier pass.
    pub unchanged: usize,
    pub failed: Vec<&'static str>,
    /// Seconds of each step that ran, in the order in which they ended.
    pub times: Vec<(&'static str, f64, &'static str)>,
    /// Files of public vectors that were not there.
    pub missing: usize,
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Passed,
    /// Failed, or not run because one that it needs did.
    Failed,
}

struct Shared<'a, W> {
    states: BTreeMap<&'static str, State>,
    tally: Tally,
    out: &'a mut W,
    ended: usize,
    error: Option<anyhow::Error>,
}

/// What a lane does next.
enum Next<'a> {
    Run(&'a Step),
    /// A step that this one needs did not pass.
    GiveUp(&'a Step, &'static str),
    Wait,
    Done,
}

/// Runs the steps and reports on `out`; the last line is the tally that CI reads.
///
/// # Errors
/// If `out` cannot be written.
pub fn run<W: Write + Send>(
    plan: &Plan<'_>,
    execute: &(dyn Fn(&Step) -> Result<Outcome> + Sync),
    out: &mut W,
) -> Result<Tally> {
    let states = plan.steps.iter().map(|step| (step.name, State::Waiting)).collect();
    let shared = Mutex::new(Shared { states, tally: Tally::default(), out, ended: 0, error: None });
    let changed = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..plan.lanes.max(1) {
            scope.spawn(|| lane(plan, execute, &shared, &changed));
        }
    });
    let mut shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = shared.error.take() {
        return Err(error);
    }
    if !shared.tally.failed.is_empty() {
        writeln!(shared.out, "failed: {}", shared.tally.failed.join(", "))?;
    }
    if shared.tally.unchanged > 0 {
        writeln!(
            shared.out,
            "{} of them passed before and nothing that they read has changed; --fresh runs them again",
            shared.tally.unchanged
        )?;
    }
    shared.tally.missing = (plan.missing)();
    let missing = match shared.tally.missing {
        0 => String::new(),
        files => format!("; {files} files of public vectors were not there"),
    };
    let (passed, failed) = (shared.tally.passed, shared.tally.failed.len());
    writeln!(shared.out, "{passed} passed, {failed} failed{missing}")?;
    Ok(shared.tally)
}

fn lane<W: Write>(
    plan: &Plan<'_>,
    execute: &(dyn Fn(&Step) -> Result<Outcome> + Sync),
    shared: &Mutex<Shared<'_, W>>,
    changed: &Condvar,
) {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match next(plan, &guard) {
            Next::Done => return,
            Next::Wait => guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Next::GiveUp(step, needed) => {
                guard.end(plan, step, Err(anyhow!("not run, because {needed} did not pass")), None);
                changed.notify_all();
            }
            Next::Run(step) => {
                guard.states.insert(step.name, State::Running);
                drop(guard);
                let known = plan.known.and_then(|(inputs, passes)| {
                    let key = inputs.key(step)?;
                    let before = if plan.fresh { None } else { passes.find(step, &key) };
                    Some((inputs, passes, key, before))
                });
                let start = Instant::now();
                let (outcome, seconds) = match &known {
                    Some((_, _, _, Some(before))) => (Ok(Outcome::Passed), Err(*before)),
                    _ => (execute(step), Ok(start.elapsed().as_secs_f64())),
                };
                if let (Some((inputs, passes, key, None)), Ok(Outcome::Passed), Ok(seconds)) =
                    (&known, &outcome, seconds)
                {
                    if !inputs.are_as_before(step) {
                        eprintln!(
                            "{}: its inputs changed while it ran; it will run again",
                            step.name
                        );
                    } else if let Err(error) = passes.keep(step, key, seconds) {
                        eprintln!("{}: the pass cannot be kept: {error:#}", step.name);
                    }
                }
                guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                guard.end(plan, step, outcome, Some(seconds));
                changed.notify_all();
            }
        }
    }
}

/// The first step whose needs have passed and whose resources are free.
fn next<'a, W>(plan: &Plan<'a>, shared: &Shared<'_, W>) -> Next<'a> {
    let state = |name: &str| shared.states.get(name).copied();
    if shared.error.is_some() || (plan.fail_fast && !shared.tally.failed.is_empty()) {
        return Next::Done;
    }
    let running: Vec<_> =
        plan.steps.iter().filter(|step| state(step.name) == Some(State::Running)).collect();
    let mut has_waiting = false;
    for &step in plan.steps.iter().filter(|step| state(step.name) == Some(State::Waiting)) {
        has_waiting = true;
        let failed = step.after.iter().find(|name| state(name) == Some(State::Failed));
        if let Some(needed) = failed {
            return Next::GiveUp(step, needed);
        }
        // What is not part of the run is there already.
        let is_ready =
            step.after.iter().all(|name| matches!(state(name), None | Some(State::Passed)));
        let is_free = !running
            .iter()
            .any(|other| step.uses.iter().any(|resource| other.uses.contains(resource)));
        if is_ready && is_free {
            return Next::Run(step);
        }
    }
    if has_waiting { Next::Wait } else { Next::Done }
}

impl<W: Write> Shared<'_, W> {
    /// Notes the end of a step and says it. `seconds` are those of this run, or those of an earlier one.
    fn end(
        &mut self,
        plan: &Plan<'_>,
        step: &Step,
        outcome: Result<Outcome>,
        seconds: Option<Result<f64, f64>>,
    ) {
        self.ended += 1;
        let time = match seconds {
            Some(Ok(seconds)) => format!("{seconds:.1} s"),
            Some(Err(before)) => format!("unchanged; it passed before in {before:.1} s"),
            None => "not run".to_owned(),
        };
        let (state, word, text) = match outcome {
            Ok(Outcome::Passed) => {
                self.tally.passed += 1;
                self.tally.unchanged += usize::from(matches!(seconds, Some(Err(_))));
                (State::Passed, "passed", format!("ok ({time})"))
            }
            Ok(Outcome::Skipped(reason)) => {
                (State::Passed, "skipped", format!("skipped: {reason}"))
            }
            Ok(Outcome::Failed(why)) => {
                self.tally.failed.push(step.name);
                (State::Failed, "failed", format!("FAILED ({time})\n{}\n", why.trim_end()))
            }
            Err(error) => {
                self.tally.failed.push(step.name);
                (State::Failed, "failed", format!("FAILED ({time})\nerror: {error:#}\n"))
            }
        };
        self.states.insert(step.name, state);
        if let Some(Ok(seconds)) = seconds {
            self.tally.times.push((step.name, seconds, word));
        }
        let line =
            writeln!(self.out, "[{}/{}] {} … {text}", self.ended, plan.steps.len(), step.name);
        if let Err(error) = line.and_then(|()| self.out.flush()) {
            self.error = Some(error.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use anyhow::bail;

    use super::super::steps::{Action, Resource};
    use super::*;

    const fn step(name: &'static str) -> Step {
        let action = Action::Command(&[]);
        Step { name, about: "", after: &[], uses: &[], reads: &[], but: &[], action }
    }

    fn report(
        steps: &[Step],
        fail_fast: bool,
        execute: &(dyn Fn(&Step) -> Result<Outcome> + Sync),
    ) -> (Tally, String) {
        let steps: Vec<&Step> = steps.iter().collect();
        let plan =
            Plan { steps: &steps, lanes: 1, fail_fast, known: None, fresh: false, missing: &|| 0 };
        let mut out = Vec::new();
        let tally = run(&plan, execute, &mut out).unwrap();
        (tally, String::from_utf8(out).unwrap())
    }

    fn mixed(step: &Step) -> Result<Outcome> {
        Ok(match step.name {
            "good" => Outcome::Passed,
            "bad" => Outcome::Failed("the cause\n".into()),
            "absent" => Outcome::Skipped("no network".into()),
            _ => bail!("no such tool"),
        })
    }

    #[test]
    fn goes_on_after_a_failure_and_ends_with_the_tally() {
        let steps = ["good", "bad", "broken", "absent"].map(step);
        let (tally, text) = report(&steps, false, &mixed);
        assert_eq!(tally.failed, ["bad", "broken"]);
        assert!(text.contains("[1/4] good … ok ("), "{text}");
        assert!(text.contains("the cause") && text.contains("no such tool"), "{text}");
        assert!(text.contains("[4/4] absent … skipped: no network\n"), "{text}");
        assert_eq!(text.lines().last(), Some("1 passed, 2 failed"));
        let (tally, text) = report(&steps, true, &mixed);
        assert_eq!((tally.passed, tally.failed.len()), (1, 1));
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed"));
    }

    #[test]
    fn a_step_waits_for_what_it_needs_and_fails_with_it() {
        let needy = Step { after: &["good", "elsewhere"], ..step("needy") };
        let (tally, text) = report(&[needy, step("good")], false, &|_| Ok(Outcome::Passed));
        assert_eq!(tally.passed, 2);
        assert!(text.find("good").unwrap() < text.find("needy").unwrap(), "{text}");
        let needy = Step { after: &["bad"], ..step("needy") };
        let (tally, text) = report(&[needy, step("bad")], false, &mixed);
        assert_eq!(tally.failed, ["bad", "needy"]);
        assert!(text.contains("not run, because bad did not pass"), "{text}");
    }

    #[test]
    fn steps_run_side_by_side_unless_they_share_a_resource() {
        let largest = |steps: &[Step]| {
            let steps: Vec<&Step> = steps.iter().collect();
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let execute = |_: &Step| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Long enough that a second lane would begin; a slow machine makes no wrong answer.
                for _ in 0..200 {
                    if now.load(Ordering::SeqCst) > 1 {
                        break;
                    }
                    thread::sleep(Duration::from_millis(5));
                }
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(Outcome::Passed)
            };
            let plan = Plan {
                steps: &steps,
                lanes: 2,
                fail_fast: false,
                known: None,
                fresh: false,
                missing: &|| 0,
            };
            run(&plan, &execute, &mut Vec::new()).unwrap();
            most.into_inner()
        };
        assert_eq!(largest(&[step("a"), step("b")]), 2);
        let uses: &[Resource] = &[Resource::Cargo];
        assert_eq!(largest(&[Step { uses, ..step("a") }, Step { uses, ..step("b") }]), 1);
    }

    #[test]
    fn an_unchanged_step_is_not_run_again_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        xtask::run::quietly(Command::new("git").args(["init", "-q"]).current_dir(dir.path()))
            .unwrap();
        fs::write(dir.path().join("input"), "1").unwrap();
        let steps = [Step { reads: &[&["input"]], ..step("good") }, step("always")];
        let ran = AtomicUsize::new(0);
        let results = dir.path().join("target");
        let go = |fresh: bool, outcome: fn() -> Outcome| {
            let inputs = Inputs::read(dir.path()).unwrap();
            let passes = Passes::in_folder(results.clone());
            let steps: Vec<&Step> = steps.iter().collect();
            let known = Some((&inputs, &passes));
            let plan =
                Plan { steps: &steps, lanes: 1, fail_fast: false, known, fresh, missing: &|| 0 };
            let execute = |_: &Step| {
                ran.fetch_add(1, Ordering::SeqCst);
                Ok(outcome())
            };
            let mut out = Vec::new();
            run(&plan, &execute, &mut out).unwrap();
            (ran.swap(0, Ordering::SeqCst), String::from_utf8(out).unwrap())
        };
        let touch = |text: &str| fs::write(Path::new(dir.path()).join("input"), text).unwrap();
        assert_eq!(go(false, || Outcome::Passed).0, 2);
        let (ran, text) = go(false, || Outcome::Passed);
        assert_eq!(ran, 1, "{text}");
        assert!(text.contains("good … ok (unchanged; it passed before in 0.0 s)"), "{text}");
        assert!(text.ends_with("2 passed, 0 failed\n") && text.contains("--fresh"), "{text}");
        assert_eq!(go(true, || Outcome::Passed).0, 2, "fresh");
        touch("2");
        // A fresh run keeps its passes for the next one.
        assert_eq!(go(true, || Outcome::Passed).0, 2);
        assert_eq!(go(false, || Outcome::Passed).0, 1);
        touch("3");
        // A failure is never kept, and what is not kept runs again.
        assert_eq!(go(false, || Outcome::Failed(String::new())).0, 2);
        assert_eq!(go(false, || Outcome::Skipped(String::new())).0, 2);
        assert_eq!(go(false, || Outcome::Passed).0, 2);
        assert_eq!(go(false, || Outcome::Passed).0, 1);
    }

    #[test]
    fn a_pass_on_inputs_that_changed_meanwhile_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        xtask::run::quietly(Command::new("git").args(["init", "-q"]).current_dir(dir.path()))
            .unwrap();
        let input = dir.path().join("input");
        let step = Step { reads: &[&["input"]], ..step("good") };
        let passes = Passes::in_folder(dir.path().join("target"));
        let is_kept = |meanwhile: &str| {
            fs::write(&input, "before").unwrap();
            let inputs = Inputs::read(dir.path()).unwrap();
            let known = Some((&inputs, &passes));
            let plan = Plan {
                steps: &[&step],
                lanes: 1,
                fail_fast: false,
                known,
                fresh: false,
                missing: &|| 0,
            };
            let execute = |_: &Step| {
                fs::write(&input, meanwhile).unwrap();
                Ok(Outcome::Passed)
            };
            run(&plan, &execute, &mut Vec::new()).unwrap();
            passes.find(&step, &inputs.key(&step).unwrap()).is_some()
        };
        assert!(!is_kept("after"));
        assert!(is_kept("before"));
    }
}
