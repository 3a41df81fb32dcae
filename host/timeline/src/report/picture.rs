//! The positions of the bars of a timeline, in percent of its width.
//!
//! Percentages are used instead of coordinates, so that on a narrow screen the bars shrink and the
//! text keeps its size.

use crate::{
    Group, Kind, Lane, StepRecord, Timeline, Unit, bytes_text, groups, overlap_percent, ticks,
    time_text,
};

/// Maximum number of marks on the axis, not counting 0.
const MARKS: usize = 5;
/// Heights in CSS pixels of a bar, and of the part of a hart.
const BAR: u32 = 11;
const PART: u32 = 11;
/// A mark further to the right than this has no room for centered text.
const RIGHT: f64 = 95.0;

/// The time range that 100 percent stand for, and its unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisScale {
    pub(super) total: f64,
    pub(super) unit: Unit,
}

/// The picture of one boot.
pub(super) struct Picture<'a> {
    pub(super) groups: Vec<GroupPicture<'a>>,
    pub(super) marks: Vec<Mark>,
    pub(super) legend: Vec<Kind>,
    /// A text for readers who cannot see the picture.
    pub(super) summary: String,
}

/// A mark on the axis.
pub(super) struct Mark {
    pub(super) at: String,
    pub(super) text: String,
    /// `start`, `middle` or `end`: the part of the text that is at the position.
    pub(super) anchor: &'static str,
}

/// The lanes of one stage, or the time between two stages.
pub(super) struct GroupPicture<'a> {
    pub(super) name: &'a str,
    /// A description of who runs, and for how long.
    pub(super) detail: String,
    pub(super) span: Bar,
    pub(super) lanes: Vec<LaneView<'a>>,
}

/// A lane of the picture.
pub(super) struct LaneView<'a> {
    pub(super) name: &'a str,
    pub(super) detail: String,
    /// The overlap of reading and hashing, in percent.
    pub(super) overlap: Option<u32>,
    pub(super) bars: Vec<Bar>,
    pub(super) height: u32,
    pub(super) parts: Vec<Part>,
}

/// A bar and its texts.
pub(super) struct Bar {
    pub(super) kind: Kind,
    pub(super) label: String,
    /// A text that names the bar, its start and its end.
    pub(super) title: String,
    pub(super) x: String,
    pub(super) width: String,
    pub(super) y: u32,
    pub(super) height: u32,
}

/// The part of a payload that one hart hashed: a frame from its first to its last block, and a
/// filling whose height is proportional to the time for which the hart was busy.
pub(super) struct Part {
    pub(super) label: String,
    pub(super) busy: String,
    pub(super) frame: Bar,
    pub(super) filling: Bar,
    pub(super) height: u32,
}

impl<'a> Picture<'a> {
    pub(super) fn new(timeline: &'a Timeline, scale: &AxisScale) -> Self {
        let groups: Vec<_> = groups(timeline).into_iter().map(|group| scale.group(group)).collect();
        let mut legend: Vec<Kind> = Vec::new();
        for step in timeline.stages.iter().filter(|step| !step.is_note()) {
            let kind = Kind::of(step);
            if !legend.contains(&kind) {
                legend.push(kind);
            }
        }
        let stages = groups.iter().map(|group| format!("{} {}", group.name, group.detail));
        let summary = stages.collect::<Vec<_>>().join("; ");
        Self { groups, marks: scale.marks(), legend, summary }
    }

    /// Returns true if a lane has parts of harts.
    pub(super) fn has_parts(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.lanes).any(|lane| !lane.parts.is_empty())
    }
}

impl AxisScale {
    fn text(&self, value: f64) -> String {
        time_text(value, self.unit)
    }

