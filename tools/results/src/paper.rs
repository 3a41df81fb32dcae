//! The numbers of a paper, from `lab/papers/<key>/paper.toml`. They are written only there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::run::Row;
use xtask::project;

/// The contents of a paper's file.
pub struct Paper {
    key: String,
    /// Authors and title.
    pub title: String,
    constants: BTreeMap<String, f64>,
    numbers: Vec<Published>,
    /// The paper's names for the parts of a program.
    pub labels: Vec<Label>,
    /// Parameters that must be chosen to repeat the paper's measurement.
    pub parameters: Vec<Parameter>,
}

/// A parameter of the machine that the paper states, or that this project chose because the paper
/// does not state it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub name: String,
    /// The value in all rows outside the table *Sensitivity*, in the notation of that table.
    pub preset: String,
    pub source: Source,
    /// The place where the paper states it, or the reason of this project's choice.
    pub because: String,
}

/// Origin of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Paper,
    Ours,
}

impl Parameter {
    /// Returns the origin in words.
    pub const fn source(&self) -> &'static str {
        match self.source {
            Source::Paper => "stated by the paper",
            Source::Ours => "ours",
        }
    }
}

/// A label of an instruction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Kind of the label: the class of the instruction, or its purpose in the program of an engine.
    pub kind: String,
    pub name: String,
    /// Meaning in this project's own words.
    pub meaning: String,
}

/// A published number.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    pub table: String,
    pub metric: String,
    pub config: String,
    pub unit: String,
    pub value: f64,
    /// The reason why the number must be wrong: other numbers of the same paper contradict it.
    pub erratum: Option<String>,
}

