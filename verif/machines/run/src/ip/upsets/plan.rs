//! The description of campaigns in `data/ip.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::registers::Register;

/// The default number of cycles that a run with an upset may take longer than the run without. A longer run is a hang.
const PATIENCE: u64 = 2000;
/// The default number of runs of each part and input in the quick form.
const QUICK: usize = 300;

/// A campaign: the registers of an engine that are upset, and the scripts that it runs meanwhile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpsetCampaign {
    pub name: String,
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// Variants without a protection, given by the parameters that differ. Each has to show a bad outcome.
    #[serde(default)]
    pub must_find: Vec<BTreeMap<String, u32>>,
    /// Scripts that use the engine without a protection. Each has to show a bad outcome, too.
    #[serde(default)]
    pub must_find_inputs: Vec<String>,
    /// The Python module of `tb/` that writes the scripts.
    pub stimulus: String,
    /// The names of the scripts.
    pub inputs: Vec<String>,
    #[serde(default = "patience")]
    pub patience: u64,
    pub part: Vec<CampaignPart>,
    /// Registers that are in no part.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// True if its quick form is part of `cargo xtask test`.
    pub is_daily: bool,
}

/// A set of registers and a window of cycles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignPart {
    pub name: String,
    /// Names of registers below the top module; `*` matches any characters.
    pub registers: Vec<String>,
    /// Names of registers that are excluded, in the same form.
    #[serde(default)]
    pub except: Vec<String>,
    /// The first cycle, and the one after the last: a mark of the script, `start` or `end`, and a distance: `end-200`.
    pub from: String,
    pub to: String,
    /// Number of runs with each input; if absent, every bit is upset in every cycle.
    pub samples: Option<usize>,
    #[serde(default = "quick")]
    pub quick: usize,
    #[serde(default)]
    pub effect: Effect,
    /// Number of cycles for which a bit is stuck.
    #[serde(default = "one")]
    pub cycles: u64,
    /// A prefix; only inputs whose names begin with it are used.
    #[serde(default)]
    pub inputs: Option<String>,
}

/// The effect of an upset on a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    #[default]
    Flip,
    /// The bit and its neighbour flip.
    FlipPair,
    StuckAt0,
    StuckAt1,
}

impl Effect {
    /// Returns the words of a line for the bench: number of bits, and effect.
    pub fn words(self) -> &'static str {
        match self {
            Effect::Flip => "1 flip",
            Effect::FlipPair => "2 flip",
            Effect::StuckAt0 => "1 stuck0",
            Effect::StuckAt1 => "1 stuck1",
        }
    }

    /// Returns the number of neighbouring bits that the upset changes.
    pub fn bits(self) -> usize {
        if self == Effect::FlipPair { 2 } else { 1 }
    }
}

/// Registers that no part upsets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    pub registers: Vec<String>,
    pub reason: String,
}

/// Returns the parameters of a variant if all of them are 0, so that it differs only in protections.
pub fn disabled_protections(variant: &BTreeMap<String, u32>) -> Option<Vec<&String>> {
    variant.values().all(|value| *value == 0).then(|| variant.keys().collect())
}

fn patience() -> u64 {
    PATIENCE
}

fn quick() -> usize {
    QUICK
}

fn one() -> u64 {
    1
}

impl UpsetCampaign {
    /// Returns the parameters of the engine and of its variants. Only the first is hardened.
    pub fn variants(&self) -> Vec<BTreeMap<String, u32>> {
        let changed = self.must_find.iter().map(|changes| {
            let mut parameters = self.parameters.clone();
            parameters.extend(changes.clone());
            parameters
        });
        std::iter::once(self.parameters.clone()).chain(changed).collect()
    }

    /// Returns the parameters that are 0 in variants, if an option of a run can switch these protections off.
    pub fn protections(&self) -> impl Iterator<Item = &String> {
        self.must_find.iter().filter_map(disabled_protections).flatten()
    }

