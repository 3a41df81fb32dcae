//! Runs steps at the same time, each as soon as the steps that it needs have passed and its
//! resources are free.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use xtask::Outcome;

use super::inputs::Reader;
use super::passes::Passes;
use super::steps::TestStep;

/// The settings of a run.
pub struct Plan<'a> {
    pub steps: &'a [&'a TestStep],
    /// Number of steps that run at the same time.
    pub lanes: usize,
    /// True if no step is started after a failure.
    pub fail_fast: bool,
    /// The reader and the passes to which new passes are added; with `None` nothing is stored.
    pub known: Option<(&'a Reader, &'a Passes)>,
    /// Returns the seconds that a step took in an earlier run, if they are known.
    pub expected: &'a (dyn Fn(&TestStep) -> Option<f64> + Sync),
    /// The interval of lines that say what is running; with `None` none are printed.
    pub progress: Option<Duration>,
}

/// The result of a run.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: Vec<&'static str>,
    pub skipped: usize,
    /// Name, seconds and outcome of each step that ran, in the order in which they ended.
    pub times: Vec<(&'static str, f64, &'static str)>,
}

/// The state of a step.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Waiting,
    Running(Instant),
    Passed,
    /// The step failed, or did not run because a step that it needs failed.
    Failed,
}

/// Lines of a failed step that are printed once more after all steps.
const CAUSE_LINES: usize = 12;

struct Shared<'a, W> {
    states: BTreeMap<&'static str, State>,
    tally: Tally,
    /// Names of the failed steps, with what each printed at its end.
    causes: Vec<(&'static str, String)>,
    out: &'a mut W,
    ended: usize,
    error: Option<anyhow::Error>,
}

/// The next action of a lane.
enum Next<'a> {
    Run(&'a TestStep),
    /// The step cannot run, because the step of this name, which it needs, did not pass.
    GiveUp(&'a TestStep, &'static str),
    Wait,
    Done,
}

/// Runs the steps and reports on `out`.
///
/// # Errors
/// If `out` cannot be written.
pub fn run<W: Write + Send>(
    plan: &Plan<'_>,
    execute: &(dyn Fn(&TestStep) -> Result<Outcome> + Sync),
    out: &mut W,
) -> Result<Tally> {
    let states = plan.steps.iter().map(|step| (step.name, State::Waiting)).collect();
    let shared = Mutex::new(Shared {
        states,
        tally: Tally::default(),
        causes: Vec::new(),
        out,
        ended: 0,
        error: None,
    });
    let changed = Condvar::new();
    thread::scope(|scope| {
        let (shared, changed) = (&shared, &changed);
        if let Some(interval) = plan.progress {
            scope.spawn(move || report(plan, interval, shared, changed));
        }
        for _ in 0..plan.lanes.max(1) {
            scope.spawn(|| lane(plan, execute, shared, changed));
        }
    });
    let mut shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = shared.error.take() {
        return Err(error);
    }
    if !shared.tally.failed.is_empty() {
        // Whoever sees only the end of a long log sees the causes, too.
        for (name, cause) in &shared.causes {
            let lines: Vec<&str> = cause.lines().collect();
            let last = &lines[lines.len().saturating_sub(CAUSE_LINES)..];
            writeln!(shared.out, "{name} failed, its last lines:\n{}", last.join("\n"))?;
        }
        writeln!(shared.out, "failed: {}", shared.tally.failed.join(", "))?;
    }
    Ok(shared.tally)
}

fn lane<W: Write>(
    plan: &Plan<'_>,
    execute: &(dyn Fn(&TestStep) -> Result<Outcome> + Sync),
    shared: &Mutex<Shared<'_, W>>,
    changed: &Condvar,
) {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match next(plan, &guard) {
            Next::Done => {
                changed.notify_all();
                return;
            }
            Next::Wait => guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Next::GiveUp(step, needed) => {
                guard.end(plan, step, Err(anyhow!("not run, because {needed} did not pass")), None);
                changed.notify_all();
            }
            Next::Run(step) => {
                guard.states.insert(step.name, State::Running(Instant::now()));
                drop(guard);
                let start = Instant::now();
                let outcome = run_and_record(plan, step, execute);
                let seconds = start.elapsed().as_secs_f64();
                guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                guard.end(plan, step, outcome, Some(seconds));
                changed.notify_all();
            }
        }
    }
}

/// Runs a step. A pass is stored only if the inputs are the same before and after.
fn run_and_record(
    plan: &Plan<'_>,
    step: &TestStep,
    execute: &(dyn Fn(&TestStep) -> Result<Outcome> + Sync),
) -> Result<Outcome> {
    let before = plan.known.map(|(reader, _)| reader.read()).transpose()?;
    let start = Instant::now();
    let outcome = execute(step);
    let seconds = start.elapsed().as_secs_f64();
    if let (Ok(Outcome::Passed), Some(before), Some((reader, passes))) =
        (&outcome, before, plan.known)
    {
        if reader.read()?.key(step) != before.key(step) {
            eprintln!("{}: its inputs changed while it ran; it will run again", step.name);
        } else if let Err(error) = passes.keep(step, &before, seconds) {
            eprintln!("{}: the pass cannot be kept: {error:#}", step.name);
        }
    }
    outcome
}

