//! WalnutDSA: E-multiplication of the generators that the paper estimates, in retired instructions.
//!
//! The paper has cycles by sections of its program, of which none ran: an estimate. Ours are instructions, so that only the
//! numbers of its iterations can stand beside ours.

use anyhow::{Context, Result, ensure};

use hartlock_device::kernels::walnut::{HARTS, WalnutBench, WalnutCount, read};
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, Row};

use super::BOUND_OF_WALNUT;

/// The hart on which a tier is measured: the first one that has it.
const MEASURED: [(&str, &str); 5] = [
    ("portable", "rv64"),
    ("rv64", "rv64"),
    ("v", "zvbb-128"),
    ("zvbc", "zvbc-128"),
    ("zbc", "zbc"),
];
const UNIT: &str = "instructions/generator";
/// Generators of a signature in the paper's estimate.
pub const BRAID: usize = 1000;
/// Generators of the lower level, which the paper's tables are for.
const GENERATORS: u64 = 1704;
/// E-multiplications of a verification.
const CALLS: f64 = 2.0;

/// Why a number of the paper with this metric stands alone.
pub fn why_alone(metric: &str) -> &'static str {
    if metric == "iterations" {
        "our program has no such section"
    } else {
        "the paper estimates cycles, ours are retired instructions: see `WalnutDSA, instructions`"
    }
}

/// Counts all tiers.
pub fn counted() -> Result<Vec<WalnutCount>> {
    let bench = WalnutBench::prepare()?;
    let mut counts = Vec::new();
    for (tier, name) in MEASURED {
        let (_, tiers) = HARTS.iter().find(|(hart, _)| *hart == name).context("a hart of ours")?;
        let (counted, faults) = read(name, tiers, &bench.console(name)?)?;
        ensure!(faults.is_empty(), "{name}: {}", faults.join("\n"));
        counts.extend(counted.into_iter().filter(|count| count.tier == tier));
    }
    Ok(counts)
}

/// Returns the rows of the paper that can be compared, and ours.
pub fn rows(counts: &[WalnutCount], paper: &Paper) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let sections = [("exit", CALLS), ("walnut_emul", CALLS), ("loop", GENERATORS as f64)];
    for kind in ["without", "with"] {
        for (section, times) in sections {
            let row = Row::info("WalnutDSA, sections", "iterations", "iterations", times);
            rows.push(row.of(&format!("{kind}, {section}")).published(paper)?);
        }
    }
    for count in counts {
        let WalnutCount { level, tier, what, .. } = count;
        let metric = match what.as_str() {
            "products" => "E-multiplication",
            _ => "verification without the hash",
        };
        let row = Row::info("WalnutDSA, instructions", metric, UNIT, count.per_generator());
        let row = row.of(&format!("{level}, {tier}"));
        let is_bounded = (level.as_str(), what.as_str()) == ("walnut-128", "products")
            && matches!(tier.as_str(), "v" | "zvbc" | "zbc");
        rows.push(if is_bounded { row.judged(Better::Lower, BOUND_OF_WALNUT) } else { row });
    }
    let at_lower = counts.iter().filter(|count| count.level == "walnut-128");
    ensure!(at_lower.clone().all(|count| count.generators == GENERATORS), "other generators");
    Ok(rows)
}

/// Formats all counts as CSV.
pub fn csv(counts: &[WalnutCount]) -> String {
    let mut text = "level,tier,what,generators,instructions\n".to_owned();
    for WalnutCount { level, tier, what, generators, instructions } in counts {
        text += &format!("{level},{tier},{what},{generators},{instructions}\n");
    }
    text
}
