//! The table *Engine, size and feed*: the cost of a message if the core feeds the engine word by word, if DMA does, and
//! in software on the host, and the size from which the engine is faster.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::ciphers;
use super::operations::Operation;
use super::payload::{CYCLES_PER_BYTE, SIZES};
use super::runs::{Memory, Ran};
use crate::counts::Count;
use hartlock_hw::machines::rot::rot;
use hartlock_hw::machines::rot_streams::{self, Message};
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Engine, size and feed";
/// Names of functions: that which programs print, and that in tables.
const FUNCTIONS: [(&str, &str); 5] = [
    ("sha256", "SHA-256"),
    ("hmac-sha256", "HMAC"),
    ("aes-256-cbc", "AES-256-CBC"),
    ("aes-256-ctr", "AES-256-CTR"),
    ("aes-256-gcm", "AES-256-GCM"),
];
/// RSA operations, whose size is that of the key.
const POWERS: [(&str, &str); 2] = [("public", "RSA encryption"), ("private", "RSA decryption")];
/// Ways in which an engine gets its data.
const WORDS: &str = "words";
const DMA: &str = "DMA";
const SOFTWARE: &str = "software";
/// The machine with all engines.
const MACHINE: &str = "rot-full";
const NO_DMA: &str = "the engine for big numbers is no sink of the DMA engine: words of the core carry operands and result";

/// Header of the table of [`EngineCosts::csv`].
pub const CSV_HEADER: &str = "function,feed,bytes,cycles\n";

/// Sizes in bytes with their cycles, in ascending order.
type Points = Vec<(usize, f64)>;

/// Cycles as a linear function of the size, through the shortest and the longest payload.
#[derive(Clone, Copy, Debug)]
pub struct LinearCost {
    fixed: f64,
    each: f64,
}

impl LinearCost {
    /// Makes a line through points in ascending order of size.
    pub fn through(points: &[(usize, f64)]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let each = (last.1 - first.1) / (last.0 as f64 - first.0 as f64);
        Some(Self { fixed: first.1 - each * first.0 as f64, each })
    }

    /// Returns the size from which this line costs less; 0 if it always does, `None` if it does not for large sizes.
    pub fn wins_from(self, other: Self) -> Option<f64> {
        let bytes = (self.fixed - other.fixed) / (other.each - self.each);
        match self.each < other.each {
            true => Some(bytes.max(0.0)),
            false => None,
        }
    }
}

/// The size from which an engine is faster than software.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crossing {
    /// The engine is faster at every measured size. The value is the size in bytes where lines through the first and
    /// the last measured size cross.
    Always(f64),
    /// The engine is faster from this measured size on. The second value is the size, between the measured one below
    /// and this one, where the costs cross.
    From(usize, f64),
    Never,
}

impl Crossing {
    /// Compares two costs at the sizes for which both are known. Returns `None` if there is no such size.
    fn of(engine: &[(usize, f64)], software: &[(usize, f64)]) -> Option<Self> {
        let cost = |bytes| software.iter().find(|it| it.0 == bytes).map(|it| it.1);
        let both: Vec<(usize, f64, f64)> =
            engine.iter().filter_map(|it| Some((it.0, it.1, cost(it.0)?))).collect();
        let (first, last) = (both.first()?, both.last()?);
        let is_slower = |(_, engine, software): &(usize, f64, f64)| engine >= software;
        let Some(below) = both.iter().rposition(is_slower) else {
            let line = |of: fn(&(usize, f64, f64)) -> f64| {
                LinearCost::through(&[(first.0, of(first)), (last.0, of(last))])
            };
            let lines = line(|it| it.1).zip(line(|it| it.2));
            let bytes = lines.and_then(|(engine, software)| engine.wins_from(software));
            return Some(Self::Always(bytes.unwrap_or(0.0)));
        };
        let Some(above) = both.get(below + 1) else { return Some(Self::Never) };
        let below = &both[below];
        let (lost, won) = (below.1 - below.2, above.2 - above.1);
        let between = (above.0 - below.0) as f64 * lost / (lost + won);
        Some(Self::From(above.0, below.0 as f64 + between))
    }
}

/// Costs of engines, by function and feed.
pub struct EngineCosts {
    words: Vec<(String, usize, u64)>,
    dma: Vec<Message>,
}

