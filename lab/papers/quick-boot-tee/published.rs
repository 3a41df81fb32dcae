//! Table 2 and the abstract's statement about it, compared with this project's boots and software.

use anyhow::Result;

use super::boot::MACHINE;
use super::sweep::{self, SweepColumn};
use hartlock_results::paper::Paper;
use hartlock_results::run::{How, Row};

/// Table with a signature of the payload itself, as the paper's algorithm 1 makes it.
pub const SIGNED: &str = "Table 2, the payload signed";
/// Payload size in bytes with which all columns were simulated.
const SMALL: usize = 64 << 10;
/// Columns of table 2, and the corresponding columns of this project.
const COLUMNS: [(&str, &str); 3] = [
    ("Software", sweep::PORTABLE),
    ("HW SHA-3, SW Ed25519", sweep::HASH_ENGINE),
    ("HW SHA-3, HW Ed25519", sweep::DMA_24),
];

/// Returns the rows of measured numbers. In the paper, the signature times of hardware do not include the payload
/// (erratum), and neither do those here.
pub fn rows(columns: &[SweepColumn], paper: &Paper) -> Result<Vec<Row>> {
    let (clock, bytes) = (paper.constant("clock_mhz")?, paper.constant("payload_bytes")? as usize);
    let milliseconds = |cycles: f64| cycles / clock / 1000.0;
    let find = |name: &str| columns.iter().find(|column| column.name == name);
    let parts = |name: &str| find(name)?.others(SMALL);
    // A signature reads the payload twice, in addition to the work for 96 bytes.
    let signed = |column: &SweepColumn| {
        Some(2.0 * column.measure(bytes)? + column.others(SMALL)?.sign as f64)
    };
    let mut rows = Vec::new();
    for (theirs, name) in COLUMNS {
        let Some(parts) = parts(name) else { continue };
        let row = |what: &str, cycles: f64, how: How, of: &str| {
            let row = Row::info("Table 2", "time", "ms", milliseconds(cycles)).how(how);
            let row = row.of(&format!("{theirs}, Ed25519 {what}"));
            row.noted(format!("{name}{of}, {MACHINE}, {clock} MHz")).published(paper)
        };
        rows.push(row("genkey", parts.key_pair as f64, How::Simulated, "")?);
        let payload = find(name).filter(|_| theirs == "Software").and_then(signed);
        rows.push(match payload {
            Some(cycles) => row("sign", cycles, How::Scaled, ", two passes over 2 MiB")?,
            None => row("sign", parts.sign as f64, How::Simulated, ", 96 bytes")?,
        });
    }
    for column in columns {
        if let Some(cycles) = signed(column) {
            let row = Row::info(SIGNED, "sign, two passes over 2 MiB", "ms", milliseconds(cycles));
            let note = format!("with 96 bytes that are hashed as well; {clock} MHz");
            rows.push(row.of(column.name).how(How::Scaled).noted(note));
        }
    }
    if let (Some(engines), Some(software)) = (parts(sweep::DMA_24), parts(sweep::HASH_ENGINE)) {
        let both = |parts: &sweep::Parts| (parts.key_pair + parts.sign) as f64;
        let decrease = 100.0 * (1.0 - both(engines) / both(software));
        let row = Row::info("Abstract, Ed25519", "decrease of the time", "percent", decrease);
        let row = row.of("genkey and sign").how(How::Computed);
        let note = "both together, by the engine against software of ours, each with its check";
        rows.push(row.noted(note).published(paper)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::super::sweep::Parts;
    use super::*;

    fn column(name: &'static str, times: u64) -> SweepColumn {
        let parts = |bytes: usize| Parts {
            bytes,
            measure: bytes as u64 * times,
            derive: 1,
            key_pair: 1000 * times,
            sign: 2000 * times,
        };
        SweepColumn::new(name, vec![parts(SMALL), parts(2 * SMALL)])
    }

    #[test]
    fn software_alone_has_the_payload() {
        let paper = Paper::load("quick-boot-tee").unwrap();
        let columns = [
            column(sweep::PORTABLE, 100),
            column(sweep::HASH_ENGINE, 10),
            column(sweep::DMA_24, 1),
        ];
        let rows = rows(&columns, &paper).unwrap();
        let of = |table: &str, config: &str| {
            let row = rows.iter().find(|row| row.table == table && row.config == config);
            row.and_then(|row| row.ours).unwrap_or_else(|| panic!("no {config}"))
        };
        assert_eq!(of("Table 2", "Software, Ed25519 genkey"), 1.0);
        assert_eq!(of("Table 2", "Software, Ed25519 sign"), 2.0 + 2.0 * 2097.152);
        assert_eq!(of("Table 2", "HW SHA-3, HW Ed25519, Ed25519 sign"), 0.02);
        assert_eq!(of(SIGNED, sweep::DMA_24), 41.963);
        assert_eq!(of("Abstract, Ed25519", "genkey and sign"), 90.0);
    }
}
