//! AES-256 on bare harts with and without instructions for it: our kernels as the bench counts them, and in one program
//! (`lab/ciphers`) our best form of each hart beside OpenSSL's, with vectors beside Linux', and without extensions beside
//! RustCrypto's and BearSSL's.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::peers::libraries::{self, LINUX};
use crate::{bearssl, counts};
use hartlock_device::bench;
use hartlock_device::kernels::ciphers as kernels;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row, Run};
use xtask::{firmware, project, tools};

/// The hart without extensions, on which all implementations are counted.
const BASE: &str = "rv64";
/// Harts, and the names of their configurations in rows.
const HARTS: [(&str, &str); 8] = [
    (BASE, "rv64"),
    ("zkne-zbkc", "Zkne and Zbkc"),
    ("zvbc-128", "Zvkned and Zvbc, VLEN 128"),
    ("zvbc-256", "Zvkned and Zvbc, VLEN 256"),
    ("zvbc-512", "Zvkned and Zvbc, VLEN 512"),
    ("zvkg-128", "Zvkned and Zvkg, VLEN 128"),
    ("zvkg-256", "Zvkned and Zvkg, VLEN 256"),
    ("zvkg-512", "Zvkned and Zvkg, VLEN 512"),
];
const OURS: &str = "hartlock";
/// Its form without extensions looks up tables with secret addresses.
const WITH_TABLES: &str = "openssl";
/// Bytes of a long text, and of the paper's message.
const LONG: u64 = 64 << 10;
const SHORT: u64 = 1 << 10;
const UNIT: &str = "instructions/byte";

/// Names of what is counted: in the program, in the bench, and in rows.
const PARTS: [(&str, &str, &str); 3] = [
    ("gcm", "aes-gcm-256", "AES-256-GCM"),
    ("ctr", "aes-ctr-256", "AES-256-CTR"),
    ("ghash", "ghash", "GHASH"),
];

/// Instructions of a text of some bytes.
pub struct CipherCount {
    pub hart: &'static str,
    pub who: String,
    /// The form of ours, and the extensions that others are told of.
    pub tier: String,
    /// `gcm`, `gcm-with-key`, which has the key schedule, `ctr` or `ghash`.
    pub what: String,
    pub bytes: u64,
    pub instructions: u64,
}

impl CipherCount {
    fn per_byte(&self) -> f64 {
        self.instructions as f64 / self.bytes as f64
    }

    fn is(&self, hart: &str, who: &str, what: &str, bytes: u64) -> bool {
        (self.hart, self.who.as_str(), self.what.as_str(), self.bytes) == (hart, who, what, bytes)
    }
}

/// Counts of one run.
pub struct CipherCounts {
    /// Those of the bench, of our kernels in a long text.
    pub bench: Vec<CipherCount>,
    /// Those of the program.
    pub together: Vec<CipherCount>,
}

/// Builds the programs and counts.
pub fn counted() -> Result<CipherCounts> {
    let image = build()?;
    let mut together = Vec::new();
    for (name, _) in HARTS {
        let options = kernels::options_of(name)?;
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        together.extend(read(name, &bench::emulate_without_pack(&image, &options)?)?);
    }
    let of_tiers = |(hart, count): (&'static str, hartlock_device::kernels::Count)| {
        let part = PARTS.iter().find(|(_, name, _)| *name == count.hash)?;
        Some(CipherCount {
            hart,
            who: OURS.to_owned(),
            tier: count.tier,
            what: part.0.to_owned(),
            bytes: count.bytes,
            instructions: count.instructions,
        })
    };
    let bench = kernels::counted()?.into_iter().filter_map(of_tiers);
    let is_here = |count: &CipherCount| HARTS.iter().any(|(name, _)| *name == count.hart);
    Ok(CipherCounts { bench: bench.filter(is_here).collect(), together })
}

fn build() -> Result<PathBuf> {
    let target = project::target_dir().join("lab/ciphers");
    let library = std::path::absolute(target.join("bearssl"))?;
    bearssl::library(&library, "-O3")?;
    let openssl = libraries::ciphers()?;
    let variables =
        [("HARTLOCK_BEARSSL", library.as_path()), ("HARTLOCK_OPENSSL", openssl.as_path())];
    let built = counts::build("ciphers", &target, &variables)?;
    let image = target.join("ciphers.bin");
    fs::write(&image, firmware::flat_binary(&built)?)?;
    Ok(image)
}

