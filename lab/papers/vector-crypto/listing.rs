//! One block of SHA-256 with the instructions for it, instruction by instruction, beside the listing
//! of the fourth paper.
//!
//! The paper proposes an instruction that compresses whole blocks; what was ratified does two rounds
//! at a time and leaves loads, constants and the message schedule to the program. Its listing is no
//! measurement: it never ran. Its steps are named here in words of our own.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::paper::Paper;
use crate::run::Row;
use hartlock_device::kernels::{Bench, Count, HARTS, Hart};
use xtask::firmware;

/// The kernel for one message, at the width where a block fits it best.
const KERNEL: &str = "hartlock_sha256_rv64_zvknha";
const HART: &str = "zvknh-128";
/// Past the end of the longest kernel.
const REACH: u64 = 4096;
/// Bytes of a block.
const BLOCK: f64 = 64.0;

/// A part of the work, and the instructions that belong to it.
type Part = (&'static str, fn(&str) -> bool);

const PARTS: &[Part] = &[
    ("state in and out", |name| name.contains("xei16") || name.starts_with("vle16")),
    ("constants into registers", |name| name.starts_with("vl8re")),
    ("message into registers", |name| name.starts_with("vl4re") || name == "vrev8.v"),
    ("rounds", |name| name.starts_with("vsha2c")),
    ("message schedule", |name| name.starts_with("vsha2ms") || name.starts_with("vmerge")),
    ("constants to words, feed-forward", |name| name.starts_with("vadd")),
    ("configuration, addresses, loop", |_| true),
];

/// The instructions of one block and where they belong.
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
            ),
        Row::info(TABLE, "one block alone", UNIT, instructions.len() as f64)
            .of(WHOLE)
            .published(paper)?
            .noted(format!(
                "ours: with what a call costs, without padding, as the listing; {}",
                summary(instructions)
            )),
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

/// Every instruction in the order of execution, and the part of the work that it belongs to.
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

/// `3 vadd.vv, 2 vsha2cl.vv, …` in the order in which they are executed.
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

/// The instructions that the kernel executes for one block, in order: QEMU translates one at a time
/// and says each when it is first reached, and the first message that a bench hashes with a kernel
/// is `abc`, which is one block.
pub fn executed(bench: &Bench) -> Result<Vec<String>> {
    let hart = HARTS.iter().find(|hart| hart.name == HART).context("a hart of ours")?;
    let start = firmware::symbol(bench.elf(), KERNEL)?;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let mut options = hart.options();
    options.extend([
        "-accel".into(),
        "tcg,one-insn-per-tb=on".into(),
        "-d".into(),
        "in_asm".into(),
    ]);
    options.extend(["-dfilter".into(), format!("{start:#x}+{REACH:#x}"), "-D".into()]);
    options.push(log.to_str().context("a path in UTF-8")?.to_owned());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    bench.run(&options)?;
    let text = fs::read_to_string(&log).context("QEMU's log")?;
    let mut executed = Vec::new();
    for line in text.lines() {
        // 0x80001234:  12345678          vadd.vv         v1,v2,v3
        let mut words = line.split_whitespace();
        let (Some(address), Some(_)) = (words.next(), words.next()) else { continue };
        if !address.starts_with("0x") {
            continue;
        }
        executed.push(words.collect::<Vec<_>>().join(" "));
        if mnemonic(executed.last().context("just pushed")?) == "ret" {
            ensure!(executed.iter().any(|line| line.starts_with("vsha2c")), "no rounds in\n{text}");
            return Ok(executed);
        }
    }
    anyhow::bail!("the kernel was not reached, or does not end\n{text}")
}
