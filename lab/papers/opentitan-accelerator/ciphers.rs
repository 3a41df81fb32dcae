//! AES-256-CBC and RSA in software on CVA6: compares the implementations of BearSSL, and selects the fastest of each,
//! as the paper did (section 3.2).

use anyhow::{Context, Result};

use super::baseline;
use super::payload::CYCLES_PER_BYTE;
use crate::counts::Count;
use hartlock_results::paper::Paper;
use hartlock_results::run::{How, Row};

/// Table of the implementations that were counted with the same operands.
const TABLE: &str = "Implementations of BearSSL";
/// Table with the cost of the paper's software, which follows from its speed-ups.
pub const SOFTWARE_TABLE: &str = "Section 4.2, software";
/// Prefix of the name of an implementation.
const PREFIX: &str = "bearssl-";
/// Who is named for our kernels. They are beside the paper's software and never in its place.
const OURS: &str = "hartlock";

/// Names of functions: that which the program prints, and that in tables.
const TITLES: [(&str, &str); 5] = [
    (AES, "AES-256"),
    ("rsa-512-public", "RSA-512 encryption"),
    ("rsa-512-private", "RSA-512 decryption"),
    ("rsa-1024-public", "RSA-1024 encryption"),
    ("rsa-1024-private", "RSA-1024 decryption"),
];
const AES: &str = "aes-256-cbc";

/// For each function: the configuration of the paper's speed-up, that of its cost, and the implementation that the
/// paper's software must have been, according to its own numbers. For RSA it is not the fastest.
const PUBLISHED: [(&str, &str, &str); 5] = [
    ("SHA-256", "RAM, SHA-256, 4096 bytes", "bearssl"),
    ("HMAC", "RAM, HMAC, 4096 bytes", "bearssl"),
    ("AES-256", "RAM, AES-256, 4096 bytes", "aes_big"),
    ("RSA-512", "RAM, RSA-512 decryption", "i31"),
    ("RSA-1024", "RAM, RSA-1024 decryption", "i31"),
];

/// Functions whose software of this project was not counted on other cores, with the reason.
const NONE_OF_OURS: [(&str, &str); 2] = [
    ("AES-256", "counted on CVA6, which has the paper's software, and not on this core"),
    (
        "RSA-512 and RSA-1024",
        "device/kernels verifies RSA of 2,048 to 4,096 bits and has no private operation: no software of ours",
    ),
];
const OTHER_CORES: [&str; 2] = ["Rocket", "Ibex"];

/// Returns true if a count is of a function of this module.
pub fn is_cipher(count: &Count) -> bool {
    title(&count.what).is_some()
}

pub fn title(what: &str) -> Option<&'static str> {
    TITLES.iter().find(|(name, _)| *name == what).map(|(_, title)| *title)
}

/// Returns the configuration that tables use for a count. For RSA, the number of bytes follows from the key.
fn config(count: &Count) -> String {
    let title = title(&count.what).unwrap_or("another");
    match &*count.what {
        AES => format!("{title}, {} bytes", count.bytes),
        _ => title.to_owned(),
    }
}

fn implementation(count: &Count) -> &str {
    count.who.strip_prefix(PREFIX).unwrap_or(&count.who)
}

/// Returns the counts of the same function and payload size by BearSSL.
fn peers<'a>(counts: &'a [Count], of: &'a Count) -> impl Iterator<Item = &'a Count> {
    let is_it = |it: &&Count| (&*it.what, it.bytes) == (&*of.what, of.bytes) && it.who != OURS;
    counts.iter().filter(is_it)
}

/// Returns true if this is the fastest implementation of BearSSL.
pub fn is_fastest(counts: &[Count], count: &Count) -> bool {
    count.who != OURS && peers(counts, count).all(|other| count.cycles <= other.cycles)
}

/// Returns the fastest implementation of BearSSL of the function that tables call `wanted`.
pub fn fastest<'a>(counts: &'a [Count], wanted: &str) -> Option<&'a Count> {
    counts.iter().find(|it| config(it) == wanted && is_fastest(counts, it))
}

/// Returns the rows of figure 2 with the fastest software of each function, and with our kernels.
pub fn rows(counts: &[Count], flags: &str) -> Vec<Row> {
    let fastest = counts.iter().filter(|it| is_fastest(counts, it));
    let row = |it: &Count| {
        let config = format!("BearSSL {flags} on CVA6, {}", config(it));
        let note = format!("{}, {} instructions", implementation(it), it.instructions);
        Row::info("Figure 2", "cost", CYCLES_PER_BYTE, it.cycles_per_byte()).of(&config).noted(note)
    };
    let mut rows: Vec<Row> = fastest.map(row).collect();
    let (ours, others): (Vec<&Count>, Vec<&Count>) = counts.iter().partition(|it| it.who == OURS);
    rows.extend(ours.into_iter().map(|it| {
        let config = format!("our kernel on CVA6, {}", config(it));
        let note = format!("{} instructions, in constant time", it.instructions);
        Row::info("Figure 2", "cost", CYCLES_PER_BYTE, it.cycles_per_byte()).of(&config).noted(note)
    }));
    let compared = others.into_iter().filter(|it| peers(counts, it).count() > 1);
    rows.extend(compared.map(|it| {
        let config = format!("{}, {}", config(it), implementation(it));
        let row = Row::info(TABLE, "cost", CYCLES_PER_BYTE, it.cycles_per_byte()).of(&config);
        row.noted(format!("{flags}, {} instructions", it.instructions))
    }));
    How::Simulated.made(rows)
}

