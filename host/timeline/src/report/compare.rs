//! The comparison of several boots: one picture, the sums, and a table of steps.

use super::picture::{AxisScale, Bar, Mark};
use super::run::Run;
use crate::{
    Cost, Kind, StepRecord, Timeline, Unit, bytes_text, factor_text, groups, time_text, together,
};

/// The rows in the small picture of a boot, as top and height in CSS pixels: stages, reading,
/// hashing.
const STAGES: (u32, u32) = (0, 6);
const READING: (u32, u32) = (9, 12);
const HASHING: (u32, u32) = (22, 12);
const HEIGHT: u32 = 34;

/// Maximum length of the list of steps that only some boots have.
const MOST_NAMES: usize = 8;

/// A bar for each boot, on the same scale.
pub(super) struct Overview<'a> {
    pub(super) marks: Vec<Mark>,
    pub(super) rows: Vec<OverviewRow<'a>>,
    pub(super) height: u32,
    pub(super) legend: [(Kind, &'static str); 5],
    /// A text for screen readers.
    pub(super) summary: String,
}

pub(super) struct OverviewRow<'a> {
    pub(super) label: &'a str,
    pub(super) total: String,
    pub(super) factor: String,
    pub(super) bars: Vec<Bar>,
}

impl<'a> Overview<'a> {
    pub(super) fn new(runs: &[&'a Run], scale: &AxisScale) -> Self {
        let rows: Vec<_> = runs
            .iter()
            .map(|run| OverviewRow {
                label: &run.label,
                total: time_text(run.timeline.total(), scale.unit),
                factor: factor(runs, run).unwrap_or_default(),
                bars: bars(&run.timeline, scale),
            })
            .collect();
        let summary = rows.iter().map(|row| format!("{} {} {}", row.label, row.total, row.factor));
        let summary = summary.map(|text| text.trim_end().to_owned()).collect::<Vec<_>>().join("; ");
        Self {
            marks: scale.marks(),
            rows,
            height: HEIGHT,
            legend: [
                (Kind::Stage, "ROM, loader"),
                (Kind::Gap, "OpenSBI"),
                (Kind::Read, "reading"),
                (Kind::Signature, "signature"),
                (Kind::Hash, "hashing"),
            ],
            summary,
        }
    }
}

fn bars(timeline: &Timeline, scale: &AxisScale) -> Vec<Bar> {
    let stages = groups(timeline).into_iter().map(|group| {
        let kind = if group.is_gap() { Kind::Gap } else { Kind::Stage };
        scale.bar(kind, group.name.to_owned(), (group.start, group.end), STAGES)
    });
    let steps = timeline.steps().filter_map(|step| {
        let row = match Kind::of(step) {
            Kind::Read => READING,
            Kind::Hash | Kind::Signature => HASHING,
            _ => return None,
        };
        let label = match &step.payload {
            Some(payload) => format!("{} {payload}", step.step),
            None => step.step.clone(),
        };
        Some(scale.bar(Kind::of(step), label, (step.start, step.end), row))
    });
    stages.chain(steps).collect()
}

/// Returns the duration of a boot relative to the first one, if both reached the kernel.
fn factor(runs: &[&Run], run: &Run) -> Option<String> {
    let base = &runs.first()?.timeline;
    let is_comparable = runs.len() > 1
        && base.reached_kernel()
        && run.timeline.reached_kernel()
        && base.total() > 0.0;
    is_comparable.then(|| factor_text(run.timeline.total() / base.total()))
}

/// The sums of the boots, with a column for each boot.
pub(super) struct Summary<'a> {
    pub(super) labels: Vec<&'a str>,
    pub(super) rows: Vec<SummaryRow>,
}

pub(super) struct SummaryRow {
    pub(super) name: String,
    /// The kind of work that gives the row its colour, if it has one.
    pub(super) kind: Option<Kind>,
    pub(super) is_strong: bool,
    pub(super) cells: Vec<String>,
}

