//! A stored run in words and tables: the site and the page of a run say the same, because both say this.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::inputs;
use super::run::{Better, Row, Run, Status};

/// The columns of a table, in this order; one that no row of a table fills is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Metric,
    Config,
    Unit,
    Published,
    Peer,
    Ours,
    How,
    Ratio,
    Target,
    Status,
    Erratum,
    Note,
}

const COLUMNS: [Column; 12] = [
    Column::Metric,
    Column::Config,
    Column::Unit,
    Column::Published,
    Column::Peer,
    Column::Ours,
    Column::How,
    Column::Ratio,
    Column::Target,
    Column::Status,
    Column::Erratum,
    Column::Note,
];

/// Stands for a number that was not measured; the note says why.
const DASH: &str = "–";

impl Column {
    /// The heading, which is the name of the field in a stored run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metric => "metric",
            Self::Config => "config",
            Self::Unit => "unit",
            Self::Published => "published",
            Self::Peer => "peer",
            Self::Ours => "ours",
            Self::How => "how",
            Self::Ratio => "ratio",
            Self::Target => "target",
            Self::Status => "status",
            Self::Erratum => "erratum",
            Self::Note => "note",
        }
    }

    /// Returns true for a column of numbers, which are aligned below each other.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Published | Self::Peer | Self::Ours | Self::Ratio | Self::Target)
    }
}

/// The rows of one table of a run, ready to be shown.
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Line>,
}

/// A row: a plain text for each column of its table.
pub struct Line {
    pub status: Status,
    pub cells: Vec<(Column, String)>,
}

/// The summary of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Headline {
    pub hits: usize,
    /// The rows that missed their targets, in words.
    pub misses: Vec<String>,
    /// Rows without a number of ours.
    pub not_measured: usize,
    /// Numbers that their own paper contradicts.
    pub errata: usize,
}

impl Run {
    /// Reads a stored run.
    ///
    /// # Errors
    /// If the file cannot be read or is no run.
    pub fn read(path: &Path) -> Result<Self> {
        let read = || Ok(serde_json::from_str(&fs::read_to_string(path)?)?);
        let run: Result<Self> = read();
        run.with_context(|| path.display().to_string())
    }

    /// Returns the names of the sources that have changed since, in words; `None` if there is none.
    ///
    /// # Errors
    /// If the sources cannot be read.
    pub fn stale(&self, root: &Path, key: &str) -> Result<Option<String>> {
        let changed = inputs::changed(&self.inputs, &inputs::now(root, key)?);
        Ok((!changed.is_empty()).then(|| format!("changed since: {}", changed.join(", "))))
    }

    /// Names of tools with versions. A version that begins with the name says it for both.
    pub fn tools_in_words(&self) -> String {
        let tool = |(name, version): (&String, &String)| {
            let first = version.split_whitespace().next().unwrap_or_default();
            if first.eq_ignore_ascii_case(name) {
                version.clone()
            } else {
                format!("{name} {version}")
            }
        };
        self.tools.iter().map(tool).collect::<Vec<_>>().join(", ")
    }

    /// The machine in words.
    pub fn machine_in_words(&self) -> String {
        let machine = &self.machine;
        let mut parts = vec![machine.processor.clone()];
        parts.push(match machine.cores {
            1 => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        });
        parts.push(format!("{:.1} GiB of memory", machine.memory_mib as f64 / 1024.0));
        parts.push(format!("Linux {}", machine.kernel));
        // Zero throughout: the run does not depend on time, and was not measured.
        if machine.others_most > 0.0 {
            parts.push(format!(
                "everything else used {:.1} % of the processor in the median and {:.1} % at most",
                machine.others_median * 100.0,
                machine.others_most * 100.0
            ));
        }
        parts.join(", ")
    }

