//! Where the bars of the timeline stand, in percent of its width.
//!
//! Percentages instead of coordinates: text keeps its size on a narrow screen while the bars
//! shrink with it.

use crate::timeline::{StepRecord, Timeline, Unit, bytes_text, time_text};

/// Marks on the axis, the two ends included.
const MARKS: u32 = 4;
/// Height of a bar in CSS pixels.
const BAR: u32 = 11;

/// The picture of one boot.
pub(super) struct Picture {
    pub(super) groups: Vec<Group>,
    pub(super) marks: Vec<Mark>,
    pub(super) legend: Vec<&'static str>,
    /// Said to those who cannot see it.
    pub(super) summary: String,
}

/// A place on the axis.
pub(super) struct Mark {
    pub(super) at: String,
    pub(super) text: String,
    /// `start`, `middle` or `end`: which part of the text is at the place.
    pub(super) anchor: &'static str,
}

/// What one stage did, or the time between two stages.
pub(super) struct Group {
    pub(super) name: &'static str,
    /// Who runs, and how long.
    pub(super) detail: String,
    pub(super) span: Bar,
    pub(super) lanes: Vec<Lane>,
}

/// One line of the picture.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) detail: String,
    /// How much of reading and hashing happened at the same time, in percent.
    pub(super) overlap: Option<u32>,
    pub(super) bars: Vec<Bar>,
    pub(super) height: u32,
}

/// One bar, and the words for it.
pub(super) struct Bar {
    pub(super) kind: &'static str,
    pub(super) label: String,
    pub(super) x: String,
    pub(super) width: String,
    pub(super) y: u32,
    pub(super) height: u32,
}

/// The colour of a step. Steps that are the same kind of work share one, and so do all that
/// carry a reason against the boot.
pub(super) fn kind(step: &StepRecord) -> &'static str {
    if step.reason.is_some() {
        return "refusal";
    }
    match step.step {
        "signature" => "signature",
        "read" => "read",
        "hash" => "hash",
        "verdict" => "verdict",
        "harts-start" | "harts-stop" => "harts",
        "handover" => "handover",
        "refusal" | "hart-fault" => "refusal",
        _ => "start",
    }
}

impl Picture {
    pub(super) fn new(timeline: &Timeline) -> Self {
        let scale = Scale { total: timeline.total(), unit: timeline.time_base.unit };
        let mut groups = Vec::new();
        for (name, detail) in [("rom", "M-mode"), ("loader", "S-mode")] {
            let steps: Vec<_> = timeline.stages.iter().filter(|step| step.stage == name).collect();
            let Some((start, end)) = span(&steps) else { continue };
            if let Some(before) = groups.last().map(|group: &(f64, Group)| group.0)
                && start > before
            {
                groups.push((start, between(&scale, before, start)));
            }
            groups.push((end, stage_group(&scale, name, detail, &steps, (start, end))));
        }
        let groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
        let mut legend: Vec<&'static str> = Vec::new();
        for step in &timeline.stages {
            let kind = kind(step);
            if !legend.contains(&kind) {
                legend.push(kind);
            }
        }
        let stages = groups.iter().map(|group| format!("{} {}", group.name, group.detail));
        let summary = stages.collect::<Vec<_>>().join("; ");
        Self { groups, marks: scale.marks(), legend, summary }
    }
}

/// First start and last end.
fn span(steps: &[&StepRecord]) -> Option<(f64, f64)> {
    let start = steps.iter().map(|step| step.start).reduce(f64::min)?;
    Some((start, steps.iter().map(|step| step.end).fold(start, f64::max)))
}

/// OpenSBI keeps no log: all that is known of it is the gap.
fn between(scale: &Scale, start: f64, end: f64) -> Group {
    Group {
        name: "OpenSBI",
        detail: format!("{} since the ROM's last entry", scale.text(end - start)),
        span: scale.bar("gap", String::new(), (start, end), (0, BAR)),
        lanes: Vec::new(),
    }
}