impl<'a> Summary<'a> {
    pub(super) fn new(runs: &[&'a Run]) -> Self {
        let costs: Vec<(Cost, Unit)> =
            runs.iter().map(|run| (Cost::of(&run.timeline), run.timeline.time_base.unit)).collect();
        let times = |name: &str, kind, value: fn(&Cost) -> f64| SummaryRow {
            name: name.to_owned(),
            kind,
            is_strong: false,
            cells: costs.iter().map(|(cost, unit)| time_text(value(cost), *unit)).collect(),
        };
        let words = |name: &str, text: &dyn Fn(&Run) -> String| SummaryRow {
            name: name.to_owned(),
            kind: None,
            is_strong: false,
            cells: runs.iter().map(|run| text(run)).collect(),
        };
        let until = runs.first().map_or("", |run| run.timeline.ended());
        let is_same_end = runs.iter().all(|run| run.timeline.ended() == until);
        let total = if is_same_end { until } else { "the end of the log" };
        let total = times(&format!("from reset to {total}"), None, |cost| cost.total);
        let mut rows = vec![SummaryRow { is_strong: true, ..total }];
        if let [first, _, ..] = runs {
            let name = format!("times as long as {}", first.label);
            let row = words(&name, &|run| factor(runs, run).unwrap_or_else(|| "–".to_owned()));
            rows.push(SummaryRow { is_strong: true, ..row });
        }
        if !is_same_end {
            rows.push(words("how it ended", &|run| run.timeline.outcome.clone()));
        }
        rows.extend([
            times("reading payloads", Some(Kind::Read), |cost| cost.reading),
            times("hashing payloads", Some(Kind::Hash), |cost| cost.hashing),
            times("of these, both at once", None, |cost| cost.both),
            times("signatures", Some(Kind::Signature), |cost| cost.signature),
            times("OpenSBI", Some(Kind::Gap), |cost| cost.opensbi),
            times("rest", None, |cost| cost.rest),
            words("harts that hashed", &|run| hashing_harts(&run.timeline).to_string()),
            words("harts of the machine", &|run| run.timeline.machine.harts.to_string()),
        ]);
        Self { labels: runs.iter().map(|run| run.label.as_str()).collect(), rows }
    }
}

fn hashing_harts(timeline: &Timeline) -> u32 {
    timeline.steps().filter(|step| step.step == "hash").map(|step| step.harts).max().unwrap_or(0)
}

/// Warnings about numbers that cannot be compared.
pub(super) struct ComparisonRemarks {
    pub(super) sentences: Vec<String>,
}

impl ComparisonRemarks {
    pub(super) fn new(runs: &[&Run]) -> Self {
        let mut sentences = vec![
            "A run begins with the first entry of the ROM and ends with the jump into the kernel: \
             what the emulator does before, and Linux after, is in none of them."
                .to_owned(),
        ];
        for run in runs.iter().filter(|run| run.timeline.verified_nothing()) {
            sentences.push(format!(
                "{}: firmware that exists for this measurement only. It brings payloads to the same \
                 places by the same code and jumps, and asks for no key, signature, version or \
                 digest; its own loader is smaller for that. What it reads in front of the payloads \
                 counts as rest; elsewhere that is part of the signature.",
                run.label
            ));
        }
        for run in runs {
            let missing = missing_steps(runs, run);
            if !missing.is_empty() {
                let missing = missing.join(", ");
                sentences.push(format!("Steps that {} does not have: {missing}.", run.label));
            }
        }
        let machine = |run: &Run| {
            let machine = &run.timeline.machine;
            (machine.emulator.clone(), machine.cpu.clone(), machine.harts)
        };
        let machines: Vec<_> = runs.iter().map(|run| machine(run)).collect();
        if machines.windows(2).any(|pair| pair[0] != pair[1]) {
            sentences.push("The machines differ in emulator, CPU or number of harts.".to_owned());
        }
        let is_threads = |run: &Run| {
            run.timeline.time_base.unit == Unit::Microseconds && run.timeline.machine.harts > 1
        };
        if runs.iter().any(|run| is_threads(run)) {
            sentences.push(
                "QEMU runs each hart as a thread: with fewer cores than harts, more harts need not \
                 be faster, and reading waits too."
                    .to_owned(),
            );
        }
        let counts = runs.iter().any(|run| run.timeline.time_base.unit == Unit::Instructions);
        sentences.push(
            if counts {
                "Each run is one measurement. A hart that waits for the disk retires instructions \
                 too: compare what was computed, not what was waited for."
            } else {
                "Each run is one measurement. Emulator time depends on the workstation and on what \
                 else it is doing: factors hold for runs that were made together."
            }
            .to_owned(),
        );
        Self { sentences }
    }
}

/// Returns the names of steps that another boot has and this one has not.
fn missing_steps<'a>(runs: &[&'a Run], run: &Run) -> Vec<&'a str> {
    let mut missing: Vec<&str> = Vec::new();
    for step in runs.iter().flat_map(|other| other.timeline.steps()) {
        let has_it = run.timeline.steps().any(|own| own.step == step.step);
        if !has_it && !missing.contains(&step.step.as_str()) && missing.len() < MOST_NAMES {
            missing.push(&step.step);
        }
    }
    missing
}

