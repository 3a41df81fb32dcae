//! The timeline as bars in a terminal.
//!
//! Each step has a line with a bar, and all bars have the same scale. For a payload, the line for
//! reading is above the one for hashing, and the parts of the harts are below. A line consists of
//! spans of text, each with a kind of work, to which the program that prints them may assign a colour.
//! No information depends on colour only.

use std::fmt;

use super::boot::{StepRecord, Timeline, Unit};
use super::cost::Cost;
use super::kind::Kind;
use super::lanes::{Group, Lane, groups, ticks};
use super::quantity::{bytes_text, time_text};
use super::table::base;
use super::words::together;
use super::{kernels, words};

/// Minimum width in columns. In a narrower terminal, the lines are wrapped by the terminal.
const LEAST_COLUMNS: usize = 40;
/// Minimum width in columns for showing sizes next to the names.
const DETAIL_COLUMNS: usize = 64;
/// The widths of the columns before the bars: indent and payload, step or hart, size or harts.
const PAYLOAD: usize = 13;
const STEP: usize = 7;
const DETAIL: usize = 8;
/// The width of the column after the bars.
const TIME: usize = 8;
/// Maximum number of columns for a number below the axis.
const TICK: usize = 8;

/// The properties of the terminal for which a chart is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The number of columns.
    pub columns: usize,
    /// True if the terminal shows characters outside of ASCII.
    pub is_unicode: bool,
}

/// A piece of text that has one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// The kind of work that the text shows; `None` for words.
    pub kind: Option<Kind>,
}

/// A line without a line feed and without trailing blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Span>);

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| out.write_str(&span.text))
    }
}

/// Draws the chart, followed by sentences, of which the last is about the time base. No line is
/// longer than `look` allows, with a minimum of 40 columns.
pub fn chart(timeline: &Timeline, look: Look) -> Vec<Line> {
    if timeline.stages.is_empty() {
        return vec![Line::words("no measurement log")];
    }
    let mut chart = Chart::new(timeline, look);
    chart.axis();
    for group in groups(timeline) {
        chart.group(&group);
    }
    chart.lines.push(Line::default());
    let kernels = kernels::remarks(timeline);
    for sentence in &kernels.wrong {
        chart.words(sentence, Some(Kind::Refusal));
    }
    for sentence in sentences(timeline, chart.has_parts, kernels.plain) {
        chart.words(&sentence, None);
    }
    chart.lines
}

/// Returns the sentences below the bars.
fn sentences(timeline: &Timeline, has_parts: bool, kernels: Option<String>) -> Vec<String> {
    let cost = Cost::of(timeline);
    let unit = timeline.time_base.unit;
    let text = |value| together(&time_text(value, unit));
    let counted = if unit == Unit::Instructions { "\u{a0}instructions" } else { "" };
    let mut sentences = vec![
        format!("{}{counted} from reset to {}", text(cost.total), timeline.ended()),
        format!(
            "reading {}, hashing {}, of these {} at once; signatures {}; OpenSBI {}; rest {}",
            text(cost.reading),
            text(cost.hashing),
            text(cost.both),
            text(cost.signature),
            text(cost.opensbi),
            text(cost.rest)
        ),
    ];
    if let Some(longest) = timeline.longest().filter(|step| step.duration() > 0.0) {
        let share = (longest.duration() / cost.total * 100.0).round();
        let time = text(longest.duration());
        sentences.insert(
            1,
            format!("longest step: {}, {time}, {share}\u{a0}% of it", longest.in_words()),
        );
    }
    sentences.extend(kernels);
    if has_parts {
        sentences.push(
            "hart: from its first to its last block, and how much of that it was hashing".into(),
        );
    }
    sentences.push(base(timeline).to_owned());
    sentences
}

struct Glyphs {
    full: char,
    /// The characters of a bar that begins or ends in the middle of a column, if these can be shown.
    halves: Option<(char, char)>,
    /// The character of a step that is too short for a bar.
    thin: char,
    /// The shades from idle to busy.
    shades: [char; 4],
    /// The characters for beginning, middle and end of a stage.
    span: [char; 3],
    gap: char,
    tick: char,
    cut: char,
}

const UNICODE: Glyphs = Glyphs {
    full: '█',
    halves: Some(('▌', '▐')),
    thin: '▏',
    shades: ['░', '▒', '▓', '█'],
    span: ['├', '─', '┤'],
    gap: '╌',
    tick: '╷',
    cut: '…',
};

