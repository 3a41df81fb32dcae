//! The form of a stored run (`spec/lab-run.md`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::machine::Machine;

/// A run: everything that was measured at one time, and on what.
#[derive(Serialize)]
pub struct Run {
    /// Key of the paper, or of the measurement that belongs to none.
    pub paper: &'static str,
    pub commit: String,
    /// Versions by name.
    pub tools: BTreeMap<&'static str, String>,
    pub date: String,
    pub machine: Machine,
    pub rows: Vec<Row>,
}

/// One number.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub table: &'static str,
    pub metric: &'static str,
    pub config: String,
    pub unit: &'static str,
    pub published: Option<f64>,
    /// Absent if it is not built yet; the note says so.
    pub ours: Option<f64>,
    pub ratio: Option<f64>,
    pub target: Option<f64>,
    pub better: Better,
    pub status: Status,
    pub erratum: Option<String>,
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Hit,
    Miss,
    Info,
}

impl Row {
    /// A number without a target.
    pub fn info(table: &'static str, metric: &'static str, unit: &'static str, ours: f64) -> Self {
        Self {
            table,
            metric,
            config: String::new(),
            unit,
            published: None,
            ours: Some(rounded(ours)),
            ratio: None,
            target: None,
            better: Better::Higher,
            status: Status::Info,
            erratum: None,
            note: None,
        }
    }

    /// Judges the number as it is stored, so that a reader comes to the same verdict.
    pub fn judged(mut self, better: Better, target: f64) -> Self {
        let is_hit = self.ours.is_some_and(|ours| match better {
            Better::Higher => ours >= target,
            Better::Lower => ours <= target,
        });
        self.status = if is_hit { Status::Hit } else { Status::Miss };
        (self.better, self.target) = (better, Some(target));
        self
    }

    /// What stands in the paper and is not built yet.
    pub fn not_built(table: &'static str, metric: &'static str, unit: &'static str) -> Self {
        let row = Self::info(table, metric, unit, 0.0).noted("not built yet");
        Self { ours: None, ..row }
    }

    /// Beside the number of a paper or a peer.
    pub fn beside(mut self, published: f64) -> Self {
        self.published = Some(published);
        self.ratio = self.ours.map(|ours| rounded(ours / published));
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

/// Three digits behind the point: wall-clock times deserve no more.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

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

    /// The rows as a table for a terminal.
    pub fn text(&self) -> String {
        let mut lines =
            vec![["table", "metric", "config", "ours", "target", "status"].map(str::to_owned)];
        lines.extend(self.rows.iter().map(Row::columns));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
        let line = |cells: &[String; 6]| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        lines.iter().map(line).collect()
    }
}

impl Row {
    fn columns(&self) -> [String; 6] {
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
            self.table.to_owned(),
            self.metric.to_owned(),
            self.config.clone(),
            self.ours.map_or("–".into(), |ours| format!("{ours} {}", self.unit)),
            target,
            status.to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::project;

    /// What `spec/lab-run.md` says about a row, by a reader who has nothing but the text.
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
        // What is stored decides: 1.7996 is written as 1.8.
        assert_eq!(row(1.7996).judged(Better::Higher, 1.8).status, Status::Hit);
    }
}