/// Returns the first step whose needed steps have passed and whose resources are free.
fn next<'a, W>(plan: &Plan<'a>, shared: &Shared<'_, W>) -> Next<'a> {
    let state = |name: &str| shared.states.get(name).copied();
    if shared.error.is_some() || (plan.fail_fast && !shared.tally.failed.is_empty()) {
        return Next::Done;
    }
    let running: Vec<_> = plan
        .steps
        .iter()
        .filter(|step| matches!(state(step.name), Some(State::Running(_))))
        .collect();
    let mut has_waiting = false;
    for &step in plan.steps.iter().filter(|step| state(step.name) == Some(State::Waiting)) {
        has_waiting = true;
        let failed = step.after.iter().find(|name| state(name) == Some(State::Failed));
        if let Some(needed) = failed {
            return Next::GiveUp(step, needed);
        }
        // A needed step that is not part of the run has been done before.
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

/// Prints at intervals which steps are running and how long the rest may take.
fn report<W: Write>(
    plan: &Plan<'_>,
    interval: Duration,
    shared: &Mutex<Shared<'_, W>>,
    changed: &Condvar,
) {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let mut last = Instant::now();
    loop {
        let is_over =
            !guard.states.values().any(|state| matches!(state, State::Waiting | State::Running(_)));
        if is_over || matches!(next(plan, &guard), Next::Done) && guard.running().is_empty() {
            return;
        }
        let left = interval.saturating_sub(last.elapsed());
        if left.is_zero() {
            eprintln!("      … {}", guard.status(plan));
            last = Instant::now();
        } else {
            guard = changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<W: Write> Shared<'_, W> {
    fn running(&self) -> Vec<(&'static str, Duration)> {
        let since = |(name, state): (&&'static str, &State)| match state {
            State::Running(start) => Some((*name, start.elapsed())),
            _ => None,
        };
        self.states.iter().filter_map(since).collect()
    }

    fn status(&self, plan: &Plan<'_>) -> String {
        let running: Vec<String> = self
            .running()
            .iter()
            .map(|(name, time)| format!("{name} for {}", span(time.as_secs_f64())))
            .collect();
        let rest = match self.rest(plan) {
            Some(seconds) => format!("; about {} left", span(seconds)),
            None => String::new(),
        };
        format!(
            "{} of {} ended; running {}{rest}",
            self.ended,
            plan.steps.len(),
            running.join(", ")
        )
    }

    /// Returns the seconds until the end, if earlier runs tell them for most of the remaining
    /// steps.
    fn rest(&self, plan: &Plan<'_>) -> Option<f64> {
        let (mut sum, mut known, mut open) = (0.0, 0, 0);
        for step in plan.steps {
            let elapsed = match self.states.get(step.name)? {
                State::Waiting => 0.0,
                State::Running(start) => start.elapsed().as_secs_f64(),
                _ => continue,
            };
            open += 1;
            if let Some(seconds) = (plan.expected)(step) {
                known += 1;
                sum += (seconds - elapsed).max(0.0);
            }
        }
        (2 * known > open).then(|| sum / plan.lanes.max(1) as f64)
    }

    /// Records the end of a step and prints it, with its seconds if it ran.
    fn end(
        &mut self,
        plan: &Plan<'_>,
        step: &TestStep,
        outcome: Result<Outcome>,
        seconds: Option<f64>,
    ) {
        self.ended += 1;
        let time = seconds.map_or_else(|| "not run".to_owned(), |it| format!("{it:.1} s"));
        let (state, word, text) = match outcome {
            Ok(Outcome::Passed) => {
                self.tally.passed += 1;
                (State::Passed, "passed", format!("ok ({time})"))
            }
            Ok(Outcome::Skipped(reason)) => {
                self.tally.skipped += 1;
                (State::Passed, "skipped", format!("skipped: {reason}"))
            }
            Ok(Outcome::Failed(why)) => (State::Failed, "failed", why.trim_end().to_owned()),
            Err(error) => (State::Failed, "failed", format!("error: {error:#}")),
        };
        let text = if state == State::Failed {
            self.tally.failed.push(step.name);
            self.causes.push((step.name, text.clone()));
            format!("FAILED ({time})\n{text}\n")
        } else {
            text
        };
        self.states.insert(step.name, state);
        if let Some(seconds) = seconds {
            self.tally.times.push((step.name, seconds, word));
        }
        let line =
            writeln!(self.out, "[{}/{}] {} … {text}", self.ended, plan.steps.len(), step.name);
        if let Err(error) = line.and_then(|()| self.out.flush()) {
            self.error = Some(error.into());
        }
    }
}

/// Formats a time in seconds or minutes.
pub fn span(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests;