    /// Checks that every register of a design is either in a part or left out, and that every pattern matches a
    /// register.
    pub fn check(&self, registers: &[Register]) -> Result<()> {
        let has_blind = !(self.must_find.is_empty() && self.must_find_inputs.is_empty());
        ensure!(has_blind, "{}: no variant has to show a bad outcome", self.name);
        let is_upset = |name: &str| self.part.iter().any(|part| part.has(name));
        let is_left =
            |name: &str| self.left_out.iter().any(|left| matches_any(&left.registers, name));
        for register in registers {
            let name = register.name.as_str();
            match (is_upset(name), is_left(name)) {
                (false, false) => bail!("{}: {name} is neither upset nor left out", self.name),
                (true, true) => bail!("{}: {name} is upset and left out", self.name),
                _ => {}
            }
        }
        let parts = self.part.iter().flat_map(|part| part.registers.iter().chain(&part.except));
        for pattern in parts.chain(self.left_out.iter().flat_map(|left| &left.registers)) {
            let is_there = registers.iter().any(|register| matches(pattern, &register.name));
            ensure!(is_there, "{}: no register is named {pattern}", self.name);
        }
        Ok(())
    }

    /// Returns the number of registers and of bits for each entry of `left_out`.
    pub fn omitted(&self, registers: &[Register]) -> Vec<(&LeftOut, usize, usize)> {
        let count = |left: &LeftOut| {
            let found = registers.iter().filter(|it| matches_any(&left.registers, &it.name));
            found.fold((0, 0), |(count, bits), register| (count + 1, bits + register.bits()))
        };
        let entries = self.left_out.iter();
        entries
            .map(|left| (left, count(left)))
            .map(|(left, (count, bits))| (left, count, bits))
            .collect()
    }
}

impl CampaignPart {
    pub fn has(&self, name: &str) -> bool {
        matches_any(&self.registers, name) && !matches_any(&self.except, name)
    }

    pub fn takes(&self, input: &str) -> bool {
        self.inputs.as_ref().is_none_or(|start| input.starts_with(start.as_str()))
    }
}

/// Returns the cycle of a mark with a distance.
pub fn cycle_of(text: &str, marks: &BTreeMap<String, u64>) -> Result<u64> {
    let (mark, distance) = match text.find(['+', '-']) {
        Some(at) => {
            let (mark, distance) = text.split_at(at);
            let number: u64 =
                distance[1..].parse().with_context(|| format!("`{text}` has no distance"))?;
            (mark, (distance.starts_with('-'), number))
        }
        None => (text, (false, 0)),
    };
    let cycle = *marks.get(mark).with_context(|| format!("the script has no mark {mark}"))?;
    Ok(match distance {
        (true, number) => cycle.saturating_sub(number),
        (false, number) => cycle + number,
    })
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(after) = name.strip_prefix(start) else {
        return false;
    };
    let mut tails = after.char_indices().map(|(at, _)| &after[at..]).chain([""]);
    tails.any(|tail| matches(rest, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, name, expected) in [
            ("a_q", "a_q", true),
            ("a_q", "a_q2", false),
            ("*", "u_core.state_q", true),
            ("u_*.state_q", "u_core.state_q", true),
            ("u_*.state_q", "u_core.state_q.x", false),
            ("*state_q*", "u_core.state_q", true),
            ("*.w_q", "w_q", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn cycles_are_relative_to_marks() {
        let marks = [("end".to_owned(), 100), ("compare".to_owned(), 40)].into();
        assert_eq!(cycle_of("end-30", &marks).unwrap(), 70);
        assert_eq!(cycle_of("compare+5", &marks).unwrap(), 45);
        assert_eq!(cycle_of("end-300", &marks).unwrap(), 0);
        assert!(cycle_of("begin", &marks).is_err());
        assert!(cycle_of("end-x", &marks).is_err());
    }

    #[test]
    fn a_variant_differs_in_what_it_names() {
        let text = "name = \"n\"\ntop = \"t\"\nparameters = { Hardened = 1, K = 4 }\n\
                    must_find = [{ Hardened = 0 }]\nstimulus = \"s\"\ninputs = []\nis_daily = true\n\
                    [[part]]\nname = \"p\"\nregisters = [\"*\"]\nfrom = \"start\"\nto = \"end\"\n";
        let campaign: UpsetCampaign = toml::from_str(text).unwrap();
        let second = [("Hardened".to_owned(), 0), ("K".to_owned(), 4)].into();
        assert_eq!(campaign.variants(), [campaign.parameters.clone(), second]);
        assert_eq!(campaign.part[0].effect, Effect::Flip);
    }
}