/// Returns rows that state that this software does not exist.
pub fn none_of_ours() -> Vec<Row> {
    let row = |core: &str, (function, why): (&str, &str)| {
        let config = format!("our software on {core}, {function}");
        Row::absent("Figure 2", "cost", CYCLES_PER_BYTE, why).of(&config)
    };
    OTHER_CORES.iter().flat_map(|core| NONE_OF_OURS.map(|it| row(core, it))).collect()
}

/// Compares the cost of software with the product of speed-up and cost that the paper publishes. Adds the fastest
/// implementation if it is another one.
pub fn software_rows(paper: &Paper, hashes: &[Count], ciphers: &[Count]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (function, cost, chosen) in PUBLISHED {
        let wanted = cost.strip_prefix("RAM, ").context("a cost from RAM")?;
        let is_hash = |it: &&Count| it.who == "bearssl" && baseline::config(it) == wanted;
        let mut counts: Vec<&Count> = hashes.iter().filter(is_hash).collect();
        counts.extend(ciphers.iter().filter(|it| config(it) == wanted && it.who != OURS));
        let value = |table, metric, config: &str| -> Result<f64> {
            let number = paper.number(table, metric, config);
            Ok(number.with_context(|| format!("the paper has no {config}"))?.value)
        };
        let of_paper = value("Figure 2", "cost", cost)?;
        let implied = value("Section 4.2", "speed-up over CVA6", function)? * of_paper;
        let fastest = counts.iter().map(|it| it.cycles).min();
        for count in counts {
            let cost = count.cycles_per_byte();
            let row = Row::info(SOFTWARE_TABLE, "cost", CYCLES_PER_BYTE, cost);
            if implementation(count) == chosen {
                let note = "published: the paper's speed-up times its cost; it prints no number";
                rows.push(row.of(function).with_published(implied).noted(note));
            } else if Some(count.cycles) == fastest {
                let config = format!("{function}, {}, the fastest", implementation(count));
                let speed_up = cost / of_paper;
                rows.push(row.of(&config).noted(format!(
                    "with it the paper's engine is {speed_up:.1} times as fast as software; by its numbers it took {chosen}"
                )));
            }
        }
    }
    Ok(How::Simulated.made(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(who: &str, what: &str, bytes: usize, cycles: u64) -> Count {
        Count { who: who.into(), what: what.into(), bytes, cycles, instructions: cycles / 2 }
    }

    fn counts() -> Vec<Count> {
        vec![
            count("bearssl-aes_big", AES, 1024, 200_000),
            count("bearssl-aes_ct", AES, 1024, 600_000),
            count(OURS, AES, 1024, 100_000),
            count("bearssl-aes_big", AES, 4096, 800_000),
            count("bearssl-i31", "rsa-512-private", 64, 3_200_000),
            count("bearssl-i62", "rsa-512-private", 64, 1_600_000),
        ]
    }

    #[test]
    fn the_fastest_is_in_the_figure_and_all_are_compared() {
        let rows = rows(&counts(), "-Os");
        let of = |table: &str| -> Vec<(&str, f64)> {
            let rows = rows.iter().filter(|row| row.table == table);
            rows.map(|row| (&*row.config, row.ours.unwrap())).collect()
        };
        assert_eq!(
            of("Figure 2"),
            [
                ("BearSSL -Os on CVA6, AES-256, 1024 bytes", 195.313),
                ("BearSSL -Os on CVA6, AES-256, 4096 bytes", 195.313),
                ("BearSSL -Os on CVA6, RSA-512 decryption", 25000.0),
                ("our kernel on CVA6, AES-256, 1024 bytes", 97.656),
            ]
        );
        let compared = of(TABLE);
        assert_eq!(compared.len(), 4, "one alone is compared with nothing");
        assert_eq!(compared[3], ("RSA-512 decryption, i62", 25000.0));
    }

    #[test]
    fn software_is_beside_what_the_speed_up_says() {
        let paper = Paper::load("opentitan-accelerator").unwrap();
        let hashes = [count("bearssl", "sha256", 4096, 400_000)];
        let rows = software_rows(&paper, &hashes, &counts()).unwrap();
        let numbers: Vec<_> =
            rows.iter().map(|row| (&*row.config, row.ours, row.published)).collect();
        assert_eq!(
            numbers,
            [
                ("SHA-256", Some(97.656), Some(11.1 * 7.88)),
                ("AES-256", Some(195.313), Some(12.5 * 16.23)),
                ("RSA-512", Some(50000.0), Some(4.3 * 9100.0)),
                ("RSA-512, i62, the fastest", Some(25000.0), None),
            ]
        );
        assert!(
            rows[3].note.as_deref().unwrap().starts_with("with it the paper's engine is 2.7 times")
        );
    }
}