/// Place of a number in a paper and in a run: table, metric, configuration.
type Place<'a> = (&'a str, &'a str, &'a str);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperFile {
    key: String,
    title: String,
    #[serde(default)]
    constants: BTreeMap<String, f64>,
    #[serde(default)]
    table: Vec<PaperTable>,
    #[serde(default)]
    label: Vec<Label>,
    #[serde(default)]
    parameter: Vec<Parameter>,
    #[serde(default)]
    erratum: Vec<Erratum>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperTable {
    name: String,
    columns: Vec<PaperColumn>,
    /// The subject of a row, then its cells.
    rows: Vec<Vec<Cell>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperColumn {
    metric: String,
    unit: String,
    /// Prefix of the configuration of all numbers in this column, in addition to the metric.
    of: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Erratum {
    table: String,
    metric: String,
    config: String,
    why: String,
}

/// Text of a cell for which the paper has no number.
const NOTHING: &str = "-";

impl Paper {
    pub fn load(key: &str) -> Result<Self> {
        Self::of(key)?.with_context(|| format!("there is no lab/papers/{key}/paper.toml"))
    }

    /// Reads the file of a paper. Returns `None` if the measurement with this key has no paper.
    pub fn of(key: &str) -> Result<Option<Self>> {
        let path = project::root().join(format!("lab/papers/{key}/paper.toml"));
        if !path.is_file() {
            return Ok(None);
        }
        let read = || {
            let paper = Self::parse(&fs::read_to_string(&path)?)?;
            ensure!(paper.key == key, "it is about {}", paper.key);
            Ok(Some(paper))
        };
        read().with_context(|| path.display().to_string())
    }

    pub fn parse(text: &str) -> Result<Self> {
        let file: PaperFile = toml::from_str(text)?;
        let mut numbers = Vec::new();
        for table in &file.table {
            for row in &table.rows {
                numbers.extend(table.numbers(row).with_context(|| table.name.clone())?);
            }
        }
        let places: BTreeSet<Place<'_>> = numbers.iter().map(Published::place).collect();
        ensure!(places.len() == numbers.len(), "two numbers have one place");
        for Erratum { table, metric, config, why } in file.erratum {
            let place = (table.as_str(), metric.as_str(), config.as_str());
            let wrong = numbers.iter_mut().find(|it| it.place() == place);
            wrong
                .with_context(|| format!("an erratum of {place:?}, which is not there"))?
                .erratum = Some(why);
        }
        let PaperFile { key, title, constants, label: labels, parameter: parameters, .. } = file;
        Ok(Self { key, title, constants, numbers, labels, parameters })
    }

    /// Returns the number at a place.
    pub fn number(&self, table: &str, metric: &str, config: &str) -> Option<&Published> {
        self.numbers.iter().find(|it| it.place() == (table, metric, config))
    }

    /// Returns a number that the paper states outside its tables, by name, for example a clock
    /// frequency or a size.
    pub fn constant(&self, name: &str) -> Result<f64> {
        let constant = self.constants.get(name).copied();
        constant.with_context(|| format!("{} states no {name}", self.key))
    }

    /// Makes rows for those numbers that have no row in a run, so that the report shows them.
    pub fn unused(&self, rows: &[Row], note: &str) -> Vec<Row> {
        let is_used = |it: &&Published| rows.iter().any(|row| row.place() == it.place());
        let unused = self.numbers.iter().filter(|it| !is_used(it));
        unused.map(|it| Row::not_measured(it, note)).collect()
    }

    /// Returns all rows: those of a run, and rows with `note` for the numbers that the run does not
    /// have. Tables are in the order of the run, followed by those without any measured number;
    /// rows are in the order of the paper.
    pub fn completed(&self, mut rows: Vec<Row>, note: &str) -> Vec<Row> {
        rows.extend(self.unused(&rows, note));
        let mut tables: Vec<String> = Vec::new();
        for row in &rows {
            if !tables.contains(&row.table) {
                tables.push(row.table.clone());
            }
        }
        rows.sort_by_key(|row| {
            let table = tables.iter().position(|table| *table == row.table);
            let number = self.numbers.iter().position(|it| it.place() == row.place());
            (table, number.unwrap_or(self.numbers.len()))
        });
        rows
    }
}

impl Published {
    fn place(&self) -> Place<'_> {
        (&self.table, &self.metric, &self.config)
    }
}

impl Row {
    /// The position of the number: table, metric, configuration.
    pub(super) fn place(&self) -> Place<'_> {
        (&self.table, &self.metric, &self.config)
    }

    /// Adds the number that the paper has at the same place. Fails if there is none, because then a
    /// name was mistyped in the row or in the paper's file.
    pub fn published(self, paper: &Paper) -> Result<Self> {
        let (table, metric, config) = self.place();
        let number = paper
            .number(table, metric, config)
            .with_context(|| format!("{} has no {table}, {metric}, {config}", paper.key))?;
        ensure!(
            number.unit == self.unit,
            "{table}, {metric}, {config} is in {}, not in {}",
            number.unit,
            self.unit
        );
        let erratum = number.erratum.clone();
        Ok(Self { erratum, ..self.with_published(number.value) })
    }

    fn not_measured(number: &Published, note: &str) -> Self {
        let Published { table, metric, config, unit, .. } = number;
        let row = Row::absent(table.as_str(), metric.as_str(), unit.as_str(), note).of(config);
        Self { erratum: number.erratum.clone(), ..row.with_published(number.value) }
    }
}

impl PaperTable {
    /// The numbers of a row.
    fn numbers(&self, row: &[Cell]) -> Result<Vec<Published>> {
        let Some((Cell::Text(what), cells)) = row.split_first() else {
            anyhow::bail!("a row does not begin with a name");
        };
        ensure!(cells.len() == self.columns.len(), "{what}: {} numbers", cells.len());
        let mut numbers = Vec::new();
        for (column, cell) in self.columns.iter().zip(cells) {
            let value = match cell {
                Cell::Number(value) => *value,
                Cell::Text(text) if text == NOTHING => continue,
                Cell::Text(text) => anyhow::bail!("{what}: {text:?} is no number"),
            };
            numbers.push(Published {
                table: self.name.clone(),
                metric: column.metric.clone(),
                config: match &column.of {
                    Some(of) => format!("{of}, {what}"),
                    None => what.clone(),
                },
                unit: column.unit.clone(),
                value,
                erratum: None,
            });
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests;