/// Parses the console. Tags of the same text under the same key are equal.
fn read(hart: &'static str, console: &str) -> Result<Vec<CipherCount>> {
    let (mut counts, mut tags) = (Vec::new(), BTreeMap::new());
    for line in console.lines() {
        let ["count", who, tier, what, bytes, instructions, tag] =
            line.split(' ').collect::<Vec<_>>()[..]
        else {
            continue;
        };
        let (bytes, instructions) = (bytes.parse()?, instructions.parse()?);
        let first = tags.entry((what, bytes)).or_insert(tag);
        ensure!(*first == tag, "{hart}: the tags of {what} differ\n{console}");
        let [who, tier, what] = [who, tier, what].map(str::to_owned);
        counts.push(CipherCount { hart, who, tier, what, bytes, instructions });
    }
    ensure!(console.contains("bench: done"), "{hart}: the program did not end\n{console}");
    ensure!(
        counts.iter().any(|count| count.who != OURS),
        "{hart}: no other was counted\n{console}"
    );
    Ok(counts)
}

/// Returns the versions of the others by name.
pub fn versions() -> Result<BTreeMap<&'static str, String>> {
    let path = project::root().join("lab/ciphers/Cargo.lock");
    let lock: toml::Table = toml::from_str(&fs::read_to_string(&path)?)?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("packages")?;
    let named = |name: &str| {
        let package =
            packages.iter().find(|it| it.get("name").and_then(|it| it.as_str()) == Some(name));
        package.and_then(|it| it.get("version")?.as_str()).map(str::to_owned).context("no crate")
    };
    Ok(BTreeMap::from([
        ("aes", named("aes")?),
        ("ghash", named("ghash")?),
        ("bearssl", tools::baseline()?.version),
    ]))
}

/// Returns all rows: long texts, those without extensions, and the paper's message.
pub fn rows(
    counts: &CipherCounts,
    paper: &Paper,
    versions: &BTreeMap<&'static str, String>,
) -> Result<Vec<Row>> {
    let mut rows = long(counts, versions)?;
    rows.extend(others(&counts.together));
    rows.extend(without_extensions(&counts.together)?);
    rows.extend(short(&counts.together));
    rows.extend(published(paper)?);
    Ok(rows)
}

/// Our kernels as the bench counts them, beside OpenSSL: 64 KiB in place, without the key schedule.
fn long(counts: &CipherCounts, versions: &BTreeMap<&'static str, String>) -> Result<Vec<Row>> {
    let openssl = versions.get(WITH_TABLES).context("OpenSSL has a version")?;
    let is_other = |count: &&CipherCount| [WITH_TABLES, LINUX].contains(&count.who.as_str());
    let mut rows = Vec::new();
    for (hart, config) in HARTS {
        let best = counts.together.iter().find(|count| count.hart == hart && count.who == OURS);
        let tier = &best.context("ours were not counted")?.tier;
        for (what, in_bench, metric) in PARTS {
            // The kernels of counter mode need neither Zvbc nor Zvkg.
            let tier = if what == "ctr" && tier == "zvkg" { "zvkned" } else { tier };
            let of_tier =
                |count: &&CipherCount| count.is(hart, OURS, what, LONG) && count.tier == tier;
            let ours = counts.bench.iter().find(of_tier).context("a kernel was not counted")?;
            let mut row = Row::info("cipher", metric, UNIT, ours.per_byte()).of(config);
            // The last part of a name is the length of a vector register. A bound is for each hart with the kernel.
            let suffix = hart.rsplit('-').next();
            let bound = kernels::BOUNDS.iter().find(|(at, mode, by, _)| {
                (at.rsplit('-').next(), *mode, by.name()) == (suffix, in_bench, tier)
            });
            if let Some((.., most)) = bound {
                row = row.judged(Better::Lower, *most);
            }
            let others = counts.together.iter().filter(is_other);
            let peer = others
                .filter(|count| count.is(hart, &count.who, what, LONG))
                .min_by_key(|count| count.instructions);
            rows.push(match peer {
                Some(peer) if hart == BASE => row.peer(peer.per_byte()).incomparable(&format!(
                    "OpenSSL {openssl} looks up tables without extensions, ours are in constant time, and the bench is compiled \
                     for size: see `portable cipher`"
                )),
                Some(peer) => {
                    let version = versions.get(peer.who.as_str()).context("a peer has a version")?;
                    row.peer(peer.per_byte()).noted(format!(
                        "peer: {} {version}, the best in the same run, on the same hart",
                        peer.who
                    ))
                }
                None => row,
            });
        }
    }
    Ok(rows)
}