fn stage_group(
    scale: &Scale,
    name: &'static str,
    mode: &str,
    steps: &[&StepRecord],
    (start, end): (f64, f64),
) -> Group {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut done: Vec<&str> = Vec::new();
    for step in steps {
        match step.payload {
            // Reading and hashing of one payload share a lane, so that their overlap is seen.
            Some(payload) if matches!(step.step, "read" | "hash") => {
                if !done.contains(&payload) {
                    done.push(payload);
                    let is_part = |other: &&&StepRecord| {
                        other.payload == Some(payload) && matches!(other.step, "read" | "hash")
                    };
                    let parts: Vec<_> = steps.iter().filter(is_part).copied().collect();
                    lanes.push(payload_lane(scale, payload, &parts));
                }
            }
            _ => lanes.push(step_lane(scale, step)),
        }
    }
    Group {
        name: if name == "rom" { "ROM" } else { "Loader" },
        detail: format!("{mode}, {}", scale.text(end - start)),
        span: scale.bar(name, String::new(), (start, end), (0, BAR)),
        lanes,
    }
}

fn step_lane(scale: &Scale, step: &StepRecord) -> Lane {
    let mut detail = vec![scale.text(step.duration())];
    if step.harts > 1 {
        detail.push(format!("{} harts", step.harts));
    }
    detail.extend(step.reason.clone());
    let bar = scale.bar(kind(step), String::new(), (step.start, step.end), (0, BAR));
    Lane {
        name: step.step.to_owned(),
        detail: detail.join(", "),
        overlap: None,
        bars: vec![bar],
        height: BAR,
    }
}

fn payload_lane(scale: &Scale, payload: &str, parts: &[&StepRecord]) -> Lane {
    let bytes = parts.iter().map(|step| step.bytes).max().unwrap_or(0);
    let harts = parts.iter().map(|step| step.harts).max().unwrap_or(0);
    let mut detail = vec![bytes_text(bytes)];
    if harts > 0 {
        detail.push(format!("{harts} {}", if harts == 1 { "hart" } else { "harts" }));
    }
    let bar = |step: &&StepRecord| {
        // Reading above, hashing below, and one pixel between them.
        let y = if step.step == "read" { 0 } else { BAR + 1 };
        let label = format!("{} {}", step.step, scale.text(step.duration()));
        scale.bar(kind(step), label, (step.start, step.end), (y, BAR))
    };
    Lane {
        name: payload.to_owned(),
        detail: detail.join(", "),
        overlap: overlap(parts),
        bars: parts.iter().map(bar).collect(),
        height: 2 * BAR + 1,
    }
}

/// How much of the shorter of reading and hashing happened during the other, in percent.
fn overlap(parts: &[&StepRecord]) -> Option<u32> {
    let of = |name: &str| parts.iter().find(|step| step.step == name);
    let (read, hash) = (of("read")?, of("hash")?);
    let common = (read.end.min(hash.end) - read.start.max(hash.start)).max(0.0);
    let shorter = read.duration().min(hash.duration());
    // Stages that do one after the other have nothing to show.
    (common > 0.0).then(|| (common / shorter * 100.0).round() as u32)
}

struct Scale {
    total: f64,
    unit: Unit,
}

impl Scale {
    fn text(&self, value: f64) -> String {
        time_text(value, self.unit)
    }

    fn percent(&self, value: f64) -> f64 {
        if self.total > 0.0 { (value / self.total * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }

    fn bar(
        &self,
        kind: &'static str,
        label: String,
        (start, end): (f64, f64),
        (y, height): (u32, u32),
    ) -> Bar {
        let (from, to) = (self.percent(start), self.percent(end));
        Bar {
            kind,
            label,
            x: format!("{from:.3}%"),
            width: format!("{:.3}%", to - from),
            y,
            height,
        }
    }

    fn marks(&self) -> Vec<Mark> {
        let mark = |index: u32| {
            let share = f64::from(index) / f64::from(MARKS);
            Mark {
                at: format!("{:.0}%", share * 100.0),
                text: self.text(self.total * share),
                anchor: match index {
                    0 => "start",
                    MARKS => "end",
                    _ => "middle",
                },
            }
        };
        (0..=MARKS).map(mark).collect()
    }
}
