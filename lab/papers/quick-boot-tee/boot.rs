//! The boot of a TEE on `tee-1-full`: what measuring, the key pair and the endorsement take, by engines and in software.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use super::sweep::{self, Cost};
use crate::paper::Paper;
use crate::run::{Better, How, Row};
use hartlock_hw::machines::End;
use hartlock_hw::machines::tee::tee;
use hartlock_hw::machines::tee_boot::{self, Boot, By, between};

pub const TABLE: &str = "Boot of a monitor";
/// The payload of the paper, which this machine has no place for: from two lengths.
pub const SCALED: &str = "Boot of 2 MiB";
pub const TIMELINE: &str = "Timeline";
/// The machine whose software can be compared with.
pub const MACHINE: &str = "tee-1-full";
const QUICK: usize = 64 << 10;
/// A second length, for the cost of a byte: engines are fast, and software is slow to simulate.
const LONG: usize = 256 << 10;
const SHORT: usize = 16 << 10;
/// Columns of the figure that are simulated here. A machine that can do another one is a line more, and lengths in
/// [`measure`].
const COLUMNS: [(&str, By); 3] = [
    (sweep::OURS, By::Software),
    (sweep::HASH_ENGINE, By::HashEngine),
    (sweep::DMA_24, By::Engines),
];
/// At most so many cycles.
const KEY_PAIR: f64 = 18_000.0;
const SIGN: f64 = 66_000.0;

/// One boot: cycles of its parts.
#[derive(Clone, Debug)]
pub struct Booted {
    pub by: By,
    pub bytes: usize,
    /// SHA3-512 of the monitor in memory.
    pub measure: u64,
    /// The expanded key of the monitor, with the secret taken and closed.
    pub derive: u64,
    pub key_pair: u64,
    /// The device's public key, which a device can store.
    pub device_key: u64,
    /// 96 bytes, and the verification of the signature.
    pub sign: u64,
    /// What was reached, and in which cycle since reset.
    pub points: Vec<(String, u64)>,
}

impl Booted {
    fn whole(&self) -> u64 {
        self.measure + self.derive + self.key_pair + self.sign
    }
}

const fn name(by: By) -> &'static str {
    match by {
        By::Engines => "engines",
        By::Overlapped => "overlapped",
        By::Quiet => "quiet",
        By::Pushed => "pushed",
        By::Committed => "committed",
        By::BrokenEngines => "broken engines",
        By::Software => "our software",
        By::Portable => "our software, no assembly",
        By::HashEngine => "SHA-3 engine",
    }
}

/// Boots by engines, of two lengths at least; beyond a quick run also in software, which takes minutes to simulate.
pub fn measure(is_quick: bool) -> Result<Vec<Booted>> {
    let mut all = vec![(By::Engines, SHORT), (By::Engines, QUICK)];
    if !is_quick {
        all.push((By::Engines, LONG));
        all.extend(
            [By::HashEngine, By::Software].into_iter().flat_map(|by| [(by, SHORT), (by, QUICK)]),
        );
    }
    let machine = tee(MACHINE).context("the machine with engines")?;
    let of_one = |(by, bytes): (By, usize)| {
        eprintln!("boot of {bytes} bytes, {}", name(by));
        let ran = tee_boot::run(machine, &Boot { by, size: bytes, ..Boot::default() })?;
        ensure!(ran.end == End::Success, "it ended in {:?}\n{}", ran.end, ran.console);
        let part = |from, to| between(&ran, from, to);
        Ok(Booted {
            by,
            bytes,
            measure: part("read", "hashed")?,
            derive: part("verified", "derived")?,
            key_pair: part("derived", "key pair")?,
            device_key: part("key pair", "device key")?,
            sign: part("device key", "endorsed")?,
            points: ran.points.clone(),
        })
    };
    all.into_iter().map(of_one).collect()
}

/// Parts of each boot, then the paper's payload where two lengths are there.
pub fn rows(boots: &[Booted], paper: &Paper) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for boot in boots {
        let config = format!("{}, {} KiB", name(boot.by), boot.bytes >> 10);
        let is_judged = boot.by == By::Engines;
        let row = |metric: &str, cycles: u64, most: Option<f64>| {
            let row = Row::info(TABLE, metric, "cycles", cycles as f64).of(&config);
            let row = match most.filter(|_| is_judged) {
                Some(most) => row.judged(Better::Lower, most),
                None => row,
            };
            row.how(How::Simulated)
        };
        rows.push(row("measure", boot.measure, None));
        rows.push(row("derive", boot.derive, None).noted("secret, latch and two short hashes"));
        rows.push(row("key pair", boot.key_pair, Some(KEY_PAIR)));
        rows.push(row("device key", boot.device_key, None).noted("no part of the whole"));
        rows.push(row("sign", boot.sign, Some(SIGN)).noted("96 bytes, verified"));
        rows.push(row("whole", boot.whole(), None).noted("measure, derive, key pair, sign"));
    }
    rows.extend(published(boots, paper)?);
    rows.extend(timelines(boots));
    Ok(rows)
}

/// The columns of the figure that were simulated, of two lengths at least.
pub fn columns(boots: &[Booted]) -> Vec<sweep::Column> {
    COLUMNS.into_iter().filter_map(|(name, by)| Some((name, cost_of(boots, by)?))).collect()
}

/// Cycles of a boot of this size that was simulated whole.
pub fn whole(boots: &[Booted], column: &str, bytes: usize) -> Option<u64> {
    let by = COLUMNS.into_iter().find(|(name, _)| *name == column)?.1;
    boots.iter().find(|it| it.by == by && it.bytes == bytes).map(Booted::whole)
}

