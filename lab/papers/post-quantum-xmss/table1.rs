//! Table I: compares each module and the whole engine with the paper's, and adds numbers that the paper's
//! table does not have.

use anyhow::Result;

use super::area::{HASH, LANE, MESSAGE, Netlist, Netlists, SCHEDULE};
use super::cycles::{
    self, EngineConfig, HEIGHT, LTREE_NODES, Mean, POINTS, ROUNDS, VerificationSamples,
};
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

/// Table of the paper.
pub const TABLE: &str = "Table I";
/// Two modules of the paper that correspond to a single module of this project, the schedule.
const TREES: [&str; 2] = ["LTREE (without sha256)", "MERKLEROOT (without sha256)"];
/// Table of the numbers that the paper does not have.
pub const ENGINE: &str = "Engine";
/// Hash calls of the two keyed functions F and H, if the state after the first block of a PRF is stored (RFC
/// 8391 §5.1).
pub const CALLS_OF_F: f64 = 4.0;
pub const CALLS_OF_H: f64 = 6.0;
/// Maximum mean cycles and look-up tables, by configuration.
const TARGETS: [(EngineConfig, f64, f64); 3] = [
    (EngineConfig::new(1, 1), 175_000.0, 3200.0),
    (EngineConfig::new(4, 2), 23_000.0, 9000.0),
    (EngineConfig::new(8, 2), 12_000.0, 16_000.0),
];
const FLOW: &str = "Yosys for series 7, not placed";

/// Returns the table of rows with this number of rounds per cycle. The paper's table has two, which is
/// closest to its 41 cycles per hash.
fn table(rounds: u32) -> String {
    match rounds {
        ROUNDS => TABLE.to_owned(),
        rounds => format!("{TABLE}, {rounds} round a cycle"),
    }
}

/// Makes a row of one of these tables, with the paper's number.
fn row(paper: &Paper, rounds: u32, metric: &str, config: &str, ours: f64) -> Result<Row> {
    let unit = match metric {
        "LUTs" => "LUT",
        "FFs" => "flip-flops",
        _ => "cycles",
    };
    let row = Row::info(TABLE, metric, unit, ours).of(config).published(paper)?;
    Ok(Row { table: table(rounds), ..row })
}

/// Returns the rows of all tables.
pub fn rows(paper: &Paper, samples: &VerificationSamples, netlists: &Netlists) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for rounds in [ROUNDS, 1] {
        rows.extend(modules(paper, rounds, samples, netlists)?);
        for point in POINTS.iter().filter(|it| it.rounds == rounds) {
            rows.extend(whole(paper, *point, samples, netlists)?);
        }
    }
    rows.extend(together(paper, netlists)?);
    for point in POINTS {
        rows.extend(engine(paper, point, samples, netlists)?);
    }
    let note = "not measured: four rounds a cycle are tested alone";
    rows.push(
        Row::absent(ENGINE, "verification", "cycles", note).of(&EngineConfig::new(1, 4).name()),
    );
    Ok(rows)
}

/// Returns rows with the look-up tables and flip-flops of modules that correspond to one module of the paper.
fn area(
    paper: &Paper,
    rounds: u32,
    config: &str,
    found: Option<(u32, u32)>,
    times: u32,
    note: &str,
) -> Result<Vec<Row>> {
    let Some((luts, flip_flops)) = found else { return Ok(Vec::new()) };
    let how = if note.contains('+') || times > 1 { How::Computed } else { How::Counted };
    let of = |(metric, number): (&str, u32)| {
        let row = row(paper, rounds, metric, config, f64::from(number * times))?;
        Ok(row.how(how).noted(format!("{note}: {FLOW}")))
    };
    [("LUTs", luts), ("FFs", flip_flops)].into_iter().map(of).collect()
}

fn modules(
    paper: &Paper,
    rounds: u32,
    samples: &VerificationSamples,
    netlists: &Netlists,
) -> Result<Vec<Row>> {
    let block = f64::from(EngineConfig::new(1, rounds).block());
    let mut rows = area(paper, rounds, "sha256", netlists.sum(&[(HASH, rounds)]), 1, "xmss_hash")?;
    let message = netlists.sum(&[(MESSAGE, 0), (HASH, rounds)]);
    rows.extend(area(paper, rounds, "MESSAGEDIGEST", message, 1, "xmss_message + xmss_hash")?);
    let (lane, named) = (netlists.sum(&[(LANE, rounds), (HASH, rounds)]), "xmss_lane + xmss_hash");
    rows.extend(area(paper, rounds, "BUILD_WOTSCHAIN", lane, 1, named)?);
    let computed = |config: &str, cycles: f64, note: String| {
        Ok::<_, anyhow::Error>(
            row(paper, rounds, "time", config, cycles)?.how(How::Computed).noted(note),
        )
    };
    let note = |calls: f64, what: &str| {
        format!(
            "{calls:.0} hash calls of {block} cycles: {what}; the engine has it in one queue with all else"
        )
    };
    let simulated = row(paper, rounds, "time", "sha256", block)?.how(How::Simulated);
    rows.push(simulated.noted("a block, as the benches of the SHA-2 engine count it"));
    for (config, nodes) in TREES.into_iter().zip([LTREE_NODES, HEIGHT]) {
        let calls = f64::from(nodes) * CALLS_OF_H;
        rows.push(computed(config, calls * block, note(calls, &format!("{nodes} nodes of 6")))?);
    }
    for point in POINTS.iter().filter(|it| it.rounds == rounds) {
        let config = format!("chains, {}", point.instances());
        let note_of_area = format!("{} × ({named})", point.lanes);
        rows.extend(area(paper, rounds, &config, lane, point.lanes, &note_of_area)?);
        if let Some(mean) = samples.mean(*point) {
            let calls = mean.steps * CALLS_OF_F;
            let what = format!("{:.1} steps of 4, by {} hash cores", mean.steps, point.lanes);
            rows.push(computed(
                &config,
                calls * block / f64::from(point.lanes),
                note(calls, &what),
            )?);
        }
    }
    Ok(rows)
}