/// The steps of all boots, with a row for each step.
pub(super) struct StepTable<'a> {
    pub(super) labels: Vec<&'a str>,
    pub(super) stages: Vec<StageRows<'a>>,
}

pub(super) struct StageRows<'a> {
    pub(super) name: &'a str,
    pub(super) rows: Vec<StepRow<'a>>,
}

pub(super) struct StepRow<'a> {
    pub(super) step: &'a str,
    pub(super) kind: Kind,
    pub(super) about: String,
    pub(super) cells: Vec<Cell>,
}

pub(super) struct Cell {
    pub(super) time: String,
    pub(super) harts: String,
}

impl<'a> StepTable<'a> {
    pub(super) fn new(runs: &[&'a Run]) -> Self {
        let mut stages: Vec<StageRows<'a>> = Vec::new();
        for (stage, steps) in merged(runs) {
            let rows = steps.into_iter().map(|key| StepRow::new(runs, stage, &key)).collect();
            let name = match stage {
                "rom" => "ROM",
                "loader" => "Loader",
                other => other,
            };
            stages.push(StageRows { name, rows });
        }
        Self { labels: runs.iter().map(|run| run.label.as_str()).collect(), stages }
    }
}

/// The identity of a step within its stage: its name, its payload, and its number among the steps
/// with the same name and payload.
type Key<'a> = (&'a str, Option<&'a str>, usize);

/// Returns the steps of one boot in a stage, with their keys.
fn keyed<'a>(run: &'a Run, stage: &str) -> Vec<(Key<'a>, &'a StepRecord)> {
    let mut keyed: Vec<(Key<'a>, &StepRecord)> = Vec::new();
    for step in run.timeline.steps().filter(|step| step.stage == stage) {
        let (name, payload) = (step.step.as_str(), step.payload.as_deref());
        let is_same = |(key, _): &&(Key<'_>, _)| (key.0, key.1) == (name, payload);
        let place = keyed.iter().filter(is_same).count();
        keyed.push(((name, payload, place), step));
    }
    keyed
}

/// Returns the stages and their steps. A step that only some boots have is placed after the step
/// that precedes it there.
fn merged<'a>(runs: &[&'a Run]) -> Vec<(&'a str, Vec<Key<'a>>)> {
    let mut stages: Vec<(&str, Vec<Key<'_>>)> = Vec::new();
    for step in runs.iter().flat_map(|run| run.timeline.steps()) {
        if !stages.iter().any(|(name, _)| *name == step.stage) {
            stages.push((&step.stage, Vec::new()));
        }
    }
    for (stage, keys) in &mut stages {
        for run in runs {
            let mut at = 0;
            for (key, _) in keyed(run, stage) {
                at = match keys.iter().position(|known| *known == key) {
                    Some(known) => known + 1,
                    None => {
                        keys.insert(at, key);
                        at + 1
                    }
                };
            }
        }
    }
    stages
}

/// Formats the number of harts. At start and stop, it is the number of all harts, whichever of them
/// work in between.
fn cell_harts(step: &StepRecord) -> String {
    let what = match step.step.as_str() {
        _ if step.harts < 2 => return String::new(),
        "start" => " there",
        "harts-start" => " started",
        "harts-stop" => " stopped",
        _ => "",
    };
    format!("{} harts{what}", step.harts)
}

impl<'a> StepRow<'a> {
    fn new(runs: &[&'a Run], stage: &str, key: &Key<'a>) -> Self {
        let found = |run: &&'a Run| {
            keyed(run, stage).into_iter().find(|(other, _)| other == key).map(|(_, step)| step)
        };
        let steps: Vec<Option<&StepRecord>> = runs.iter().map(found).collect();
        let bytes = steps.iter().flatten().map(|step| step.bytes).max().unwrap_or(0);
        let mut about: Vec<String> = key.1.map(str::to_owned).into_iter().collect();
        if key.0 == "read" && key.1.is_none() {
            about.push("manifest".to_owned());
        }
        if bytes > 0 {
            about.push(together(&bytes_text(bytes)));
        }
        let cell = |step: &Option<&StepRecord>| match step {
            Some(step) => {
                Cell { time: time_text(step.duration(), step.unit), harts: cell_harts(step) }
            }
            None => Cell { time: "–".to_owned(), harts: String::new() },
        };
        Self {
            step: key.0,
            kind: steps.iter().flatten().next().map_or(Kind::Start, |step| Kind::of(step)),
            about: about.join(", "),
            cells: steps.iter().map(cell).collect(),
        }
    }
}
