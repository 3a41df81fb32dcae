//! Hashes by DMA on the root of trust (`verif/programs/rot-dma`). Digests are checked here, and cycles have bounds.

use anyhow::{Context, Result, ensure};

use super::rot::{self, Rot};
use super::soc::{self, Soc};
use super::{End, digests};
use xtask::firmware;

/// The limit of cycles. The program fills memory and reads it back word by word.
const MAX_CYCLES: &str = "20000000";

/// A list of the DMA engine that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredDmaList {
    /// The engines that were used, and `write` if the payload was copied.
    pub functions: Vec<String>,
    pub bytes: usize,
    /// The offset of the first byte from a word boundary.
    pub offset: usize,
    /// Cycles from the doorbell to the last valid digest.
    pub cycles: u64,
    /// Cycles before the doorbell, in which engines, list and registers are set up.
    pub set_up: u64,
    digests: Vec<String>,
}

impl MeasuredDmaList {
    pub fn cycles_per_byte(&self) -> f64 {
        self.cycles as f64 / self.bytes as f64
    }

    fn is_right(&self) -> bool {
        let message = digests::message(self.offset, self.bytes);
        self.functions
            .iter()
            .filter_map(|name| digests::digest(name, &message))
            .eq(self.digests.iter().cloned())
    }
}

/// Runs the program. Every digest has to be right.
///
/// # Errors
/// If a digest is wrong, or the program fails.
pub fn measure(rot: Rot, options: &[&str]) -> Result<Vec<MeasuredDmaList>> {
    let program = firmware::rot_program("rot-dma", &[])?;
    // Runs with different options may be executed at the same time.
    let folder = rot::folder(rot).join(format!("dma{}", options.concat()));
    let options = [&["--max-cycles", MAX_CYCLES], options].concat();
    let (console, _, end) = rot::run_program(&rot::machine(rot)?, &program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console)
}

/// Hashes the same bytes with every feed of the drivers: pushed by the core while polling and while asleep, and by DMA
/// while asleep.
///
/// # Errors
/// If a digest is wrong, or the program fails.
pub fn feed(rot: Rot) -> Result<usize> {
    let program = firmware::rot_program("rot-dma", &["feeds"])?;
    let options = ["--max-cycles", MAX_CYCLES];
    let (console, _, end) =
        rot::run_program(&rot::machine(rot)?, &program, &rot::folder(rot).join("feeds"), &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console).map(|rows| rows.len())
}

/// Does the same as [`measure`] next to a host that runs, through its port for other masters, which is coherent with
/// its caches.
///
/// # Errors
/// Same as [`measure`].
pub fn measure_coherent(soc: Soc) -> Result<Vec<MeasuredDmaList>> {
    let rot = firmware::rot_program("rot-dma", &["released"])?;
    let host = firmware::stage("rot-host", &["waits"])?.elf;
    let limit = ["--max-cycles".to_owned(), MAX_CYCLES.to_owned()];
    let (console, _, end) = soc::run(soc, &rot, (&host, &[]), &limit)?;
    ensure!(end == End::Success, "the programs ended in {end:?}\n{console}");
    judge(&console)
}

