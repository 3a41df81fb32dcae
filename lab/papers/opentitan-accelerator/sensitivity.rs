//! Evaluates how the speed-up depends on the machine: one parameter is varied at a time, and the others
//! keep their presets.

use anyhow::{Context, Result};

use super::baseline::{self, CountedFunctions};
use super::runs::{self, Function, LabelledSample, Memory};
use crate::counts::Count;
use hartlock_hw::machines::rot::{CACHED, FETCHES, Rot, rot};
use hartlock_results::run::{How, Row};
use hartlock_results::sensitivity::TABLE;

/// A machine, options of its bench, and its name in the table.
type Variant = (Rot, &'static [&'static str], String);

/// Names of latencies, and options of the host's memory for them.
const HITS: [(&str, &[&str]); 4] = [
    ("13 cycles", &["--llc-hit", "11"]),
    ("18 cycles", &["--llc-hit", "16"]),
    ("33 cycles", &["--llc-hit", "31"]),
    ("43 cycles", &["--llc-hit", "41"]),
];
const SIZES: [(&str, &[&str]); 3] = [
    ("none", &["--llc-size", "0"]),
    ("2 KiB", &["--llc-size", "0x800"]),
    ("8 KiB", &["--llc-size", "0x2000"]),
];
/// Latencies without a last-level cache, so that every access takes this time.
const MISSES: [(&str, &[&str]); 3] = [
    ("50 cycles", &["--llc-size", "0", "--memory-latency", "50"]),
    ("100 cycles", &["--llc-size", "0", "--memory-latency", "100"]),
    ("200 cycles", &["--llc-size", "0", "--memory-latency", "200"]),
];
const MEMORIES: [(&str, &[&str]); 3] = [
    ("5 cycles", &["--memory-latency", "5"]),
    ("50 cycles", &["--memory-latency", "50"]),
    ("100 cycles", &["--memory-latency", "100"]),
];

/// Returns the rows of all parameters. `own` has the samples and counts at the presets, to which the
/// paper's number is added.
pub fn rows(own: (&[LabelledSample], &[Count]), bytes: usize, of_paper: f64) -> Result<Vec<Row>> {
    let (samples, software) = own;
    let at_preset = |parameter, label| -> Result<Row> {
        Ok(row(parameter, label, own, bytes)?.with_published(of_paper))
    };
    let preset = rot("rot").context("the machine of the paper")?;
    let of_rot = |variants: Vec<Variant>, parameter| -> Result<Vec<Row>> {
        let row = |(machine, options, label): Variant| {
            let samples = runs::measure_on(machine, options, &[bytes])?;
            row(parameter, &label, (&samples, software), bytes)
        };
        variants.into_iter().map(row).collect()
    };
    let options = |list: &[(&str, &'static [&'static str])]| -> Vec<Variant> {
        list.iter().map(|(label, options)| (preset, *options, (*label).to_owned())).collect()
    };
    let fetches = FETCHES.map(|(latency, rot)| (rot, &[][..], format!("{latency} cycles")));
    let mut rows = vec![];
    for (parameter, variants, label) in [
        ("fetch latency of Ibex", fetches.to_vec(), "5 cycles"),
        ("instruction cache of Ibex", vec![(CACHED, &[][..], "4 KiB".to_owned())], "none"),
        ("hit in the last-level cache", options(&HITS), "23 cycles"),
        ("size of the last-level cache", options(&SIZES), "128 KiB"),
        ("access without a last-level cache", options(&MISSES), ""),
    ] {
        rows.extend(of_rot(variants, parameter)?);
        if !label.is_empty() {
            rows.push(at_preset(parameter, label)?);
        }
    }
    let flags = "optimisation of BearSSL";
    let [own_flags, others @ ..] = baseline::OPTIMISATIONS;
    rows.push(at_preset(flags, own_flags)?);
    for other in others {
        rows.push(row(
            flags,
            other,
            (samples, &baseline::measure(CountedFunctions::Hashes, other, &[])?),
            bytes,
        )?);
    }
    let memory = "memory latency of CVA6";
    rows.push(at_preset(memory, "20 cycles")?);
    for (label, options) in MEMORIES {
        let software = baseline::measure(CountedFunctions::Hashes, own_flags, options)?;
        rows.push(row(memory, label, (samples, &software), bytes)?);
    }
    Ok(How::Simulated.made(rows))
}

/// Returns the speed-up over software for SHA-256 of a payload in RAM.
fn row(
    parameter: &str,
    label: &str,
    of: (&[LabelledSample], &[Count]),
    bytes: usize,
) -> Result<Row> {
    let (samples, software) = of;
    let sample = runs::find(samples, Function::Sha256, Memory::Ram, bytes)?.cycles_per_byte();
    let is_it = |it: &&Count| {
        it.who == "bearssl"
            && it.bytes == bytes
            && Function::of_baseline(&it.what) == Some(Function::Sha256)
    };
    let software = software.iter().find(is_it).context("no BearSSL")?.cycles_per_byte();
    let row = Row::info(TABLE, parameter, "times as fast as CVA6", software / sample).of(label);
    Ok(row.noted(format!(
        "SHA-256 of {bytes} bytes in RAM: {sample:.2} and {software:.1} cycles a byte"
    )))
}
