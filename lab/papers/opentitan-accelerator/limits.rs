//! Limits by engines and memories: table 3, the utilisation of the engines' bandwidth, and the lines of figure 2.

use anyhow::{Context, Result};

use super::labels::{Opcode, Purpose, TransferEnd};
use super::payload::CYCLES_PER_BYTE;
use super::runs::{self, Function, LabelledSample, Memory};
use hartlock_results::paper::Paper;
use hartlock_results::run::Row;

/// An engine of table 3.
struct Table3Engine {
    /// Names of the engine in table 3 and in the text.
    names: [&'static str; 2],
    /// Function whose accesses are counted.
    function: Function,
    /// Label of the instructions that transfer data.
    purpose: Purpose,
    /// Block size in bytes.
    block: f64,
    /// Name of the paper's constant with the cycles of a block.
    cycles: &'static str,
    /// True if each block has a result that is written to memory.
    has_results: bool,
}

const ENGINES: [Table3Engine; 2] = [
    Table3Engine {
        names: ["HMAC", "SHA-256 and HMAC"],
        function: Function::Sha256,
        purpose: Purpose::Digest,
        block: 64.0,
        cycles: "hmac_block_cycles",
        has_results: false,
    },
    Table3Engine {
        names: ["AES", "AES-256"],
        function: Function::Aes256,
        purpose: Purpose::Cipher,
        block: 16.0,
        cycles: "aes_block_cycles",
        has_results: true,
    },
];

/// Returns the rows of all engines that were measured.
pub fn rows(samples: &[LabelledSample], bytes: usize, paper: &Paper) -> Result<Vec<Row>> {
    let is_measured =
        |it: &Table3Engine| Function::measured(samples).any(|other| other == it.function);
    let engines = || ENGINES.iter().filter(|it| is_measured(it));
    let mut rows = Vec::new();
    for engine in engines() {
        rows.extend(engine.bandwidth(samples, bytes)?);
    }
    for engine in engines() {
        rows.extend(engine.used(samples, bytes, paper.constant(engine.cycles)?)?);
    }
    for engine in engines() {
        rows.extend(engine.limits(samples, bytes, paper.constant(engine.cycles)?)?);
    }
    Ok(rows)
}

impl Table3Engine {
    /// Returns the rows of table 3: the bandwidth that the minimum costs of accesses allow, from the accesses per
    /// block.
    fn bandwidth(&self, samples: &[LabelledSample], bytes: usize) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let name = self.names[0];
        for memory in Memory::ALL {
            let of = memory.name();
            let sample = runs::find(samples, self.function, memory, bytes)?;
            // Accesses per block while data is transferred.
            let accesses =
                |end| sample.labelled.ends(self.purpose, end) as f64 * self.block / bytes as f64;
            let mut ends = vec![
                ("engine writes".to_owned(), accesses(TransferEnd::EngineWrite)),
                (format!("{of} reads"), accesses(TransferEnd::MemoryRead)),
            ];
            if self.has_results {
                ends.push(("engine reads".to_owned(), accesses(TransferEnd::EngineRead)));
                ends.push((format!("{of} writes"), accesses(TransferEnd::MemoryWrite)));
            }
            rows.extend(ends.into_iter().map(|(what, count)| {
                let config = format!("{name}, {of}, {what}");
                Row::info("Table 3", "accesses", "accesses", count).of(&config)
            }));
            let costs = self.costs(sample, memory)?;
            for (what, cycles) in
                [("engine", costs[0]), (of, costs[1]), ("total", costs[0] + costs[1])]
            {
                let config = format!("{name}, {of}, {what}");
                rows.push(Row::info("Table 3, costs", "cost", "cycles", cycles).of(&config));
            }
            let least = (costs[0] + costs[1]) / self.block;
            let row = Row::info("Table 3, bandwidth", "bandwidth", CYCLES_PER_BYTE, least);
            rows.push(row.of(&format!("{name}, {of}")));
        }
        Ok(rows)
    }

    /// Returns the cycles of a block's accesses to the engine and to the memory, each with the minimum cost.
    fn costs(&self, sample: &LabelledSample, memory: Memory) -> Result<[f64; 2]> {
        let least = |opcode| -> Result<f64> {
            let cost = sample.labelled.access_cost(opcode);
            Ok(cost.context("nothing was accessed")?.least as f64)
        };
        let words = self.block / 4.0 * if self.has_results { 2.0 } else { 1.0 };
        Ok([least(Opcode::MemoryRot)? * words, least(memory.opcode())? * words])
    }

    /// Returns the rows of section 4.2: the utilisation of the engine's bandwidth.
    fn used(
        &self,
        samples: &[LabelledSample],
        bytes: usize,
        block_cycles: f64,
    ) -> Result<Vec<Row>> {
        let row = |memory: Memory| {
            let cost = runs::find(samples, self.function, memory, bytes)?.cycles_per_byte();
            let percent = 100.0 * block_cycles / self.block / cost;
            let config = format!("{}, {}", self.names[1], memory.name());
            let metric = "used of the engine's bandwidth";
            Ok(Row::info("Section 4.2, bandwidth", metric, "percent", percent).of(&config))
        };
        Memory::ALL.into_iter().map(row).collect()
    }

    /// Returns the lines of figure 2, which the paper prints without numbers: the limit by the engine, and the limit
    /// by the minimum costs of accesses.
    fn limits(
        &self,
        samples: &[LabelledSample],
        bytes: usize,
        block_cycles: f64,
    ) -> Result<Vec<Row>> {
        const TABLE: &str = "Figure 2, limits";
        let engine = Row::info(TABLE, "cost", CYCLES_PER_BYTE, block_cycles / self.block);
        let mut rows = vec![engine.of(&format!("engine, {}", self.names[1]))];
        for memory in Memory::ALL {
            let sample = runs::find(samples, self.function, memory, bytes)?;
            let [engine, payload] = self.costs(sample, memory)?;
            // Stored runs contain these row names, so the one for hashes names no function.
            let config = match self.function {
                Function::Aes256 => format!("memory, AES-256, {}", memory.name()),
                _ => format!("memory, {}", memory.name()),
            };
            let cost = (engine + payload) / self.block;
            rows.push(Row::info(TABLE, "cost", CYCLES_PER_BYTE, cost).of(&config));
        }
        Ok(rows)
    }
}
