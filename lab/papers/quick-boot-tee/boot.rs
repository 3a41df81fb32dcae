//! The boot of a TEE on `tee-1-full`: what measuring, the key pair and the endorsement take, by engines and in software.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use crate::paper::Paper;
use crate::run::{Better, How, Row};
use hartlock_hw::machines::End;
use hartlock_hw::machines::tee::tee;
use hartlock_hw::machines::tee_boot::{self, Boot, By, between};

pub const TABLE: &str = "Boot of a monitor";
/// The payload of the paper, which this machine has no place for: from two lengths.
pub const SCALED: &str = "Boot of 2 MiB";
/// The machine whose software can be compared with.
const MACHINE: &str = "tee-1-full";
const QUICK: usize = 64 << 10;
/// A second length, for the cost of a byte: engines are fast, and software is slow to simulate.
const LONG: usize = 512 << 10;
const SHORT: usize = 16 << 10;
/// At most so many cycles.
const KEY_PAIR: f64 = 18_000.0;
const SIGN: f64 = 66_000.0;

/// One boot: cycles of its parts.
#[derive(Clone, Copy, Debug)]
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
        By::Pushed => "pushed",
        By::Committed => "committed",
        By::BrokenEngines => "broken engines",
        By::Software => "our software",
        By::Portable => "portable software",
    }
}

/// Boots by engines, of two lengths at least; beyond a quick run also in software, which takes minutes to simulate.
pub fn measure(is_quick: bool) -> Result<Vec<Booted>> {
    let mut all = vec![(By::Engines, SHORT), (By::Engines, QUICK)];
    if !is_quick {
        all.push((By::Engines, LONG));
        all.extend(
            [By::Software, By::Portable].into_iter().flat_map(|by| [(by, SHORT), (by, QUICK)]),
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
    rows.extend(scaled(boots, paper)?);
    Ok(rows)
}

/// Table 2 as far as it names what is measured: key pairs, and the signature by engines, which cannot hold its payload
/// (erratum).
fn published(boots: &[Booted], paper: &Paper) -> Result<Vec<Row>> {
    let clock = paper.constant("clock_mhz")?;
    let find = |by: By| boots.iter().find(|boot| boot.by == by);
    let software = find(By::Portable).or(find(By::Software));
    let engines = find(By::Engines).context("no boot by engines")?;
    let mut numbers = vec![
        ("HW SHA-3, HW Ed25519, Ed25519 genkey", engines.by, engines.key_pair),
        ("HW SHA-3, HW Ed25519, Ed25519 sign", engines.by, engines.sign),
    ];
    numbers.extend(software.map(|it| ("Software, Ed25519 genkey", it.by, it.key_pair)));
    let row = |(config, by, cycles): (&str, By, u64)| {
        let row = Row::info("Table 2", "time", "ms", cycles as f64 / clock / 1000.0).of(config);
        let note = format!("{}, {MACHINE}, {clock} MHz", name(by));
        row.how(How::Simulated).noted(note).published(paper)
    };
    numbers.into_iter().map(row).collect()
}

/// Cycles of the paper's payload: the difference of two lengths gives a byte, and the longer one the rest.
fn whole_of(boots: &[Booted], by: By, bytes: usize) -> Option<f64> {
    let mut of: Vec<&Booted> = boots.iter().filter(|boot| boot.by == by).collect();
    of.sort_unstable_by_key(|boot| boot.bytes);
    let [short, .., long] = of[..] else { return None };
    let byte = (long.measure as f64 - short.measure as f64) / (long.bytes - short.bytes) as f64;
    Some(long.whole() as f64 + byte * (bytes as f64 - long.bytes as f64))
}

fn scaled(boots: &[Booted], paper: &Paper) -> Result<Vec<Row>> {
    let bytes = paper.constant("payload_bytes")? as usize;
    let engines = whole_of(boots, By::Engines, bytes);
    let mut rows = Vec::new();
    for by in [By::Engines, By::Software, By::Portable] {
        let Some(cycles) = whole_of(boots, by, bytes) else { continue };
        let row = Row::info(SCALED, "whole", "cycles", cycles).of(name(by));
        rows.push(row.how(How::Scaled).noted("from two lengths; the machine has a place of 1 MiB"));
        // 24 cycles a block. Baselines are named: the paper's is portable C, and ours is not.
        let target = match by {
            By::Software => 180.0,
            By::Portable => 400.0,
            _ => continue,
        };
        if let Some(engines) = engines {
            let config = format!("engines against {}", name(by));
            let row = Row::info(SCALED, "ratio", "times", cycles / engines).of(&config);
            rows.push(row.judged(Better::Higher, target).how(How::Scaled));
        }
    }
    Ok(rows)
}

/// Every boot, as CSV.
pub fn csv(boots: &[Booted]) -> String {
    let mut text = "by,bytes,measure,derive,key_pair,device_key,sign\n".to_owned();
    for boot in boots {
        let Booted { by, bytes, measure, derive, key_pair, device_key, sign } = boot;
        let by = name(*by);
        let _ = writeln!(text, "{by},{bytes},{measure},{derive},{key_pair},{device_key},{sign}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booted(by: By, bytes: usize, measure: u64) -> Booted {
        Booted { by, bytes, measure, derive: 5, key_pair: 10, device_key: 1000, sign: 20 }
    }

    #[test]
    fn a_payload_is_scaled_by_what_a_byte_costs() {
        let boots = [booted(By::Engines, 100, 150), booted(By::Engines, 300, 350)];
        assert_eq!(whole_of(&boots, By::Engines, 1000), Some(350.0 + 35.0 + 700.0));
        assert_eq!(whole_of(&boots, By::Software, 1000), None);
        assert_eq!(whole_of(&boots[..1], By::Engines, 1000), None);
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
