//! The timeline as one page: no script, no font, no address of anything outside the file.

mod picture;
mod verified;

use askama::Template;

use crate::timeline::{RefusalInfo, StepRecord, Timeline, Unit, bytes_text, time_text};
use picture::Picture;
use verified::Verified;

/// Boots to show on one page.
#[derive(Debug)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// Each boot with a name that tells it from the others.
    pub runs: Vec<(String, Timeline)>,
}

impl Report {
    /// A page about one boot.
    pub fn of_one(timeline: Timeline) -> Self {
        Self { title: "Boot timeline".to_owned(), runs: vec![("boot".to_owned(), timeline)] }
    }

    /// The page.
    pub fn to_html(&self) -> String {
        let page = Page { title: &self.title, runs: self.runs.iter().map(RunView::new).collect() };
        // Rendering into a string fails only if a value's `Display` does; these are all text.
        page.render().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    runs: Vec<RunView<'a>>,
}

/// One boot as the template needs it: text, and positions in percent.
struct RunView<'a> {
    name: &'a str,
    verdict: &'static str,
    /// Class of the verdict: `yes`, `no` or `open`.
    class: &'static str,
    refusal: Option<&'a RefusalInfo>,
    timeline: &'a Timeline,
    total: String,
    unit_name: &'static str,
    picture: Picture,
    verified: Vec<Verified>,
    steps: Vec<StepView>,
}

impl<'a> RunView<'a> {
    fn new((name, timeline): &'a (String, Timeline)) -> Self {
        let (verdict, class) = match timeline.outcome {
            "booted" => ("Booted", "yes"),
            "refused" => ("Refused", "no"),
            "timed-out" => ("No answer in time", "open"),
            "guest-stopped" => ("Stopped before it booted", "open"),
            "interrupted" => ("Interrupted", "open"),
            _ => ("The emulator failed", "open"),
        };
        let unit = timeline.time_base.unit;
        Self {
            name,
            verdict,
            class,
            refusal: timeline.refusal.as_ref(),
            timeline,
            total: time_text(timeline.total(), unit),
            unit_name: match unit {
                Unit::Microseconds => "of emulator time",
                Unit::Instructions => "instructions",
            },
            picture: Picture::new(timeline),
            verified: verified::of(timeline),
            steps: timeline.stages.iter().map(StepView::new).collect(),
        }
    }
}

/// A row of the table of steps.
struct StepView {
    stage: &'static str,
    step: &'static str,
    kind: &'static str,
    payload: &'static str,
    bytes: String,
    harts: String,
    kernel: String,
    start: String,
    duration: String,
    reason: String,
}

impl StepView {
    fn new(step: &StepRecord) -> Self {
        Self {
            stage: step.stage,
            step: step.step,
            kind: picture::kind(step),
            payload: step.payload.unwrap_or_default(),
            bytes: if step.bytes == 0 { String::new() } else { bytes_text(step.bytes) },
            harts: if step.harts == 0 { String::new() } else { step.harts.to_string() },
            kernel: step.kernel.clone().unwrap_or_default(),
            start: time_text(step.start, step.unit),
            duration: time_text(step.duration(), step.unit),
            reason: step.reason.clone().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