fn target(point: EngineConfig) -> Option<(f64, f64)> {
    TARGETS.iter().find(|(of, ..)| *of == point).map(|(_, cycles, luts)| (*cycles, *luts))
}

fn judged(row: Row, target: Option<f64>) -> Row {
    match target {
        Some(target) => row.judged(Better::Lower, target),
        None => row,
    }
}

fn whole(
    paper: &Paper,
    point: EngineConfig,
    samples: &VerificationSamples,
    netlists: &Netlists,
) -> Result<Vec<Row>> {
    let config = format!("whole, {}", point.instances());
    let target = target(point);
    let mut rows = Vec::new();
    if let Some(netlist) = netlists.whole(point) {
        let note = format!("registers and stream port in it, the DMA engine apart: {FLOW}");
        let luts = f64::from(netlist.count.luts);
        let luts = row(paper, point.rounds, "LUTs", &config, luts)?.how(How::Counted).noted(&note);
        rows.push(judged(luts, target.map(|it| it.1)));
        let flip_flops = f64::from(netlist.count.flip_flops);
        let flip_flops = row(paper, point.rounds, "FFs", &config, flip_flops)?;
        rows.push(flip_flops.how(How::Counted).noted(note));
    }
    if let Some(mean) = samples.mean(point) {
        let Mean { count, cycles, least, most, .. } = mean;
        let note = format!(
            "mean of {count} signatures of 32 bytes, {least} to {most}, from the start to the verdict"
        );
        let time =
            row(paper, point.rounds, "time", &config, cycles)?.how(How::Simulated).noted(note);
        rows.push(judged(time, target.map(|it| it.0)));
    }
    Ok(rows)
}

/// Compares L-tree and authentication path, which are two modules in the paper, with the schedule, which also
/// controls the chains here.
fn together(paper: &Paper, netlists: &Netlists) -> Result<Vec<Row>> {
    let Some((luts, flip_flops)) = netlists.sum(&[(SCHEDULE, 0)]) else { return Ok(Vec::new()) };
    let of = |(metric, unit, ours): (&str, &str, u32)| {
        let theirs = TREES.map(|config| paper.number(TABLE, metric, config).map(|it| it.value));
        let theirs: f64 = theirs.into_iter().flatten().sum();
        let row = Row::info("Table I, L-tree and path together", metric, unit, f64::from(ours));
        let row =
            row.of("LTREE + MERKLEROOT, without sha256").how(How::Counted).with_published(theirs);
        row.noted(format!(
            "xmss_schedule, which gives out chains and message blocks as well: {FLOW}"
        ))
    };
    Ok([("LUTs", "LUT", luts), ("FFs", "flip-flops", flip_flops)].map(of).into())
}

/// Returns numbers that the paper's table does not have, and products of numbers that it has.
fn engine(
    paper: &Paper,
    point: EngineConfig,
    samples: &VerificationSamples,
    netlists: &Netlists,
) -> Result<Vec<Row>> {
    let config = point.name();
    let mean = samples.mean(point);
    let mut rows = Vec::new();
    if let Some(mean) = mean {
        let blocks = CALLS_OF_F * mean.steps + CALLS_OF_H * f64::from(LTREE_NODES + HEIGHT);
        // The additional blocks are the state of all PRFs, and a message of 32 bytes with its prefix of 128
        // bytes.
        let calls = blocks + 1.0 + 3.0;
        let used =
            100.0 * calls * f64::from(point.block()) / (f64::from(point.lanes) * mean.cycles);
        let row = Row::info(ENGINE, "hash cores at work", "percent", used).of(&config);
        rows.push(
            row.how(How::Computed).noted(format!("{calls:.1} blocks of {} cycles", point.block())),
        );
    }
    let Some(netlist) = netlists.whole(point) else { return Ok(rows) };
    let published = |metric: &str| {
        let number = paper.number(TABLE, metric, &format!("whole, {}", point.instances()));
        number.map(|it| it.value)
    };
    let theirs = published("time").zip(published("LUTs"));
    let met = paper.constant("clock_met_mhz")?;
    let theirs = theirs.map(|(cycles, luts)| PaperConfig { cycles, luts, megahertz: met });
    rows.extend(figures(ENGINE, &config, mean.map(|it| it.cycles), netlist, theirs));
    rows.extend(with_no_core(&config, netlist, netlists, target(point).map(|it| it.1)));
    Ok(rows)
}

