//! A stored run as its reader sees it, whichever program wrote the file: the site and the page of a run say
//! the same, because both say this.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::inputs::{self, Inputs};
use super::run::Status;

/// A stored run. Numbers stay what they are in the file: nothing is rounded here.
#[derive(Deserialize)]
pub struct Stored {
    paper: Option<String>,
    commit: Option<String>,
    date: Option<String>,
    machine: Option<Machine>,
    /// Digests of its sources.
    inputs: Option<Inputs>,
    /// Versions by name of the tool, or a text.
    tools: Option<Value>,
    rows: Vec<Row>,
}

/// What a run was made on; a file may leave out what its program did not record.
#[derive(Deserialize)]
struct Machine {
    processor: Option<String>,
    cores: Option<u64>,
    memory_mib: Option<u64>,
    kernel: Option<String>,
    /// Share of the processor that everything else used: median and most.
    others_median: Option<f64>,
    others_most: Option<f64>,
}

/// One number and what belongs to it. A file of an earlier form has fewer fields.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Row(Map<String, Value>);

/// Columns in this order; one that no row of a table fills is left out.
const COLUMNS: [&str; 12] = [
    "metric",
    "config",
    "unit",
    "published",
    "peer",
    "ours",
    "how",
    "ratio",
    "target",
    "status",
    "erratum",
    "note",
];

/// Columns of numbers, which are aligned below each other.
const NUMBERS: [&str; 5] = ["published", "peer", "ours", "ratio", "target"];

/// What was not measured; the note says why.
const DASH: &str = "–";

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Column(&'static str);

impl Column {
    pub fn name(self) -> &'static str {
        self.0
    }

    pub fn is_number(self) -> bool {
        NUMBERS.contains(&self.0)
    }
}

/// The rows of one table of a run, ready to be shown.
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Line>,
}

/// One row: a plain text for each column of its table.
pub struct Line {
    pub status: Status,
    pub cells: Vec<(Column, String)>,
}

/// The summary of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Headline {
    pub hits: usize,
    /// What missed its target, in words.
    pub misses: Vec<String>,
    /// Rows without a number of ours.
    pub not_measured: usize,
    /// Numbers that their own paper contradicts.
    pub errata: usize,
}

impl Stored {
    pub fn read(path: &Path) -> Result<Self> {
        let read = || Ok(serde_json::from_str(&fs::read_to_string(path)?)?);
        let run: Result<Self> = read();
        run.with_context(|| path.display().to_string())
    }

    /// The key, if the file has one.
    pub fn key(&self) -> Option<&str> {
        self.paper.as_deref()
    }

    pub fn commit(&self) -> &str {
        self.commit.as_deref().unwrap_or("not stated")
    }

    /// What is out of date, in words; `None` if every source is as it was.
    ///
    /// # Errors
    /// If the sources cannot be read.
    pub fn stale(&self, root: &Path, key: &str) -> Result<Option<String>> {
        let Some(then) = &self.inputs else {
            return Ok(Some("older than the record of its sources".to_owned()));
        };
        let changed = inputs::changed(then, &inputs::now(root, key)?);
        Ok((!changed.is_empty()).then(|| format!("changed since: {}", changed.join(", "))))
    }

    pub fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// Names with versions. A version that begins with the name says it for both.
    pub fn tools(&self) -> Option<String> {
        let Value::Object(versions) = self.tools.as_ref()? else {
            return self.tools.as_ref().map(text);
        };
        let tool = |(name, version): (&String, &Value)| {
            let version = text(version);
            let first = version.split_whitespace().next().unwrap_or_default();
            if first.eq_ignore_ascii_case(name) { version } else { format!("{name} {version}") }
        };
        Some(versions.iter().map(tool).collect::<Vec<_>>().join(", "))
    }

