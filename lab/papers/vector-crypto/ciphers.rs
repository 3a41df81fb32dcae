//! AES-256-GCM without instructions for it: our portable form beside RustCrypto's and BearSSL's, in one program
//! (`lab/ciphers`), in which everything is compiled for speed.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::{bearssl, counts};
use hartlock_device::bench;
use hartlock_device::kernels::HARTS;
use hartlock_results::run::{Better, Row};
use xtask::{firmware, project, tools};

/// The hart of the base instruction set.
const HART: &str = "rv64";
const OURS: &str = "hartlock";

/// Instructions of a text of some bytes.
pub struct CipherCount {
    pub who: String,
    pub bytes: u64,
    pub instructions: u64,
}

impl CipherCount {
    fn per_byte(&self) -> f64 {
        self.instructions as f64 / self.bytes as f64
    }
}

/// Builds the program and counts.
pub fn counted() -> Result<Vec<CipherCount>> {
    let target = project::target_dir().join("lab/ciphers");
    let library = std::path::absolute(target.join("bearssl"))?;
    bearssl::library(&library, "-O3")?;
    let built = counts::build("ciphers", &target, &[("HARTLOCK_BEARSSL", &library)])?;
    let image = target.join("ciphers.bin");
    fs::write(&image, firmware::flat_binary(&built)?)?;
    let hart = HARTS.iter().find(|hart| hart.name == HART).context("a hart of ours")?;
    let options = hart.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    read(&bench::emulate_without_pack(&image, &options)?)
}

/// Parses the console. All tags are those of one text under one key, so they are equal.
fn read(console: &str) -> Result<Vec<CipherCount>> {
    let (mut counts, mut tags) = (Vec::new(), Vec::new());
    for line in console.lines() {
        let ["count", who, "aes-256-gcm", bytes, instructions, tag] =
            line.split(' ').collect::<Vec<_>>()[..]
        else {
            continue;
        };
        let (bytes, instructions) = (bytes.parse()?, instructions.parse()?);
        counts.push(CipherCount { who: who.to_owned(), bytes, instructions });
        tags.push(tag.to_owned());
    }
    ensure!(console.contains("bench: done"), "the program did not end\n{console}");
    tags.dedup();
    ensure!(tags.len() == 1 && counts.len() > 1, "the tags differ\n{console}");
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

/// Returns our row, which has to be ahead of the best other one, and those of the others.
pub fn rows(counts: &[CipherCount]) -> Result<Vec<Row>> {
    const METRIC: &str = "AES-256-GCM";
    const UNIT: &str = "instructions/byte";
    let (ours, others): (Vec<_>, Vec<_>) = counts.iter().partition(|count| count.who == OURS);
    let [ours] = ours[..] else { anyhow::bail!("ours was not counted once") };
    let best = others.iter().min_by(|one, other| one.per_byte().total_cmp(&other.per_byte()));
    let best = best.context("no other was counted")?;
    let row = Row::info("portable cipher", METRIC, UNIT, ours.per_byte())
        .of("64 KiB, decrypted in place")
        .judged(Better::Lower, best.per_byte())
        .peer(best.per_byte())
        .noted(format!("peer and target: {}, the best other one in the same run", best.who));
    let mut rows = vec![row];
    rows.extend(others.iter().map(|count| {
        Row::info("portable cipher", METRIC, UNIT, count.per_byte())
            .of(&format!("{} on rv64", count.who))
    }));
    Ok(rows)
}

/// Formats the counts as CSV.
pub fn csv(counts: &[CipherCount]) -> String {
    let mut text = "who,cipher,bytes,instructions\n".to_owned();
    for CipherCount { who, bytes, instructions } in counts {
        text += &format!("{who},aes-256-gcm,{bytes},{instructions}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_other_one_is_the_target() {
        let line = |who: &str, taken: u64| format!("count {who} aes-256-gcm 100 {taken} 00ff\n");
        let console = line("hartlock", 900) + &line("a", 1200) + &line("b", 1000) + "bench: done\n";
        let rows = rows(&read(&console).unwrap()).unwrap();
        assert_eq!((rows.len(), rows[0].target, rows[0].ratio), (3, Some(10.0), Some(0.9)));
        assert!(read(&console.replace("done", "no")).is_err());
        assert!(read(&console.replacen("00ff", "00fe", 1)).is_err());
        assert!(super::rows(&read(&line("a", 1)).unwrap_or_default()).is_err());
    }
}
