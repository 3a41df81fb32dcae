//! Software on a bare hart of the same machine (`lab/portable`): crates without assembly, which replace the paper's C
//! code, and this project's kernels with instruction counts.

use std::fmt::Write;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use hartlock_fsbl::Computer;
use hartlock_kernels::ed25519_signer::KeyPair;
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::{Hash, Kernels};

use super::sweep::{Parts, SweepColumn};
use crate::counts::{self, Count};
use hartlock_hw::machines::tee::Tee;
use hartlock_hw::machines::tee_boot::Prepared;
use hartlock_results::run::{Better, How, Row};
use xtask::project;

pub const TABLE: &str = "Software on a bare hart";
const NAME: &str = "portable";
pub const CRATES: &str = "crates";
pub const OURS: &str = "hartlock";
/// Maximum number of instructions of a key pair by this project's signer.
const KEY_PAIR: f64 = 400_000.0;
/// Sizes of the monitors in bytes: two for the cost of a byte, and one that is compared with the result.
const SIZES: [usize; 3] = [8 << 10, 16 << 10, 64 << 10];
/// Maximum difference in percent between the whole boot of the loader and the sum of its parts here. The programs are
/// linked differently, so their cache misses differ.
const TOLERANCE: f64 = 5.0;

/// Runs the program.
///
/// # Errors
/// Fails if the program cannot be built, or if a result is wrong.
pub fn measure(machine: Tee) -> Result<Vec<Count>> {
    let program = counts::build(NAME, &project::target_dir().join("lab").join(NAME), &[])?;
    eprintln!("software on a bare hart of {}", machine.name);
    let start = Instant::now();
    let prepared = Prepared::of_program(machine, fs::read(program)?)?;
    let kept = project::cache_dir()?.join("boots").join(machine.name);
    let ran = prepared.run_once(&kept).context("software on a bare hart")?;
    eprintln!("software on a bare hart ({:.0} s)", start.elapsed().as_secs_f64());
    read(&ran.console)
}

/// Parses the program's counts: `measure`, `derive`, `key` and `sign` of each implementation.
fn read(console: &str) -> Result<Vec<Count>> {
    counts::read(console, right)
}

/// Returns the correct result of a part in hexadecimal.
fn right(what: &str, bytes: usize) -> Result<String> {
    let len = if what == "measure" { bytes } else { SIZES[2] };
    let monitor: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    right_of(&monitor, what)
}

/// Same as [`right`], for another monitor.
pub fn right_of(monitor: &[u8], what: &str) -> Result<String> {
    let digest = |parts: &[&[u8]]| Computer::new(Kernels::PORTABLE).digest(parts);
    fn pair(expanded: &[u8; 64]) -> Result<KeyPair<'_>> {
        KeyPair::new(expanded).ok().context("no key pair")
    }
    let device: [u8; 64] = std::array::from_fn(|at| 255 - at as u8);
    let measurement = digest(&[monitor]);
    let mut expanded = digest(&[&digest(&[&device, &measurement])[..32]]);
    expanded[0] &= 0xf8;
    expanded[31] = expanded[31] & 0x7f | 0x40;
    let result = match what {
        "measure" => measurement.to_vec(),
        "derive" => expanded.to_vec(),
        "key" => pair(&expanded)?.public_key().to_vec(),
        "device" => pair(&device)?.public_key().to_vec(),
        "sign" => {
            let message = [&measurement[..], pair(&expanded)?.public_key()].concat();
            let signed = pair(&device)?.sign(|| Sha3_512::with(&Kernels::PORTABLE), &message);
            signed.ok().context("no signature")?.to_vec()
        }
        _ => bail!("an unknown part {what}"),
    };
    Ok(result.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Returns the column of the figure for an implementation. The cost of a byte comes from two sizes, and the third size
/// was simulated completely.
pub fn column(counts: &[Count], who: &str, name: &'static str) -> Option<SweepColumn> {
    let find = |what: &str, bytes: usize| {
        let is_it = |it: &&Count| it.who == who && it.what == what && it.bytes == bytes;
        counts.iter().find(is_it).map(|it| it.cycles)
    };
    let parts = |bytes: usize| {
        Some(Parts {
            bytes,
            measure: find("measure", bytes)?,
            derive: find("derive", 64)?,
            key_pair: find("key", 32)?,
            sign: find("sign", 96)?,
        })
    };
    let [short, long, whole] = SIZES;
    Some(SweepColumn::of_line(name, [parts(short)?, parts(long)?], vec![parts(whole)?]))
}

/// Returns each part in cycles and instructions, and compares the whole boot in this project's software with the sum of
/// its parts.
pub fn rows(counts: &[Count], booted: Option<Parts>) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in counts {
        let who = name(&it.who);
        let config = format!("{who}, {}, {} bytes", it.what, it.bytes);
        let cycles = Row::info(TABLE, "time", "cycles", it.cycles as f64).of(&config);
        let note = if it.what != "sign" {
            ""
        } else if it.who == OURS {
            "with a key pair before and a verification after"
        } else {
            "without a verification"
        };
        rows.push(if note.is_empty() { cycles } else { cycles.noted(note) });
        let row = Row::info(TABLE, "instructions", "instructions", it.instructions as f64);
        let row = row.of(&config);
        let is_judged = it.who == OURS && it.what == "key";
        rows.push(if is_judged { row.judged(Better::Lower, KEY_PAIR) } else { row });
    }
    let mut rows = How::Simulated.made(rows);
    let apart = column(counts, OURS, "").and_then(|column| column.cycles(SIZES[2], 1));
    if let (Some(booted), Some((apart, _))) = (booted, apart) {
        let off = 100.0 * (booted.whole() as f64 / apart - 1.0).abs();
        let row = Row::info(TABLE, "64 KiB, boot of the loader against its parts", "percent", off);
        let row = row.of(name(OURS)).judged(Better::Lower, TOLERANCE);
        rows.push(row.how(How::Computed));
    }
    rows
}

