//! Section IV: recomputes the paper's comparisons from its own table, and repeats them with this project's engine.

use anyhow::{Context, Result};

use super::area::Netlists;
use super::cycles::{EngineConfig, ROUNDS, VerificationSamples};
use hartlock_results::paper::Paper;
use hartlock_results::run::{How, Row};

const ECDSA: &str = "Section IV, ECDSA";
const BESIDE: &str = "Section IV, XMSS beside ECDSA";
const CO_DESIGNS: &str = "Section IV, co-designs";
/// Table of the numbers that follow from the paper's own table.
pub const RECOMPUTED: &str = "Section IV, recomputed";
/// Numbers of hash cores in the paper's configurations.
const INSTANCES: [u32; 4] = [8, 4, 2, 1];

/// Returns the paper's number at a place.
fn of(paper: &Paper, table: &str, metric: &str, config: &str) -> Result<f64> {
    let number = paper.number(table, metric, config);
    Ok(number.with_context(|| format!("no {table}, {metric}, {config}"))?.value)
}

/// Recomputes the paper's comparisons from its own numbers.
pub fn recomputed(paper: &Paper) -> Result<Vec<Row>> {
    let clock = paper.constant("clock_mhz")?;
    let milliseconds = |cycles: f64| cycles / clock / 1000.0;
    let ecdsa = |metric: &str| of(paper, ECDSA, metric, "ECDSA in hardware");
    let (luts, cycles) = (ecdsa("LUTs")?, ecdsa("time")?);
    let row = |metric: &str, unit: &str, config: &str, ours: f64, published: Option<f64>| {
        let row = Row::info(RECOMPUTED, metric, unit, ours).of(config).how(How::Computed);
        match published {
            Some(published) => row.with_published(published),
            None => row,
        }
    };
    let mut rows = vec![row(
        "time at 100 MHz",
        "ms",
        "ECDSA in hardware",
        milliseconds(cycles),
        Some(ecdsa("time at 100 MHz")?),
    )];
    for count in INSTANCES {
        let point = EngineConfig::new(count, ROUNDS);
        let (config, whole) = (point.instances(), format!("whole, {}", point.instances()));
        let (time, area) =
            (of(paper, "Table I", "time", &whole)?, of(paper, "Table I", "LUTs", &whole)?);
        let printed = |metric: &str| paper.number(BESIDE, metric, &config).map(|it| it.value);
        let times = "times ECDSA";
        rows.push(row("time", times, &config, time / cycles, printed("time")));
        let below = "area below that of ECDSA";
        let found = row(below, "times", &config, luts / area, printed(below));
        // For this configuration the paper says only that the areas match.
        rows.push(if count == 8 {
            found.noted("printed: matches in terms of area")
        } else {
            found
        });
        let at = "time at 100 MHz";
        rows.push(row(at, "ms", &config, milliseconds(time), printed(at)));
    }
    for (config, metric, unit) in [
        ("Murax with accelerators (Cyclone V ALMs)", "time", "cycles"),
        ("micro-controller with WOTS+ module (Stratix IV cells)", "time at 100 MHz", "ms"),
    ] {
        let printed = paper.number(CO_DESIGNS, metric, config).map(|it| it.value);
        let value = match metric {
            "time" => of(paper, CO_DESIGNS, "time at 100 MHz", config)? * clock * 1000.0,
            _ => milliseconds(of(paper, CO_DESIGNS, "time", config)?),
        };
        rows.push(row(metric, unit, config, value, printed));
    }
    let met = paper.constant("clock_met_mhz")?;
    for count in INSTANCES {
        let whole = format!("whole, {}", EngineConfig::new(count, ROUNDS).instances());
        let time = of(paper, "Table I", "time", &whole)? / met / 1000.0;
        rows.push(
            row("time at 200 MHz", "ms", &whole, time, None).noted("a clock that the design meets"),
        );
    }
    Ok(rows)
}

