//! Tests of the kernels of WalnutDSA, which the bench compares with the portable form on the hart itself.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use hartlock_emulator::bare;
use hartlock_jobs::pack::{Header, JOB_WALNUT};
use hartlock_jobs::walnut::{CASES, COUNTED_BRAID, DIGEST_GENERATORS};
use hartlock_kernels::WalnutTier;
use xtask::{Verdict, firmware};

use super::options;
use crate::bench;

const RV64: &[WalnutTier] = &[WalnutTier::Rv64];
const ZBC: &[WalnutTier] = &[WalnutTier::Rv64, WalnutTier::Zbc];
const V: &[WalnutTier] = &[WalnutTier::Rv64, WalnutTier::V];
const ZVBC: &[WalnutTier] = &[WalnutTier::Rv64, WalnutTier::V, WalnutTier::Zvbc];

/// Names of harts, and the tiers that work on them in addition to the portable one.
pub const HARTS: &[(&str, &[WalnutTier])] = &[
    ("rv64", RV64),
    // Zbkc has the instructions of Zbc that the kernel uses.
    ("zkne-zbkc", ZBC),
    ("zbc", ZBC),
    ("zvbb-128", V),
    ("zvbb-256", V),
    ("zvbc-128", ZVBC),
    ("zvbc-512", ZVBC),
];

/// Maximum instructions per generator of E-multiplication with everything that a call does: hart, level, tier. They are for
/// the generators that the paper estimates. That of 17 was set before the kernels were written.
const BOUNDS: &[(&str, &str, WalnutTier, f64)] = &[
    ("rv64", "walnut-128", WalnutTier::Rv64, 41.0),
    ("zbc", "walnut-128", WalnutTier::Zbc, 17.0),
    ("zvbc-128", "walnut-128", WalnutTier::Zvbc, 17.0),
    ("zvbb-128", "walnut-128", WalnutTier::V, 17.0),
];

/// Number of instructions that a kernel needed.
#[derive(Clone, Debug, PartialEq)]
pub struct WalnutCount {
    pub level: String,
    pub tier: String,
    /// `products`, which is E-multiplication, or `all`, a verification without the hash.
    pub what: String,
    pub generators: u64,
    pub instructions: u64,
}

impl WalnutCount {
    pub fn per_generator(&self) -> f64 {
        self.instructions as f64 / self.generators as f64
    }
}

/// Runs all harts whose name contains `filter`, and prints counts and faults.
pub fn run(filter: Option<&str>, is_verbose: bool) -> Result<Verdict> {
    let mut verdict = Verdict::Yes;
    let is_wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter));
    if !HARTS.iter().any(|(name, _)| is_wanted(name)) {
        return Ok(verdict);
    }
    let bench = WalnutBench::prepare()?;
    for (name, tiers) in HARTS.iter().filter(|(name, _)| is_wanted(name)) {
        let console = bench.console(name)?;
        if is_verbose {
            print!("{console}");
        }
        let (counts, faults) = read(name, tiers, &console)?;
        println!("{name}, WalnutDSA");
        for count in &counts {
            let WalnutCount { level, tier, what, .. } = count;
            let taken = count.per_generator();
            println!("  {level:<12}{tier:<10}{what:<10}{taken:7.3} instructions/generator");
        }
        for fault in &faults {
            println!("  {fault}");
            verdict = Verdict::No;
        }
    }
    Ok(verdict)
}

