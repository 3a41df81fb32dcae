//! The timeline as a table for a terminal of 80 columns.

use std::fmt::Write;

use super::boot::{StepRecord, Timeline, Unit};
use super::quantity::{bytes_text, time_text};
use super::{kernels, words};

/// The widths of the columns.
const WIDTHS: [usize; 8] = [6, 11, 10, 9, 5, 8, 8, 8];
/// Maximum length of a line.
const COLUMNS: usize = 80;
const IS_NUMBER: [bool; 8] = [false, false, false, true, true, false, true, true];

/// Formats the timeline as lines of at most 80 characters, of which the last is about the time
/// base. The parts of single harts are shown only in the chart.
pub fn table(timeline: &Timeline) -> String {
    let mut out = String::new();
    if timeline.stages.is_empty() {
        out.push_str("no measurement log\n");
        return out;
    }
    row(&mut out, &["stage", "step", "payload", "size", "harts", "hash by", "start", "time"]);
    for step in timeline.steps() {
        let cells = cells(step);
        row(&mut out, &cells.each_ref().map(String::as_str));
    }
    out.push('\n');
    let kernels = kernels::remarks(timeline);
    for sentence in kernels.wrong.iter().chain(&kernels.plain) {
        for line in words::lines(sentence, COLUMNS) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.push_str(base(timeline));
    out.push('\n');
    out
}

/// Returns a line that states what the times are and what they are not.
pub(super) fn base(timeline: &Timeline) -> &'static str {
    match timeline.time_base.unit {
        Unit::Microseconds if timeline.machine.counts_cycles => {
            "times are cycles of a simulated machine, at the clock that is assumed for it"
        }
        Unit::Microseconds => "times are those of the emulator, and not the time of any board",
        Unit::Instructions => {
            "times are retired instructions: not cycles, and not the time of any board"
        }
    }
}

fn cells(step: &StepRecord) -> [String; 8] {
    let unless_zero = |is_zero: bool, text: String| if is_zero { String::new() } else { text };
    [
        step.stage.clone(),
        step.step.clone(),
        step.payload.clone().unwrap_or_default(),
        unless_zero(step.bytes == 0, bytes_text(step.bytes)),
        unless_zero(step.harts == 0, step.harts.to_string()),
        // A refusal has no implementation, so its code is shown in this column.
        step.reason.clone().or(step.implementation.clone()).unwrap_or_default(),
        time_text(step.start, step.unit),
        time_text(step.duration(), step.unit),
    ]
}

fn row(out: &mut String, cells: &[&str; 8]) {
    let mut line = String::new();
    for ((cell, width), is_number) in cells.iter().zip(WIDTHS).zip(IS_NUMBER) {
        let _ = if is_number {
            write!(line, "{cell:>width$}  ")
        } else {
            write!(line, "{:width$}  ", cell.get(..width).unwrap_or(cell))
        };
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