/// Returns the comparisons with this project's engine in the place of the paper's.
pub fn rows(paper: &Paper, samples: &VerificationSamples, netlists: &Netlists) -> Result<Vec<Row>> {
    let clock = paper.constant("clock_mhz")?;
    let mut rows = Vec::new();
    let (luts, cycles) = (
        of(paper, ECDSA, "LUTs", "ECDSA in hardware")?,
        of(paper, ECDSA, "time", "ECDSA in hardware")?,
    );
    // The paper has no number for some of these rows.
    let beside = |row: Row| match paper.number(&row.table, &row.metric, &row.config) {
        Some(_) => row.published(paper),
        None => Ok(row),
    };
    for count in INSTANCES {
        let point = EngineConfig::new(count, ROUNDS);
        let config = point.instances();
        let row = |metric: &str, unit: &str, ours: f64| {
            let row = Row::info(BESIDE, metric, unit, ours).of(&config).how(How::Computed);
            row.noted(format!("ours, {ROUNDS} rounds a cycle, in place of the paper's"))
        };
        if let Some(mean) = samples.mean(point) {
            rows.push(beside(row("time", "times ECDSA", mean.cycles / cycles))?);
            rows.push(beside(row("time at 100 MHz", "ms", mean.cycles / clock / 1000.0))?);
        }
        if let Some(netlist) = netlists.whole(point) {
            let times = luts / f64::from(netlist.count.luts);
            rows.push(beside(row("area below that of ECDSA", "times", times))?);
        }
    }
    let smallest = EngineConfig::new(1, 1);
    let reason =
        "other chips: ALM and logic cells are no LUT of series 7, and the parts are not the same";
    for config in [
        "Murax with accelerators (Cyclone V ALMs)",
        "micro-controller with WOTS+ module (Stratix IV cells)",
    ] {
        let row = |metric: &str, unit: &str, ours: f64, how: How| {
            let row = Row::info(CO_DESIGNS, metric, unit, ours).of(config).how(how);
            beside(row.noted("the whole engine, 1 hash core, 1 round a cycle"))
        };
        if let Some(mean) = samples.mean(smallest) {
            rows.push(row("time at 100 MHz", "ms", mean.cycles / clock / 1000.0, How::Computed)?);
            rows.push(row("time", "cycles", mean.cycles, How::Simulated)?);
        }
        if let Some(netlist) = netlists.whole(smallest) {
            let luts = row("area", "as printed", f64::from(netlist.count.luts), How::Counted)?;
            rows.push(luts.incomparable(reason));
            let flip_flops = f64::from(netlist.count.flip_flops);
            let flip_flops = row("registers", "flip-flops", flip_flops, How::Counted)?;
            rows.push(flip_flops.incomparable(reason));
        }
    }
    rows.extend(table2(paper, samples, netlists)?);
    Ok(rows)
}

/// Returns the XMSS row of the paper's table II with the same four configurations of this project's engine.
fn table2(paper: &Paper, samples: &VerificationSamples, netlists: &Netlists) -> Result<Vec<Row>> {
    let points = INSTANCES.map(|count| EngineConfig::new(count, ROUNDS));
    let all = |numbers: Vec<Option<f64>>| numbers.into_iter().collect::<Option<Vec<f64>>>();
    let area = |number: fn(&super::area::Netlist) -> u32| {
        all(points.iter().map(|it| netlists.whole(*it).map(|it| f64::from(number(it)))).collect())
    };
    let columns = [
        ("LUTs", "LUT", area(|it| it.count.luts), How::Counted),
        ("FFs", "flip-flops", area(|it| it.count.flip_flops), How::Counted),
        (
            "time",
            "cycles",
            all(points.iter().map(|it| samples.mean(*it).map(|it| it.cycles)).collect()),
            How::Simulated,
        ),
    ];
    let mut rows = Vec::new();
    for (metric, unit, numbers, how) in columns {
        let Some(numbers) = numbers else { continue };
        let ends = [
            ("from", numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            ("to", numbers.iter().copied().fold(0.0, f64::max)),
        ];
        for (end, number) in ends {
            let row =
                Row::info("Table II", metric, unit, number).of(&format!("{end}, XMSS (this work)"));
            let row =
                row.how(how).noted(format!("ours, 1 to 8 hash cores, {ROUNDS} rounds a cycle"));
            rows.push(row.published(paper)?);
        }
    }
    Ok(rows)
}
