//! One block of SHA-256 with the vector crypto instructions, instruction by instruction, compared with the
//! listing of the fourth paper.
//!
//! The paper proposes an instruction that compresses whole blocks. The ratified instructions compute two
//! rounds each and leave loads, constants and the message schedule to the program. The listing is not a
//! measurement, because it never ran. Its steps are described here in this project's own words.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};

use anyhow::{Context, Result, bail};

use hartlock_device::kernels::{Count, HARTS, Hart, KernelBench};
use hartlock_results::paper::Paper;
use hartlock_results::run::Row;
use xtask::firmware;

/// The kernel for one message, at the vector length that fits a block best.
const KERNEL: &str = "hartlock_sha256_rv64_zvknha";
const HART: &str = "zvknh-128";
/// Size in bytes of a memory range that includes the longest kernel.
const REACH: u64 = 4096;
/// Block size in bytes.
const BLOCK: f64 = 64.0;

/// A part of the work, and a predicate for the mnemonics that belong to it.
type WorkPart = (&'static str, fn(&str) -> bool);

const PARTS: &[WorkPart] = &[
    ("state in and out", |name| name.contains("xei16") || name.starts_with("vle16")),
    ("constants into registers", |name| name.starts_with("vl8re")),
    ("message into registers", |name| name.starts_with("vl4re") || name == "vrev8.v"),
    ("rounds", |name| name.starts_with("vsha2c")),
    ("message schedule", |name| name.starts_with("vsha2ms") || name.starts_with("vmerge")),
    ("constants to words, feed-forward", |name| name.starts_with("vadd")),
    ("configuration, addresses, loop", |_| true),
];

/// Returns the numbers of instructions of one block, by part of the work.
pub fn rows(instructions: &[String], counts: &[(&Hart, Count)], paper: &Paper) -> Result<Vec<Row>> {
    const TABLE: &str = "one block of SHA-256";
    const WHOLE: &str = "the whole kernel";
    const CONFIG: &str = "zvknh, VLEN 128";
    let is_it = |(hart, count): &&(&Hart, Count)| {
        (hart.name, count.hash.as_str(), count.form.as_str()) == (HART, "sha256", "one")
            && count.tier == "zvknh"
    };
    let (_, long) = counts.iter().find(is_it).context("one long message was not counted")?;
    let mut rows = vec![
        Row::info(TABLE, "a block of many", UNIT, long.per_byte() * BLOCK)
            .of(WHOLE)
            .published(paper)?
            .noted(
                "ours: the whole hash of 64 KiB; published: a listing that never ran, with an \
                 instruction that compresses up to four blocks",
            )
            .incomparable("that instruction does the work of many"),
        Row::info(TABLE, "one block alone", UNIT, instructions.len() as f64)
            .of(WHOLE)
            .published(paper)?
            .noted(format!(
                "ours: with what a call costs, without padding, as the listing; {}",
                summary(instructions)
            ))
            .incomparable("that instruction does the work of many"),
    ];
    let mut rest: Vec<&String> = instructions.iter().collect();
    for (part, belongs) in PARTS {
        let (of_part, others): (Vec<&String>, Vec<&String>) =
            rest.into_iter().partition(|line| belongs(mnemonic(line)));
        rows.push(Row::info(TABLE, *part, UNIT, of_part.len() as f64).of(CONFIG));
        rest = others;
    }
    Ok(rows)
}

/// Formats every instruction in the order of execution as CSV, with its part of the work.
pub fn csv(instructions: &[String]) -> String {
    let mut text = "number,instruction,part\n".to_owned();
    for (number, line) in (1..).zip(instructions) {
        let part = PARTS.iter().find(|(_, belongs)| belongs(mnemonic(line)));
        let part = part.map_or("", |(part, _)| part);
        text += &format!("{number},\"{line}\",\"{part}\"\n");
    }
    text
}

const UNIT: &str = "instructions";

/// Returns a summary of the form `3 vadd.vv, 2 vsha2cl.vv, …`, in the order of first execution.
fn summary(instructions: &[String]) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for line in instructions {
        let name = mnemonic(line);
        match runs.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => runs.push((name, 1)),
        }
    }
    runs.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