const ASCII: Glyphs = Glyphs {
    full: '#',
    halves: None,
    thin: '|',
    shades: ['.', '-', '+', '#'],
    span: ['|', '-', '|'],
    gap: '.',
    tick: '|',
    cut: '~',
};

struct Chart {
    glyphs: &'static Glyphs,
    columns: usize,
    has_details: bool,
    /// The number of columns for the bars.
    width: usize,
    total: f64,
    unit: Unit,
    has_parts: bool,
    lines: Vec<Line>,
}

impl Chart {
    fn new(timeline: &Timeline, look: Look) -> Self {
        let columns = look.columns.max(LEAST_COLUMNS);
        let has_details = columns >= DETAIL_COLUMNS;
        let label = PAYLOAD + STEP + if has_details { DETAIL } else { 0 };
        Self {
            glyphs: if look.is_unicode { &UNICODE } else { &ASCII },
            columns,
            has_details,
            // The bars have a blank on each side.
            width: columns - label - TIME - 2,
            total: timeline.total(),
            unit: timeline.time_base.unit,
            has_parts: false,
            lines: Vec::new(),
        }
    }

    fn time(&self, value: f64) -> String {
        time_text(value, self.unit)
    }

    /// Returns the position of a time, in columns from the left of the bars.
    fn place(&self, value: f64) -> f64 {
        let share = if self.total > 0.0 { (value / self.total).clamp(0.0, 1.0) } else { 0.0 };
        share * self.width as f64
    }

    fn axis(&mut self) {
        let mut text = String::new();
        for tick in ticks(self.total, self.width / TICK) {
            let at = self.place(tick).floor() as usize;
            let mark = format!("{}{}", self.glyphs.tick, self.time(tick));
            let used = text.chars().count();
            // There may be no room for the last number.
            if at + mark.chars().count() <= self.width && (used == 0 || at > used) {
                text.extend(std::iter::repeat_n(' ', at - used));
                text.push_str(&mark);
            }
        }
        let head = match self.unit {
            Unit::Microseconds => "time",
            Unit::Instructions => "instr.",
        };
        self.line(["", "", ""], 0, (text, None), head);
    }

    fn group(&mut self, group: &Group<'_>) {
        let (kind, bar) = if group.is_gap() {
            (Kind::Gap, self.gap(group.start, group.end))
        } else {
            (Kind::Stage, self.span(group.start, group.end))
        };
        let about = if group.is_gap() { "" } else { group.about };
        let time = self.time(group.duration());
        self.line([group.name, about, ""], bar.0, (bar.1, Some(kind)), &time);
        for lane in &group.lanes {
            match lane {
                Lane::Step(step) => self.step(step),
                Lane::Payload { name, steps, parts } => self.payload(name, steps, parts),
            }
        }
    }

    fn step(&mut self, step: &StepRecord) {
        let name = match (&step.payload, step.step.as_str()) {
            (Some(payload), step) => format!("  {step} {payload}"),
            (None, "read") => "  read manifest".to_owned(),
            (None, step) => format!("  {step}"),
        };
        let detail = match &step.reason {
            Some(reason) => reason.clone(),
            None if step.bytes > 0 => bytes_text(step.bytes),
            None if step.harts > 1 => harts_text(step),
            None => String::new(),
        };
        let (at, bar) = self.bar(step.start, step.end);
        let time = self.time(step.duration());
        self.line([&name, "", &detail], at, (bar, Some(Kind::of(step))), &time);
    }

    fn payload(&mut self, name: &str, steps: &[&StepRecord], parts: &[&StepRecord]) {
        let name = format!("  {name}");
        for (index, step) in steps.iter().enumerate() {
            let detail =
                if step.step == "read" { bytes_text(step.bytes) } else { harts_text(step) };
            let (at, bar) = self.bar(step.start, step.end);
            let time = self.time(step.duration());
            let shown = if index == 0 { name.as_str() } else { "" };
            self.line([shown, &step.step, &detail], at, (bar, Some(Kind::of(step))), &time);
        }
        for part in parts {
            let busy = part.busy_percent();
            let (at, bar) = self.shaded(part.start, part.end, busy);
            let hart = format!("hart {}", part.hart());
            let busy = busy.map_or(String::new(), |busy| format!("{busy} %"));
            self.line(["", &hart, &bytes_text(part.bytes)], at, (bar, Some(Kind::Hash)), &busy);
            self.has_parts = true;
        }
    }