/// Measures the engines at their own speed, fed by DMA. `own_speed` has the runs in which the core fed them word by
/// word.
///
/// # Errors
/// Fails if a program fails, or if a result is wrong.
pub fn measure(own_speed: &[Ran]) -> Result<EngineCosts> {
    eprintln!("the engines by DMA on {MACHINE}");
    let mut dma = rot_streams::measure(rot(MACHINE).context("the machine with all engines")?)?;
    dma.retain(|it| rot_streams::WHOLE.contains(&&*it.name));
    let from_ram = own_speed.iter().filter(|run| run.memory == Memory::Ram);
    let words = from_ram.map(|run| (run.what.clone(), run.bytes, run.cycles())).collect();
    Ok(EngineCosts { words, dma })
}

impl EngineCosts {
    fn words(&self, name: &str) -> Points {
        let mine = self.words.iter().filter(|(what, ..)| what == name);
        mine.map(|(_, bytes, cycles)| (*bytes, *cycles as f64)).collect()
    }

    fn dma(&self, name: &str) -> Points {
        let mine = self.dma.iter().filter(|it| it.name == name);
        mine.map(|it| (it.length as usize, it.cycles as f64)).collect()
    }

    /// Formats all costs, and the additional cycles of a host's request, as CSV.
    pub fn csv(&self, mailbox: f64) -> String {
        let mut text = CSV_HEADER.to_owned();
        for (what, bytes, cycles) in &self.words {
            let _ = writeln!(text, "{what},{WORDS},{bytes},{cycles}");
        }
        for Message { name, length, cycles, .. } in &self.dma {
            let _ = writeln!(text, "{name},{DMA},{length},{cycles}");
        }
        let _ = writeln!(text, "mailbox,request,0,{mailbox}");
        text
    }
}

/// Costs of a function with one feed, and those of software.
struct CostSeries<'a> {
    title: &'a str,
    feed: &'a str,
    engine: Points,
    software: &'a [(usize, f64)],
}

/// Returns the rows of the table. `counts` are those of all software; `mailbox` is the number of cycles that a request
/// of the host takes in addition to the digest.
pub fn rows(
    fed: &EngineCosts,
    counts: &[Count],
    operations: &[Operation],
    mailbox: f64,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, title) in FUNCTIONS {
        let software = fastest(counts, name);
        rows.extend(software_rows(title, &software));
        let software: Points = software.iter().map(|it| (it.bytes, it.cycles as f64)).collect();
        for (feed, engine) in [(WORDS, fed.words(name)), (DMA, fed.dma(name))] {
            let series = CostSeries { title, feed, engine, software: &software };
            rows.extend(series.rows(mailbox));
        }
    }
    for (kind, title) in POWERS {
        let is_it = |what: &str| what.starts_with("rsa-") && what.ends_with(kind);
        let mut software: Vec<&Count> = counts.iter().filter(|it| is_it(&it.what)).collect();
        software.retain(|it| ciphers::is_fastest(counts, it));
        software.sort_by_key(|it| it.bytes);
        rows.extend(software_rows(title, &software));
        let software: Points = software.iter().map(|it| (it.bytes, it.cycles as f64)).collect();
        let of_ram = operations.iter().filter(|it| it.memory == Memory::Ram && is_it(&it.what));
        let engine = of_ram.map(|it| (it.bytes, it.phases.all() as f64)).collect();
        rows.extend(CostSeries { title, feed: WORDS, engine, software: &software }.rows(mailbox));
        rows.push(
            Row::absent(TABLE, "cost", CYCLES_PER_BYTE, NO_DMA).of(&format!("{title}, {DMA}")),
        );
    }
    How::Simulated.made(rows)
}

/// Returns the fastest implementation of BearSSL for each size.
fn fastest<'a>(counts: &'a [Count], name: &str) -> Vec<&'a Count> {
    let of_size = |bytes: usize| {
        let is_it =
            |it: &&Count| it.who.starts_with("bearssl") && it.what == name && it.bytes == bytes;
        counts.iter().filter(is_it).min_by_key(|it| it.cycles)
    };
    SIZES.into_iter().filter_map(of_size).collect()
}

