//! What owners of boards measured with `hartlock-bench` (docs/src/boards.md): reported by others, on machines that this
//! project has not seen. Every figure is computed from the samples; a file that contradicts itself is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::stored::json_files;

/// Maximum length of a file in bytes.
const MAX_FILE: usize = 1 << 20;
const MAX_SAMPLES: usize = 32;
/// No processor of today makes more cycles in a nanosecond, or retires more instructions in a cycle.
const MAX_CYCLES_A_NANOSECOND: f64 = 10.0;
const MAX_INSTRUCTIONS_A_CYCLE: f64 = 16.0;

/// What the program measures: name and form.
const KERNELS: [(&str, &str); 13] = [
    ("sha256", "one"),
    ("sha256", "lanes"),
    ("sha512", "one"),
    ("sha512", "lanes"),
    ("sha3-256", "one"),
    ("sha3-256", "lanes"),
    ("kt128", "one"),
    ("kt128", "lanes"),
    ("aes-128-ctr", "stream"),
    ("aes-256-ctr", "stream"),
    ("aes-128-gcm", "decrypt-verify"),
    ("aes-256-gcm", "decrypt-verify"),
    ("ghash", "hash"),
];

/// A file as the program writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    schema: u64,
    program: String,
    quick: bool,
    kernel: LinuxKernel,
    board: Option<String>,
    cpu: u32,
    governor: Option<String>,
    cpuinfo: Option<String>,
    vlen: u64,
    probes: BTreeMap<String, Probe>,
    kernels: Vec<BoardRow>,
    openssl: Option<Openssl>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinuxKernel {
    system: String,
    release: String,
    #[serde(rename = "version")]
    _version: String,
    machine: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Probe {
    Works,
    Traps,
    Failed,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum BoardStatus {
    Measured,
    Absent,
    Wrong,
    Died,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardRow {
    name: String,
    form: String,
    tier: String,
    status: BoardStatus,
    messages: Option<u64>,
    bytes: Option<u64>,
    repeats: Option<u64>,
    cycles: Option<Vec<u64>>,
    instructions: Option<Vec<u64>>,
    nanoseconds: Option<Vec<u64>>,
    counter: Option<String>,
    median: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
    spread: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Openssl {
    version: String,
    rows: Vec<PeerRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerRow {
    name: String,
    form: String,
    bytes: u64,
    bytes_per_second: Option<Vec<u64>>,
}

/// The figures of a measured row, each computed from its samples.
struct Figures {
    cycles: Option<f64>,
    instructions: Option<f64>,
    nanoseconds: f64,
    /// Thousandths of the median.
    spread: u64,
}

/// Returns the sample in the middle; of an even number, the lower one.
fn median(samples: &[u64]) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

impl Board {
    /// Reads a file and checks it.
    ///
    /// # Errors
    /// If it is malformed, or says what cannot be.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        Self::parse(&bytes).with_context(|| format!("{} is refused", path.display()))
    }

    /// Does the same for a file in memory.
    ///
    /// # Errors
    /// For the same reasons.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        ensure!(bytes.len() <= MAX_FILE, "it has more than {MAX_FILE} bytes");
        let text = std::str::from_utf8(bytes).context("it is not UTF-8")?;
        ensure!(text.lines().count() == 1, "it is not exactly one line");
        let board: Self =
            serde_json::from_str(text).context("it is not what the program writes")?;
        board.check()?;
        Ok(board)
    }

    fn check(&self) -> Result<()> {
        ensure!(self.schema == 1, "its schema is {}, and not 1", self.schema);
        ensure!(self.program.starts_with("hartlock-bench "), "another program wrote it");
        ensure!(!self.quick, "it was made with --quick, whose samples are too short");
        let system = (self.kernel.system.as_str(), self.kernel.machine.as_str());
        ensure!(system == ("Linux", "riscv64"), "its system is {system:?}");
        ensure!(self.cpuinfo.is_some(), "it has no /proc/cpuinfo");
        let is_length = self.vlen.is_power_of_two() && (64..=65_536).contains(&self.vlen);
        let is_right = if self.works("v") { is_length } else { self.vlen == 0 };
        ensure!(is_right, "vector registers of {} bits", self.vlen);
        let mut seen = BTreeSet::new();
        for row in &self.kernels {
            let name = format!("{} {} {}", row.name, row.form, row.tier);
            ensure!(seen.insert(name.clone()), "{name} is there twice");
            self.check_row(row).with_context(|| name)?;
        }
        let is_measured = |row: &BoardRow| row.status == BoardStatus::Measured;
        ensure!(self.kernels.iter().any(is_measured), "nothing was measured");
        for peer in self.openssl.iter().flat_map(|openssl| &openssl.rows) {
            let samples = peer.bytes_per_second.as_deref().unwrap_or(&[1]);
            let is_possible = |rate: &u64| (1..1_000_000_000_000).contains(rate);
            let is_right = (1..=MAX_SAMPLES).contains(&samples.len())
                && samples.iter().all(is_possible)
                && peer.bytes > 0;
            ensure!(is_right, "OpenSSL's {} cannot be", peer.name);
        }
        Ok(())
    }

    fn works(&self, extension: &str) -> bool {
        self.probes.get(extension) == Some(&Probe::Works)
    }

    /// Returns true if the processor has the extensions of a tier, which this kernel may have.
    fn has_tier(&self, BoardRow { name, form, tier, .. }: &BoardRow) -> bool {
        let with_vectors =
            |extension| self.works("v") && self.works("zvkb") && self.works(extension);
        let is_sha2 = matches!(name.as_str(), "sha256" | "sha512");
        let is_ctr = form == "stream";
        let is_gcm = matches!(form.as_str(), "decrypt-verify" | "hash");
        match tier.as_str() {
            "portable" => true,
            "rv64" => !is_ctr && !is_gcm,
            "zbb" => !is_ctr && !is_gcm && self.works("zbb"),
            "zknh" => is_sha2 && self.works("zbb") && self.works("zknh"),
            "v" => form == "lanes" && self.works("v"),
            "zvbb" => form == "lanes" && with_vectors("zvkb"),
            "zvknh" => {
                let has_short_words = name == "sha256" && with_vectors("zvknha");
                has_short_words || is_sha2 && with_vectors("zvknhb")
            }
            "zkne" => {
                let has_aes = self.works("zkne") && self.works("zbkb");
                has_aes && (is_ctr || is_gcm && self.works("zbkc"))
            }
            "zvkned" => with_vectors("zvkned") && (is_ctr || is_gcm && self.works("zvbc")),
            "zvkg" => is_gcm && with_vectors("zvkned") && with_vectors("zvkg"),
            _ => false,
        }
    }

    fn check_row(&self, row: &BoardRow) -> Result<()> {
        if row.status != BoardStatus::Measured {
            let has_samples = row.nanoseconds.is_some() || row.cycles.is_some();
            ensure!(!has_samples, "it has samples and was not measured");
            return Ok(());
        }
        let kernel = (row.name.as_str(), row.form.as_str());
        ensure!(KERNELS.contains(&kernel), "there is no such kernel");
        ensure!(self.has_tier(row), "it was measured without its extensions");
        figures(row).map(|_| ())
    }
}

/// Computes the figures of a row, and compares what the file says of them.
fn figures(row: &BoardRow) -> Result<Figures> {
    let nanoseconds = row.nanoseconds.as_deref().context("it has no times")?;
    let count = nanoseconds.len();
    ensure!((1..=MAX_SAMPLES).contains(&count), "it has {count} samples");
    for samples in [Some(nanoseconds), row.cycles.as_deref(), row.instructions.as_deref()] {
        let samples = samples.unwrap_or(nanoseconds);
        ensure!(samples.len() == count, "units have different numbers of samples");
        ensure!(samples.iter().all(|it| (1..1 << 50).contains(it)), "a sample cannot be");
    }
    let is_size = |number: Option<u64>| number.filter(|it| (1..=1 << 32).contains(it));
    let messages = is_size(row.messages).context("a number of messages that cannot be")?;
    let bytes = is_size(row.bytes).context("a number of bytes that cannot be")?;
    let repeats = is_size(row.repeats).context("a number of runs that cannot be")?;
    ensure!(bytes % messages == 0, "the messages do not have one length");
    let (counter, used) = match &row.cycles {
        Some(cycles) => ("cycles", cycles.as_slice()),
        None => ("nanoseconds", nanoseconds),
    };
    let middle = median(used).context("no samples")?;
    let (min, max) = (used.iter().min().copied(), used.iter().max().copied());
    let spread = max.zip(min).map(|(max, min)| (max - min) * 1000 / middle);
    let said = (row.counter.as_deref(), row.median, row.min, row.max, row.spread);
    if said != (Some(counter), Some(middle), min, max, spread) {
        bail!("its samples give another median, minimum, maximum or spread than it says");
    }
    let total = bytes as f64 * repeats as f64;
    let per_byte = |samples: &[u64]| median(samples).unwrap_or(0) as f64 / total;
    let found = Figures {
        cycles: row.cycles.as_deref().map(per_byte),
        instructions: row.instructions.as_deref().map(per_byte),
        nanoseconds: per_byte(nanoseconds),
        spread: spread.unwrap_or(0),
    };
    if let Some(cycles) = found.cycles {
        let rate = cycles / found.nanoseconds;
        ensure!(rate <= MAX_CYCLES_A_NANOSECOND, "{rate:.1} cycles a nanosecond");
        let retired = found.instructions.unwrap_or(0.0) / cycles;
        ensure!(retired <= MAX_INSTRUCTIONS_A_CYCLE, "{retired:.1} instructions a cycle");
    }
    Ok(found)
}

/// Returns a text of somebody else without marks of the book.
fn plain(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " .,()#:+-/".contains(it);
    text.chars().take(120).map(|it| if is_plain(it) { it } else { ' ' }).collect()
}

/// Makes the tables of all files of a folder.
///
/// # Errors
/// If a file is refused.
pub fn page(folder: &Path) -> Result<String> {
    let files = if folder.is_dir() { json_files(folder)? } else { Vec::new() };
    if files.is_empty() {
        return Ok("Nobody has reported a board yet.\n".into());
    }
    let mut out = String::new();
    for path in files {
        let board = Board::read(&path)?;
        let name = path.file_name().unwrap_or_default().display().to_string();
        out += &section(&plain(&name), &board)?;
    }
    Ok(out)
}

fn section(file: &str, board: &Board) -> Result<String> {
    let mut out = String::new();
    let title = board.board.as_deref().unwrap_or("a board without a name");
    let _ = writeln!(out, "### {}\n", plain(title));
    let extensions: Vec<&str> = board
        .probes
        .iter()
        .filter(|(_, it)| **it == Probe::Works)
        .map(|(name, _)| name.as_str())
        .collect();
    let governor = board.governor.as_deref().unwrap_or("unknown");
    let _ = writeln!(
        out,
        "Reported by others in `lab/runs/boards/{file}`: Linux {}, processor {}, governor {}, vector registers of {} bits, \
         extensions {}.\n",
        plain(&board.kernel.release),
        board.cpu,
        plain(governor),
        board.vlen,
        plain(&extensions.join(", "))
    );
    if let Some(openssl) = &board.openssl {
        let _ = writeln!(out, "OpenSSL of the board: {}.\n", plain(&openssl.version));
    }
    out += "| kernel | form | tier | cycles/byte | instructions/byte | ns/byte | spread | OpenSSL, ns/byte | ratio |\n";
    out += "|---|---|---|---:|---:|---:|---:|---:|---:|\n";
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |it| format!("{it:.3}"));
    for row in &board.kernels {
        let names = [&row.name, &row.form, &row.tier].map(|it| plain(it)).join(" | ");
        match row.status {
            BoardStatus::Absent => continue,
            BoardStatus::Wrong | BoardStatus::Died => {
                let word = if row.status == BoardStatus::Wrong { "wrong" } else { "died" };
                let _ = writeln!(out, "| {names} | **{word}** | | | | | |");
                continue;
            }
            BoardStatus::Measured => {}
        }
        let found = figures(row)?;
        let peer = peer(board, row);
        let _ = writeln!(
            out,
            "| {names} | {} | {} | {:.3} | {:.1} % | {} | {} |",
            number(found.cycles),
            number(found.instructions),
            found.nanoseconds,
            found.spread as f64 / 10.0,
            number(peer),
            number(peer.map(|peer| found.nanoseconds / peer))
        );
    }
    out.push('\n');
    Ok(out)
}

/// Returns OpenSSL's nanoseconds a byte for the same form and the same length of a message.
fn peer(board: &Board, row: &BoardRow) -> Option<f64> {
    let rows = &board.openssl.as_ref()?.rows;
    let is_same = |peer: &&PeerRow| {
        (&peer.name, &peer.form, Some(peer.bytes)) == (&row.name, &row.form, row.bytes)
    };
    let rates = rows.iter().find(is_same)?.bytes_per_second.as_deref()?;
    median(rates).map(|rate| 1e9 / rate as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = concat!(
        r#"{"schema":1,"program":"hartlock-bench 0.1.0","quick":false,"#,
        r##""kernel":{"system":"Linux","release":"6.12","version":"#1","machine":"riscv64"},"##,
        r#""board":"a|b","cpu":0,"governor":null,"cpuinfo":"x","vlen":256,"#,
        r#""probes":{"v":"works","zvkb":"works","zbb":"traps"},"kernels":["#,
        r#"{"name":"sha256","form":"one","tier":"portable","status":"measured","messages":1,"bytes":1000,"#,
        r#""repeats":2,"cycles":[40000,44000,48000],"instructions":[80000,80000,80000],"#,
        r#""nanoseconds":[20000,22000,24000],"counter":"cycles","median":44000,"min":40000,"max":48000,"spread":181},"#,
        r#"{"name":"sha256","form":"one","tier":"zbb","status":"absent"}],"#,
        r#""openssl":{"version":"OpenSSL 3","rows":[{"name":"sha256","form":"one","bytes":1000,"#,
        r#""bytes_per_second":[100000000]}]}}"#,
        "\n"
    );

    #[test]
    fn figures_come_from_the_samples() {
        let board = Board::parse(GOOD.as_bytes()).unwrap();
        let text = section("k3.json", &board).unwrap();
        // 44000 cycles and 22000 ns for 2000 bytes; OpenSSL takes 10 ns a byte.
        assert!(text.contains("| 22.000 | 40.000 | 11.000 | 18.1 % | 10.000 | 1.100 |"), "{text}");
        assert!(text.contains("### a b\n"), "{text}");
    }

    #[test]
    fn another_form_or_length_has_no_ratio() {
        for (from, to) in [
            (r#""form":"one","bytes":1000"#, r#""form":"decrypt","bytes":1000"#),
            (r#""bytes":1000,"bytes_per"#, r#""bytes":16,"bytes_per"#),
        ] {
            let board = Board::parse(GOOD.replace(from, to).as_bytes()).unwrap();
            assert!(section("x", &board).unwrap().contains("| 18.1 % | – | – |"), "{to}");
        }
    }

    #[test]
    fn refuses_what_is_malformed_or_cannot_be() {
        let faults = [
            ("\"schema\":1", "\"schema\":2", "schema is 2"),
            ("\"quick\":false", "\"quick\":true", "--quick"),
            ("\"vlen\":256", "\"vlen\":255", "255 bits"),
            ("\"vlen\":256", "\"vlen\":0", "0 bits"),
            ("\"median\":44000", "\"median\":43000", "another median"),
            ("\"spread\":181", "\"spread\":18", "another median"),
            ("[40000,44000,48000]", "[40000,44000]", "numbers of samples"),
            ("[20000,22000,24000]", "[0,22000,24000]", "a sample"),
            ("[20000,22000,24000]", "[2,2,2]", "cycles a nanosecond"),
            ("[80000,80000,80000]", "[8000000,8000000,8000000]", "instructions a cycle"),
            ("\"repeats\":2", "\"repeats\":0", "number of runs"),
            ("\"tier\":\"portable\"", "\"tier\":\"zvknh\"", "without its extensions"),
            ("\"form\":\"one\",\"tier\"", "\"form\":\"two\",\"tier\"", "no such kernel"),
            ("\"name\":\"sha256\"", "\"name\":\"sha999\"", "no such kernel"),
            ("\"tier\":\"portable\"", "\"tier\":\"v\"", "without its extensions"),
            ("\"status\":\"absent\"", "\"status\":\"absent\",\"cycles\":[1]", "was not measured"),
            ("\"tier\":\"zbb\"", "\"tier\":\"portable\"", "twice"),
            ("[100000000]", "[0]", "OpenSSL"),
            ("\"cpu\":0", "\"cpu\":0,\"more\":1", "what the program writes"),
            ("\n", "\n{}\n", "one line"),
            ("riscv64", "x86_64", "system"),
        ];
        for (from, to, why) in faults {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = format!("{:#}", Board::parse(text.as_bytes()).unwrap_err());
            assert!(error.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn a_kernel_needs_every_extension_that_it_uses() {
        let row = |name: &str, form: &str, tier: &str| {
            let text =
                format!(r#"{{"name":"{name}","form":"{form}","tier":"{tier}","status":"absent"}}"#);
            serde_json::from_str::<BoardRow>(&text).unwrap()
        };
        let mut board = Board::parse(GOOD.as_bytes()).unwrap();
        for name in ["zvknha", "zkne", "zbkb", "zvkned"] {
            board.probes.insert(name.into(), Probe::Works);
        }
        assert!(board.has_tier(&row("sha256", "one", "zvknh")));
        assert!(board.has_tier(&row("aes-256-ctr", "stream", "zkne")));
        assert!(board.has_tier(&row("aes-256-ctr", "stream", "zvkned")));
        for (name, form, tier) in [
            ("sha512", "one", "zvknh"),
            ("sha3-256", "lanes", "zvknh"),
            ("aes-256-gcm", "decrypt-verify", "zkne"),
            ("aes-256-gcm", "decrypt-verify", "zvkned"),
            ("aes-256-ctr", "stream", "rv64"),
            ("sha256", "one", "zkne"),
        ] {
            assert!(!board.has_tier(&row(name, form, tier)), "{name} {form} {tier}");
        }
    }
}
