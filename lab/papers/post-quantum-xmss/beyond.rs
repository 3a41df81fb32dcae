//! Measurements that the paper does not have: other signature families, two passes, and the time from
//! reset until a host runs.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result};

use super::area::Netlists;
use super::cycles::{
    EngineConfig, Family, FamilySummary, OTHERS, POINT_OF_OTHERS, POINTS, VerificationSamples,
};
use super::table1;
use hartlock_hw::machines::svu::svu;
use hartlock_hw::machines::svu_boot;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

const FAMILIES: &str = "Other families";
/// Maximum cycles of a verification, for each of the other families.
const TARGETS: [f64; 2] = [6500.0, 25_000.0];
const PASSES: &str = "Two passes";
/// Maximum number of look-up tables with four hash cores of two rounds per cycle.
const LUTS: f64 = 9000.0;
const WITH_REGISTERS: &str = "the engine with this family alone, registers and stream port in it: Yosys for series 7, not placed";
const RELEASE: &str = "Reset to release";
/// The machine. Its engine has four hash cores of two rounds per cycle.
const SVU: &str = "svu-1";

/// Returns the rows of LMS and SLH-DSA with the same hash cores.
pub fn families(sums: &[FamilySummary], netlists: &Netlists, is_quick: bool) -> Vec<Row> {
    let missing = if is_quick {
        "only a whole run measures it"
    } else {
        "not measured: no bench of it in the engine's plan"
    };
    let of = |(family, target): (Family, f64)| {
        let config = format!("{}, {}", family.title, POINT_OF_OTHERS.name());
        match sums.iter().find(|it| it.family == family.name) {
            Some(sum) => {
                let row = Row::info(FAMILIES, "time", "cycles", sum.mean()).of(&config);
                let FamilySummary { count, least, most, .. } = sum;
                let note = format!("mean of {count} signatures of 32 bytes, {least} to {most}");
                row.how(How::Simulated).noted(note).judged(Better::Lower, target)
            }
            None => Row::absent(FAMILIES, "time", "cycles", missing).of(&config),
        }
    };
    let mut rows: Vec<Row> = OTHERS.into_iter().zip(TARGETS).map(of).collect();
    let EngineConfig { lanes, rounds } = POINT_OF_OTHERS;
    for family in OTHERS {
        let config = format!("{}, {}", family.title, POINT_OF_OTHERS.name());
        if let Some(netlist) = netlists.find(family.whole, lanes, rounds) {
            let row = |metric: &str, unit: &str, ours: u32| {
                let row = Row::info(FAMILIES, metric, unit, f64::from(ours)).of(&config);
                row.how(How::Counted).noted(WITH_REGISTERS)
            };
            rows.push(row("LUTs", "LUT", netlist.count.luts).judged(Better::Lower, LUTS));
            rows.push(row("FFs", "flip-flops", netlist.count.flip_flops));
            let mean = sums.iter().find(|it| it.family == family.name).map(FamilySummary::mean);
            rows.extend(table1::figures(FAMILIES, &config, mean, netlist, None));
        }
        if let Some(netlist) = netlists.find(family.alone, lanes, rounds) {
            let luts = f64::from(netlist.count.luts);
            let row = Row::info(FAMILIES, "LUTs without registers", "LUT", luts).of(&config);
            rows.push(
                row.how(How::Counted)
                    .noted("its core and hash cores: Yosys for series 7, not placed"),
            );
        }
    }
    rows
}

/// Compares a verification that computes the root a second time in another order with one pass over the
/// same signatures.
pub fn passes(samples: &VerificationSamples) -> Vec<Row> {
    let of = |point: &EngineConfig| {
        let (one, two) = samples.passes(*point)?;
        let row = Row::info(PASSES, "two passes", "cycles", two.cycles).of(&point.name());
        let note = format!("mean of {} signatures; peer: the same in one pass", two.count);
        Some(row.how(How::Simulated).peer(one.cycles).noted(note))
    };
    POINTS.iter().filter_map(of).collect()
}

/// A boot of a first stage without a running core, from one medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    pub medium: &'static str,
    /// Cycles from the end of reset to the first instruction of the host.
    pub cycles: u64,
}

/// Boots the largest first stage from each medium.
///
/// # Errors
/// Fails if a boot fails.
pub fn boot() -> Result<Vec<Release>> {
    let svu = svu(SVU).context("the machine with a verification unit")?;
    let start = Instant::now();
    let releases = svu_boot::releases(svu, svu_boot::CAPACITY)?;
    eprintln!("first stages without a core ({:.0} s)", start.elapsed().as_secs_f64());
    let of = |(medium, booted): (_, svu_boot::SvuBootResult)| Release {
        medium,
        cycles: booted.first_instruction,
    };
    Ok(releases.into_iter().map(of).collect())
}

/// Compares the time from reset to a running host with the minimum start time of a node on a CAN bus.
pub fn release(releases: &[Release], paper: &Paper) -> Result<Vec<Row>> {
    let bound = paper.number("Section I", "time from power to CAN messages", "at least");
    let (bound, clock) = (bound.context("no bound")?.value, paper.constant("clock_mhz")?);
    let row = |it: &Release| {
        let row =
            Row::info(RELEASE, "to the first instruction", "ms", it.cycles as f64 / clock / 1000.0);
        let note = format!("{} cycles of {SVU}, no core running before, at {clock} MHz", it.cycles);
        row.of(&format!("64 KiB, {}", it.medium))
            .how(How::Simulated)
            .noted(note)
            .judged(Better::Lower, bound)
    };
    if releases.is_empty() {
        let note = "only a whole run boots first stages";
        return Ok(vec![Row::absent(RELEASE, "to the first instruction", "ms", note).of("64 KiB")]);
    }
    Ok(releases.iter().map(row).collect())
}

/// Formats every boot as CSV.
pub fn csv(releases: &[Release]) -> String {
    let mut text = "medium,cycles\n".to_owned();
    for Release { medium, cycles } in releases {
        let _ = writeln!(text, "\"{medium}\",{cycles}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_results::run::Status;

    #[test]
    fn families_have_their_own_targets_or_no_number() {
        let rows = families(&[], &Netlists::default(), false);
        assert!(rows.len() == OTHERS.len() && rows.iter().all(|row| row.ours.is_none()));
        let sum = |family, cycles| FamilySummary { family, count: 2, cycles, least: 1, most: 2 };
        let rows =
            families(&[sum("slh_dsa", 50_002), sum("lms", 13_000)], &Netlists::default(), false);
        let found: Vec<_> = rows.iter().map(|row| (row.ours, row.status)).collect();
        assert_eq!(found, [(Some(6500.0), Status::Hit), (Some(25_001.0), Status::Miss)]);
    }

    #[test]
    fn a_release_is_judged_by_what_a_node_of_a_bus_has() {
        let paper = Paper::load("post-quantum-xmss").unwrap();
        let of = |cycles| release(&[Release { medium: "m", cycles }], &paper).unwrap().remove(0);
        assert_eq!((of(3_000_000).ours, of(3_000_000).status), (Some(30.0), Status::Hit));
        assert_eq!(of(3_000_100).status, Status::Miss);
        assert!(release(&[], &paper).unwrap()[0].ours.is_none());
        assert_eq!(csv(&[Release { medium: "m", cycles: 7 }]), "medium,cycles\n\"m\",7\n");
    }
}