    fn percent(&self, value: f64) -> f64 {
        if self.total > 0.0 { (value / self.total * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }

    pub(super) fn bar(
        &self,
        kind: Kind,
        label: String,
        (start, end): (f64, f64),
        (y, height): (u32, u32),
    ) -> Bar {
        let (from, to) = (self.percent(start), self.percent(end));
        Bar {
            kind,
            title: format!("{label} from {} to {}", self.text(start), self.text(end)),
            label,
            x: format!("{from:.3}%"),
            width: format!("{:.3}%", (to - from).max(0.0)),
            y,
            height,
        }
    }

    pub(super) fn marks(&self) -> Vec<Mark> {
        let mark = |tick: f64| {
            let at = self.percent(tick);
            let anchor = match at {
                0.0 => "start",
                RIGHT.. => "end",
                _ => "middle",
            };
            Mark { at: format!("{at:.3}%"), text: self.text(tick), anchor }
        };
        ticks(self.total, MARKS).into_iter().map(mark).collect()
    }

    fn group<'a>(&self, group: Group<'a>) -> GroupPicture<'a> {
        let time = self.text(group.duration());
        let (kind, detail) = if group.is_gap() {
            (Kind::Gap, format!("{time}, {}", group.about))
        } else {
            let about = if group.about.is_empty() { "" } else { ", " };
            (Kind::Stage, format!("{}{about}{time}", group.about))
        };
        let times = (group.start, group.end);
        GroupPicture {
            name: group.name,
            detail,
            span: self.bar(kind, group.name.to_owned(), times, (0, BAR)),
            lanes: group.lanes.into_iter().map(|lane| self.lane(lane)).collect(),
        }
    }

    fn lane<'a>(&self, lane: Lane<'a>) -> LaneView<'a> {
        match lane {
            Lane::Step(step) => self.step(step),
            Lane::Payload { name, steps, parts } => self.payload(name, &steps, &parts),
        }
    }

    fn step<'a>(&self, step: &'a StepRecord) -> LaneView<'a> {
        let mut detail = vec![self.text(step.duration())];
        detail.extend(step.payload.clone());
        if step.step == "read" && step.payload.is_none() {
            detail.push("manifest".to_owned());
        }
        if step.bytes > 0 {
            detail.push(bytes_text(step.bytes));
        }
        if step.harts > 1 {
            detail.push(harts_text(step.harts));
        }
        detail.extend(step.reason.clone());
        let bar = self.bar(Kind::of(step), step.step.clone(), (step.start, step.end), (0, BAR));
        LaneView {
            name: &step.step,
            detail: detail.join(", "),
            overlap: None,
            bars: vec![bar],
            height: BAR,
            parts: Vec::new(),
        }
    }

    fn payload<'a>(
        &self,
        name: &'a str,
        steps: &[&StepRecord],
        parts: &[&StepRecord],
    ) -> LaneView<'a> {
        let bytes = steps.iter().chain(parts).map(|step| step.bytes).max().unwrap_or(0);
        let harts = steps.iter().map(|step| step.harts).max().unwrap_or(0);
        // If there are two bars, their times are below the name.
        let mut detail: Vec<String> = match steps {
            [step] => vec![format!("{} {}", step.step, self.text(step.duration()))],
            _ => Vec::new(),
        };
        detail.push(bytes_text(bytes));
        if harts > 0 {
            detail.push(harts_text(harts));
        }
        let bar = |step: &&StepRecord| {
            // The bar for reading is above the bar for hashing, with a gap of one pixel.
            let y = if step.step == "read" { 0 } else { BAR + 1 };
            let label = format!("{} {}", step.step, self.text(step.duration()));
            self.bar(Kind::of(step), label, (step.start, step.end), (y, BAR))
        };
        LaneView {
            name,
            detail: detail.join(", "),
            overlap: overlap_percent(steps),
            bars: steps.iter().map(bar).collect(),
            height: if steps.iter().any(|step| step.step == "hash") { 2 * BAR + 1 } else { BAR },
            parts: parts.iter().map(|part| self.part(part)).collect(),
        }
    }

    fn part(&self, part: &StepRecord) -> Part {
        let busy = part.busy_percent();
        let times = (part.start, part.end);
        let bar =
            |(y, height)| self.bar(Kind::Hash, format!("hart {}", part.hart()), times, (y, height));
        // The filling is inside of the frame, so that the missing part is visible.
        let filled = (busy.unwrap_or(0).min(100) * (PART - 2) + 50) / 100;
        Part {
            label: format!("hart {}, {}", part.hart(), bytes_text(part.bytes)),
            busy: busy.map_or(String::new(), |busy| format!("{busy} %")),
            frame: bar((0, PART)),
            filling: bar((PART - 1 - filled, filled)),
            height: PART,
        }
    }
}

fn harts_text(harts: u32) -> String {
    format!("{harts} {}", if harts == 1 { "hart" } else { "harts" })
}