/// What others take for the same long texts where they have instructions for it.
fn others(counts: &[CipherCount]) -> Vec<Row> {
    const TABLE: &str = "cipher, peers";
    let mut rows = Vec::new();
    for (hart, config) in HARTS.into_iter().filter(|(hart, _)| *hart != BASE) {
        for (what, _, metric) in PARTS {
            let is_it =
                |count: &&CipherCount| count.who != OURS && count.is(hart, &count.who, what, LONG);
            rows.extend(counts.iter().filter(is_it).map(|count| {
                let config = format!("{}, {config}", count.who);
                Row::info(TABLE, metric, UNIT, count.per_byte()).of(&config)
            }));
        }
    }
    if !counts.iter().any(|count| count.who == LINUX) {
        let (_, config) = HARTS[HARTS.len() - 1];
        rows.extend(["AES-256-CTR", "GHASH"].map(|metric| {
            Row::absent(TABLE, metric, UNIT, super::WITHOUT_LINUX).of(&format!("{LINUX}, {config}"))
        }));
    }
    rows
}

/// Our portable form, which has to be ahead of the best other one that is in constant time. The key schedule is counted.
fn without_extensions(counts: &[CipherCount]) -> Result<Vec<Row>> {
    const TABLE: &str = "portable cipher";
    const METRIC: &str = "AES-256-GCM";
    let of = |who: &str| counts.iter().find(|count| count.is(BASE, who, "gcm-with-key", LONG));
    let ours = of(OURS).context("ours was not counted")?;
    let others: Vec<_> = ["rustcrypto", "bearssl"].iter().filter_map(|who| of(who)).collect();
    let best = others.iter().min_by(|one, other| one.per_byte().total_cmp(&other.per_byte()));
    let best = best.context("no other was counted")?;
    let row = Row::info(TABLE, METRIC, UNIT, ours.per_byte())
        .of("64 KiB, decrypted in place")
        .judged(Better::Lower, best.per_byte())
        .peer(best.per_byte())
        .noted(format!("peer and target: {}, the best other one in the same run", best.who));
    let mut rows = vec![row];
    rows.extend(others.iter().map(|count| {
        Row::info(TABLE, METRIC, UNIT, count.per_byte()).of(&format!("{} on rv64", count.who))
    }));
    Ok(rows)
}

/// The paper's message by everybody, in instructions, with the key schedule and without.
fn short(counts: &[CipherCount]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (hart, config) in HARTS {
        for (what, key) in [("gcm", "key expanded before"), ("gcm-with-key", "with key schedule")] {
            let of_hart = |count: &&CipherCount| {
                (count.hart, count.what.as_str(), count.bytes) == (hart, what, SHORT)
            };
            let of = |who: &str| counts.iter().filter(of_hart).find(|count| count.who == who);
            let peer = of(WITH_TABLES).map(|count| count.instructions as f64);
            for count in counts.iter().filter(of_hart) {
                let row = Row::info(
                    "AES-256-GCM, instructions",
                    "message of 1 KiB",
                    "instructions",
                    count.instructions as f64,
                )
                .of(&format!("{}, {config}, {key}", count.who));
                rows.push(match peer {
                    Some(peer) if count.who == OURS && hart != BASE => {
                        row.peer(peer).noted("peer: OpenSSL on the same hart in the same run")
                    }
                    _ => row,
                });
            }
        }
    }
    rows
}

/// The paper's two numbers, which are cycles, beside cycles of the fifth paper's stored run.
fn published(paper: &Paper) -> Result<Vec<Row>> {
    const TABLE: &str = "AES-256-GCM";
    const METRIC: &str = "message of 1 KiB";
    let path = project::root().join("lab/runs/latest/opentitan-accelerator.json");
    let stored = Run::read(&path)?;
    let cycles = |who: &str| {
        let config = format!("AES-256-GCM, {who}, {SHORT} bytes");
        let row = stored.rows.iter().find(|row| {
            (row.table.as_str(), row.config.as_str()) == ("Engine, size and feed", config.as_str())
        });
        let per_byte = row.and_then(|row| row.ours).with_context(|| format!("no row {config}"))?;
        anyhow::Ok((per_byte * SHORT as f64).round())
    };
    let of = |config: &str, ours: f64, what: &str, why: &str| {
        let mut row = Row::info(TABLE, METRIC, "cycles", ours).of(config).published(paper)?;
        row.how = Some(How::Simulated);
        let what = format!("{what}, of the stored run opentitan-accelerator");
        anyhow::Ok(row.noted(what).incomparable(why))
    };
    Ok(vec![
        of(
            "with cryptographic extensions",
            cycles("DMA")?,
            "cycles of our AES engine by DMA",
            "the paper estimates instructions of a processor; ours in vectors are instructions: see `AES-256-GCM, instructions`",
        )?,
        of(
            "on a Cortex-M3",
            cycles("software")?,
            "cycles of BearSSL on CVA6, in constant time",
            "another core and another program",
        )?,
    ])
}

