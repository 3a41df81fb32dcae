//! Figure 6: cycles of measuring, key pair and signature, over sizes of the payload.

use anyhow::Result;

use crate::run::{Better, How, Row};

/// The table, whose name lab/src/plot.rs knows.
pub const TABLE: &str = "Figure 6";
const SIZES: [(usize, &str); 8] = [
    (64 << 10, "64 KiB"),
    (256 << 10, "256 KiB"),
    (1 << 20, "1 MiB"),
    (2 << 20, "2 MiB"),
    (4 << 20, "4 MiB"),
    (8 << 20, "8 MiB"),
    (16 << 20, "16 MiB"),
    (32 << 20, "32 MiB"),
];
/// Keystone hashes the monitor once; the paper's algorithm 1 signs it, with two passes more.
const PASSES: [(&str, usize); 2] = [("one pass", 1), ("three passes", 3)];
/// The columns, in the order of the figure.
pub const PORTABLE: &str = "portable software";
pub const OURS: &str = "our software";
pub const HASH_ENGINE: &str = "SHA-3 engine";
pub const DMA_24: &str = "DMA, 24 cycles";
/// Named as not built as long as nothing simulates them.
const OTHERS: [&str; 3] = ["engines in the paper's manner", "engines, pushed", "DMA, 12 cycles"];

/// Cycles of one way to do it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of a byte of the payload, for each pass over it.
    pub byte: f64,
    /// Of a pass, whatever the payload.
    pub once: f64,
    pub derive: f64,
    pub key_pair: f64,
    pub sign: f64,
}

impl Cost {
    pub fn measure(&self, bytes: usize) -> f64 {
        self.once + self.byte * bytes as f64
    }

    pub fn whole(&self, bytes: usize) -> f64 {
        self.passes(bytes, 1)
    }

    /// With so many passes over the payload. Those of a signature replace hashes of 96 bytes, which `sign` still has.
    fn passes(&self, bytes: usize, passes: usize) -> f64 {
        self.measure(bytes) * passes as f64 + self.derive + self.key_pair + self.sign
    }
}

/// A column, and what its payloads cost; those without are not built.
pub type Column = (&'static str, Cost);

/// All points of the figure. `is_whole` says which were simulated whole, with their cycles.
pub fn rows(columns: &[Column], whole: impl Fn(&str, usize) -> Option<u64>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, cost) in columns {
        for (metric, passes) in PASSES {
            for (bytes, size) in SIZES {
                let simulated = whole(name, bytes).filter(|_| passes == 1);
                let cycles = simulated.map_or(cost.passes(bytes, passes), |it| it as f64);
                let how = if simulated.is_some() { How::Simulated } else { How::Scaled };
                let row = Row::info(TABLE, metric, "cycles", cycles);
                rows.push(row.of(&format!("{name}, {size}")).how(how));
            }
        }
    }
    if !columns.is_empty() {
        for name in OTHERS.into_iter().filter(|name| columns.iter().all(|it| it.0 != *name)) {
            rows.push(Row::absent(TABLE, "one pass", "cycles", "not built yet").of(name));
        }
    }
    rows
}

/// Ratios of the paper's payload, each of which names what it is against.
pub fn ratios(columns: &[Column], bytes: usize) -> Result<Vec<Row>> {
    let of = |name: &str| columns.iter().find(|it| it.0 == name).map(|it| it.1.whole(bytes));
    let mut rows = Vec::new();
    let Some(engines) = of(DMA_24) else { return Ok(rows) };
    for (name, target) in [(PORTABLE, 400.0), (OURS, 180.0)] {
        let Some(software) = of(name) else { continue };
        let row = Row::info(super::boot::SCALED, "ratio", "times", software / engines);
        let row = row.of(&format!("{DMA_24}, against {name}")).judged(Better::Higher, target);
        rows.push(row.how(How::Scaled));
    }
    if !rows.is_empty() {
        let row = Row::absent(super::boot::SCALED, "ratio", "times", "not built yet");
        rows.push(row.of("DMA, 12 cycles, against our software"));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Status;

    const COST: Cost = Cost { byte: 1.0, once: 5.0, derive: 10.0, key_pair: 20.0, sign: 30.0 };

    #[test]
    fn three_passes_read_the_payload_three_times() {
        assert_eq!((COST.passes(100, 1), COST.passes(100, 3)), (165.0, 375.0));
        let rows = rows(&[(DMA_24, COST)], |_, bytes| (bytes == 65_536).then_some(7));
        assert_eq!(rows.len(), 2 * SIZES.len() + OTHERS.len());
        let of = |row: &Row| (row.ours, row.how);
        assert_eq!(of(&rows[0]), (Some(7.0), Some(How::Simulated)));
        assert_eq!(of(&rows[1]), (Some(262_144.0 + 65.0), Some(How::Scaled)));
        assert_eq!(rows[8].metric, "three passes");
        assert_eq!(rows[8].how, Some(How::Scaled));
    }

    #[test]
    fn a_ratio_needs_both_and_may_miss() {
        assert!(ratios(&[(DMA_24, COST)], 100).unwrap().is_empty());
        let slow = |times| Cost { byte: times, ..COST };
        let columns = [(DMA_24, COST), (PORTABLE, slow(399.0)), (OURS, slow(181.0))];
        let verdicts: Vec<Status> =
            ratios(&columns, 1 << 20).unwrap().iter().map(|row| row.status).collect();
        assert_eq!(verdicts, [Status::Miss, Status::Hit, Status::Info]);
    }
}
