//! The page of results: what is stored in `lab/runs`, and nothing that was typed by hand.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hartlock_sign::units::grouped;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fuzz::record::StoredRun;

/// A stored run. Numbers stay what they are in the file: nothing is rounded here.
#[derive(Deserialize)]
struct Run {
    paper: Option<String>,
    commit: Option<String>,
    date: Option<String>,
    machine: Option<Machine>,
    /// Versions by name of the tool, or a text.
    tools: Option<Value>,
    rows: Vec<Map<String, Value>>,
}

/// What a run was made on; a file may leave out what its program did not look at.
#[derive(Deserialize)]
struct Machine {
    processor: String,
    cores: Option<u64>,
    memory_mib: Option<u64>,
    kernel: Option<String>,
    /// Share of the processor that everything else used: median and most.
    others_median: Option<f64>,
    others_most: Option<f64>,
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

/// Columns of numbers, which stand below each other.
const NUMBERS: [&str; 4] = ["published", "ours", "ratio", "target"];

/// A section for each run, in the order of their names. Runs stand in the folder or, when a later
/// one replaces an earlier, in `latest` inside of it.
pub fn page(folder: &Path) -> Result<String> {
    let mut files = json_files(folder)?;
    files.extend(json_files(&folder.join("latest"))?);
    let fuzz_runs = fuzz_section(&folder.join("fuzz"))?;
    if files.is_empty() && fuzz_runs.is_empty() {
        return Ok("No runs are stored yet, so there are no figures to show.\n".into());
    }
    let mut out = String::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).context(name.clone())?;
        let run: Run = serde_json::from_str(&text).context(name.clone())?;
        out += &section(&name, &run);
    }
    Ok(out + &fuzz_runs)
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
    let date = run.date.as_ref().map_or(String::new(), |date| format!(", {date}"));
    let _ = writeln!(out, "Stored as `lab/runs/{name}`, at commit `{commit}`{date}.");
    if let Some(tools) = &run.tools {
        let _ = writeln!(out, "Tools: {}.", tools_text(tools));
    }
    if let Some(machine) = &run.machine {
        let _ = writeln!(out, "Machine: {}.", machine_text(machine));
    }
    // All tables of a run in one size of letters, however many columns they have.
    out += "\n<div class=\"figures\">\n";
    let mut tables: Vec<&str> = Vec::new();
    for table in run.rows.iter().map(table_of) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for table in tables {
        let rows: Vec<_> = run.rows.iter().filter(|row| table_of(row) == table).collect();
        let has_cell = |row: &Map<String, Value>, column: &str| match column {
            // Not measured is an answer too.
            "ours" => row.contains_key(column),
            _ => !cell(row, column).is_empty(),
        };
        let is_used = |column: &&str| rows.iter().any(|row| has_cell(row, column));
        let columns: Vec<&str> = COLUMNS.into_iter().filter(is_used).collect();
        let _ = writeln!(out, "\n### {}\n", if table.is_empty() { "Figures" } else { table });
        let rules = columns.iter().map(|it| if NUMBERS.contains(it) { "---:|" } else { "---|" });
        let _ = writeln!(out, "| {} |\n|{}", columns.join(" | "), rules.collect::<String>());
        let decimals: Vec<usize> = columns
            .iter()
            .map(|column| rows.iter().map(|row| decimals_of(row.get(*column))).max().unwrap_or(0))
            .collect();
        for row in rows {
            let cells = columns.iter().zip(&decimals);
            let cells: Vec<String> =
                cells.map(|(column, decimals)| shown(row, column, *decimals)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out += "\n</div>\n\n";
    out
}

/// Names with versions. A version that begins with the name says it for both.
fn tools_text(tools: &Value) -> String {
    let Value::Object(versions) = tools else { return describe(tools) };
    let tool = |(name, version): (&String, &Value)| {
        let version = describe(version);
        let first = version.split_whitespace().next().unwrap_or_default();
        if first.eq_ignore_ascii_case(name) { version } else { format!("{name} {version}") }
    };
    versions.iter().map(tool).collect::<Vec<_>>().join(", ")
}

fn machine_text(machine: &Machine) -> String {
    let mut parts = vec![describe(&machine.processor.as_str().into())];
    parts.extend(machine.cores.map(|cores| match cores {
        1 => "1 core".to_owned(),
        _ => format!("{cores} cores"),
    }));
    parts.extend(machine.memory_mib.map(|mib| format!("{:.1} GiB of memory", mib as f64 / 1024.0)));
    parts.extend(
        machine
            .kernel
            .as_ref()
            .map(|kernel| format!("Linux {}", describe(&kernel.as_str().into()))),
    );
    if let (Some(median), Some(most)) = (machine.others_median, machine.others_most) {
        parts.push(format!(
            "everything else used {:.1} % of the processor in the median and {:.1} % at most",
            median * 100.0,
            most * 100.0
        ));
    }
    parts.join(", ")
}

/// The newest run of the fuzz targets; nothing if none is stored.
fn fuzz_section(folder: &Path) -> Result<String> {
    let mut runs = Vec::new();
    for path in json_files(folder)? {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let text = fs::read(&path).context(name.clone())?;
        let run: StoredRun = serde_json::from_slice(&text).context(name.clone())?;
        runs.push((name, run));
    }
    let newest =
        runs.into_iter().max_by_key(|(name, run)| (run.date.clone(), run.ended, name.clone()));
    let Some((name, run)) = newest else { return Ok(String::new()) };
    let changes = if run.is_modified { ", with changes" } else { "" };
    let mut out = format!(
        "## Fuzz targets\n\nThe newest run, stored as `lab/runs/fuzz/{name}.json`, at commit \
         `{}`{changes}, {}.\nTools: {}, libfuzzer-sys {}. Coverage is in edges of the control \
         flow.\n\n| target | seconds | executions | coverage | corpus | crashes |\n\
         |---|---:|---:|---:|---:|---:|\n",
        run.commit, run.date, run.rustc, run.libfuzzer_sys
    );
    for it in &run.targets {
        let _ = writeln!(
            out,
            "| {} | {:.1} | {} | {} | {} | {} |",
            it.target,
            it.seconds,
            grouped(it.executions),
            grouped(it.coverage),
            grouped(it.corpus),
            it.crashes
        );
    }
    out.push('\n');
    Ok(out)
}

fn table_of(row: &Map<String, Value>) -> &str {
    row.get("table").and_then(Value::as_str).unwrap_or_default()
}

fn cell(row: &Map<String, Value>, column: &str) -> String {
    row.get(column).map(describe).unwrap_or_default()
}

/// How many decimals a number has in its file.
fn decimals_of(value: Option<&Value>) -> usize {
    let text = value.filter(|value| value.is_number()).map(Value::to_string);
    text.and_then(|text| text.split_once('.').map(|(_, rest)| rest.len())).unwrap_or(0)
}

/// A cell. JSON leaves out zeros at the end; numbers of a column have as many decimals as the
/// longest of them. What has not been measured is a dash, and the note says why.
fn shown(row: &Map<String, Value>, column: &str, decimals: usize) -> String {
    match row.get(column) {
        Some(value @ Value::Number(number)) if NUMBERS.contains(&column) => {
            number.as_f64().map_or_else(|| describe(value), |it| format!("{it:.decimals$}"))
        }
        None | Some(Value::Null) if column == "ours" => "–".to_owned(),
        _ => cell(row, column),
    }
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
            text.contains("### Hashes\n\n| metric | unit | ours | note |\n|---|---|---:|---|\n")
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

    #[test]
    fn a_run_says_once_what_it_was_made_with_and_on_what() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"date": "2026-11-21", "tools": {"openssl": "OpenSSL 3.0", "rustc": "rustc 1.95"},
            "machine": {"processor": "a|b", "cores": 2, "memory_mib": 24105, "kernel": "6.1",
                "others_median": 0.011, "others_most": 0.096},
            "rows": [{"metric": "a", "ours": 4.64}, {"metric": "b", "ours": 2.391},
                {"metric": "c", "ours": 12}, {"metric": "d", "ours": null, "note": "not built yet"}]}"#;
        fs::write(dir.path().join("host.json"), run).unwrap();
        let text = page(dir.path()).unwrap();
        assert!(
            text.contains("`not stated`, 2026-11-21.\nTools: OpenSSL 3.0, rustc 1.95.\n"),
            "{text}"
        );
        let machine = "Machine: a\\|b, 2 cores, 23.5 GiB of memory, Linux 6.1, everything else used \
            1.1 % of the processor in the median and 9.6 % at most.\n";
        assert!(text.contains(machine), "{text}");
        assert!(
            text.contains(
                "| a | 4.640 |  |\n| b | 2.391 |  |\n| c | 12.000 |  |\n| d | – | not built yet |\n"
            ),
            "{text}"
        );
        assert!(text.contains("<div class=\"figures\">\n\n### Figures"), "{text}");
    }

    #[test]
    fn of_the_runs_of_the_fuzzer_the_newest_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("fuzz");
        fs::create_dir(&folder).unwrap();
        let run = |date: &str, ended: u64, executions: u64| {
            serde_json::json!({
                "schema": 1, "commit": "abc", "is_modified": ended > 5, "date": date, "ended": ended,
                "rustc": "rustc 1.95", "libfuzzer_sys": "0.4", "seed": 1,
                "targets": [{ "target": "keys", "seconds": 46, "executions": executions,
                    "coverage": 7, "features": 8, "corpus": 9, "found_files": 0, "found_bytes": 0,
                    "peak_memory_mib": 28, "crashes": 0 }]
            })
            .to_string()
        };
        for (name, text) in [
            ("2026-01-02-b.json", run("2026-01-02", 5, 10)),
            ("2026-01-02-a.json", run("2026-01-02", 9, 20)),
            ("2025-12-31-c.json", run("2025-12-31", 99, 30)),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let text = page(dir.path()).unwrap();
        assert!(
            text.contains(
                "`lab/runs/fuzz/2026-01-02-a.json`, at commit `abc`, with changes, 2026-01-02."
            ),
            "{text}"
        );
        assert!(text.contains("| keys | 46.0 | 20 | 7 | 9 | 0 |\n"), "{text}");
        assert!(!text.contains("| 30 |"));
    }

    /// The number in front of a word, in the one line of the page that has all of these words.
    fn quoted(page: &str, words: &[&str], after: &str) -> String {
        let is_it = |line: &&str| words.iter().all(|word| line.contains(word));
        let mut lines = page.lines().filter(is_it);
        let line = lines.next().unwrap_or_else(|| panic!("README.md has no line with {words:?}"));
        assert_eq!(lines.next(), None, "{words:?} is in two lines");
        let rest = line.split_once(after).unwrap_or_else(|| panic!("no {after:?} in {line}")).1;
        rest.split_whitespace().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_readme_quotes_the_stored_run() {
        let root = crate::project::root();
        let readme = fs::read_to_string(root.join("README.md")).unwrap();
        let run = fs::read_to_string(root.join("lab/runs/latest/host-speed.json")).unwrap();
        let run: Run = serde_json::from_str(&run).unwrap();
        let ours = |metric: &str, config: &str| {
            let is_it = |row: &&Map<String, Value>| {
                let has = |name: &str, value: &str| row.get(name).is_some_and(|it| it == value);
                has("table", "speed") && has("metric", metric) && has("config", config)
            };
            run.rows.iter().find(is_it).unwrap()["ours"].as_f64().unwrap()
        };
        let good = ["host-speed.json", "openssl dgst -sha384"];
        for (after, metric) in [("signed at ", "sign"), ("verified at ", "verify")] {
            let expected = format!("{:.1}", ours(metric, "sha384 blocks"));
            assert_eq!(quoted(&readme, &good, after), expected, "{metric}");
        }
        let missed = ["🔴 missed", "signing 1 GiB with SHA-256"];
        let expected = format!("{:.2}", ours("sign", "sha256 blocks"));
        assert_eq!(quoted(&readme, &missed, "`openssl dgst`: "), expected);
    }
}