fn software_rows(title: &str, counts: &[&Count]) -> Vec<Row> {
    let row = |it: &&Count| {
        let config = format!("{title}, {SOFTWARE}, {} bytes", it.bytes);
        let who = it
            .who
            .replacen("bearssl-", "BearSSL on CVA6, ", 1)
            .replace("bearssl", "BearSSL on CVA6");
        Row::info(TABLE, "cost", CYCLES_PER_BYTE, it.cycles_per_byte())
            .of(&config)
            .noted(format!("{} cycles: {who}", it.cycles))
    };
    counts.iter().map(row).collect()
}

impl CostSeries<'_> {
    /// Returns the costs and their crossing with those of software, for the root of trust itself and for a host that
    /// sends a request.
    fn rows(&self, mailbox: f64) -> Vec<Row> {
        let Self { title, feed, engine, .. } = self;
        let mut rows = Vec::new();
        for (feed, more, how) in [
            ((*feed).to_owned(), 0.0, How::Simulated),
            (format!("{feed}, for the host"), mailbox, How::Modelled),
        ] {
            let engine: Points = engine.iter().map(|(bytes, it)| (*bytes, it + more)).collect();
            for (bytes, cycles) in &engine {
                let row = Row::info(TABLE, "cost", CYCLES_PER_BYTE, cycles / *bytes as f64);
                let note = match how {
                    How::Modelled => format!(
                        "{cycles:.0} cycles, {more:.0} of them a request of the host as in the row Mailbox included"
                    ),
                    _ => format!("{cycles:.0} cycles"),
                };
                rows.push(row.of(&format!("{title}, {feed}, {bytes} bytes")).noted(note).how(how));
            }
            rows.extend(self.crossing_rows(&feed, &engine));
        }
        rows
    }

    fn crossing_rows(&self, feed: &str, engine: &[(usize, f64)]) -> Vec<Row> {
        const FASTER: &str = "the engine wins from";
        const CROSSING: &str = "crossing point";
        let config = format!("{}, {feed}", self.title);
        let row = |metric, bytes: f64, note: String| {
            Row::info(TABLE, metric, "bytes", bytes).of(&config).noted(note).how(How::Computed)
        };
        match Crossing::of(engine, self.software) {
            None => {
                vec![Row::absent(TABLE, FASTER, "bytes", "no software was counted").of(&config)]
            }
            Some(Crossing::Never) => {
                let why = "software is faster at the largest size that both have";
                vec![Row::absent(TABLE, FASTER, "bytes", why).of(&config)]
            }
            Some(Crossing::Always(bytes)) => {
                let smallest = engine.first().map_or(0.0, |it| it.0 as f64);
                let why = format!(
                    "the smallest that was measured; lines through the smallest and the largest size cross at {bytes:.0}"
                );
                vec![row(FASTER, smallest, why)]
            }
            Some(Crossing::From(bytes, crossing)) => vec![
                row(
                    FASTER,
                    bytes as f64,
                    "the smallest measured size from which it is faster at all".into(),
                ),
                row(CROSSING, crossing, "on lines between this size and the one below it".into()),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::operations::Phases;
    use super::*;

    #[test]
    fn the_cheaper_byte_wins_from_where_its_start_is_paid() {
        let harts = LinearCost::through(&[(1000, 50_000.0), (4000, 200_000.0)]).unwrap();
        let engine = LinearCost::through(&[(1000, 5_200.0), (4000, 5_800.0)]).unwrap();
        assert_eq!((harts.fixed, harts.each), (0.0, 50.0));
        assert_eq!(engine.wins_from(harts).unwrap().round(), 100.0);
        assert_eq!(harts.wins_from(engine), None);
        let always = LinearCost { fixed: -1.0, each: 1.0 };
        assert_eq!(always.wins_from(harts), Some(0.0));
        assert!(LinearCost::through(&[]).is_none());
    }

    #[test]
    fn the_engine_wins_from_where_no_larger_size_is_slower() {
        let software = [(64, 1000.0), (128, 2000.0), (256, 4000.0), (512, 8000.0)];
        let of = |cycles: [f64; 4]| {
            let engine: Points =
                software.iter().zip(cycles).map(|(it, cost)| (it.0, cost)).collect();
            Crossing::of(&engine, &software).unwrap()
        };
        assert_eq!(of([2000.0, 2000.0, 2000.0, 2000.0]), Crossing::From(256, 128.0));
        assert_eq!(of([3000.0, 3000.0, 3000.0, 3000.0]), Crossing::From(256, 192.0));
        // A smaller size does not count if a larger one is slower again.
        assert_eq!(of([900.0, 2100.0, 4100.0, 6000.0]), Crossing::From(512, 256.0 + 256.0 / 21.0));
        assert_eq!(of([1000.0, 2000.0, 4000.0, 8000.0]), Crossing::Never);
        let Crossing::Always(bytes) = of([500.0, 500.0, 500.0, 500.0]) else { panic!("faster") };
        assert_eq!(bytes.round(), 32.0);
        // Sizes without a software count are ignored.
        assert_eq!(
            Crossing::of(&[(64, 1500.0), (128, 1500.0), (16384, 9e9)], &software),
            Some(Crossing::From(128, 96.0))
        );
        assert_eq!(Crossing::of(&[(16384, 1.0)], &software), None);
    }

    fn count(who: &str, what: &str, bytes: usize, cycles: u64) -> Count {
        Count { who: who.into(), what: what.into(), bytes, cycles, instructions: cycles / 2 }
    }

    fn fed() -> EngineCosts {
        let message = |length, cycles| Message {
            name: "aes-256-cbc".into(),
            length,
            cycles,
            cycles_from_doorbell: cycles / 2,
        };
        EngineCosts {
            words: vec![("aes-256-cbc".into(), 64, 1500), ("aes-256-cbc".into(), 128, 2500)],
            dma: vec![message(64, 1200), message(128, 1300), message(16384, 20_000)],
        }
    }

    #[test]
    fn a_table_has_every_feed_and_the_fastest_software() {
        let counts = [
            count("hartlock", "aes-256-cbc", 64, 1),
            count("bearssl-aes_ct", "aes-256-cbc", 64, 9000),
            count("bearssl-aes_big", "aes-256-cbc", 64, 2000),
            count("bearssl-aes_big", "aes-256-cbc", 128, 4000),
            count("bearssl-i62", "rsa-512-private", 64, 1_600_000),
        ];
        let phases = Phases { load: 10_000, compute: 60_000, rest: 10_000 };
        let operation =
            Operation { what: "rsa-512-private".into(), memory: Memory::Ram, bytes: 64, phases };
        let rows = rows(&fed(), &counts, &[operation], 1500.0);
        let of = |metric: &str, config: &str| {
            let is_it = |row: &&Row| (&*row.metric, &*row.config) == (metric, config);
            rows.iter().find(is_it).unwrap_or_else(|| panic!("{metric}, {config}"))
        };
        assert_eq!(of("cost", "AES-256-CBC, software, 64 bytes").ours, Some(31.25));
        assert_eq!(of("cost", "AES-256-CBC, words, 128 bytes").ours, Some(19.531));
        assert_eq!(of("cost", "AES-256-CBC, DMA, 16384 bytes").ours, Some(1.221));
        let host = of("cost", "AES-256-CBC, DMA, for the host, 64 bytes");
        assert_eq!((host.ours, host.how), (Some(42.188), Some(How::Modelled)));
        let wins = |config| of("the engine wins from", config);
        assert_eq!(wins("AES-256-CBC, DMA").ours, Some(64.0));
        assert!(
            wins("AES-256-CBC, DMA").note.as_deref().unwrap().contains("the smallest that was")
        );
        assert_eq!(wins("AES-256-CBC, DMA, for the host").ours, Some(128.0));
        // The engine is 700 cycles slower at 64 bytes and 1,200 cycles faster at 128.
        let crossing = of("crossing point", "AES-256-CBC, DMA, for the host");
        assert_eq!((crossing.ours, crossing.how), (Some(87.579), Some(How::Computed)));
        assert_eq!(wins("AES-256-CBC, words, for the host").ours, None);
        assert_eq!(wins("SHA-256, DMA").note.as_deref(), Some("no software was counted"));
        assert_eq!(wins("RSA decryption, words").ours, Some(64.0));
        assert_eq!(of("cost", "RSA decryption, DMA").note.as_deref(), Some(NO_DMA));
    }

    #[test]
    fn samples_have_every_feed() {
        let csv = fed().csv(1500.0);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "function,feed,bytes,cycles");
        assert!(lines.contains(&"aes-256-cbc,words,64,1500"));
        assert!(lines.contains(&"aes-256-cbc,DMA,16384,20000"));
        assert_eq!(lines.last(), Some(&"mailbox,request,0,1500"));
    }
}
