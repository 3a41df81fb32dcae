//! Checks the paper against itself: the arithmetic of its errata, each with the printed number.

use anyhow::{Context, Result};

use hartlock_results::paper::Paper;
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Errata, as arithmetic";

/// Returns the rows of all errata, computed from the paper's numbers and from the clock and cycles in
/// its authors' repository.
pub fn rows(paper: &Paper) -> Result<Vec<Row>> {
    let of = |table: &str, metric: &str, config: &str| {
        let number = paper.number(table, metric, config);
        Ok::<_, anyhow::Error>(number.with_context(|| format!("no {table}, {config}"))?.value)
    };
    let time = |config: &str| of("Table 2", "time", config);
    let software = ["genkey", "sign"].map(|what| format!("Software, Ed25519 {what}"));
    let clock = paper.constant("clock_mhz")?;
    let milliseconds = |cycles: f64| cycles / clock / 1000.0;
    let product = paper.constant("repository_product_cycles")?;
    let signature = product + paper.constant("repository_s_cycles")?;
    let hardware = ["genkey", "sign"].map(|what| format!("HW SHA-3, HW Ed25519, Ed25519 {what}"));
    let middle = ["genkey", "sign"].map(|what| format!("HW SHA-3, SW Ed25519, Ed25519 {what}"));
    let [genkey, sign] = [time(&hardware[0])?, time(&hardware[1])?];
    let blocks = (paper.constant("payload_bytes")? / 72.0).floor() + 1.0;
    let passes = milliseconds(2.0 * blocks * 12.0);
    let decades = (time("Software, Ed25519 sign")? / sign).log10();
    let decrease =
        |at: usize, now: f64| Ok::<_, anyhow::Error>(100.0 * (1.0 - now / time(&middle[at])?));
    let said = of("Abstract, Ed25519", "decrease of the time", "genkey and sign")?;
    let dsp = of("Table 1", "DSP", "Ed25519 mult")? / of("Table 1", "DSP (%)", "Ed25519 mult")?;
    let share = of("Table 1", "DSP (%)", "Ed25519 sign")?;
    let total = of("Table 1", "Total", "Ed25519 mult")?;
    let bits = of("Table 1", "RAM Bits", "Ed25519 mult")?;
    let software = [time(&software[0])?, time(&software[1])?];
    let block = software[1] * clock * 1000.0 / (2.0 * blocks);
    let seed = (software[0] - time(&middle[0])?) * clock * 1000.0;
    let ram = of("Table 1", "RAM (%)", "Ed25519 mult")? + of("Table 1", "RAM (%)", "Rocket Tiles")?;
    let row = |metric: &str, unit: &str, ours: f64, config: &str| {
        Row::info(TABLE, metric, unit, ours).of(config).how(How::Computed)
    };
    let product_note =
        "463,294 cycles at the repository's 100 MHz: the column is time of engines alone";
    let rows = vec![
        row("genkey, engines", "ms", milliseconds(product), "cycles of the multiplier")
            .with_published(genkey)
            .noted(product_note),
        row("sign, engines", "ms", milliseconds(signature), "multiplier, then S")
            .with_published(sign)
            .noted("5,464 cycles more; nothing is left in which a payload could be hashed"),
        row("sign, engines", "ms", passes, "two passes over 2 MiB at 12 cycles a block")
            .with_published(sign)
            .noted("more than the whole that is printed: the software entry has the payload, this one has not"),
        row("sign by genkey, software", "times", software[1] / software[0], "table 2")
            .noted("the payload is in it: without one, a signature takes little more than a key pair"),
        row("a block, software", "cycles", block, "two passes over 2 MiB")
            .noted("all of 231,019 ms at 100 MHz"),
        row("genkey by SHA-3, software", "blocks", seed / block, "109.5 - 93.4 ms")
            .noted("a seed of 32 bytes is one block: genkey is more than the key pair"),
        row("sign less genkey, software", "ms", time(&middle[1])? - time(&middle[0])?, "Ed25519 beside the SHA-3 engine")
            .noted("the same product and two hashes of the payload more take less time"),
        row("clock", "MHz", product / genkey / 1000.0, "cycles of the multiplier in genkey")
            .noted("the paper names none; its repository says 100"),
        row("RAM of the whole system", "percent", ram, "sum of table 1")
            .with_published(of("Section V", "share of the chip", "RAM, the whole system")?)
            .noted("rounding allows it"),
        row("speed-up of sign", "decades", decades, "table 2, software by engines")
            .with_published(of("Abstract", "speed-up", "SHA-3, signature procedure")?)
            .noted("log10(231019 / 4.7)"),
        row("decrease of the time", "percent", decrease(0, genkey)?, "genkey, table 2")
            .with_published(said)
            .noted("1 - 4.6 / 93.4"),
        row("decrease of the time", "percent", decrease(1, sign)?, "sign, table 2")
            .with_published(said)
            .noted("1 - 4.7 / 82.6"),
        row("DSP blocks of S", "DSP blocks", dsp * share, "as its share of 10.0 % says")
            .with_published(of("Table 1", "DSP", "Ed25519 sign")?)
            .noted("48 blocks are 3.7 %, so 10.0 % are 130; the conclusion adds them up to 13.7 %")
            .incomparable("the paper prints none"),
        row("Total", "of all four", total - bits, "multiplier, without its RAM bits")
            .with_published(total)
            .noted("ALUTs, registers and DSP blocks; a bit of RAM is counted as one ALUT"),
        row("2^252 - 19 modulo 3", "remainder", residue(252, 19, 3), "the modulus as printed")
            .noted("no prime, so no field: 2^255 - 19 is meant"),
        row("time of 32 MiB by time of 64 KiB", "times", f64::from((32 << 20) / (64 << 10)), "payload alone")
            .noted("a pass takes the same for each byte: linear, not exponential; both axes of figure 6 are logarithmic"),
    ];
    Ok(rows)
}

/// Returns 2^exponent - less, modulo a small number.
fn residue(exponent: u32, less: u32, modulus: u32) -> f64 {
    let power = (0..exponent).fold(1, |power, _| power * 2 % modulus);
    f64::from((power + modulus - less % modulus) % modulus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_is_held_against_itself() {
        let rows = rows(&Paper::load("quick-boot-tee").unwrap()).unwrap();
        let of = |metric: &str, config: &str| {
            let row = rows.iter().find(|it| it.metric == metric && it.config.starts_with(config));
            row.and_then(|row| row.ours).unwrap_or_else(|| panic!("no {metric}, {config}"))
        };
        assert!(rows.iter().all(|row| row.ratio.is_none_or(f64::is_finite)));
        assert_eq!(of("genkey, engines", ""), 4.633);
        assert_eq!(of("sign, engines", "multiplier"), 4.688);
        assert_eq!(of("sign, engines", "two passes"), 6.991);
        assert_eq!(of("sign by genkey, software", ""), 2109.763);
        assert_eq!(of("a block, software", ""), 396_558.294);
        assert_eq!(of("genkey by SHA-3, software", ""), 4.06);
        assert_eq!(of("sign less genkey, software", ""), -10.8);
        assert_eq!(of("clock", ""), 100.716);
        assert_eq!(of("speed-up of sign", ""), 4.692);
        assert_eq!(of("decrease of the time", "genkey"), 95.075);
        assert_eq!(of("decrease of the time", "sign"), 94.31);
        assert_eq!(of("Total", ""), 7563.0);
    }

    #[test]
    fn residues() {
        assert_eq!((residue(252, 19, 3), residue(3, 1, 5), residue(3, 19, 5)), (0.0, 2.0, 4.0));
    }
}
