//! The same engines fed by DMA without the core, which removes the bottleneck that the fifth paper found.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::runs::Function;
use crate::counts::Count;
use hartlock_hw::machines::rot::{READS, Rot, SHA3_12, rot};
use hartlock_hw::machines::rot_dma::{self, MeasuredDmaList};
use hartlock_hw::machines::soc::soc;
use hartlock_results::run::{Better, How, Row};

const TABLE: &str = "DMA";
/// Block size of SHA-256 in bytes.
const BLOCK: f64 = 64.0;
/// Cycles of the engine for a block of SHA-256. Here the engine is not slowed down to the paper's 80 cycles.
const BLOCK_CYCLES: f64 = 34.0;
/// Payload size at which the costs that occur once are negligible.
const LONG: usize = 16 << 10;
/// Minimum utilisation of the engine in percent.
const USED: f64 = 95.0;
/// Maximum cycles per byte, by function and payload size.
const TARGETS: [(&str, usize, f64); 4] = [
    ("sha256", 4096, 0.62),
    ("sha256", LONG, 0.56),
    ("hmac-sha256", 4096, 0.70),
    ("sha3-256", LONG, 0.186),
];
/// Payload size at which the costs that occur once are negligible compared with the bus, too.
const LONGEST: usize = 64 << 10;
/// Latencies of the host's memory in cycles, for hits in the last-level cache, and the options that set them.
const LATENCIES: [(u32, &[&str]); 4] = [
    (13, &["--llc-hit", "11"]),
    (PRESET, &[]),
    (60, &["--llc-hit", "58"]),
    (120, &["--llc-hit", "118"]),
];
const PRESET: u32 = 23;
/// Number of outstanding reads in all other rows.
const PRESET_READS: u32 = 8;
const COLD: &[&str] = &["--llc-size", "0"];
/// Table of the plot; a configuration has the form "<latency> cycles, <reads> reads".
pub const LATENCY_TABLE: &str = "DMA, memory latency";
pub const USED_OF_ENGINE: &str = "used of the engine's bandwidth";
/// Functions with the bytes of their block, for a SHA-3 engine that needs 12 cycles for a block (two rounds per cycle).
/// The bus delivers 8 bytes per cycle, so the minimum cost is the larger one of engine and bus.
const FASTER: [(&str, f64); 3] = [("sha3-256", 136.0), ("sha3-384", 104.0), ("sha3-512", 72.0)];
const FASTER_CYCLES: f64 = 12.0;
const BUS_BYTES: f64 = 8.0;
/// Maximum ratio to that minimum cost.
const NEAR: f64 = 1.05;

/// Measured DMA lists, by the memory from which they read.
pub struct DmaLists {
    pub preset: Vec<MeasuredDmaList>,
    cold: Vec<MeasuredDmaList>,
    /// Lists on a machine with a SHA-3 engine of 12 cycles per block.
    faster: Vec<MeasuredDmaList>,
    /// Lists through the coherent port of a running host.
    coherent: Vec<MeasuredDmaList>,
    /// Lists with other latencies and numbers of outstanding reads than the presets.
    others: Vec<(u32, u32, Vec<MeasuredDmaList>)>,
}

impl DmaLists {
    /// Returns the cycles of a SHA-256 digest that a host requests, through the host's own port and including the
    /// set-up.
    pub fn of_a_digest(&self, bytes: usize) -> Result<f64> {
        let list = find(&self.coherent, "sha256", bytes)?;
        Ok((list.set_up + list.cycles) as f64)
    }
}

/// Runs the program on the paper's machine: with hits in the last-level cache and without that cache. A full run also
/// has a faster SHA-3 engine, the caches of a host, and other latencies and numbers of outstanding reads.
pub fn measure(is_quick: bool) -> Result<DmaLists> {
    let machine: Rot = rot("rot").context("the machine of the paper")?;
    let of = |what: &str, machine: Rot, options: &[&str]| {
        eprintln!("DMA, {what}");
        rot_dma::measure(machine, options)
    };
    let mut lists = DmaLists {
        preset: of("hits", machine, &[])?,
        cold: of("no cache", machine, COLD)?,
        faster: Vec::new(),
        coherent: Vec::new(),
        others: Vec::new(),
    };
    if is_quick {
        return Ok(lists);
    }
    lists.faster = of("SHA-3 of 12 cycles a block", SHA3_12, &[])?;
    eprintln!("DMA, through the caches of the host");
    lists.coherent = rot_dma::measure_coherent(soc("soc-1").context("the machine with a host")?)?;
    for (reads, machine) in READS.into_iter().chain([(PRESET_READS, machine)]) {
        for (latency, options) in LATENCIES {
            if (latency, reads) != (PRESET, PRESET_READS) {
                let what = format!("{latency} cycles, {reads} outstanding");
                lists.others.push((latency, reads, of(&what, machine, options)?));
            }
        }
    }
    Ok(lists)
}

