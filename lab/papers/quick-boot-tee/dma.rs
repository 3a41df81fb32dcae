//! SHA-3 by DMA on the root of trust: the cost of a block, and the time for a payload of the paper's size.

use std::fmt::Write;
use std::thread;

use anyhow::{Context, Result, ensure};

use hartlock_hw::ip::Area;
use hartlock_hw::machines::rot::{self, Rot, rot};
use hartlock_hw::machines::rot_dma::{self, MeasuredDmaList};
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

pub const TABLE: &str = "SHA-3 by DMA";
/// Table of the paper's payload, which the machine does not hash completely.
pub const TIME: &str = "SHA-3 of 2 MiB";
/// Functions with their names and block sizes in bytes (FIPS 202 §6.1, table 3).
const FUNCTIONS: [(&str, &str, usize); 3] =
    [("sha3-256", "SHA3-256", 136), ("sha3-384", "SHA3-384", 104), ("sha3-512", "SHA3-512", 72)];
/// The function of the paper's engine.
const OF_PAPER: &str = "sha3-512";
const LONG: usize = 16 << 10;
/// The second payload size that determines the line.
const LONGEST: usize = 64 << 10;
/// Maximum cost of a block, including costs that occur once, in percent of the engine's cycles.
const MOST_PERCENT: u32 = 105;
/// Maximum delay in cycles until the core notices the end of a list: it polls, and two lists end at different
/// times in that loop.
const POLLING: f64 = 32.0;
/// Memories. The second has no last-level cache, like a payload that does not fit into the cache.
const MEMORIES: [(&str, &[&str]); 2] = [("hits", &[]), ("no cache", &["--llc-size", "0"])];

/// DMA lists of SHA-3 only, by the memory that they read.
pub type Sha3DmaLists = Vec<(&'static str, Vec<MeasuredDmaList>)>;

pub fn measure() -> Result<Sha3DmaLists> {
    let machine: Rot = rot("rot").context("the root of trust alone")?;
    // The machine is built before two threads need it.
    rot::machine(machine)?;
    let of_one = |(memory, options): (&'static str, &[&str])| {
        let mut lists = rot_dma::measure(machine, options)?;
        lists.retain(|it| FUNCTIONS.iter().any(|(name, ..)| it.functions == [*name]));
        eprintln!("SHA-3 by DMA, {memory}");
        Ok((memory, lists))
    };
    thread::scope(|scope| {
        let threads = MEMORIES.map(|memory| scope.spawn(move || of_one(memory)));
        let lists = threads.into_iter().map(|thread| match thread.join() {
            Ok(list) => list,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        lists.collect()
    })
}

/// Returns the number of blocks of a message; the padding takes at least one byte.
fn blocks(bytes: usize, rate: usize) -> usize {
    bytes / rate + 1
}

/// Returns the costs of 16 KiB, and then the time of the paper's payload.
pub fn rows(lists: &Sha3DmaLists, engine: &Area, peer: &Area, paper: &Paper) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (memory, list) in lists {
        for (function, name, rate) in FUNCTIONS {
            let it = find(list, function, LONG)?;
            let config = format!("{name}, {LONG} bytes, {memory}");
            let note = format!("{} cycles from the doorbell, {} before it", it.cycles, it.set_up);
            rows.push(
                Row::info(TABLE, "cost", "cycles/byte", it.cycles_per_byte())
                    .of(&config)
                    .noted(note),
            );
            let count = blocks(LONG, rate);
            let cost = it.cycles as f64 / count as f64;
            let row = Row::info(TABLE, "a block", "cycles", cost).of(&config);
            let note =
                format!("{count} blocks of {rate} bytes; the engine: {} cycles", engine.cycles);
            let row = match *memory {
                "hits" => {
                    row.judged(Better::Lower, f64::from(engine.cycles * MOST_PERCENT) / 100.0)
                }
                _ => row,
            };
            // The peer was fed by its test bench, without a memory.
            rows.push(if function == OF_PAPER {
                let from = format!("{note}; peer: {}, fed by its bench", peer.name);
                row.peer(f64::from(peer.cycles)).noted(from)
            } else {
                row.noted(note)
            });
        }
    }
    let mut rows = How::Simulated.made(rows);
    rows.extend(times(lists, engine, peer, paper)?);
    Ok(rows)
}

/// Computes the time of the paper's payload from lists of two sizes: their difference gives the cost of a
/// block, and the longer one gives the rest.
fn times(lists: &Sha3DmaLists, engine: &Area, peer: &Area, paper: &Paper) -> Result<Vec<Row>> {
    let (bytes, clock) = (paper.constant("payload_bytes")? as usize, paper.constant("clock_mhz")?);
    let milliseconds = |cycles: f64| cycles / clock / 1000.0;
    let (_, list) = lists
        .iter()
        .find(|(memory, _)| *memory == "no cache")
        .context("no memory without cache")?;
    let mut rows = Vec::new();
    for (function, name, rate) in FUNCTIONS {
        let (short, long) = (find(list, function, LONG)?, find(list, function, LONGEST)?);
        let more = (blocks(LONGEST, rate) - blocks(LONG, rate)) as f64;
        let (least, taken) =
            (more * f64::from(engine.cycles), long.cycles as f64 - short.cycles as f64);
        ensure!(
            taken + POLLING >= least,
            "{name}: {taken} cycles for {more} blocks: less than its engine"
        );
        let block = taken / more;
        let rest = (blocks(bytes, rate) - blocks(LONGEST, rate)) as f64;
        let time = milliseconds(long.cycles as f64 + rest * block);
        rows.push(
            Row::info(TIME, "by DMA", "ms", time)
                .of(&format!("{name}, no cache"))
                .how(How::Scaled)
                .noted(format!(
                    "scaled from {LONGEST} bytes, {block:.2} cycles a block, {clock} MHz"
                )),
        );
        if function == OF_PAPER {
            let count = blocks(bytes, rate) as f64;
            let alone = |area: &Area| milliseconds(count * f64::from(area.cycles));
            let note = format!(
                "{count} blocks at {clock} MHz, without the time to bring them; peer: {}, {} cycles a block",
                peer.name, peer.cycles
            );
            let row = Row::info(TIME, "engine alone", "ms", alone(engine)).of(name);
            rows.push(row.how(How::Computed).peer(alone(peer)).noted(note));
        }
    }
    Ok(rows)
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

/// Formats every list as CSV.
pub fn csv(lists: &Sha3DmaLists) -> String {
    let mut text = "memory,function,bytes,offset,set_up_cycles,cycles\n".to_owned();
    for (memory, list) in lists {
        for it in list {
            let MeasuredDmaList { functions, bytes, offset, cycles, set_up, .. } = it;
            let function = functions.join("+");
            let _ = writeln!(text, "{memory},{function},{bytes},{offset},{set_up},{cycles}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_padding_is_a_block_of_its_own_where_a_message_ends_with_one() {
        assert_eq!([0, 71, 72, LONG].map(|bytes| blocks(bytes, 72)), [1, 1, 2, 228]);
    }

    #[test]
    fn rates_are_what_the_digests_leave_of_the_state() {
        for (name, _, rate) in FUNCTIONS {
            let bits: usize = name.trim_start_matches("sha3-").parse().unwrap();
            // The capacity is twice the digest length (FIPS 202 §6.1).
            assert_eq!(8 * rate + 2 * bits, 1600, "{name}");
        }
    }
}
