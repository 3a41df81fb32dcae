//! Checks the paper against itself: the arithmetic of its errata, and two readings of its number of hash calls.

use anyhow::{Context, Result};

use super::cycles::{CHAINS, EngineConfig, HEIGHT, LTREE_NODES, ROUNDS};
use hartlock_results::paper::Paper;
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Errata, as arithmetic";
/// Table of the hash calls that the paper's cycles allow.
pub const READINGS: &str = "Hash calls, both readings";

/// Returns the mean number of steps of all chains over uniform digests: 15 minus the digit for each of the 64 digits,
/// and the same for the three digits of the checksum (RFC 8391 §3.1.5), whose distribution is computed.
pub fn mean_steps() -> f64 {
    // The distribution of the sum of 64 digits, which are uniform from 0 to 15.
    let mut sums = vec![1.0];
    for _ in 0..64 {
        let mut next = vec![0.0; sums.len() + 15];
        for (sum, likely) in sums.iter().enumerate() {
            for digit in 0..16 {
                next[sum + digit] += likely / 16.0;
            }
        }
        sums = next;
    }
    // The checksum is the number of steps of the digits before it, and has three digits itself.
    let of = |checksum: usize| {
        let digits = [checksum >> 8 & 15, checksum >> 4 & 15, checksum & 15];
        checksum + digits.iter().map(|digit| 15 - digit).sum::<usize>()
    };
    sums.iter().enumerate().map(|(checksum, likely)| likely * of(checksum) as f64).sum()
}

/// Returns the rows of all errata.
pub fn rows(paper: &Paper) -> Result<Vec<Row>> {
    let of = |metric: &str, config: &str| {
        let number = paper.number("Table I", metric, config);
        Ok::<_, anyhow::Error>(number.with_context(|| format!("no {metric}, {config}"))?.value)
    };
    let (ltree, path) =
        (of("time", "LTREE (without sha256)")?, of("time", "MERKLEROOT (without sha256)")?);
    let mut rows = Vec::new();
    for count in [1, 2, 4, 8] {
        let instances = EngineConfig::new(count, ROUNDS).instances();
        let (chains, whole) = (format!("chains, {instances}"), format!("whole, {instances}"));
        let sum = of("time", &chains)? + ltree + path;
        let printed = of("time", &whole)?;
        let row = Row::info(TABLE, "chains, L-tree and path", "cycles", sum).of(&instances);
        rows.push(
            row.with_published(printed)
                .noted(format!("{:+} to what is printed for the whole", printed - sum)),
        );
        let rest = of("LUTs", &whole)? - of("LUTs", &chains)?;
        let row = Row::info(TABLE, "whole without chains", "LUT", rest).of(&instances);
        rows.push(row.noted("what all four have once"));
    }
    for (end, count) in [("from", 8), ("to", 1)] {
        let whole =
            of("time", &format!("whole, {}", EngineConfig::new(count, ROUNDS).instances()))?;
        let config = format!("{end}, XMSS (this work)");
        let printed = paper.number("Table II", "time", &config).context("table II")?.value;
        let row = Row::info(TABLE, "Table II by Table I", "times", printed / whole).of(&config);
        rows.push(row.noted(format!("{printed} printed, {whole} in table I")));
    }
    let (clock, one) = (paper.constant("clock_mhz")?, of("time", "whole, 1 instance")?);
    let printed = paper.number("Section IV, XMSS beside ECDSA", "time at 100 MHz", "1 instance");
    let row = Row::info(TABLE, "time at 100 MHz", "ms", one / clock / 1000.0).of("1 instance");
    rows.push(row.with_published(printed.context("no time")?.value).noted("161,280 cycles"));
    let matches = of("LUTs", "whole, 8 instances")?;
    let ecdsa =
        paper.number("Section IV, ECDSA", "LUTs", "ECDSA in hardware").context("no area")?.value;
    let row = Row::info(TABLE, "area by that of ECDSA", "times", matches / ecdsa).of("8 instances");
    rows.push(row.noted("printed: matches in terms of area"));
    // In the paper, "x.NB" is an array of N bytes, and "auth_path.10B" omits the 32 bytes of a node.
    for (config, path) in
        [("as section III-A prints it", 10.0), ("with 10 nodes of 32 bytes", 320.0)]
    {
        let bytes = 4.0 + 32.0 + f64::from(CHAINS) * 32.0 + path;
        let row = Row::info(TABLE, "length of a signature", "bytes", bytes).of(config);
        rows.push(row.noted("index, R, 67 values of 32 bytes and the path; RFC 8391 has 2500"));
    }
    rows.extend(readings(of("time", "sha256")?, of("time", "chains, 1 instance")?, ltree, path));
    Ok(How::Computed.made(rows))
}

/// Returns the number of calls for which the paper's cycles are sufficient, and the cycles of its two readings.
fn readings(hash: f64, chains: f64, ltree: f64, path: f64) -> Vec<Row> {
    let steps = mean_steps();
    let parts = [
        ("a step of a chain", steps, chains, [4.0, 6.0]),
        ("a node of the L-tree", f64::from(LTREE_NODES), ltree, [6.0, 9.0]),
        ("a node of the path", f64::from(HEIGHT), path, [6.0, 9.0]),
    ];
    let mut rows = Vec::new();
    for (what, count, cycles, _) in parts {
        let calls = cycles / (count * hash);
        let row = Row::info(READINGS, "calls that fit", "compressions", calls).of(what);
        rows.push(row.noted(format!("{cycles} cycles, {count:.1} times, {hash} cycles a hash")));
    }
    for (at, reading) in [(0, "as the text says"), (1, "before the saving")] {
        for (what, count, cycles, calls) in parts {
            let row = Row::info(
                READINGS,
                format!("cycles, {reading}"),
                "cycles",
                count * calls[at] * hash,
            );
            rows.push(row.of(what).with_published(cycles).noted(format!("{} calls", calls[at])));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_is_held_against_itself() {
        let paper = Paper::load("post-quantum-xmss").unwrap();
        let rows = rows(&paper).unwrap();
        let of = |metric: &str, config: &str| {
            let row = rows.iter().find(|it| it.metric == metric && it.config == config);
            row.and_then(|row| row.ours).unwrap_or_else(|| panic!("no {metric}, {config}"))
        };
        let off = |count| of("chains, L-tree and path", count);
        assert_eq!(
            ["1 instance", "2 instances", "4 instances", "8 instances"].map(off),
            [161_269.0, 102_941.0, 74_225.0, 51_918.0]
        );
        assert_eq!(of("time at 100 MHz", "1 instance"), 1.613);
        assert_eq!(of("length of a signature", "with 10 nodes of 32 bytes"), 2500.0);
        assert_eq!(of("Table II by Table I", "to, XMSS (this work)"), 9.921);
        // The printed cycles are closer to the larger number of calls in all cases.
        assert_eq!(of("calls that fit", "a node of the L-tree"), 9.854);
        for what in ["a step of a chain", "a node of the L-tree", "a node of the path"] {
            let cycles = |reading: &str| of(&format!("cycles, {reading}"), what);
            let printed =
                rows.iter().find(|it| it.config == what && it.published.is_some()).unwrap();
            let off = |reading| (cycles(reading) - printed.published.unwrap()).abs();
            assert!(off("before the saving") < off("as the text says"), "{what}");
        }
    }

    #[test]
    fn a_mean_of_steps_is_that_of_its_definition() {
        // The 64 digits have 480 steps on average; the three digits of the checksum have 0 to 45.
        let steps = mean_steps();
        assert!(steps > 480.0 && steps < 525.0, "{steps}");
    }
}
