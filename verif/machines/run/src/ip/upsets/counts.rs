//! Classifies the ends of runs with an upset, and counts them.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::plan::UpsetCampaign;

/// A part of the digest of results. Raise it when a change of the bench changes them.
pub const LAYOUT: &str = "1";

/// The outcome of a run, as the user of the engine saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run ended as without an upset.
    Same,
    /// Refused: an error code, an error on the bus, or a verdict that refuses.
    Refused,
    Alert,
    /// The run did not end in time.
    Hang,
    /// A forbidden condition held, but for too few cycles to count.
    Brief,
    /// Bad: the verdict that everything is right, or a forbidden condition.
    Accepted,
    /// Bad: a wrong result was released without an error.
    Wrong,
}

impl Outcome {
    pub fn is_bad(self) -> bool {
        matches!(self, Outcome::Accepted | Outcome::Wrong)
    }

    /// Reads a line of the bench. `end` is the end of the run without an upset.
    pub fn read(line: &str, end: &str) -> Result<Outcome> {
        let word = line.split(' ').next().context("an empty line of the bench")?;
        Ok(match word {
            "forbidden" => Outcome::Accepted,
            "wrong" => Outcome::Wrong,
            _ if line.contains(" brief") => Outcome::Brief,
            _ if word == end => Outcome::Same,
            "refused" => Outcome::Refused,
            "alert" => Outcome::Alert,
            "hang" => Outcome::Hang,
            // A script may refuse without an upset; then these ends are bad, too.
            "accepted" | "done" => Outcome::Accepted,
            _ => bail!("the bench says `{line}`"),
        })
    }
}

/// Number of runs with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpsetCounts {
    pub runs: u64,
    pub same: u64,
    pub refused: u64,
    pub alert: u64,
    pub hang: u64,
    pub brief: u64,
    pub accepted: u64,
    pub wrong: u64,
}

impl UpsetCounts {
    pub fn add(&mut self, outcome: Outcome) {
        self.runs += 1;
        let count = match outcome {
            Outcome::Same => &mut self.same,
            Outcome::Refused => &mut self.refused,
            Outcome::Alert => &mut self.alert,
            Outcome::Hang => &mut self.hang,
            Outcome::Brief => &mut self.brief,
            Outcome::Accepted => &mut self.accepted,
            Outcome::Wrong => &mut self.wrong,
        };
        *count += 1;
    }

    pub fn merge(&mut self, other: &UpsetCounts) {
        let pairs = self.fields().into_iter().zip(other.fields());
        let sums: Vec<u64> = pairs.map(|(one, other)| one + other).collect();
        if let [runs, same, refused, alert, hang, brief, accepted, wrong] = sums[..] {
            *self = UpsetCounts { runs, same, refused, alert, hang, brief, accepted, wrong };
        }
    }

    /// Returns the counts in the order of the table.
    pub fn fields(&self) -> [u64; 8] {
        let UpsetCounts { runs, same, refused, alert, hang, brief, accepted, wrong } = *self;
        [runs, same, refused, alert, hang, brief, accepted, wrong]
    }

    pub fn bad(&self) -> u64 {
        self.accepted + self.wrong
    }
}

/// The counts of a part with an input on a variant, for the table and the stored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub variant: String,
    /// True if the variant is not hardened and has to show a bad outcome.
    pub must_find: bool,
    pub input: String,
    pub part: String,
    pub registers: usize,
    pub bits: usize,
    pub cycles: u64,
    pub is_exhaustive: bool,
    #[serde(flatten)]
    pub counts: UpsetCounts,
}

impl Row {
    /// Returns the name under which outcomes are judged together: a variant, or a script that has
    /// to show a bad outcome.
    pub fn subject(&self, campaign: &UpsetCampaign) -> String {
        let is_script = campaign.must_find_inputs.contains(&self.input);
        if is_script { format!("{} {}", self.variant, self.input) } else { self.variant.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_bad_where_the_undisturbed_run_has_another() {
        for (line, end, expected) in [
            ("refused masked 3", "refused", Outcome::Same),
            ("accepted 3", "accepted", Outcome::Same),
            ("accepted 3", "refused", Outcome::Accepted),
            ("done 3", "refused", Outcome::Accepted),
            ("refused 3", "accepted", Outcome::Refused),
            ("forbidden 3", "done", Outcome::Accepted),
            ("forbidden brief 3", "done", Outcome::Accepted),
            ("done brief 3", "done", Outcome::Brief),
            ("wrong 3", "done", Outcome::Wrong),
            ("hang 3", "done", Outcome::Hang),
            ("alert 3", "done", Outcome::Alert),
        ] {
            assert_eq!(Outcome::read(line, end).unwrap(), expected, "{line}, {end}");
        }
        assert!(Outcome::read("none", "done").is_err());
    }

    #[test]
    fn counts_add_up() {
        let mut counts = UpsetCounts::default();
        let mut twice = UpsetCounts::default();
        for outcome in [Outcome::Same, Outcome::Hang, Outcome::Wrong, Outcome::Accepted] {
            counts.add(outcome);
        }
        twice.merge(&counts);
        twice.merge(&counts);
        assert_eq!(twice.fields(), counts.fields().map(|count| 2 * count));
        assert_eq!((twice.runs, twice.bad()), (8, 4));
    }
}