    pub fn machine(&self) -> Option<String> {
        let machine = self.machine.as_ref()?;
        let mut parts: Vec<String> = machine.processor.iter().cloned().collect();
        parts.extend(machine.cores.map(|cores| match cores {
            1 => "1 core".to_owned(),
            _ => format!("{cores} cores"),
        }));
        parts.extend(
            machine.memory_mib.map(|mib| format!("{:.1} GiB of memory", mib as f64 / 1024.0)),
        );
        parts.extend(machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}")));
        if let (Some(median), Some(most)) = (machine.others_median, machine.others_most)
            // Zero throughout: the run does not depend on time, and was not measured.
            && most > 0.0
        {
            parts.push(format!(
                "everything else used {:.1} % of the processor in the median and {:.1} % at most",
                median * 100.0,
                most * 100.0
            ));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first row at a place.
    pub fn row(&self, table: &str, metric: &str, config: &str) -> Option<&Row> {
        let place = [("table", table), ("metric", metric), ("config", config)];
        self.rows.iter().find(|row| place.iter().all(|(name, value)| row.text(name) == *value))
    }

    pub fn headline(&self) -> Headline {
        let count = |is_it: fn(&&Row) -> bool| self.rows.iter().filter(is_it).count();
        let misses = self.rows.iter().filter(|row| row.status() == Status::Miss);
        Headline {
            hits: count(|row| row.status() == Status::Hit),
            misses: misses.map(Row::in_words).collect(),
            not_measured: count(|row| row.number("ours").is_none()),
            errata: count(|row| !row.text("erratum").is_empty()),
        }
    }

    /// The tables in the order of their first rows.
    pub fn tables(&self) -> Vec<Table> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.text("table")) {
                names.push(row.text("table"));
            }
        }
        names.into_iter().map(|name| self.table(name)).collect()
    }

    fn table(&self, name: &str) -> Table {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.text("table") == name).collect();
        let columns: Vec<Column> = COLUMNS
            .map(Column)
            .into_iter()
            .filter(|it| rows.iter().any(|row| row.has(*it)))
            .collect();
        let decimals = |column: Column| rows.iter().map(|row| row.decimals(column)).max();
        let decimals: Vec<usize> =
            columns.iter().map(|column| decimals(*column).unwrap_or(0)).collect();
        let cells = |row: &Row| {
            let cells = columns.iter().zip(&decimals);
            cells.map(|(column, decimals)| (*column, row.cell(*column, *decimals))).collect()
        };
        Table {
            name: if name.is_empty() { "Figures".to_owned() } else { name.to_owned() },
            rows: rows.iter().map(|row| Line { status: row.status(), cells: cells(row) }).collect(),
            columns,
        }
    }
}

impl Headline {
    /// Misses first: they are what a reader must not overlook.
    pub fn sentence(&self) -> String {
        let targets = self.hits + self.misses.len();
        match (targets, self.misses.len()) {
            (0, _) => "No targets were set".to_owned(),
            (1, 0) => "The target is hit".to_owned(),
            (1, _) => "The target is missed".to_owned(),
            (_, 0) => format!("All {targets} targets are hit"),
            (_, misses) if misses == targets => format!("All {targets} targets are missed"),
            (_, misses) => format!("{misses} of {targets} targets missed, {} hit", self.hits),
        }
    }

    /// What else there is to count.
    pub fn details(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.not_measured > 0 {
            parts.push(format!("rows without a number of ours: {}", self.not_measured));
        }
        if self.errata > 0 {
            parts.push(format!("numbers that their own paper contradicts: {}", self.errata));
        }
        let text = parts.join("; ");
        let mut letters = text.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().collect::<String>() + letters.as_str() + ".")
    }
}