fn name(who: &str) -> &str {
    if who == CRATES { "portable software" } else { "our software" }
}

/// Formats every part as CSV.
pub fn csv(counts: &[Count]) -> String {
    let mut text = "who,what,bytes,cycles,instructions\n".to_owned();
    for Count { who, what, bytes, cycles, instructions } in counts {
        let _ = writeln!(text, "{who},{what},{bytes},{cycles},{instructions}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_wrong_result_and_an_early_end() {
        let line = format!("count crates key 32 5000 4000 {}\n", right("key", 32).unwrap());
        let counts = read(&format!("{line}bench: done\n")).unwrap();
        assert_eq!((counts.len(), counts[0].cycles, counts[0].instructions), (1, 5000, 4000));
        assert!(read(&line).is_err());
        assert!(read(&format!("{}bench: done\n", line.replace("key", "sign"))).is_err());
        let zeros = format!("count crates sign 96 1 1 {}\nbench: done\n", "00".repeat(64));
        assert!(read(&zeros).is_err());
    }

    fn counts(whole: u64) -> Vec<Count> {
        let parts = [
            ("measure", SIZES[0], 8192 * 10 + 7),
            ("measure", SIZES[1], 16384 * 10 + 7),
            ("measure", SIZES[2], whole),
            ("derive", 64, 5),
            ("key", 32, 10),
            ("sign", 96, 20),
        ];
        let of = |who: &str| {
            parts.map(|(what, bytes, cycles)| Count {
                who: who.to_owned(),
                what: what.to_owned(),
                bytes,
                cycles,
                instructions: 400_001,
            })
        };
        [of(CRATES), of(OURS)].concat()
    }

    #[test]
    fn a_column_is_of_two_lengths_and_a_whole_run() {
        let column = column(&counts(1), CRATES, "name").unwrap();
        assert_eq!(column.cycles(65_536, 1), Some((36.0, How::Simulated)));
        assert_eq!(column.cycles(100, 1), Some((1042.0, How::Scaled)));
    }

    #[test]
    fn a_boot_is_held_against_its_parts() {
        use hartlock_results::run::Status;
        let misses = |measure| {
            let booted = Parts { bytes: SIZES[2], measure, derive: 5, key_pair: 10, sign: 20 };
            let rows = rows(&counts(655_367), Some(booted));
            rows.iter().filter(|row| row.status == Status::Miss).count()
        };
        // One of the misses is this project's key pair, which is one instruction above its bound.
        assert_eq!((misses(655_367), misses(600_000)), (1, 2));
    }
}
