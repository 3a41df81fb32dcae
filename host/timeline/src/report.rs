//! Timelines as a self-contained page without scripts, fonts or links to anything outside the file.
//!
//! A page is about one boot, its *subject*; other boots are shown next to it. Boots whose times have
//! different units never share a scale or a table.

mod compare;
mod picture;
mod quoted;
mod run;
mod summary;
mod verified;

use askama::Template;

use crate::{
    KernelRemarks, Kind, StepRecord, Timeline, Unit, bytes_text, kernel_remarks, reason_text,
    time_text, together,
};
use compare::{ComparisonRemarks, Overview, StepTable, Summary};
pub use quoted::{QuotedNumbers, QuotedNumbersError};
pub use run::Run;

use picture::{AxisScale, Picture};
use verified::Verified;

/// The style sheet of the pages, also for pages of other programs.
pub const STYLE: &str = include_str!("../templates/report.css");

/// The content of a page.
#[derive(Debug)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// The boot that the page is about.
    pub subject: Run,
    /// The boots to show before the subject. The first boot is the baseline of the factors.
    pub baselines: Vec<Run>,
    /// The numbers of another machine to show first.
    pub quoted: Option<QuotedNumbers>,
}

impl Report {
    /// Makes a report about one boot.
    pub fn of_one(timeline: Timeline) -> Self {
        let subject = Run { label: "this boot".to_owned(), timeline };
        Self { title: "Boot timeline".to_owned(), subject, baselines: Vec::new(), quoted: None }
    }

    /// Renders the page.
    pub fn to_html(&self) -> String {
        let runs: Vec<&Run> = self.baselines.iter().chain([&self.subject]).collect();
        let own_unit = self.subject.timeline.time_base.unit;
        let units = [Unit::Microseconds, Unit::Instructions];
        let (own, others): (Vec<_>, Vec<_>) = units.into_iter().partition(|it| *it == own_unit);
        let groups = own.into_iter().chain(others).map(|unit| {
            runs.iter().copied().filter(|run| run.timeline.time_base.unit == unit).collect()
        });
        let groups: Vec<GroupView<'_>> = groups
            .filter(|runs: &Vec<&Run>| !runs.is_empty())
            .enumerate()
            .map(|(index, runs)| GroupView::new(index, &runs))
            .collect();
        let page = Page {
            title: &self.title,
            is_alone: self.baselines.is_empty(),
            quoted: self.quoted.as_ref(),
            summary: summary::sentences(self),
            subject: Subject::new(&self.subject),
            groups,
        };
        // Rendering into a string fails only if the `Display` of a value fails, and all values are
        // text.
        page.render().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    is_alone: bool,
    quoted: Option<&'a QuotedNumbers>,
    summary: Vec<String>,
    subject: Subject<'a>,
    groups: Vec<GroupView<'a>>,
}

/// The boot that the page is about, as the template needs it.
struct Subject<'a> {
    label: &'a str,
    timeline: &'a Timeline,
    verdict: &'static str,
    /// The class of the verdict: `yes`, `no` or `open`.
    class: &'static str,
    verified: Vec<Verified>,
    verified_nothing: bool,
    /// Sentences about implementations that computed a wrong digest.
    wrong_kernels: Vec<String>,
    entries: Vec<EntryView>,
}

impl<'a> Subject<'a> {
    fn new(run: &'a Run) -> Self {
        let timeline = &run.timeline;
        let (verdict, class) = match timeline.outcome.as_str() {
            "booted" => ("Booted", "yes"),
            "refused" => ("Refused", "no"),
            "timed-out" => ("No answer in time", "open"),
            "guest-stopped" => ("Stopped before it booted", "open"),
            "interrupted" => ("Interrupted", "open"),
            _ => ("The emulator failed", "open"),
        };
        let verified_nothing = timeline.verified_nothing();
        Self {
            label: &run.label,
            timeline,
            verdict,
            class: if verified_nothing { "no" } else { class },
            verified: verified::of(timeline),
            verified_nothing,
            wrong_kernels: kernel_remarks(timeline).wrong,
            entries: timeline.stages.iter().map(EntryView::new).collect(),
        }
    }
}

/// Boots whose times have the same unit.
struct GroupView<'a> {
    /// A number that makes ids unique.
    index: usize,
    base: &'static str,
    unit_name: &'static str,
    notes: Vec<&'a str>,
    runs: Vec<RunView<'a>>,
    summary: Summary<'a>,
    /// The comparison, if there are two boots or more.
    comparison: Option<Comparison<'a>>,
}

/// The comparison of several boots.
struct Comparison<'a> {
    overview: Overview<'a>,
    remarks: ComparisonRemarks,
    table: StepTable<'a>,
}

/// A boot of a group.
struct RunView<'a> {
    label: &'a str,
    total: String,
    ended: &'static str,
    picture: Picture<'a>,
    kernels: KernelRemarks,
}

impl<'a> GroupView<'a> {
    fn new(index: usize, runs: &[&'a Run]) -> Self {
        let unit = runs.first().map_or(Unit::Microseconds, |run| run.timeline.time_base.unit);
        let total = runs.iter().map(|run| run.timeline.total()).fold(0.0, f64::max);
        let scale = AxisScale { total, unit };
        let mut notes: Vec<&str> = Vec::new();
        for run in runs {
            let base = &run.timeline.time_base;
            for note in [base.note.as_str(), base.joined.as_str()] {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let (base, unit_name) = match unit {
            Unit::Microseconds => ("Emulator time", "of emulator time"),
            Unit::Instructions => ("Retired instructions", "instructions"),
        };
        Self {
            index,
            base,
            unit_name,
            notes,
            // The subject of the page is shown first; it is the last of its group.
            runs: runs.iter().rev().map(|run| RunView::new(run, &scale)).collect(),
            summary: Summary::new(runs),
            comparison: (runs.len() > 1).then(|| Comparison {
                overview: Overview::new(runs, &scale),
                remarks: ComparisonRemarks::new(runs),
                table: StepTable::new(runs),
            }),
        }
    }
}

impl<'a> RunView<'a> {
    fn new(run: &'a Run, scale: &AxisScale) -> Self {
        let timeline = &run.timeline;
        Self {
            label: &run.label,
            total: together(&time_text(timeline.total(), timeline.time_base.unit)),
            ended: timeline.ended(),
            picture: Picture::new(timeline, scale),
            kernels: kernel_remarks(timeline),
        }
    }
}

/// A row in the table of log entries.
struct EntryView {
    stage: String,
    step: String,
    kind: Kind,
    payload: String,
    bytes: String,
    harts: String,
    implementation: String,
    start: String,
    duration: String,
    note: String,
}

impl EntryView {
    fn new(step: &StepRecord) -> Self {
        let unless_zero =
            |number: u64, text: String| if number == 0 { String::new() } else { text };
        let busy = step.busy_percent().map(|percent| format!("busy {percent} %"));
        let about_kernel = step.is_note().then(|| reason_text(step));
        Self {
            stage: step.stage.clone(),
            step: step.step.clone(),
            kind: Kind::of(step),
            payload: step.payload.clone().unwrap_or_default(),
            bytes: unless_zero(step.bytes, bytes_text(step.bytes)),
            harts: if step.is_part() || step.is_note() {
                format!("hart {}", step.hart())
            } else {
                unless_zero(step.harts.into(), step.harts.to_string())
            },
            implementation: step.implementation.clone().unwrap_or_default(),
            start: time_text(step.start, step.unit),
            duration: time_text(step.duration(), step.unit),
            note: step.reason.clone().or(about_kernel).or(busy).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
