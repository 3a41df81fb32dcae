//! Sums of the time of a boot by kind of work, which add up to the total.

use super::boot::{StepRecord, Timeline};
use super::lanes::groups;

/// The sums of a boot. Reading and hashing overlap, and the other kinds of work do not, so
/// `reading + hashing - both + signature + opensbi + rest` is the total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Time from the first entry to the end of the last.
    pub total: f64,
    /// Time in which a payload was read.
    pub reading: f64,
    /// Time in which a payload was hashed.
    pub hashing: f64,
    /// Time in which a payload was read and one was hashed.
    pub both: f64,
    /// Time in which a signature was verified, including the reading of the manifest.
    pub signature: f64,
    /// Time between the stages, for which there is no log.
    pub opensbi: f64,
    /// All other time.
    pub rest: f64,
}

impl Cost {
    /// Computes the sums of a boot.
    pub fn of(timeline: &Timeline) -> Self {
        let steps = |name: &'static str| {
            // Firmware that verifies nothing reads its manifest in a separate step, which is not
            // counted here.
            let is_one = move |step: &&StepRecord| {
                step.step == name && (step.payload.is_some() || name == "signature")
            };
            let steps = timeline.steps().filter(is_one);
            steps.map(|step: &StepRecord| (step.start, step.end.max(step.start)))
        };
        let (reading, hashing) = (covered(steps("read")), covered(steps("hash")));
        let payloads = covered(steps("read").chain(steps("hash")));
        let looked_at = covered(steps("read").chain(steps("hash")).chain(steps("signature")));
        let groups = groups(timeline);
        let gaps = groups.iter().filter(|group| group.is_gap());
        let opensbi = gaps.map(|gap| gap.duration()).sum();
        let total = timeline.total();
        Self {
            total,
            reading,
            hashing,
            both: (reading + hashing - payloads).max(0.0),
            signature: looked_at - payloads,
            opensbi,
            rest: (total - looked_at - opensbi).max(0.0),
        }
    }
}

/// Returns the total length of the union of the intervals.
fn covered(intervals: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut intervals: Vec<_> = intervals.collect();
    intervals.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut sum, mut until) = (0.0, f64::NEG_INFINITY);
    for (start, end) in intervals {
        if end > until {
            sum += end - start.max(until);
            until = end;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::timeline;

    #[test]
    fn overlaps_count_once() {
        let covered = |list: &[(f64, f64)]| covered(list.iter().copied());
        assert_eq!(covered(&[]), 0.0);
        assert_eq!(covered(&[(5.0, 7.0), (0.0, 2.0)]), 4.0);
        assert_eq!(covered(&[(0.0, 5.0), (1.0, 2.0), (4.0, 6.0)]), 6.0);
    }

    #[test]
    fn the_parts_add_up_to_the_total() {
        for (is_refused, icount) in [(false, false), (true, false), (false, true)] {
            let timeline = timeline(is_refused, icount);
            let cost = Cost::of(&timeline);
            let sum = cost.reading + cost.hashing - cost.both;
            let sum = sum + cost.signature + cost.opensbi + cost.rest;
            assert!((sum - cost.total).abs() < 1e-3, "{cost:?}");
            assert!(cost.both > 0.0 && cost.opensbi > 0.0 && cost.rest > 0.0, "{cost:?}");
            assert_eq!(cost.total, timeline.total());
        }
    }

    #[test]
    fn a_boot_without_a_log_cost_nothing() {
        let mut timeline = timeline(false, false);
        timeline.stages.clear();
        assert_eq!(Cost::of(&timeline), Cost::default());
    }
}
