//! The order of the lanes, which is the same in the terminal chart and in the picture of the page.

use super::boot::{StepRecord, Timeline};

/// The lanes of one stage, or the time between two stages.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The name: `ROM`, `OpenSBI` or `Loader`.
    pub name: &'a str,
    /// A description of who runs, or of what is known about it.
    pub about: &'static str,
    pub start: f64,
    pub end: f64,
    /// The lanes of the stage. They are empty for OpenSBI, which writes no log.
    pub lanes: Vec<Lane<'a>>,
}

/// A lane: one step, or all steps of one payload.
#[derive(Debug)]
pub(crate) enum Lane<'a> {
    Step(&'a StepRecord),
    Payload {
        name: &'a str,
        /// The steps for reading and hashing, in the order of the log.
        steps: Vec<&'a StepRecord>,
        /// The parts that each hart hashed. They are empty if one hart hashed everything, because
        /// the step already shows that.
        parts: Vec<&'a StepRecord>,
    },
}

impl Group<'_> {
    /// Returns true for a gap such as OpenSBI, of which only the duration is known.
    pub fn is_gap(&self) -> bool {
        self.lanes.is_empty()
    }

    pub fn duration(&self) -> f64 {
        self.end - self.start
    }
}

/// Returns the stages in the order of the log, with the gaps between them.
pub(crate) fn groups(timeline: &Timeline) -> Vec<Group<'_>> {
    let mut stages: Vec<&str> = Vec::new();
    for step in timeline.stages.iter().filter(|step| !step.is_note()) {
        if !stages.contains(&step.stage.as_str()) {
            stages.push(&step.stage);
        }
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for stage in stages {
        let steps = timeline.stages.iter().filter(|step| step.stage == stage && !step.is_note());
        let steps: Vec<_> = steps.collect();
        let own = steps.iter().filter(|step| !step.is_part());
        let start = own.clone().map(|step| step.start).fold(f64::INFINITY, f64::min);
        let end = own.map(|step| step.end).fold(start, f64::max);
        if !start.is_finite() {
            continue;
        }
        let (name, about) = match stage {
            "rom" => ("ROM", "M-mode"),
            "loader" => ("Loader", "S-mode"),
            other => (other, ""),
        };
        if let Some(before) = groups.last().map(|group| group.end)
            && start > before
        {
            // OpenSBI writes no log, so the gap is all that is known about it.
            let (name, about) = match stage {
                "loader" => ("OpenSBI", "no log of its own"),
                _ => ("between", "no log"),
            };
            groups.push(Group { name, about, start: before, end: start, lanes: Vec::new() });
        }
        groups.push(Group { name, about, start, end, lanes: lanes(&steps) });
    }
    groups
}

fn lanes<'a>(steps: &[&'a StepRecord]) -> Vec<Lane<'a>> {
    let is_of_payload = |step: &StepRecord| matches!(step.step.as_str(), "read" | "hash");
    let mut done: Vec<&str> = Vec::new();
    let mut lanes = Vec::new();
    for step in steps {
        match &step.payload {
            // Reading and hashing of the same payload are adjacent, so that their overlap is
            // visible.
            Some(payload) if is_of_payload(step) || step.is_part() => {
                if done.contains(&payload.as_str()) {
                    continue;
                }
                done.push(payload);
                let own = || {
                    let own = steps.iter().filter(|other| other.payload.as_ref() == Some(payload));
                    own.copied()
                };
                let steps: Vec<_> = own().filter(|step| is_of_payload(step)).collect();
                let mut parts: Vec<_> = own().filter(|step| step.is_part()).collect();
                if parts.len() == 1 && steps.iter().any(|step| step.step == "hash") {
                    parts.clear();
                }
                lanes.push(Lane::Payload { name: payload, steps, parts });
            }
            _ => lanes.push(Lane::Step(step)),
        }
    }
    lanes
}

/// Returns the share of the shorter step of reading and hashing that overlaps the other, in
/// percent; `None` if they do not overlap.
pub(crate) fn overlap_percent(steps: &[&StepRecord]) -> Option<u32> {
    let of = |name: &str| steps.iter().find(|step| step.step == name);
    let (read, hash) = (of("read")?, of("hash")?);
    let common = (read.end.min(hash.end) - read.start.max(hash.start)).max(0.0);
    let shorter = read.duration().min(hash.duration());
    (common > 0.0).then(|| (common / shorter * 100.0).round() as u32)
}

/// Returns round numbers from 0 to `total`: 0 and at most `count` others.
pub(crate) fn ticks(total: f64, count: usize) -> Vec<f64> {
    if !(total > 0.0 && total.is_finite()) {
        return vec![0.0];
    }
    let least = total / count.max(1) as f64;
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter();
    let step = step.into_iter().find(|step| *step >= least * 0.999).unwrap_or(total);
    (0..=count).map(|index| index as f64 * step).filter(|tick| *tick <= total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(785_000.0, 4), [0.0, 200_000.0, 400_000.0, 600_000.0]);
        assert_eq!(ticks(1_000.0, 5), [0.0, 200.0, 400.0, 600.0, 800.0, 1_000.0]);
        assert_eq!(ticks(2.61e9, 4), [0.0, 1e9, 2e9]);
        for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ticks(total, 4), [0.0]);
        }
        for exponent in -3..15 {
            for digit in 1..100 {
                let total = f64::from(digit) * 10f64.powi(exponent);
                let ticks = ticks(total, 6);
                assert!((2..=7).contains(&ticks.len()), "{total}: {ticks:?}");
                assert!(ticks.iter().all(|tick| *tick <= total), "{total}: {ticks:?}");
            }
        }
    }
}