impl Row {
    pub fn text(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn number(&self, field: &str) -> Option<f64> {
        self.0.get(field)?.as_f64()
    }

    fn status(&self) -> Status {
        match self.text("status") {
            "hit" => Status::Hit,
            "miss" => Status::Miss,
            _ => Status::Info,
        }
    }

    /// `speed, sign, sha256 blocks: 1.541 times openssl dgst, target ≥ 1.8`.
    fn in_words(&self) -> String {
        let names = ["table", "metric", "config"].map(|field| self.text(field));
        let place = names.iter().filter(|name| !name.is_empty()).copied().collect::<Vec<_>>();
        let cell = |column| self.cell(Column(column), self.decimals(Column(column)));
        let place = place.join(", ");
        format!("{place}: {} {}, target {}", cell("ours"), self.text("unit"), cell("target"))
    }

    fn has(&self, column: Column) -> bool {
        match column.name() {
            // Not measured is an answer too.
            "ours" => self.0.contains_key("ours"),
            "status" => self.status() != Status::Info,
            name => self.0.get(name).is_some_and(|value| !text(value).is_empty()),
        }
    }

    /// How many decimals a number has in its file.
    fn decimals(&self, column: Column) -> usize {
        let number = self.0.get(column.name()).filter(|value| value.is_number());
        let text = number.map(Value::to_string).unwrap_or_default();
        text.split_once('.').map_or(0, |(_, rest)| rest.trim_end_matches('0').len())
    }

    /// A plain text. JSON leaves out zeros at the end: numbers of a column have as many decimals as
    /// the longest of them, and those of a paper four digits, as papers print them.
    fn cell(&self, column: Column, decimals: usize) -> String {
        let name = column.name();
        let decimals = match self.number("published") {
            Some(number) if name == "published" && number != 0.0 => {
                let digits = 3 - number.abs().log10().floor() as i32;
                decimals.min(usize::try_from(digits).unwrap_or(0)).max(self.decimals(column))
            }
            _ => decimals,
        };
        match (name, self.number(name)) {
            ("target", Some(target)) => {
                let sign = if self.text("better") == "lower" { "≤ " } else { "≥ " };
                // Without a direction the sign is unknown.
                let sign = if self.text("better").is_empty() { "" } else { sign };
                format!("{sign}{target:.decimals$}")
            }
            (_, Some(number)) if column.is_number() => format!("{number:.decimals$}"),
            ("ours", None) => DASH.to_owned(),
            ("status", _) if self.status() == Status::Info => String::new(),
            ("status", _) if self.status() == Status::Miss => "✗ miss".to_owned(),
            _ => self.0.get(name).map(text).unwrap_or_default(),
        }
    }
}

/// The JSON files of a folder by name; none if there is no such folder.
pub fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A value in words, on one line.
fn text(value: &Value) -> String {
    let words = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", text(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use xtask::project;

    /// The script that computes headlines from samples, on a copy of the stored runs.
    #[test]
    fn a_changed_sample_or_number_is_found_by_the_script() {
        let copy = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(project::root().join("lab/runs/latest")).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
        let says = || {
            let mut script = Command::new("python3");
            script.arg(project::root().join("lab/recompute.py")).arg(copy.path());
            let output = script.output().unwrap();
            (output.status.success(), String::from_utf8(output.stdout).unwrap())
        };
        assert!(says().0, "{}", says().1);
        let file = copy.path().join("vector-crypto.csv");
        let text = fs::read_to_string(&file).unwrap();
        let line =
            text.lines().find(|line| line.starts_with("hartlock,rv64,sha384,rv64,one,")).unwrap();
        fs::write(&file, text.replace(line, &format!("{line}0"))).unwrap();
        let (is_right, text) = says();
        assert!(!is_right && text.contains("vector-crypto: hash, SHA-384, rv64: "), "{text}");
        // Of a second file of samples, too.
        let file = copy.path().join("quick-boot-tee-area.csv");
        let text = fs::read_to_string(&file).unwrap();
        let core = "hartlock,\"Keccak, 2 rounds a cycle\",12";
        let line = text.lines().find(|line| line.starts_with(core)).unwrap();
        fs::write(&file, text.replace(line, &line.replacen(core, &format!("{core}0"), 1))).unwrap();
        let (_, text) = says();
        assert!(text.contains("quick-boot-tee: "), "{text}");
        // And a verdict that does not follow from its row.
        let file = copy.path().join("vector-crypto.json");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen("\"status\": \"hit\"", "\"status\": \"miss\"", 1)).unwrap();
        let (_, text) = says();
        assert!(text.contains("it is a hit, not a miss"), "{text}");
    }
}