    /// Draws a bar and returns the column in which it begins. At least one column is filled.
    fn bar(&self, start: f64, end: f64) -> (usize, String) {
        let Some((left, right)) = self.glyphs.halves else {
            return self.plain(start, end, self.glyphs.full);
        };
        let half = |value| (self.place(value) * 2.0).round() as usize;
        let (from, to) = (half(start), half(end));
        if to <= from {
            return self.thin(start);
        }
        let at = from / 2;
        let column = |column: usize| match (from <= 2 * column, to > 2 * column + 1) {
            (true, true) => self.glyphs.full,
            (true, false) => left,
            _ => right,
        };
        (at, (at..to.div_ceil(2)).map(column).collect())
    }

    /// Draws the bar of one hart. A darker shade means a busier hart.
    fn shaded(&self, start: f64, end: f64, busy: Option<u32>) -> (usize, String) {
        let [idle, little, much, all] = self.glyphs.shades;
        let shade = match busy.unwrap_or(0) {
            ..30 => idle,
            30..60 => little,
            60..90 => much,
            _ => all,
        };
        self.plain(start, end, shade)
    }

    fn plain(&self, start: f64, end: f64, glyph: char) -> (usize, String) {
        let (from, to) = (self.place(start).round() as usize, self.place(end).round() as usize);
        if to <= from {
            return self.thin(start);
        }
        (from, std::iter::repeat_n(glyph, to - from).collect())
    }

    fn thin(&self, start: f64) -> (usize, String) {
        let at = (self.place(start).floor() as usize).min(self.width - 1);
        (at, self.glyphs.thin.to_string())
    }

    fn span(&self, start: f64, end: f64) -> (usize, String) {
        let [first, middle, last] = self.glyphs.span;
        let (at, bar) = self.plain(start, end, middle);
        let count = bar.chars().count();
        if count < 2 {
            return (at, bar);
        }
        let bar = std::iter::once(first).chain(std::iter::repeat_n(middle, count - 2));
        (at, bar.chain(std::iter::once(last)).collect())
    }

    fn gap(&self, start: f64, end: f64) -> (usize, String) {
        self.plain(start, end, self.glyphs.gap)
    }

    /// Adds a line with three labels, a bar that begins in column `at`, and the time after it.
    fn line(&mut self, labels: [&str; 3], at: usize, bar: (String, Option<Kind>), time: &str) {
        let [first, second, third] = labels;
        let detail = if self.has_details { DETAIL } else { 0 };
        // A label may use the columns of absent labels after it.
        let (first, second) = match (second.is_empty(), third.is_empty() || detail == 0) {
            (true, true) => (self.fit(first, PAYLOAD + STEP + detail), String::new()),
            (true, false) => (self.fit(first, PAYLOAD + STEP), String::new()),
            _ => (self.fit(first, PAYLOAD), self.fit(second, STEP)),
        };
        let third = if detail == 0 { String::new() } else { self.fit(third, detail).trim().into() };
        let used = first.chars().count() + second.chars().count();
        let rest = (PAYLOAD + STEP + detail).saturating_sub(used);
        let before = format!("{first}{second}{third:>rest$} {:at$}", "");
        let after = (self.width + 1).saturating_sub(at + bar.0.chars().count());
        let time = self.fit(time, TIME);
        let after = format!("{:after$}{:>TIME$}", "", time.trim());
        let words = |text: String| Span { text, kind: None };
        let mut spans = vec![words(before), Span { text: bar.0, kind: bar.1 }, words(after)];
        spans.retain(|span| !span.text.is_empty());
        if let Some(last) = spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        self.lines.push(Line(spans));
    }

    /// Truncates or pads a text to a width.
    fn fit(&self, text: &str, width: usize) -> String {
        if text.chars().count() <= width {
            return format!("{text:width$}");
        }
        let kept: String = text.chars().take(width.saturating_sub(1)).collect();
        format!("{kept}{}", self.glyphs.cut)
    }

    /// Adds a sentence, wrapped to several lines if necessary.
    fn words(&mut self, sentence: &str, kind: Option<Kind>) {
        for text in words::lines(sentence, self.columns) {
            self.lines.push(Line(vec![Span { text, kind }]));
        }
    }
}

impl Line {
    fn words(text: &str) -> Self {
        Self(vec![Span { text: text.to_owned(), kind: None }])
    }
}

fn harts_text(step: &StepRecord) -> String {
    match step.harts {
        0 => String::new(),
        1 => "1 hart".to_owned(),
        harts => format!("{harts} harts"),
    }
}

#[cfg(test)]
mod tests;
