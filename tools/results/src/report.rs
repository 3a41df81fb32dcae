//! Shows a stored run as one HTML page without scripts, fonts or references outside the file. The
//! page has the same style as that of a boot (`hartlock_timeline::report`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use askama::Template;

use super::paper::{Paper, Parameter};
use super::plot::{Plot, plots};
use super::run::{Run, Status};
use super::stored::{Column, Headline, Line, Table, json_files};
use xtask::project;

#[derive(Template)]
#[template(path = "lab.html")]
struct Page<'a> {
    key: &'a str,
    /// Title of the paper that the run is about.
    paper: Option<&'a str>,
    style: &'static str,
    run: &'a Run,
    headline: Headline,
    /// Sources that have changed since the run.
    stale: Option<String>,
    plots: Vec<Plot>,
    /// Parameters that were chosen for the machine.
    parameters: &'a [Parameter],
    tables: Vec<Table>,
}

impl Page<'_> {
    /// Returns the CSS class of the verdict: green, red, or neither.
    fn class(&self) -> &'static str {
        match (self.headline.hits, self.headline.misses.len()) {
            (0, 0) => "open",
            (_, 0) => "yes",
            _ => "no",
        }
    }
}

impl Column {
    fn class(&self) -> &'static str {
        match self {
            Column::Metric => "step",
            _ if self.is_number() => "num",
            _ => "",
        }
    }

    /// Returns true if a cell must show the name of its column where the page is too narrow for a
    /// table.
    fn is_labelled(&self) -> bool {
        self.is_number() || *self == Column::Erratum
    }
}

impl Line {
    /// Returns the CSS class of a cell.
    fn class(&self, column: &Column) -> &'static str {
        match (column, self.status) {
            (Column::Status, Status::Miss) => "rejected",
            (Column::Status, _) => "accepted",
            (Column::Erratum, _) => "erratum",
            _ => column.class(),
        }
    }
}

/// Makes the pages of all runs in a folder, or of one of them, and returns the paths of the pages.
pub fn pages(folder: &Path, key: Option<&str>, suffix: &str) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for path in json_files(folder)? {
        let name = path.file_stem().and_then(|name| name.to_str()).context("a name in UTF-8")?;
        if key.is_none_or(|key| key == name) {
            let to = project::target_dir().join(format!("lab/report/{name}{suffix}.html"));
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            let page = html(name, &Run::read(&path)?).with_context(|| name.to_owned())?;
            fs::write(&to, page).with_context(|| to.display().to_string())?;
            pages.push(to);
        }
    }
    Ok(pages)
}

fn html(key: &str, run: &Run) -> Result<String> {
    let paper = Paper::of(key)?;
    let page = Page {
        key,
        paper: paper.as_ref().map(|paper| paper.title.as_str()),
        style: hartlock_timeline::report::STYLE,
        run,
        headline: run.headline(),
        stale: run.stale(&project::root(), key)?,
        plots: plots(key, run, paper.as_ref())?,
        parameters: paper.as_ref().map_or(&[], |paper| &paper.parameters),
        tables: run.tables(),
    };
    Ok(page.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"paper": "host-speed", "commit": "abc", "date": "2026-11-21",
        "tools": {"rustc": "1.95"}, "machine": {"processor": "a <b>", "cores": 2}, "rows": [
        {"table": "speed", "metric": "sign", "config": "", "unit": "times", "published": null,
            "ours": 1.9, "ratio": null, "target": 1.8, "better": "higher", "status": "hit"},
        {"table": "speed", "metric": "verify", "config": "sha384", "unit": "times", "ours": 1.5,
            "target": 1.8, "better": "higher", "status": "miss", "erratum": "1 < 2",
            "note": "a & b"}]}"#;

    #[test]
    fn a_page_shows_misses_first_and_needs_nothing_else() {
        let page = html("host-speed", &serde_json::from_str(RUN).unwrap()).unwrap();
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in\n{page}"));
        let headline = at("1 of 2 targets missed, 1 hit");
        let miss = at("speed, verify, sha384: 1.5 times, target ≥ 1.8");
        assert!(headline < miss && miss < at("<h2 id=\"table-1\">speed</h2>"));
        assert!(page.contains("✗ miss</td>") && page.contains("a &#60;b&#62;, 2 cores"));
        assert!(page.contains("1 &#60; 2") && page.contains("a &#38; b"));
        for outside in ["http://", "https://", "<script", "<link", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn every_stored_run_has_a_page() {
        let folder = project::root().join("lab/runs/latest");
        for path in json_files(&folder).unwrap() {
            let run = Run::read(&path).unwrap();
            let page = html("any", &run).unwrap();
            assert!(page.contains(&run.headline().sentence()), "{}", path.display());
        }
    }
}
