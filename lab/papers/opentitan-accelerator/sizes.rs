//! Compares the cost of the same payload on one hart, on four harts, with vector lanes and with the engine, and
//! computes the size from which each is the fastest.

use anyhow::{Context, Result};

use super::crossing::LinearCost;
use hartlock_device::kernels::{HARTS, KernelBench, read};
use hartlock_hw::machines::rot_dma::MeasuredDmaList;
use hartlock_hw::machines::{self, SmokeReport};
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Harts, lanes and engine";
/// The hash that all of them support.
const HASH: &str = "sha3-384";
/// The core: four harts with 16 KiB of cache each.
const CORE: &str = "rocket-4-full";
/// The memory, which is that of the root of trust: a last-level cache of 128 KiB.
const MEMORY: &[&str] = &["--memory-latency", "100", "--llc-size", "0x20000"];
/// Block sizes in bytes. A payload has one block for each hart.
const BLOCKS: [usize; 3] = [1024, 4096, 16384];
/// A hart of QEMU with vectors of 128 bits and vector bit manipulation.
const LANES: &str = "zvbb-128";

/// Returns the costs for each size, and the sizes at which one becomes faster than another. `mailbox` is the number of
/// cycles that a request of the host takes in addition to the digest.
pub fn rows(engine: &[MeasuredDmaList], mailbox: f64) -> Result<Vec<Row>> {
    let mut by = [const { Vec::new() }; 4];
    let names = ["1 hart", "4 harts", "engine by DMA", "engine by DMA, for the host"];
    for block in BLOCKS {
        eprintln!("harts on {CORE}, blocks of {block} bytes");
        let smoke: SmokeReport = machines::smoke_on(CORE, block, MEMORY)?;
        let bytes = 4 * block;
        let is_it =
            |it: &&MeasuredDmaList| it.functions == [HASH] && (it.bytes, it.offset) == (bytes, 0);
        let list = engine.iter().find(is_it).context("the engine was not measured")?;
        let by_dma = (list.set_up + list.cycles) as f64;
        let costs = [
            smoke.sha3_384.cycles as f64,
            smoke.all_sha3_384.cycles as f64,
            by_dma,
            by_dma + mailbox,
        ];
        for (points, cycles) in by.iter_mut().zip(costs) {
            points.push((bytes, cycles));
        }
    }
    let mut rows = Vec::new();
    for (name, points) in names.iter().zip(&by) {
        for (bytes, cycles) in points {
            let how = if name.ends_with("the host") { How::Modelled } else { How::Simulated };
            let row = Row::info(TABLE, "cost", "cycles/byte", cycles / *bytes as f64);
            rows.push(row.of(&format!("{name}, {bytes} bytes")).noted(note(name)).how(how));
        }
    }
    rows.extend(lanes()?);
    let lines: Vec<LinearCost> =
        by.iter().filter_map(|points| LinearCost::through(points)).collect();
    for (faster, slower) in [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1)] {
        let (Some(one), Some(other)) = (lines.get(faster), lines.get(slower)) else { continue };
        let config = format!("{} over {}", names[faster], names[slower]);
        let bytes = one.wins_from(*other).with_context(|| format!("{config}: never"))?;
        let smallest = 4.0 * BLOCKS[0] as f64;
        // The line is not valid below its first point.
        let why = match bytes < smallest {
            true => format!("at the smallest that was measured; the lines cross at {bytes:.0}"),
            false => "where lines through the smallest and the largest payload cross".to_owned(),
        };
        let row = Row::info(TABLE, "faster from", "bytes", bytes.max(smallest).ceil());
        rows.push(row.of(&config).noted(why).how(How::Computed));
    }
    Ok(rows)
}

fn note(name: &str) -> &'static str {
    match name {
        "1 hart" => "one SHA3-384 on Rocket, RV64GC",
        "4 harts" => {
            "four blocks, a SHA3-384 each, from the wake-up of the harts to the last digest"
        }
        "engine by DMA" => "one SHA3-384, set-up of engines and list in",
        _ => {
            "the same with what the host's request costs beside the digest, by the row Mailbox included"
        }
    }
}

/// Measures vector lanes in instructions of an emulated hart, because no packaged open core has vectors. The result can
/// be compared only with the hart without lanes, which is counted in the same way, and not with cycles.
fn lanes() -> Result<Vec<Row>> {
    let bench = KernelBench::prepare()?;
    let hart = HARTS.iter().find(|hart| hart.name == LANES).context("a hart with lanes")?;
    eprintln!("lanes on {LANES}");
    let (counts, faults) = read(hart, &bench.console(hart)?)?;
    anyhow::ensure!(faults.is_empty(), "{}", faults.join("\n"));
    let of = |tier: &str, form: &str, name: &str| -> Result<Row> {
        let is_it = |it: &&hartlock_device::kernels::Count| {
            (&*it.hash, &*it.tier, &*it.form) == (HASH, tier, form)
        };
        let count = counts.iter().find(is_it).with_context(|| format!("no count of {tier}"))?;
        Ok(Row::info(TABLE, "cost", "instructions/byte", count.per_byte())
            .of(&format!("{name}, {} bytes", count.bytes))
            .noted("instructions are no cycles: compare these two rows only"))
    };
    let rows = vec![
        of("rv64", "one", "1 hart, one message")?,
        of("zvbb", "many", "1 hart with vector lanes")?,
    ];
    Ok(How::Counted.made(rows))
}