/// Returns the size of the engine with the modules that feed it from reset on, and with the unit that decides
/// in addition.
fn with_no_core(
    config: &str,
    netlist: &Netlist,
    netlists: &Netlists,
    target: Option<f64>,
) -> Vec<Row> {
    let (Some(sequencer), Some(unit)) = (netlists.sequencer(), netlists.unit()) else {
        return Vec::new();
    };
    let row = |metric: &str, unit: &str, ours: u32, note: &str| {
        let row = Row::info(ENGINE, metric, unit, f64::from(ours)).of(config);
        row.how(How::Computed).noted(note)
    };
    let (luts, flip_flops) =
        (netlist.count.luts + sequencer.0, netlist.count.flip_flops + sequencer.1);
    let whole = (luts + unit.0, flip_flops + unit.1);
    vec![
        judged(row("LUTs with its sequencer", "LUT", luts, WITH_SEQUENCER), target),
        row("FFs with its sequencer", "flip-flops", flip_flops, WITH_SEQUENCER),
        row("LUTs with the unit that needs no core", "LUT", whole.0, WITH_UNIT),
        row("FFs with the unit that needs no core", "flip-flops", whole.1, WITH_UNIT),
    ]
}

const WITH_SEQUENCER: &str = "boot_verifier_engine and boot_verifier_driver added, which give the engine key, signature and message \
    with no core running; judged by the bound of an engine";
const WITH_UNIT: &str = "boot_verifier added to that: it reads the medium, has SHA-256 for the digest of the key, judges the header \
    and decides from reset, which the paper's engine does not";

/// A configuration of the paper, for products.
#[derive(Clone, Copy)]
pub struct PaperConfig {
    cycles: f64,
    luts: f64,
    megahertz: f64,
}

/// Returns counts of cells other than look-up tables and flip-flops, and products of cells and cycles.
pub fn figures(
    table: &str,
    config: &str,
    cycles: Option<f64>,
    netlist: &Netlist,
    theirs: Option<PaperConfig>,
) -> Vec<Row> {
    let row = |metric: &str, unit: &str, ours: f64| Row::info(table, metric, unit, ours).of(config);
    let counted = |metric: &str, ours: f64| row(metric, metric, ours).how(How::Counted).noted(FLOW);
    let mut rows = vec![
        counted("CARRY4", f64::from(netlist.count.carries)),
        counted("BRAM36", f64::from(netlist.count.half_brams) / 2.0),
    ];
    let beside = |row: Row, product: fn(PaperConfig) -> f64| match theirs {
        Some(theirs) => row.with_published(product(theirs)),
        None => row,
    };
    let luts = f64::from(netlist.count.luts);
    if let Some(cycles) = cycles {
        let row = row("cycles × LUT", "million", cycles * luts / 1e6).how(How::Computed);
        let row = row.noted("at the same clock a ratio of ns × LUT");
        rows.push(beside(row, |it| it.cycles * it.luts / 1e6));
    }
    let Some(megahertz) = netlist.megahertz else {
        let note = "not placed: a whole run places engines that have a bound";
        rows.push(Row::absent(table, "frequency", "MHz", note).of(config));
        return rows;
    };
    let frequency = row("frequency", "MHz", megahertz).how(How::Counted);
    rows.push(frequency.noted("placed and routed on an ECP5"));
    if let Some(cycles) = cycles {
        let row = row("ns × LUT", "million", cycles * 1000.0 / megahertz * luts / 1e6);
        let row =
            beside(row.how(How::Computed), |it| it.cycles * 1000.0 / it.megahertz * it.luts / 1e6);
        rows.push(match theirs {
            Some(PaperConfig { megahertz, .. }) => row
                .noted(format!("on an ECP5; the paper's at the {megahertz} MHz that it meets"))
                .incomparable("an ECP5 and a Kintex-7"),
            None => row.noted("on an ECP5"),
        });
    }
    rows
}

/// Computes the number of hash calls from the cycles of a step and of a node on one hash core.
pub fn calls(paper: &Paper, samples: &VerificationSamples) -> Result<Vec<Row>> {
    let point = EngineConfig::new(1, ROUNDS);
    let Some(step) = samples.step(point) else { return Ok(Vec::new()) };
    let block = f64::from(point.block());
    let row = |config: &str, calls: f64, note: String| {
        let row = Row::info("Section III-A", "hash calls", "compressions", calls).of(config);
        row.how(How::Computed).noted(note).published(paper)
    };
    let note = format!(
        "{step:.2} cycles a step, the slope through signatures on one hash core, by {block} a hash"
    );
    let mut rows = vec![row("thash_f, after", step / block, note)?];
    if let Some(node) = samples.node(point, step) {
        let note = format!(
            "{node:.2} cycles for each level more than {}, by {block}; a preparation of 4 and a node of 2",
            cycles::HEIGHT
        );
        rows.push(row("thash_h, after", node / block, note)?);
    }
    Ok(rows)
}
