//! Figure 6: cycles of measurement, key pair and signature over payload size.

use anyhow::{Context, Result};

use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

/// Name of the table, which lab/src/plot.rs uses as well.
pub const TABLE: &str = "Figure 6";
/// Table of the paper's payload with every column, and ratios between columns.
pub const PAYLOAD: &str = "Boot of 2 MiB";
/// Table of the distances of simulated sizes from the line through two of them.
pub const LINE: &str = "Figure 6, against a line";
pub const SIZES: [(usize, &str); 8] = [
    (64 << 10, "64 KiB"),
    (256 << 10, "256 KiB"),
    (1 << 20, "1 MiB"),
    (2 << 20, "2 MiB"),
    (4 << 20, "4 MiB"),
    (8 << 20, "8 MiB"),
    (16 << 20, "16 MiB"),
    (32 << 20, "32 MiB"),
];
/// Number of passes over the payload. Keystone hashes the monitor once; the paper's algorithm 1 signs it, which takes
/// two more passes.
const PASSES: [(&str, u32); 2] = [("one pass", 1), ("three passes", 3)];
/// Names of the columns in the order of the figure.
pub const PORTABLE: &str = "portable software";
pub const OURS: &str = "our software";
pub const HASH_ENGINE: &str = "SHA-3 engine";
pub const PAPER: &str = "engines in the paper's manner";
pub const PUSHED: &str = "engines, pushed";
pub const DMA_24: &str = "DMA, 24 cycles";
pub const DMA_12: &str = "DMA, 12 cycles";
/// Maximum distance of a simulated size from the line in percent.
const TOLERANCE: f64 = 2.0;
/// Ratios of two columns for the paper's payload, with the minimum; `None` is for information.
const RATIOS: [(&str, &str, Option<f64>); 8] = [
    (DMA_24, PORTABLE, Some(400.0)),
    (DMA_24, OURS, Some(180.0)),
    (DMA_12, OURS, Some(320.0)),
    (DMA_12, PORTABLE, None),
    (PAPER, PORTABLE, None),
    (PAPER, OURS, None),
    (PUSHED, PORTABLE, None),
    (DMA_24, PAPER, None),
];

/// Cycles of the parts of a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Payload size in bytes.
    pub bytes: usize,
    /// Cycles of SHA3-512 of the payload in memory.
    pub measure: u64,
    /// Cycles until the expanded key of the monitor is derived; the secret is read and closed.
    pub derive: u64,
    pub key_pair: u64,
    /// Cycles of signing 96 bytes, and of verifying the signature where that is done.
    pub sign: u64,
}

impl Parts {
    fn rest(&self) -> u64 {
        self.derive + self.key_pair + self.sign
    }

    pub fn whole(&self) -> u64 {
        self.measure + self.rest()
    }
}

/// A column of the figure, which is one implementation.
#[derive(Clone, Debug)]
pub struct SweepColumn {
    pub name: &'static str,
    /// Two sizes whose difference gives the cost of a byte; `None` if there is only one size.
    line: Option<[Parts; 2]>,
    /// The simulated sizes.
    whole: Vec<Parts>,
}

impl SweepColumn {
    /// Makes a column whose line goes through the shortest and the longest simulated size.
    pub fn new(name: &'static str, mut whole: Vec<Parts>) -> Self {
        whole.sort_unstable_by_key(|parts| parts.bytes);
        let line = match whole[..] {
            [short, .., long] => Some([short, long]),
            _ => None,
        };
        Self { name, line, whole }
    }

    /// Makes a column whose line goes through two given sizes; other simulated sizes are compared with it.
    pub fn of_line(name: &'static str, line: [Parts; 2], whole: Vec<Parts>) -> Self {
        Self { name, line: Some(line), whole }
    }

    /// Returns the cycles per byte of one pass.
    fn byte(&self) -> Option<f64> {
        let [short, long] = self.line?;
        Some((long.measure as f64 - short.measure as f64) / (long.bytes - short.bytes) as f64)
    }