/// Returns the costs with their targets and with the paper's costs with a core, the utilisation of the engine, the
/// speed-up over software, and the dependence of the utilisation on memory latency.
pub fn rows(lists: &DmaLists, software: &[Count], bytes: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (memory, list) in [
        ("hits", &lists.preset),
        ("no cache", &lists.cold),
        ("the host's port for other masters", &lists.coherent),
    ] {
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
        Row::info(TABLE, USED_OF_ENGINE, "percent", long)
            .of(&format!("SHA-256, {LONG} bytes, hits"))
            .judged(Better::Higher, USED)
            .noted(format!("{BLOCK_CYCLES} cycles a block; the paper: 16 % of 80 cycles a block")),
    );
    let payload = find(&lists.preset, "sha256", bytes)?;
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
    if !lists.faster.is_empty() {
        rows.extend(faster_rows(&lists.faster)?);
        rows.push(latency_row(PRESET, PRESET_READS, &lists.preset)?);
    }
    for (latency, reads, list) in &lists.others {
        rows.push(latency_row(*latency, *reads, list)?);
    }
    Ok(How::Simulated.made(rows))
}

/// Compares the SHA-3 engine of 12 cycles per block with the limit by bus and engine.
fn faster_rows(list: &[MeasuredDmaList]) -> Result<Vec<Row>> {
    let row = |(function, rate): (&str, f64)| -> Result<Row> {
        let least = f64::max(FASTER_CYCLES / rate, 1.0 / BUS_BYTES);
        let it = find(list, function, LONGEST)?;
        let config = format!("{}, {LONGEST} bytes, 12 cycles a block, hits", name(function));
        Ok(Row::info(TABLE, "cost", "cycles/byte", it.cycles_per_byte())
            .of(&config)
            .judged(Better::Lower, NEAR * least)
            .noted(format!("{least:.4} is the least that bus and engine allow")))
    };
    FASTER.into_iter().map(row).collect()
}

/// Returns the row with the utilisation of the SHA-256 engine.
fn latency_row(latency: u32, reads: u32, list: &[MeasuredDmaList]) -> Result<Row> {
    let plural = if reads == 1 { "" } else { "s" };
    let cost = find(list, "sha256", LONG)?.cycles_per_byte();
    Ok(Row::info(LATENCY_TABLE, USED_OF_ENGINE, "percent", used(list)?)
        .of(&format!("{latency} cycles, {reads} read{plural}"))
        .noted(format!("SHA-256 of {LONG} bytes: {cost:.3} cycles a byte")))
}

/// Formats all lists as CSV.
pub fn csv(lists: &DmaLists) -> String {
    let mut text = "memory,reads,functions,bytes,offset,set_up_cycles,cycles\n".to_owned();
    let cycles = |latency: u32| format!("{latency} cycles");
    let others = lists.others.iter().map(|(latency, reads, list)| (cycles(*latency), *reads, list));
    let all = [
        (cycles(PRESET), PRESET_READS, &lists.preset),
        ("no cache".to_owned(), PRESET_READS, &lists.cold),
        ("SHA-3 in 12 cycles".to_owned(), PRESET_READS, &lists.faster),
        ("coherent port".to_owned(), PRESET_READS, &lists.coherent),
    ];
    for (memory, reads, list) in all.into_iter().chain(others) {
        for it in list {
            let MeasuredDmaList { functions, bytes, offset, cycles, set_up, .. } = it;
            let functions = functions.join("+");
            let _ =
                writeln!(text, "{memory},{reads},{functions},{bytes},{offset},{set_up},{cycles}");
        }
    }
    text
}

/// Returns the name of functions in tables.
fn name(functions: &str) -> String {
    let of_one = |it: &str| match it {
        "sha256" => "SHA-256".to_owned(),
        "hmac-sha256" => "HMAC".to_owned(),
        "write" => "copy".to_owned(),
        other => other.to_uppercase(),
    };
    functions.split('+').map(of_one).collect::<Vec<_>>().join(" and ")
}

fn find<'a>(
    list: &'a [MeasuredDmaList],
    function: &str,
    bytes: usize,
) -> Result<&'a MeasuredDmaList> {
    let is_it =
        |it: &&MeasuredDmaList| it.functions == [function] && (it.bytes, it.offset) == (bytes, 0);
    list.iter().find(is_it).with_context(|| format!("{function} of {bytes} bytes was not measured"))
}

/// Returns the share of time in percent in which the SHA-256 engine computes.
fn used(list: &[MeasuredDmaList]) -> Result<f64> {
    Ok(100.0 * BLOCK_CYCLES / BLOCK / find(list, "sha256", LONG)?.cycles_per_byte())
}
