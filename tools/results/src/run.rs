//! The format of a stored run (`spec/lab-run.md`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;

/// A run: everything that was measured at one time, and the machine that it was measured on.
#[derive(Serialize, Deserialize)]
pub struct Run {
    /// Key of the paper, or of the measurement that belongs to none.
    #[serde(default)]
    pub paper: String,
    #[serde(default)]
    pub commit: String,
    /// Digests of the sources that the numbers depend on.
    #[serde(default)]
    pub inputs: Inputs,
    /// Versions of tools, by name.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// UTC, ISO 8601.
    #[serde(default)]
    pub date: String,
    #[serde(default)]
    pub machine: Machine,
    pub rows: Vec<Row>,
}

/// The machine that a run was made on. A number that was not recorded is 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub memory_mib: u64,
    pub kernel: String,
    /// Share of the processor that everything else used during the samples: median and maximum.
    pub others_median: f64,
    pub others_most: f64,
}

/// A number with its unit, its place and its verdict.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    pub table: String,
    pub metric: String,
    pub config: String,
    pub unit: String,
    /// The paper's number.
    pub published: Option<f64>,
    /// The number of the best other implementation in the same run.
    pub peer: Option<f64>,
    /// This project's number. `None` if the measured function does not exist yet, which the note
    /// says.
    pub ours: Option<f64>,
    /// Origin of the number; `None` if there is no number.
    pub how: Option<How>,
    pub ratio: Option<f64>,
    pub target: Option<f64>,
    pub better: Better,
    pub status: Status,
    pub erratum: Option<String>,
    pub note: Option<String>,
}

/// The direction in which a number is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    #[default]
    Higher,
    Lower,
}

/// The origin of a number. *Measured* stands for simulated, counted or timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Cycles of the simulated RTL.
    Simulated,
    /// Retired instructions, or cells of a netlist.
    Counted,
    /// Wall-clock time or memory of programs on the workstation.
    Timed,
    /// Computed from simulated cycles of a smaller payload, with the division of work.
    Scaled,
    /// Computed from counts of one machine and costs of another, with a rate of the paper, or by a compiler's model of a
    /// core.
    Modelled,
    /// Computed from other numbers by arithmetic.
    Computed,
}

impl How {
    /// Marks all rows that have a number and no origin with this origin.
    pub fn made(self, rows: Vec<Row>) -> Vec<Row> {
        let mark = |row: Row| Row { how: row.how.or(row.ours.map(|_| self)), ..row };
        rows.into_iter().map(mark).collect()
    }

    /// The name in a stored run.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Counted => "counted",
            Self::Timed => "timed",
            Self::Scaled => "scaled",
            Self::Modelled => "modelled",
            Self::Computed => "computed",
        }
    }
}

/// The verdict on a number; `Info` where there is no number or no target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Hit,
    Miss,
    #[default]
    Info,
}

impl Row {
    /// Makes a row without a target.
    pub fn info(
        table: impl Into<String>,
        metric: impl Into<String>,
        unit: impl Into<String>,
        ours: f64,
    ) -> Self {
        Self {
            table: table.into(),
            metric: metric.into(),
            config: String::new(),
            unit: unit.into(),
            published: None,
            peer: None,
            ours: Some(rounded(ours)),
            how: None,
            ratio: None,
            target: None,
            better: Better::Higher,
            status: Status::Info,
            erratum: None,
            note: None,
        }
    }

    /// Sets a target and the status. The rounded number is compared, so that a reader of the file
    /// gets the same result.
    pub fn judged(mut self, better: Better, target: f64) -> Self {
        let is_hit = self.ours.is_some_and(|ours| match better {
            Better::Higher => ours >= target,
            Better::Lower => ours <= target,
        });
        self.status = if is_hit { Status::Hit } else { Status::Miss };
        (self.better, self.target) = (better, Some(target));
        self
    }

    /// Makes a row without a number; the note says why nothing was measured.
    pub fn absent(
        table: impl Into<String>,
        metric: impl Into<String>,
        unit: impl Into<String>,
        note: &str,
    ) -> Self {
        Self { ours: None, ..Self::info(table, metric, unit, 0.0).noted(note) }
    }

    /// Adds a number that the paper states, or that follows from it.
    pub fn with_published(mut self, published: f64) -> Self {
        self.published = Some(published);
        self.compared()
    }

    /// Adds the number of the best other implementation in the same run.
    pub fn peer(mut self, peer: f64) -> Self {
        self.peer = Some(rounded(peer));
        self.compared()
    }

    /// Removes the ratio and adds the reason to the note.
    pub fn incomparable(mut self, reason: &str) -> Self {
        self.ratio = None;
        let note = self.note.take().map_or_else(String::new, |note| note + "; ");
        self.noted(format!("{note}no ratio: {reason}"))
    }

    /// Computes the ratio to the paper's number, or to the peer's if the paper has none.
    fn compared(mut self) -> Self {
        let other = self.published.or(self.peer);
        self.ratio = self.ours.zip(other).map(|(ours, other)| rounded(ours / other));
        self
    }

    pub fn how(mut self, how: How) -> Self {
        self.how = Some(how);
        self
    }

