//! Runs mutants. Each has to make its assertion fail before any other.

use anyhow::{Context, Result};

use super::bench;
use super::engine::{Bench, Ip, Tools};
use super::mutant::Mutant;
use crate::assertion::first_failure;

/// A bench with the numbers of its mutants, which are counted from one over the whole table.
pub struct MutantCampaign<'a> {
    pub bench: &'a Bench,
    numbers: Vec<usize>,
}

impl MutantCampaign<'_> {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// Returns all mutants, or the daily ones, grouped by the bench that runs them.
pub fn campaigns(ip: &Ip, is_daily: bool) -> Result<Vec<MutantCampaign<'_>>> {
    let mut campaigns: Vec<MutantCampaign<'_>> = Vec::new();
    for (index, mutant) in ip.mutants.iter().enumerate() {
        if is_daily && !mutant.is_daily {
            continue;
        }
        let bench = bench_of(ip, mutant)?;
        match campaigns.iter_mut().find(|campaign| std::ptr::eq(campaign.bench, bench)) {
            Some(campaign) => campaign.numbers.push(index + 1),
            None => campaigns.push(MutantCampaign { bench, numbers: vec![index + 1] }),
        }
    }
    Ok(campaigns)
}

fn bench_of<'a>(ip: &'a Ip, mutant: &Mutant) -> Result<&'a Bench> {
    let stem = mutant.file.trim_end_matches(".sv");
    let is_right = |bench: &&Bench| match &mutant.bench {
        Some(name) => bench.name().starts_with(name.as_str()),
        None => bench.top == stem,
    };
    let mut benches = ip.plan.bench.iter().filter(|b| !b.of_netlist && b.must_fail.is_empty());
    let found = benches.find(is_right);
    found.with_context(|| format!("no bench runs the mutant for {}", mutant.assertion))
}

/// Runs the mutants of a campaign, and returns a fault for each whose assertion does not fail
/// first.
pub fn run(tools: &Tools, ip: &Ip, campaign: &MutantCampaign<'_>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for &number in &campaign.numbers {
        let mutant = &ip.mutants[number - 1];
        let log = bench::run_mutant(tools, ip, campaign.bench, number, &mutant.tests)?;
        let first = first_failure(&log);
        if first.as_deref() != Some(mutant.assertion.as_str()) {
            let seen = first.unwrap_or_else(|| "no assertion".to_owned());
            faults.push(format!(
                "{}, mutant {number} of {}: {} has to fail first, and {seen} did",
                campaign.bench.name(),
                mutant.file,
                mutant.assertion
            ));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ip::all_names;
    use crate::ip::schemata::{Mutants, write};

    #[test]
    fn every_assertion_has_a_mutant() {
        let mut missing = Vec::new();
        for name in all_names().unwrap() {
            let ip = Ip::load(&name).unwrap();
            for mutant in &ip.mutants {
                bench_of(&ip, mutant).unwrap();
            }
            write(&ip, Mutants::All, tempfile::tempdir().unwrap().path()).unwrap();
            for source in ip.sources.iter().filter(|path| path.starts_with(&ip.dir)) {
                let module = source.file_stem().unwrap().to_string_lossy();
                let text = fs::read_to_string(source).unwrap();
                for part in text.split("`ASSERT(").skip(1) {
                    let wanted = format!("{module}.{}", part.split(',').next().unwrap());
                    if !ip.mutants.iter().any(|mutant| mutant.assertion == wanted) {
                        missing.push(wanted);
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