/// Returns the faults of all harts.
pub fn faults() -> Result<Vec<String>> {
    let bench = WalnutBench::prepare()?;
    let mut all = Vec::new();
    for (name, tiers) in HARTS {
        let (_, faults) = read(name, tiers, &bench.console(name)?)?;
        all.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    Ok(all)
}

/// The bench image and its pack.
pub struct WalnutBench {
    stage: firmware::StageFiles,
    pack: tempfile::NamedTempFile,
}

impl WalnutBench {
    pub fn prepare() -> Result<Self> {
        let pack = tempfile::NamedTempFile::new()?;
        let header = Header { job: JOB_WALNUT, count: 0, body_size: 0 };
        fs::write(pack.path(), header.encode())?;
        Ok(Self { stage: firmware::stage("jobs", &[])?, pack })
    }

    pub fn console(&self, name: &str) -> Result<String> {
        let hart = bare::Hart::find(name).context("there is no such hart")?;
        let options = options(hart);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        bench::emulate(&self.stage.bin, self.pack.path(), &options).context(name.to_owned())
    }
}

/// Returns the counts in the console output, and the faults.
pub fn read(
    hart: &str,
    tiers: &[WalnutTier],
    console: &str,
) -> Result<(Vec<WalnutCount>, Vec<String>)> {
    let mut counts: Vec<WalnutCount> = Vec::new();
    let mut faults = Vec::new();
    let (mut working, mut checked) = (BTreeSet::new(), BTreeSet::new());
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["walnut", tier, "works"] => {
                working.insert((*tier).to_owned());
            }
            ["checked", tier, cases] if cases.parse() == Ok(CASES) => {
                checked.insert((*tier).to_owned());
            }
            ["count", level, tier, what, generators, instructions] => counts.push(WalnutCount {
                level: (*level).to_owned(),
                tier: (*tier).to_owned(),
                what: (*what).to_owned(),
                generators: generators.parse()?,
                instructions: instructions.parse()?,
            }),
            ["walnut", _, "absent"] | ["bench:", "done"] | [""] => {}
            // Anything else is a fault, such as a difference or a wrong answer.
            _ => faults.push(line.to_owned()),
        }
    }
    let all = [WalnutTier::Portable].into_iter().chain(tiers.iter().copied());
    let expected: BTreeSet<_> = all.map(|tier| tier.name().to_owned()).collect();
    for tier in expected.symmetric_difference(&working) {
        faults.push(match expected.contains(tier) {
            true => format!("{tier} does not work"),
            false => format!("{tier} works, without its extension"),
        });
    }
    faults.extend(working.difference(&checked).map(|tier| format!("{tier} was not checked")));
    let generators = DIGEST_GENERATORS.map(|digest| (digest + COUNTED_BRAID) as u64);
    for count in counts.iter().filter(|count| !generators.contains(&count.generators)) {
        faults.push(format!("{} has {} generators", count.level, count.generators));
    }
    for (_, level, tier, most) in BOUNDS.iter().filter(|bound| bound.0 == hart) {
        let count = counts.iter().find(|it| {
            (it.level.as_str(), it.tier.as_str(), it.what.as_str())
                == (*level, tier.name(), "products")
        });
        match count.map(WalnutCount::per_generator) {
            Some(taken) if taken <= *most => {}
            Some(taken) => faults.push(format!("{level} takes {taken:.3}, more than {most}")),
            None => faults.push(format!("{level} {} was not counted", tier.name())),
        }
    }
    Ok((counts, faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hart_has_a_name_that_the_emulator_knows() {
        let named: BTreeSet<_> = HARTS.iter().map(|(name, _)| *name).collect();
        assert!(named.iter().all(|name| bare::Hart::find(name).is_some()));
        assert!(bare::RESEARCH_HARTS.iter().all(|hart| named.contains(hart.name)));
        assert!(BOUNDS.iter().all(|(hart, ..)| named.contains(hart)));
        // Each tier has a bound.
        let bound: BTreeSet<_> = BOUNDS.iter().map(|(_, _, tier, _)| *tier).collect();
        assert_eq!(bound.len(), WalnutTier::ALL.len() - 1);
    }

    #[test]
    fn a_difference_a_missing_kernel_and_a_slow_one_are_faults() {
        let faults = |console: &str| read("zbc", ZBC, console).unwrap().1;
        let right = ["portable", "rv64", "zbc"]
            .map(|tier| format!("walnut {tier} works\nchecked {tier} {CASES}\n"))
            .concat()
            + "walnut v absent\ncount walnut-128 zbc products 1704 28000\nbench: done\n";
        assert_eq!(faults(&right), [""; 0]);
        assert_eq!(faults(&right.replace("28000", "29000")).len(), 1);
        assert_eq!(faults(&right.replace("1704 28000", "1703 27000")).len(), 1);
        assert_eq!(faults(&right.replace("zbc products", "zbc all")).len(), 1);
        let absent = faults(&right.replace("walnut zbc works\n", ""));
        assert_eq!(absent, ["zbc does not work"]);
        let unchecked = faults(&right.replace("checked zbc", "checked v"));
        assert_eq!(unchecked, ["zbc was not checked"]);
        let more = faults(&right.replace("v absent", "v works"));
        assert!(more.contains(&"v works, without its extension".to_owned()));
        assert_eq!(faults(&right.replace("v absent", "v wrong")).len(), 1);
    }
}