    /// The first row at a place.
    pub fn row(&self, table: &str, metric: &str, config: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.place() == (table, metric, config))
    }

    pub fn headline(&self) -> Headline {
        let count = |is_it: fn(&&Row) -> bool| self.rows.iter().filter(is_it).count();
        let misses = self.rows.iter().filter(|row| row.status == Status::Miss);
        Headline {
            hits: count(|row| row.status == Status::Hit),
            misses: misses.map(Row::in_words).collect(),
            not_measured: count(|row| row.ours.is_none()),
            errata: count(|row| row.erratum.is_some()),
        }
    }

    /// The tables in the order of their first rows.
    pub fn tables(&self) -> Vec<Table> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.table.as_str()) {
                names.push(&row.table);
            }
        }
        names.into_iter().map(|name| self.table(name)).collect()
    }

    fn table(&self, name: &str) -> Table {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.table == name).collect();
        let columns: Vec<Column> =
            COLUMNS.into_iter().filter(|it| rows.iter().any(|row| row.has(*it))).collect();
        let decimals = |column: Column| rows.iter().map(|row| row.decimals(column)).max();
        let decimals: Vec<usize> =
            columns.iter().map(|column| decimals(*column).unwrap_or(0)).collect();
        let cells = |row: &Row| {
            let cells = columns.iter().zip(&decimals);
            cells.map(|(column, decimals)| (*column, row.cell(*column, *decimals))).collect()
        };
        Table {
            name: if name.is_empty() { "Figures".to_owned() } else { name.to_owned() },
            rows: rows.iter().map(|row| Line { status: row.status, cells: cells(row) }).collect(),
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

    /// Returns the numbers of rows without a measurement and of errata, in words.
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
    /// `speed, sign, sha256 blocks: 1.541 times openssl dgst, target ≥ 1.8`.
    fn in_words(&self) -> String {
        let names = [&self.table, &self.metric, &self.config];
        let place: Vec<&str> =
            names.into_iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        let cell = |column| self.cell(column, self.decimals(column));
        let place = place.join(", ");
        format!("{place}: {} {}, target {}", cell(Column::Ours), self.unit, cell(Column::Target))
    }

    fn has(&self, column: Column) -> bool {
        match column {
            // A number that was not measured is shown as such.
            Column::Ours => true,
            _ if column.is_number() => self.number(column).is_some(),
            _ => !self.cell(column, 0).is_empty(),
        }
    }

    /// The number of a column; `None` in a column of texts, too.
    pub fn number(&self, column: Column) -> Option<f64> {
        match column {
            Column::Published => self.published,
            Column::Peer => self.peer,
            Column::Ours => self.ours,
            Column::Ratio => self.ratio,
            Column::Target => self.target,
            _ => None,
        }
    }

    /// Number of decimals that a number is stored with.
    fn decimals(&self, column: Column) -> usize {
        let text = self.number(column).map_or_else(String::new, |number| number.to_string());
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    }

    /// A plain text on one line. Numbers of a column have as many decimals as the longest of them, and those of a
    /// paper four digits, as papers print them.
    fn cell(&self, column: Column, decimals: usize) -> String {
        let plain = |number: Option<f64>, decimals: usize| {
            number.map_or_else(String::new, |number| format!("{number:.decimals$}"))
        };
        let text = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let optional = |it: &Option<String>| text(it.as_deref().unwrap_or_default());
        match column {
            Column::Metric => text(&self.metric),
            Column::Config => text(&self.config),
            Column::Unit => text(&self.unit),
            Column::Published => {
                let most = match self.published {
                    Some(number) if number != 0.0 => {
                        let digits = 3 - number.abs().log10().floor() as i32;
                        usize::try_from(digits).unwrap_or(0)
                    }
                    _ => decimals,
                };
                plain(self.published, decimals.min(most).max(self.decimals(column)))
            }
            Column::Ours if self.ours.is_none() => DASH.to_owned(),
            Column::Peer | Column::Ours | Column::Ratio => plain(self.number(column), decimals),
            Column::Target => match (self.target, self.better) {
                (None, _) => String::new(),
                (target, Better::Lower) => format!("≤ {}", plain(target, decimals)),
                (target, Better::Higher) => format!("≥ {}", plain(target, decimals)),
            },
            Column::How => self.how.map_or_else(String::new, |how| how.name().to_owned()),
            Column::Status => match self.status {
                Status::Hit => "hit".to_owned(),
                Status::Miss => "✗ miss".to_owned(),
                Status::Info => String::new(),
            },
            Column::Erratum => optional(&self.erratum),
            Column::Note => optional(&self.note),
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