    /// Returns the cycles of one pass on the line.
    fn on_line(&self, bytes: usize) -> Option<f64> {
        let [_, long] = self.line?;
        Some(long.measure as f64 + self.byte()? * (bytes as f64 - long.bytes as f64))
    }

    fn simulated(&self, bytes: usize) -> Option<&Parts> {
        self.whole.iter().find(|parts| parts.bytes == bytes)
    }

    /// Returns the cycles of measuring a payload.
    pub fn measure(&self, bytes: usize) -> Option<f64> {
        self.simulated(bytes).map(|it| it.measure as f64).or_else(|| self.on_line(bytes))
    }

    /// Returns the cycles of the other parts, for this payload size if it was simulated.
    pub fn others(&self, bytes: usize) -> Option<&Parts> {
        let of_line = self.line.as_ref().map(|[_, long]| long);
        self.simulated(bytes).or(of_line)
    }

    /// Returns the cycles with this number of passes over the payload. The passes of a signature replace hashes of 96
    /// bytes, which `sign` still includes.
    pub fn cycles(&self, bytes: usize, passes: u32) -> Option<(f64, How)> {
        let is_simulated = passes == 1 && self.simulated(bytes).is_some();
        let how = if is_simulated { How::Simulated } else { How::Scaled };
        let rest = self.others(bytes)?.rest() as f64;
        Some((self.measure(bytes)? * f64::from(passes) + rest, how))
    }

    /// Returns the maximum distance in percent of a simulated size from the line; `None` if all simulated sizes are
    /// on it by definition.
    fn off(&self) -> Option<f64> {
        let line = self.line?;
        let others = self.whole.iter().filter(|it| line.iter().all(|of| of.bytes != it.bytes));
        let off =
            |it: &Parts| Some(100.0 * (self.on_line(it.bytes)? / it.measure as f64 - 1.0).abs());
        others.filter_map(off).max_by(f64::total_cmp)
    }
}

/// Returns all known points of the figure.
pub fn rows(columns: &[SweepColumn]) -> Vec<Row> {
    let mut rows = Vec::new();
    for column in columns {
        for (metric, passes) in PASSES {
            for (bytes, size) in SIZES {
                let Some((cycles, how)) = column.cycles(bytes, passes) else { continue };
                let row = Row::info(TABLE, metric, "cycles", cycles).how(how);
                rows.push(row.of(&format!("{}, {size}", column.name)));
            }
        }
    }
    for column in columns {
        let (Some(off), Some(byte), Some([short, long])) =
            (column.off(), column.byte(), column.line)
        else {
            continue;
        };
        let row = Row::info(LINE, "simulated sizes, at most", "percent", off).of(column.name);
        let ends = [short, long].map(|parts| parts.bytes >> 10);
        let note = format!("{byte:.4} cycles a byte, from {} and {} KiB", ends[0], ends[1]);
        rows.push(row.judged(Better::Lower, TOLERANCE).how(How::Computed).noted(note));
    }
    rows
}

/// Returns the paper's payload with each column, and the ratios between columns.
pub fn payload(columns: &[SweepColumn], paper: &Paper) -> Result<Vec<Row>> {
    let bytes = paper.constant("payload_bytes")? as usize;
    let of = |name: &str| {
        let column = columns.iter().find(|it| it.name == name)?;
        column.cycles(bytes, 1)
    };
    let mut rows = Vec::new();
    for column in columns {
        let Some((cycles, how)) = column.cycles(bytes, 1) else { continue };
        rows.push(Row::info(PAYLOAD, "whole", "cycles", cycles).of(column.name).how(how));
    }
    for (fast, slow, target) in RATIOS {
        let (Some((cycles, how)), Some((times, slow_how))) = (of(fast), of(slow)) else { continue };
        let row = Row::info(PAYLOAD, "ratio", "times", times / cycles);
        let row = row.of(&format!("{fast}, against {slow}"));
        let row = row.how(if how == slow_how { how } else { How::Scaled });
        rows.push(match target {
            Some(target) => row.judged(Better::Higher, target),
            None => row,
        });
    }
    rows.extend(decades(columns, bytes, paper)?);
    Ok(rows)
}

