//! The same engines fed by DMA, without the core: what the fifth paper ends with is gone.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::baseline::Count;
use super::runs::Function;
use crate::run::{Better, How, Row};
use crate::sensitivity::TABLE as SENSITIVITY;
use hartlock_hw::machines::rot::{Rot, rot};
use hartlock_hw::machines::rot_dma::{self, Measured};

const TABLE: &str = "DMA";
/// Bytes of a block of SHA-256.
const BLOCK: f64 = 64.0;
/// Cycles of a block of SHA-256: the engine is not slowed to the paper's 80 here.
const BLOCK_CYCLES: f64 = 34.0;
/// Long enough that what is done once does not show.
const LONG: usize = 16 << 10;
/// What of the engine has to be used, in percent.
const USED: f64 = 95.0;
/// The most cycles a byte, by functions and bytes.
const TARGETS: [(&str, usize, f64); 4] = [
    ("sha256", 4096, 0.62),
    ("sha256", LONG, 0.56),
    ("hmac-sha256", 4096, 0.70),
    ("sha3-256", LONG, 0.186),
];
/// Options of the host's memory, beside what they are called: hits in the last-level cache, then no such cache.
const LATENCIES: [(&str, &[&str]); 3] = [
    ("13 cycles", &["--llc-hit", "11"]),
    ("60 cycles", &["--llc-hit", "58"]),
    ("120 cycles", &["--llc-hit", "118"]),
];
const PRESET: &str = "23 cycles";
const COLD: &[&str] = &["--llc-size", "0"];

/// Lists that were carried out, with the memory that they read.
pub struct Lists {
    preset: Vec<Measured>,
    cold: Vec<Measured>,
    /// By latency.
    others: Vec<(&'static str, Vec<Measured>)>,
}

/// Runs the program on the machine of the paper: with hits in the last-level cache, without the cache, and, unless it
/// is quick, with other latencies.
pub fn measure(is_quick: bool) -> Result<Lists> {
    let machine: Rot = rot("rot").context("the machine of the paper")?;
    let of = |what: &str, options: &[&str]| {
        eprintln!("DMA, {what}");
        rot_dma::measure(machine, options)
    };
    let latencies = if is_quick { &[][..] } else { &LATENCIES };
    let others = latencies.iter().map(|(label, options)| Ok((*label, of(label, options)?)));
    Ok(Lists {
        preset: of(PRESET, &[])?,
        cold: of("no cache", COLD)?,
        others: others.collect::<Result<_>>()?,
    })
}

/// Costs beside their targets and beside what the paper measured with a core in between, the use of the engine, the
/// speed-up over software, and what the use depends on.
pub fn rows(lists: &Lists, software: &[Count], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (memory, list) in [("hits", &lists.preset), ("no cache", &lists.cold)] {
        for it in list.iter().filter(|it| it.offset == 0 && it.bytes >= bytes) {
            let functions = it.functions.join("+");
            let config = format!("{}, {} bytes, {memory}", name(&functions), it.bytes);
            let row = Row::info(TABLE, "cost", "cycles/byte", it.cycles_per_byte())
                .of(&config)
                .noted(format!("{} cycles from the doorbell, {} before it", it.cycles, it.set_up));
            let target = TARGETS.iter().find(|(which, size, _)| {
                memory == "hits" && (*which, *size) == (&*functions, it.bytes)
            });
            rows.push(match target {
                Some((.., most)) => row.judged(Better::Lower, *most),
                None => row,
            });
        }
    }
    let long = used(&lists.preset)?;
    rows.push(
        Row::info(TABLE, "used of the engine's bandwidth", "percent", long)
            .of(&format!("SHA-256, {LONG} bytes, hits"))
            .judged(Better::Higher, USED)
            .noted(format!("{BLOCK_CYCLES} cycles a block; the paper: 16 % of 80 cycles a block")),
    );
    let payload = find(&lists.preset, bytes)?;
    let is_it = |it: &&Count| {
        it.who == "bearssl"
            && it.bytes == bytes
            && Function::of_baseline(&it.what) == Some(Function::Sha256)
    };
    let software = software.iter().find(is_it).context("no BearSSL")?.cycles_per_byte();
    rows.push(
        Row::info(TABLE, "speed-up over CVA6", "times", software / payload.cycles_per_byte())
            .of(&format!("SHA-256, {bytes} bytes, hits"))
            .noted("the paper: 11.1 times, with a core that carries every word"),
    );
    let latency = |label: &str, list: &[Measured]| -> Result<Row> {
        let row = Row::info(
            SENSITIVITY,
            "memory of the DMA engine",
            "percent of the engine used",
            used(list)?,
        );
        let cost = find(list, LONG)?.cycles_per_byte();
        Ok(row.of(label).noted(format!("SHA-256 of {LONG} bytes: {cost:.3} cycles a byte")))
    };
    if !lists.others.is_empty() {
        rows.push(latency(PRESET, &lists.preset)?);
    }
    for (label, list) in &lists.others {
        rows.push(latency(label, list)?);
    }
    Ok(How::Simulated.made(rows))
}

/// Every list, as CSV.
pub fn csv(lists: &Lists) -> String {
    let mut text = "memory,functions,bytes,offset,set_up_cycles,cycles\n".to_owned();
    let others = lists.others.iter().map(|(label, list)| (*label, list));
    for (memory, list) in
        [(PRESET, &lists.preset), ("no cache", &lists.cold)].into_iter().chain(others)
    {
        for it in list {
            let Measured { functions, bytes, offset, cycles, set_up, .. } = it;
            let functions = functions.join("+");
            let _ = writeln!(text, "{memory},{functions},{bytes},{offset},{set_up},{cycles}");
        }
    }
    text
}

/// How the tables call it.
fn name(functions: &str) -> String {
    let of_one = |it: &str| match it {
        "sha256" => "SHA-256".to_owned(),
        "hmac-sha256" => "HMAC".to_owned(),
        "write" => "copy".to_owned(),
        other => other.to_uppercase(),
    };
    functions.split('+').map(of_one).collect::<Vec<_>>().join(" and ")
}

fn find(list: &[Measured], bytes: usize) -> Result<&Measured> {
    let is_it = |it: &&Measured| it.functions == ["sha256"] && (it.bytes, it.offset) == (bytes, 0);
    list.iter().find(is_it).with_context(|| format!("SHA-256 of {bytes} bytes was not measured"))
}

/// Percent of the time of the engine for SHA-256 that it computes.
fn used(list: &[Measured]) -> Result<f64> {
    Ok(100.0 * BLOCK_CYCLES / BLOCK / find(list, LONG)?.cycles_per_byte())
}
