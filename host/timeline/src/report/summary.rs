//! The summary at the top of a page, in sentences.

use super::Report;
use super::run::Run;
use crate::{StepRecord, Timeline, Unit, factor_text, time_text, together};

pub(super) fn sentences(report: &Report) -> Vec<String> {
    let timeline = &report.subject.timeline;
    let mut sentences = Vec::new();
    if let Some(longest) = timeline.longest() {
        sentences.push(first(timeline, longest));
    }
    sentences.extend(clock(report));
    sentences.extend(against(report));
    sentences
}

fn first(timeline: &Timeline, longest: &StepRecord) -> String {
    let unit = timeline.time_base.unit;
    let (total, longest_time) = (timeline.total(), longest.duration());
    let share = if total > 0.0 { (longest_time / total * 100.0).round() } else { 0.0 };
    format!(
        "{} {} from reset to {}. The longest step was {}: {}, {share}\u{a0}% of it.",
        together(&time_text(total, unit)),
        match unit {
            Unit::Microseconds if timeline.machine.counts_cycles => "of the machine's time",
            Unit::Microseconds => "of emulator time",
            Unit::Instructions => "instructions",
        },
        timeline.ended(),
        longest.in_words(),
        together(&time_text(longest_time, unit)),
    )
}

/// Returns a sentence that explains why the quoted numbers and those of this boot differ.
fn clock(report: &Report) -> Option<String> {
    let timeline = &report.subject.timeline;
    let is_emulated =
        timeline.time_base.unit == Unit::Microseconds && !timeline.machine.counts_cycles;
    (report.quoted.is_some() && is_emulated).then(|| {
        "Emulator time is no time of a board: QEMU runs each hart as a thread of this workstation, and one \
         instruction takes as long as its translation does. Compare instructions, below, and the numbers above."
            .to_owned()
    })
}

/// Returns a sentence with the durations of the boots relative to the first one with the same unit.
fn against(report: &Report) -> Option<String> {
    let unit = report.subject.timeline.time_base.unit;
    let is_comparable =
        |run: &&Run| run.timeline.time_base.unit == unit && run.timeline.reached_kernel();
    let mut runs = report.baselines.iter().chain([&report.subject]).filter(is_comparable);
    let base = runs.next()?;
    let total = base.timeline.total();
    if total <= 0.0 {
        return None;
    }
    let others: Vec<String> = runs
        .map(|run| format!("{} as long {}", factor_text(run.timeline.total() / total), run.label))
        .collect();
    if others.is_empty() {
        return None;
    }
    let what =
        if base.timeline.verified_nothing() { "What verification costs" } else { "Compared" };
    let total = together(&time_text(total, unit));
    Some(format!("{what}: {total} {}, {}.", base.label, others.join(", ")))
}
