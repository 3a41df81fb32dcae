//! Evaluates how the speed-up of four harts depends on the memory: one parameter is varied at a
//! time.

use std::path::Path;

use anyhow::Result;
use hartlock_handoff::Step;
use hartlock_image::{HashId, PayloadType};

use super::boots::{BootPlan, Boots, FILLER, Subject};
use hartlock_hw::machines::loader::cycles;
use hartlock_hw::machines::model::{self, Core};
use hartlock_results::run::{How, Row};
use hartlock_results::sensitivity::TABLE;

/// Block size in bytes, which is small enough that dispatch has an influence, as in the quick run.
pub const BLOCK: u32 = 4 << 10;
const BLOCKS: usize = 16;
const FLAT: usize = 32 << 10;

/// Values of a parameter other than the preset, and options of the machine for them.
type Values = &'static [(&'static str, &'static [&'static str])];

const LATENCIES: Values = &[
    ("20 cycles", &[]),
    ("10 cycles", &["--memory-latency", "10"]),
    ("40 cycles", &["--memory-latency", "40"]),
    ("80 cycles", &["--memory-latency", "80"]),
    ("160 cycles", &["--memory-latency", "160"]),
];
const PORTS: Values = &[
    ("32 bytes a cycle", &[]),
    ("4 bytes a cycle", &["--memory-bandwidth", "4"]),
    ("8 bytes a cycle", &["--memory-bandwidth", "8"]),
    ("16 bytes a cycle", &["--memory-bandwidth", "16"]),
];
/// The core with the small caches has a memory port of 8 bytes, so the other core gets the same
/// bandwidth.
const SAME_PORT: &[&str] = &["--memory-bandwidth", "8"];

/// Returns the rows of all parameters: the speed-up of four harts over one hash on one hart.
pub fn rows(quoted: &Boots, kept: &Path, hash: HashId, of_paper: f64) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (parameter, values) in [("memory latency", LATENCIES), ("memory port", PORTS)] {
        for (value, options) in values {
            let row = row((quoted, hash), parameter, value, options)?;
            rows.push(if options.is_empty() { row.with_published(of_paper) } else { row });
        }
    }
    let caches = "level 1 caches";
    let small: Core = model::core("rocket-4").map_err(anyhow::Error::msg)?;
    let port = "; both with a port of 8 bytes a cycle";
    for (boots, value) in [(&Boots::prepare(small, kept, true)?, "4 KiB"), (quoted, "16 KiB")] {
        let row = row((boots, hash), caches, value, SAME_PORT)?;
        let note = row.note.clone().unwrap_or_default() + port;
        rows.push(row.noted(note));
    }
    Ok(How::Simulated.made(rows))
}

fn row(
    (boots, hash): (&Boots, HashId),
    parameter: &str,
    value: &str,
    options: &[&str],
) -> Result<Row> {
    let cost = |harts, subject: Subject| -> Result<f64> {
        let booted = boots.boot(&BootPlan::in_memory(harts, [FILLER, subject]), options)?;
        let hash = booted.entry(Step::Hash, Some(PayloadType::Initramfs))?;
        Ok(cycles(hash) as f64 / subject.size as f64)
    };
    let one = cost(1, Subject::flat(hash, FLAT))?;
    let four = cost(4, Subject::blocks(hash, BLOCK, BLOCKS))?;
    let row = Row::info(TABLE, parameter, "times as fast as one hart", one / four).of(value);
    Ok(row.noted(format!(
        "{} KiB in one hash: {one:.2} cycles a byte; {BLOCKS} blocks of {} KiB on four harts: {four:.2}",
        FLAT >> 10,
        BLOCK >> 10
    )))
}