fn mnemonic(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Returns the instructions of the kernel's first call that compresses a block, in order. The first
/// message of a bench is `abc`, which is one block. A call without a block returns at once and is ignored.
pub fn executed(bench: &KernelBench) -> Result<Vec<String>> {
    let hart = HARTS.iter().find(|hart| hart.name == HART).context("a hart of ours")?;
    let start = firmware::symbol(bench.elf(), KERNEL)?;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let path = log.to_str().context("a path in UTF-8")?;
    let range = format!("{start:#x}+{REACH:#x}");
    let mut options = hart.options();
    // QEMU translates one instruction at a time: it logs its text when it is translated, and its address
    // each time that it runs.
    options.extend(["-accel", "tcg,one-insn-per-tb=on"].map(str::to_owned));
    options
        .extend(["-d", "in_asm,exec,nochain", "-dfilter", &range, "-D", path].map(str::to_owned));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    bench.run(&options)?;
    let log = BufReader::new(fs::File::open(&log).context("QEMU's log")?);
    first_block(start, log.lines())
}

/// Returns the first call in QEMU's log that executes rounds.
fn first_block(
    start: u64,
    lines: impl Iterator<Item = std::io::Result<String>>,
) -> Result<Vec<String>> {
    let mut texts: HashMap<u64, String> = HashMap::new();
    let mut call = Vec::new();
    for line in lines {
        let line = line?;
        if let Some((address, text)) = translated(&line) {
            texts.insert(address, text);
        } else if let Some(address) = ran(&line) {
            if address == start {
                call.clear();
            }
            call.push(texts.get(&address).context("an instruction without a text")?.clone());
            let is_end = call.last().is_some_and(|text| mnemonic(text) == "ret");
            if is_end && call.iter().any(|text| text.starts_with("vsha2c")) {
                return Ok(call);
            }
        }
    }
    bail!("no call of {KERNEL} compresses a block")
}

/// Parses a line of the form `0x80001234: 12345678 vadd.vv v1,v2,v3`.
fn translated(line: &str) -> Option<(u64, String)> {
    let (address, rest) = line.strip_prefix("0x")?.split_once(':')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    Some((address, rest.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")))
}

/// Parses a line of the form `Trace 0: 0x7f8c5c000100 [00000000/0000000080001234/00000003/ff000001] name`.
fn ran(line: &str) -> Option<u64> {
    let (_, place) = line.strip_prefix("Trace ")?.split_once('[')?;
    u64::from_str_radix(place.split('/').nth(1)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
        IN: kernel\n\
        0x80001000:  ca19  beqz a2,6\n\
        Trace 0: 0x7f8c5c000100 [00000000/0000000080001000/00000003/ff000001] kernel\n\
        0x80001006:  8082  ret\n\
        Trace 0: 0x7f8c5c000100 [00000000/0000000080001006/00000003/ff000001] kernel\n\
        Trace 0: 0x7f8c5c000100 [00000000/0000000080001000/00000003/ff000001] kernel\n\
        0x80001002:  00000001  vsha2cl.vv v1,v2,v3\n\
        Trace 0: 0x7f8c5c000100 [00000000/0000000080001002/00000003/ff000001] kernel\n\
        Trace 0: 0x7f8c5c000100 [00000000/0000000080001006/00000003/ff000001] kernel\n";

    #[test]
    fn a_call_without_a_block_is_passed_over() {
        let lines = || LOG.lines().map(|line| Ok(line.trim_start().to_owned()));
        let block = first_block(0x8000_1000, lines()).unwrap();
        assert_eq!(block, ["beqz a2,6", "vsha2cl.vv v1,v2,v3", "ret"]);
        assert!(first_block(0x8000_1000, lines().take(5)).is_err());
    }
}
