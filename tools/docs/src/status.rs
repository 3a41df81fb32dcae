//! Generates the page *Status* from `docs/status.toml`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The path of the file from the root of the checkout.
pub const FILE: &str = "docs/status.toml";

/// A capability of the project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The anchor on the page, and the name for tests.
    pub id: String,
    group: String,
    title: String,
    status: Status,
    /// The day on which the text and its figures were written.
    as_of: Option<String>,
    /// A description in one sentence.
    pub text: String,
    /// The commands that show the capability.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Titles, and paths from the root of the checkout.
    links: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
enum Status {
    #[serde(rename = "works")]
    Works,
    #[serde(rename = "not yet")]
    NotYet,
    #[serde(rename = "missed")]
    Missed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    capability: Vec<Capability>,
}

pub fn load(root: &Path) -> Result<Vec<Capability>> {
    let text = fs::read_to_string(root.join(FILE)).context(FILE)?;
    let all = parse(&text).context(FILE)?;
    for (_, path) in all.iter().flat_map(|it| &it.links) {
        ensure!(root.join(path).is_file(), "{FILE}: there is no {path}");
    }
    Ok(all)
}

fn parse(text: &str) -> Result<Vec<Capability>> {
    let File { capability: all } = toml::from_str(text)?;
    for (index, it) in all.iter().enumerate() {
        let is_new = all[..index].iter().all(|earlier| earlier.id != it.id);
        ensure!(is_new, "two capabilities are named {}", it.id);
        ensure!(it.text.ends_with('.'), "{}: the text is no sentence", it.id);
        ensure!(
            it.commands.is_empty() == (it.status == Status::NotYet),
            "{}: what works or missed its target has a command, and nothing else has",
            it.id
        );
        ensure!(
            it.as_of.is_none() == (it.status == Status::NotYet),
            "{}: what works or missed its target has a date, and nothing else has",
            it.id
        );
    }
    Ok(all)
}

/// Returns the page without its title: capabilities that work by group, then the others.
pub fn page(all: &[Capability]) -> String {
    let count = |status| all.iter().filter(|it| it.status == status).count();
    let mut out = format!(
        "**{} capabilities work, [{} are not there yet](#not-there-yet), and \
         [{} missed their targets](#missed-targets).**\n",
        count(Status::Works),
        count(Status::NotYet),
        count(Status::Missed)
    );
    let works: Vec<_> = all.iter().filter(|it| it.status == Status::Works).collect();
    let mut groups: Vec<&str> = Vec::new();
    for it in &works {
        if !groups.contains(&it.group.as_str()) {
            groups.push(&it.group);
        }
    }
    for group in groups {
        let _ = writeln!(out, "\n## {group}\n");
        out += &table(works.iter().copied().filter(|it| it.group == group), "works");
    }
    for (title, status, mark) in
        [("Missed targets", Status::Missed, "missed"), ("Not there yet", Status::NotYet, "not yet")]
    {
        let _ = writeln!(out, "\n## {title}\n");
        out += &table(all.iter().filter(|it| it.status == status), mark);
    }
    out
}

/// Returns a table of capabilities. `mark` is the word for the status of all of them.
fn table<'a>(rows: impl Iterator<Item = &'a Capability>, mark: &str) -> String {
    let class = if mark == "works" { "hit" } else { "miss" };
    let mark = format!("<strong class=\"{class}\">{mark}</strong>");
    let mut out = "| status | capability and the commands that show it |\n|---|---|\n".to_owned();
    for it in rows {
        let links: Vec<_> =
            it.links.iter().map(|(title, path)| format!("[{title}](../../{path})")).collect();
        let commands: String =
            it.commands.iter().map(|command| format!("<br>`{command}`")).collect();
        let _ = writeln!(
            out,
            "| {mark} | <span id=\"{}\"></span>**{}.** {} {}{}{commands} |",
            it.id,
            it.title,
            it.text,
            links.join(", "),
            it.as_of.as_ref().map_or(String::new(), |date| format!(" (as of {date})"))
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
        [[capability]]
        id = 'a'
        group = 'Boot'
        title = 'A'
        status = 'works'
        as_of = '2026-01-02'
        text = 'It boots.'
        commands = ['make demo', 'make hw']
        links = [['Page', 'docs/src/a.md'], ['Security', 'SECURITY.md'], ['Run', 'lab/a.json']]
        [[capability]]
        id = 'b'
        group = 'Boot'
        title = 'B'
        status = 'not yet'
        text = 'It updates.'
        links = []
        ";

    #[test]
    fn a_row_has_its_status_its_links_and_its_commands() {
        let text = page(&parse(TWO).unwrap());
        assert!(text.starts_with("**1 capabilities work, [1 are not there yet]("), "{text}");
        let row = "| <strong class=\"hit\">works</strong> | <span id=\"a\"></span>**A.** It boots. \
                   [Page](../../docs/src/a.md), [Security](../../SECURITY.md), [Run](../../lab/a.json) (as of 2026-01-02)<br>`make demo`<br>`make hw` |";
        assert!(text.contains(row), "{text}");
        let row = "| <strong class=\"miss\">not yet</strong> | <span id=\"b\"></span>**B.** It updates.  |";
        assert!(text.contains(row), "{text}");
        let order = [text.find("## Boot"), text.find("## Missed"), text.find("## Not there yet")];
        assert!(order.is_sorted() && order[0].is_some(), "{text}");
    }

    #[test]
    fn refuses_what_is_incomplete() {
        for (from, to) in [
            ("'b'", "'a'"),
            ("'It updates.'", "'updates'"),
            ("['make demo', 'make hw']", "[]"),
            ("'not yet'", "'soon'"),
            ("as_of = '2026-01-02'", ""),
        ] {
            assert!(parse(&TWO.replacen(from, to, 1)).is_err(), "{from} {to}");
        }
    }
}
