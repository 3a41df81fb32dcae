//! The page of results: what is stored in `lab/runs`, and nothing that was typed by hand.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A stored run. Numbers stay what they are in the file: nothing is rounded here.
#[derive(Deserialize)]
struct Run {
    paper: Option<String>,
    commit: Option<String>,
    /// Versions by name of the tool, or a text.
    tools: Option<Value>,
    rows: Vec<Map<String, Value>>,
}

/// Columns in this order; one that no row of a table fills is left out.
const COLUMNS: [&str; 10] = [
    "metric",
    "config",
    "unit",
    "published",
    "ours",
    "ratio",
    "target",
    "status",
    "note",
    "erratum",
];

/// A section for each run, in the order of their names. Runs stand in the folder or, when a later
/// one replaces an earlier, in `latest` inside of it.
pub fn page(folder: &Path) -> Result<String> {
    let mut files = json_files(folder)?;
    files.extend(json_files(&folder.join("latest"))?);
    if files.is_empty() {
        return Ok("No runs are stored yet, so there are no figures to show.\n".into());
    }
    let mut out = String::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).context(name.clone())?;
        let run: Run = serde_json::from_str(&text).context(name.clone())?;
        out += &section(&name, &run);
    }
    Ok(out)
}

fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
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

fn section(name: &str, run: &Run) -> String {
    let stem = name.trim_start_matches("latest/").trim_end_matches(".json");
    let mut out = format!("## {}\n\n", run.paper.as_deref().unwrap_or(stem));
    let commit = run.commit.as_deref().unwrap_or("not stated");
    let _ = writeln!(out, "Stored as `lab/runs/{name}`, at commit `{commit}`.");
    if let Some(tools) = &run.tools {
        let _ = writeln!(out, "Tools: {}.", describe(tools));
    }
    let mut tables: Vec<&str> = Vec::new();
    for table in run.rows.iter().map(table_of) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for table in tables {
        let rows: Vec<_> = run.rows.iter().filter(|row| table_of(row) == table).collect();
        let is_used = |column: &&str| rows.iter().any(|row| !cell(row, column).is_empty());
        let columns: Vec<&str> = COLUMNS.into_iter().filter(is_used).collect();
        let _ = writeln!(out, "\n### {}\n", if table.is_empty() { "Figures" } else { table });
        let _ = writeln!(out, "| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
        for row in rows {
            let cells: Vec<String> = columns.iter().map(|column| cell(row, column)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out.push('\n');
    out
}

fn table_of(row: &Map<String, Value>) -> &str {
    row.get("table").and_then(Value::as_str).unwrap_or_default()
}

fn cell(row: &Map<String, Value>, column: &str) -> String {
    row.get(column).map(describe).unwrap_or_default()
}

/// A value in words that fit the cell of a table.
fn describe(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(describe).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", describe(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    let plain = text.replace('|', "\\|").replace('<', "&lt;");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_runs_the_page_says_so() {
        let dir = tempfile::tempdir().unwrap();
        assert!(page(&dir.path().join("runs")).unwrap().starts_with("No runs are stored"));
        fs::write(dir.path().join("notes.txt"), "x").unwrap();
        assert!(page(dir.path()).unwrap().starts_with("No runs are stored"));
    }

    #[test]
    fn a_run_becomes_its_tables_with_the_columns_that_are_used() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"commit": "abc", "tools": {"rustc": "1.95"}, "rows": [
            {"table": "Hashes", "metric": "sha384", "unit": "MB/s", "ours": 512.25, "note": "a|b"},
            {"table": "Keys", "metric": "verify", "unit": "us", "ours": 75, "published": null}]}"#;
        fs::write(dir.path().join("host.json"), run).unwrap();
        let text = page(dir.path()).unwrap();
        assert!(text.contains("at commit `abc`.\nTools: rustc 1.95."), "{text}");
        assert!(
            text.contains("### Hashes\n\n| metric | unit | ours | note |\n|---|---|---|---|\n")
        );
        assert!(text.contains("| sha384 | MB/s | 512.25 | a\\|b |"), "{text}");
        assert!(text.contains("| verify | us | 75 |"), "{text}");
        assert!(text.contains("## host\n\nStored as `lab/runs/host.json`"), "{text}");
        fs::create_dir(dir.path().join("latest")).unwrap();
        fs::write(dir.path().join("latest/quick.json"), run).unwrap();
        let text = page(dir.path()).unwrap();
        assert!(text.contains("## quick\n\nStored as `lab/runs/latest/quick.json`"), "{text}");
        fs::write(dir.path().join("bad.json"), "{}").unwrap();
        assert!(page(dir.path()).is_err(), "a run without rows is no run");
    }
}