/// Returns the lists that a console reports, if every digest is right.
fn judge(console: &str) -> Result<Vec<MeasuredDmaList>> {
    let rows = console.lines().filter(|line| !line.is_empty()).map(|line| {
        let row = parse(line).with_context(|| format!("the program printed {line:?}"))?;
        ensure!(row.is_right(), "a digest is wrong: {line}");
        Ok(row)
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    ensure!(!rows.is_empty(), "the program printed nothing");
    Ok(rows)
}

/// Parses a line `dma <functions> <bytes> <offset> <cycles> <set-up> <digest>...`.
fn parse(line: &str) -> Option<MeasuredDmaList> {
    let mut words = line.strip_prefix("dma ")?.split(' ');
    let functions = words.next()?.split('+').map(str::to_owned).collect();
    let mut number = || words.next()?.parse::<u64>().ok();
    let (bytes, offset) = (number()? as usize, number()? as usize);
    let (cycles, set_up) = (number()?, number()?);
    let digests = words.map(str::to_owned).collect();
    Some(MeasuredDmaList { functions, bytes, offset, cycles, set_up, digests })
}

/// Prints the lists. `memory` describes where payloads are, for the last line.
pub fn print_table(rows: &[MeasuredDmaList], memory: &str) {
    println!(
        "{:<24} {:>6} {:>6} {:>7} {:>8} {:>12}",
        "functions", "bytes", "offset", "set-up", "cycles", "cycles/byte"
    );
    for row in rows {
        let functions = row.functions.join("+");
        let MeasuredDmaList { bytes, offset, cycles, set_up, .. } = row;
        let each =
            if row.bytes == 0 { String::new() } else { format!("{:.4}", row.cycles_per_byte()) };
        println!("{functions:<24} {bytes:>6} {offset:>6} {set_up:>7} {cycles:>8} {each:>12}");
    }
    println!("cycles from the doorbell to the last digest, {memory}");
}

/// The maximum number of cycles for a byte, by functions and bytes.
const BOUNDS: [(&str, usize, f64); 4] = [
    ("sha256", 16384, 0.56),
    ("sha256", 4096, 0.62),
    ("hmac-sha256", 4096, 0.70),
    ("sha3-256", 16384, 0.186),
];
/// Bytes of a block of SHA-3. A block may take 5 % more than its 24 cycles.
const RATES: [(&str, usize); 2] = [("sha3-384", 104), ("sha3-512", 72)];

/// Returns a list that is slower than its bound.
pub fn fault(rows: &[MeasuredDmaList]) -> Result<Option<String>> {
    let find = |functions: &str, bytes: usize| {
        let is_it = |row: &&MeasuredDmaList| {
            row.bytes == bytes && row.offset == 0 && row.functions.join("+") == functions
        };
        rows.iter()
            .find(is_it)
            .with_context(|| format!("{functions} of {bytes} bytes was not measured"))
    };
    for (functions, bytes, most) in BOUNDS {
        let row = find(functions, bytes)?;
        if row.cycles_per_byte() > most {
            return Ok(Some(format!(
                "{functions} of {bytes} bytes takes {:.4} cycles a byte",
                row.cycles_per_byte()
            )));
        }
    }
    for (functions, rate) in RATES {
        let bytes = 16384;
        let blocks = bytes / rate + 1;
        let cycles = find(functions, bytes)?.cycles;
        if cycles as f64 > 1.05 * 24.0 * blocks as f64 {
            return Ok(Some(format!("{blocks} blocks of {functions} take {cycles} cycles")));
        }
    }
    let (both, slower) = (find("sha256+sha3-384", 16384)?.cycles, find("sha256", 16384)?.cycles);
    if both as f64 > 1.02 * slower as f64 {
        return Ok(Some(format!("two engines take {both} cycles, the slower one alone {slower}")));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "dma sha256+write 3 1 170 204 \
                        039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81";

    #[test]
    fn digests_are_judged() {
        let row = parse(LINE).unwrap();
        assert_eq!((row.bytes, row.offset, row.cycles, row.set_up), (3, 1, 170, 204));
        assert!(row.is_right());
        assert!(!parse(&LINE.replace("039058", "039059")).unwrap().is_right());
        assert!(!parse(&LINE.replace(" 1 170", " 0 170")).unwrap().is_right());
        assert!(!parse(LINE.rsplit_once(' ').unwrap().0).unwrap().is_right());
        assert_eq!(parse("rot-dma: Copy"), None);
    }

    #[test]
    fn bounds_are_noticed() {
        let row = |functions: &str, bytes, cycles| MeasuredDmaList {
            functions: vec![functions.to_owned()],
            bytes,
            offset: 0,
            cycles,
            set_up: 0,
            digests: Vec::new(),
        };
        let good = [
            row("sha256", 16384, 8845),
            row("sha256", 4096, 2314),
            row("hmac-sha256", 4096, 2386),
            row("sha3-256", 16384, 3042),
            row("sha3-384", 16384, 3913),
            row("sha3-512", 16384, 5588),
            row("sha256+sha3-384", 16384, 8875),
        ];
        assert_eq!(fault(&good).unwrap(), None);
        for at in 0..good.len() {
            let mut slow = good.to_vec();
            slow[at].cycles = slow[at].cycles * 13 / 10;
            // If only SHA-256 is slower, the pair is not slower.
            assert!(fault(&slow).unwrap().is_some(), "{:?}", good[at].functions);
            slow.remove(at);
            assert!(fault(&slow).is_err());
        }
    }
}