/// Table 2 as far as it names what is measured: key pairs, and the signature by engines, which cannot hold its payload
/// (erratum).
fn published(boots: &[Booted], paper: &Paper) -> Result<Vec<Row>> {
    let clock = paper.constant("clock_mhz")?;
    let find = |by: By| boots.iter().find(|boot| boot.by == by);
    let engines = find(By::Engines).context("no boot by engines")?;
    let mut numbers = vec![
        ("HW SHA-3, HW Ed25519, Ed25519 genkey", engines.by, engines.key_pair),
        ("HW SHA-3, HW Ed25519, Ed25519 sign", engines.by, engines.sign),
    ];
    if let Some(it) = find(By::HashEngine) {
        numbers.push(("HW SHA-3, SW Ed25519, Ed25519 genkey", it.by, it.key_pair));
        numbers.push(("HW SHA-3, SW Ed25519, Ed25519 sign", it.by, it.sign));
    }
    let row = |(config, by, cycles): (&str, By, u64)| {
        let row = Row::info("Table 2", "time", "ms", cycles as f64 / clock / 1000.0).of(config);
        let what = if config.ends_with("sign") { ", 96 bytes" } else { "" };
        let note = format!("{}{what}, {MACHINE}, {clock} MHz", name(by));
        row.how(How::Simulated).noted(note).published(paper)
    };
    numbers.into_iter().map(row).collect()
}

/// Every point of the boots of 64 KiB, from reset.
fn timelines(boots: &[Booted]) -> Vec<Row> {
    let mut rows = Vec::new();
    for boot in boots.iter().filter(|boot| boot.bytes == QUICK) {
        let mut before = 0;
        for (number, (what, cycle)) in boot.points.iter().enumerate() {
            let row =
                Row::info(TIMELINE, format!("{}. {what}", number + 1), "cycles", *cycle as f64);
            let note = format!("{} after the point before", cycle - before);
            before = *cycle;
            rows.push(
                row.of(&format!("{}, 64 KiB", name(boot.by))).noted(note).how(How::Simulated),
            );
        }
    }
    rows
}

/// A byte of the payload by the difference of the shortest and the longest boot, the rest by the longest.
fn cost_of(boots: &[Booted], by: By) -> Option<Cost> {
    let mut of: Vec<&Booted> = boots.iter().filter(|boot| boot.by == by).collect();
    of.sort_unstable_by_key(|boot| boot.bytes);
    let [short, .., long] = of[..] else { return None };
    let byte = (long.measure as f64 - short.measure as f64) / (long.bytes - short.bytes) as f64;
    Some(Cost {
        byte,
        once: long.measure as f64 - byte * long.bytes as f64,
        derive: long.derive as f64,
        key_pair: long.key_pair as f64,
        sign: long.sign as f64,
    })
}

/// The paper's payload, by each column.
pub fn scaled(columns: &[sweep::Column], bytes: usize) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = columns
        .iter()
        .map(|(name, cost)| {
            let row = Row::info(SCALED, "whole", "cycles", cost.whole(bytes)).of(name);
            let note = format!("{:.4} cycles a byte, from two lengths", cost.byte);
            row.how(How::Scaled).noted(note)
        })
        .collect();
    rows.extend(sweep::ratios(columns, bytes)?);
    Ok(rows)
}

/// Every boot, as CSV.
pub fn csv(boots: &[Booted]) -> String {
    let mut text = "by,bytes,measure,derive,key_pair,device_key,sign\n".to_owned();
    for boot in boots {
        let Booted { by, bytes, measure, derive, key_pair, device_key, sign, .. } = boot;
        let by = name(*by).replace(',', "");
        let _ = writeln!(text, "{by},{bytes},{measure},{derive},{key_pair},{device_key},{sign}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booted(by: By, bytes: usize, measure: u64) -> Booted {
        let points = vec![("begun".to_owned(), 3), ("ended".to_owned(), 10)];
        Booted { by, bytes, measure, derive: 5, key_pair: 10, device_key: 1000, sign: 20, points }
    }

    #[test]
    fn a_payload_is_scaled_by_what_a_byte_costs() {
        let boots = [booted(By::Engines, 100, 150), booted(By::Engines, 300, 350)];
        let [(name, cost)] = columns(&boots)[..] else { panic!("one column") };
        assert_eq!((name, cost.whole(1000)), (sweep::DMA_24, 350.0 + 35.0 + 700.0));
        assert!(columns(&boots[..1]).is_empty());
        assert_eq!(whole(&boots, sweep::DMA_24, 300), Some(385));
        assert_eq!(whole(&boots, sweep::OURS, 300), None);
    }

    #[test]
    fn a_timeline_says_what_each_point_took() {
        let rows = timelines(&[booted(By::Engines, QUICK, 1), booted(By::Engines, LONG, 1)]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].metric, "2. ended");
        assert_eq!(rows[1].note.as_deref(), Some("7 after the point before"));
    }

    #[test]
    fn only_engines_are_judged_and_the_device_key_is_apart() {
        let paper = Paper::load("quick-boot-tee").unwrap();
        let boots = [booted(By::Engines, 100, 150), booted(By::Software, 100, 90_000)];
        let rows = rows(&boots, &paper).unwrap();
        let judged: Vec<_> = rows.iter().filter(|row| row.target.is_some()).collect();
        assert_eq!(judged.len(), 2);
        assert!(judged.iter().all(|row| row.config.starts_with("engines")));
        let whole = rows.iter().find(|row| row.metric == "whole").unwrap();
        assert_eq!(whole.ours, Some(185.0));
    }
}