/// Compares the paper's statement about its figure: software divided by engines, in decades.
fn decades(columns: &[SweepColumn], bytes: usize, paper: &Paper) -> Result<Option<Row>> {
    let of = |name: &str| columns.iter().find(|it| it.name == name)?.cycles(bytes, 3);
    let (Some((engines, _)), Some((software, _))) = (of(PAPER), of(PORTABLE)) else {
        return Ok(None);
    };
    let row = Row::info("Abstract", "speed-up", "decades", (software / engines).log10());
    let row = row.of("SHA-3, signature procedure").how(How::Scaled);
    let note = "portable software by engines in the paper's manner, 2 MiB, three passes";
    row.noted(note).published(paper).map(Some).context("the paper's decades")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_results::run::Status;

    fn parts(bytes: usize, byte: f64) -> Parts {
        let measure = 5 + (byte * bytes as f64) as u64;
        Parts { bytes, measure, derive: 10, key_pair: 20, sign: 30 }
    }

    fn column(name: &'static str, byte: f64) -> SweepColumn {
        SweepColumn::new(name, vec![parts(300, byte), parts(100, byte)])
    }

    #[test]
    fn three_passes_read_the_payload_three_times() {
        let column = column(DMA_24, 1.0);
        assert_eq!(column.cycles(100, 1), Some((165.0, How::Simulated)));
        assert_eq!(column.cycles(100, 3), Some((375.0, How::Scaled)));
        assert_eq!(column.cycles(1000, 1), Some((1065.0, How::Scaled)));
        let rows = rows(&[column]);
        assert_eq!(rows.len(), 2 * SIZES.len());
        assert_eq!(rows[8].metric, "three passes");
        assert_eq!(rows[8].ours, Some(3.0 * (65_536.0 + 5.0) + 60.0));
    }

    #[test]
    fn a_size_alone_is_no_line() {
        let whole = vec![parts(64 << 10, 1.0)];
        let rows = rows(&[SweepColumn::new(PUSHED, whole)]);
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|row| row.config == "engines, pushed, 64 KiB"));
    }

    #[test]
    fn what_was_simulated_is_held_against_the_line() {
        let line = [parts(100, 1.0), parts(300, 1.0)];
        let status = |byte: f64| {
            let column = SweepColumn::of_line(OURS, line, vec![parts(1000, byte)]);
            rows(&[column]).last().unwrap().status
        };
        assert_eq!((status(1.0), status(0.97)), (Status::Hit, Status::Miss));
        // The sizes that define the line are not compared with it.
        assert!(rows(&[column(OURS, 1.0)]).iter().all(|row| row.table != LINE));
    }

    #[test]
    fn a_ratio_needs_both_and_may_miss() {
        let paper = Paper::load("quick-boot-tee").unwrap();
        let ratios = |columns: &[SweepColumn]| -> Vec<Status> {
            let rows = payload(columns, &paper).unwrap();
            rows.iter().filter(|row| row.metric == "ratio").map(|row| row.status).collect()
        };
        assert!(ratios(&[column(DMA_24, 1.0)]).is_empty());
        let columns = [column(DMA_24, 1.0), column(PORTABLE, 399.0), column(OURS, 181.0)];
        assert_eq!(ratios(&columns), [Status::Miss, Status::Hit]);
    }

    #[test]
    fn decades_are_beside_those_of_the_paper() {
        let paper = Paper::load("quick-boot-tee").unwrap();
        let columns = [column(PAPER, 1.0), column(PORTABLE, 100.0)];
        let row = decades(&columns, 2 << 20, &paper).unwrap().unwrap();
        assert_eq!((row.published, row.ours), (Some(2.5), Some(2.0)));
    }
}