/// Formats the counts as CSV.
pub fn csv(counts: &CipherCounts) -> String {
    let mut text = "program,hart,who,tier,what,bytes,instructions\n".to_owned();
    for (program, counts) in [("bench", &counts.bench), ("ciphers", &counts.together)] {
        for CipherCount { hart, who, tier, what, bytes, instructions } in counts {
            text += &format!("{program},{hart},{who},{tier},{what},{bytes},{instructions}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(who: &str, what: &str, taken: u64) -> String {
        format!("count {who} portable {what} 65536 {taken} 00ff\n")
    }

    fn console() -> String {
        let with_key = |who, taken| line(who, "gcm-with-key", taken);
        let others =
            with_key("a", 1200) + &with_key("rustcrypto", 655_360) + &with_key("bearssl", 700_000);
        with_key("hartlock", 589_824) + &with_key("openssl", 1000) + &others + "bench: done\n"
    }

    #[test]
    fn the_best_other_one_in_constant_time_is_the_target() {
        let rows = without_extensions(&read(BASE, &console()).unwrap()).unwrap();
        assert_eq!((rows.len(), rows[0].target, rows[0].ratio), (3, Some(10.0), Some(0.9)));
        assert!(without_extensions(&read("zvkg-128", &console()).unwrap()).is_err());
    }

    #[test]
    fn an_early_end_and_other_tags_are_refused() {
        assert!(read(BASE, &console().replace("done", "no")).is_err());
        assert!(read(BASE, &console().replacen("00ff", "00fe", 1)).is_err());
        let alone = line("hartlock", "gcm", 1) + "bench: done\n";
        assert!(read(BASE, &alone).is_err());
    }

    #[test]
    fn tables_are_not_compared_with_constant_time() {
        let count = |hart, who: &str, tier: &str, what: &str, instructions| CipherCount {
            hart,
            who: who.to_owned(),
            tier: tier.to_owned(),
            what: what.to_owned(),
            bytes: LONG,
            instructions,
        };
        let (mut bench, mut together) = (Vec::new(), Vec::new());
        for (hart, _) in HARTS {
            let tier = match hart.split('-').next() {
                Some("zkne") => "zkne",
                Some("zvbc") => "zvkned",
                Some("zvkg") => "zvkg",
                _ => "portable",
            };
            for (what, ..) in PARTS {
                let of_mode = if what == "ctr" && tier == "zvkg" { "zvkned" } else { tier };
                bench.push(count(hart, OURS, of_mode, what, LONG / 4));
                together.push(count(hart, OURS, tier, what, LONG / 4));
                together.push(count(hart, WITH_TABLES, tier, what, LONG / 2));
            }
        }
        let versions = BTreeMap::from([("openssl", "4".to_owned())]);
        let rows = long(&CipherCounts { bench, together }, &versions).unwrap();
        assert_eq!(rows.len(), HARTS.len() * PARTS.len());
        assert!(rows.iter().all(|row| row.peer == Some(0.5)));
        assert!(rows.iter().all(|row| row.ratio == (row.config != "rv64").then_some(0.5)));
        // Bounds of counter mode are for two harts each.
        let judged = rows.iter().filter(|row| row.target.is_some()).count();
        let is_here = |bound: &&(_, &str, _, _)| PARTS.iter().any(|(_, name, _)| *name == bound.1);
        assert_eq!(judged, kernels::BOUNDS.iter().filter(is_here).count() + 3);
    }

    #[test]
    fn cycles_of_the_paper_have_no_ratio() {
        let rows = published(&Paper::load(super::super::KEY).unwrap()).unwrap();
        assert_eq!(
            rows.iter().map(|row| row.published).collect::<Vec<_>>(),
            [Some(2000.0), Some(192_000.0)]
        );
        assert!(rows.iter().all(|row| row.ours.is_some() && row.ratio.is_none()));
    }
}