    pub fn of(mut self, config: &str) -> Self {
        self.config = config.to_owned();
        self
    }

    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Rounds to three decimals, because wall-clock times are not more precise.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Headings of the columns on a terminal.
const HEADINGS: [&str; 8] =
    ["table", "metric", "config", "published", "peer", "ours", "target", "status"];

impl Run {
    /// Writes the run and its samples.
    pub fn store(&self, folder: &Path, samples: &str) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let json = serde_json::to_string_pretty(self)? + "\n";
        for (extension, text) in [("json", json.as_str()), ("csv", samples)] {
            let path = folder.join(format!("{}.{extension}", self.paper));
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Writes a second file of samples of another kind.
    pub fn store_more(&self, folder: &Path, kind: &str, samples: &str) -> Result<()> {
        let path = folder.join(format!("{}-{kind}.csv", self.paper));
        fs::write(&path, samples).with_context(|| path.display().to_string())
    }

    /// Formats the rows as a table for a terminal.
    pub fn text(&self) -> String {
        let rows: Vec<[String; 8]> = self.rows.iter().map(Row::columns).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        // Columns without any value are left out.
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| match width(column) {
                None | Some(0) => 0,
                Some(width) => width.max(HEADINGS[column].len()),
            })
            .collect();
        let line = |cells: &[String; 8]| {
            let cells = cells.iter().zip(&widths).filter(|(_, width)| **width > 0);
            let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        [HEADINGS.map(str::to_owned)].iter().chain(&rows).map(line).collect()
    }
}

impl Row {
    fn columns(&self) -> [String; 8] {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let target = self.target.map_or(String::new(), |target| match self.better {
            Better::Higher => format!("at least {target}"),
            Better::Lower => format!("at most {target}"),
        });
        let status = match self.status {
            Status::Hit => "hit",
            Status::Miss => "MISS",
            Status::Info => "",
        };
        [
            self.table.clone(),
            self.metric.clone(),
            self.config.clone(),
            number(self.published),
            number(self.peer),
            self.ours.map_or("–".into(), |ours| match self.how {
                Some(how) => format!("{ours} {}, {}", self.unit, how.name()),
                None => format!("{ours} {}", self.unit),
            }),
            target,
            status.to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use xtask::project;

    /// Computes the status of a row from its JSON as `spec/lab-run.md` defines it.
    fn status(row: &Value) -> &'static str {
        let Some(ours) = row["ours"].as_f64() else {
            assert!(row["ours"].is_null() && row["note"].is_string());
            return "info";
        };
        match (row["target"].as_f64(), row["better"].as_str()) {
            (None, _) => "info",
            (Some(target), Some("higher")) if ours >= target => "hit",
            (Some(target), Some("lower")) if ours <= target => "hit",
            (Some(_), Some("higher" | "lower")) => "miss",
            other => panic!("no direction: {other:?}"),
        }
    }

    /// Checks the ratio of a row in the same way. Old files, which have no peers, lack that field.
    fn is_ratio(row: &Value) -> bool {
        // Numbers that cannot be compared have no ratio, and the note says so.
        if row["note"].as_str().is_some_and(|note| note.contains("no ratio: ")) {
            return row["ratio"].is_null();
        }
        let other = row["published"].as_f64().or(row["peer"].as_f64());
        match row["ours"].as_f64().zip(other) {
            Some((ours, other)) => row["ratio"] == ((ours / other) * 1000.0).round() / 1000.0,
            None => row["ratio"].is_null(),
        }
    }

    #[test]
    fn stored_runs_have_their_form_and_their_verdicts() {
        let folder = project::root().join("lab/runs/latest");
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let run: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            assert_eq!(run["paper"].as_str(), path.file_stem().and_then(|stem| stem.to_str()));
            assert!(path.with_extension("csv").exists(), "{} has no samples", path.display());
            for field in ["commit", "date"] {
                assert!(run[field].is_string(), "{}: {field}", path.display());
            }
            for row in run["rows"].as_array().unwrap() {
                assert_eq!(row["status"], status(row), "{}: {row}", path.display());
                assert!(is_ratio(row), "{}: {row}", path.display());
                for field in ["table", "metric", "config", "unit"] {
                    assert!(row[field].is_string(), "{}: {row}", path.display());
                }
            }
        }
    }

    #[test]
    fn a_row_is_judged_by_its_target() {
        let row = |ours| Row::info("speed", "sign", "times openssl dgst", ours);
        assert_eq!(row(1.8).judged(Better::Higher, 1.8).status, Status::Hit);
        assert_eq!(row(1.799).judged(Better::Higher, 1.8).status, Status::Miss);
        assert_eq!(row(64.0).judged(Better::Lower, 64.0).status, Status::Hit);
        assert_eq!(row(64.1).judged(Better::Lower, 64.0).status, Status::Miss);
        assert_eq!(row(1.0).status, Status::Info);
        // The stored number is compared: 1.7996 is stored as 1.8.
        assert_eq!(row(1.7996).judged(Better::Higher, 1.8).status, Status::Hit);
    }

    #[test]
    fn how_a_number_was_made_is_said_once() {
        let row = |ours| Row::info("hash", "SHA-256", "cycles", ours);
        let rows = vec![
            row(1.0),
            row(2.0).how(How::Scaled),
            Row::absent("hash", "SHA-384", "cycles", "not built yet"),
        ];
        let how: Vec<_> = How::Simulated.made(rows).iter().map(|row| row.how).collect();
        assert_eq!(how, [Some(How::Simulated), Some(How::Scaled), None]);
        let json = serde_json::to_value(How::Computed).unwrap();
        assert_eq!(json, How::Computed.name());
    }

    #[test]
    fn a_ratio_is_to_the_paper_and_without_one_to_a_peer() {
        let row = Row::info("hash", "SHA-256", "instructions/byte", 3.0);
        assert_eq!(row.ratio, None);
        assert_eq!(row.clone().peer(4.0).ratio, Some(0.75));
        assert_eq!(row.clone().peer(4.0).with_published(2.0).ratio, Some(1.5));
        assert_eq!(row.with_published(2.0).peer(4.0).ratio, Some(1.5));
        assert_eq!(
            Row::absent("hash", "SHA-256", "ms", "not built yet").with_published(2.0).ratio,
            None
        );
    }
}
