//! What is wrong with a description, and where.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Characters of a line that is quoted.
const MAX_LINE: usize = 120;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is no TOML, or has a field of another name or form.
    Form,
    /// What it says cannot be true together.
    Contradiction,
    /// It has the name of a board that is known and different.
    Taken,
    /// The emulator has no such machine.
    NotEmulated,
}

/// What is wrong, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: Kind,
    /// What is wrong, in a clause.
    pub message: String,
    /// The line with its number and a mark below it.
    marked: Vec<String>,
}

impl Fault {
    /// A fault at some bytes of a text.
    pub(crate) fn at(
        kind: Kind,
        message: impl Into<String>,
        text: &str,
        span: Range<usize>,
    ) -> Self {
        Self { kind, message: message.into(), marked: marked(text, span) }
    }

    /// A fault at the first of these keys that the text has. A board says what it extends otherwise, or its name.
    pub(crate) fn of_key(
        kind: Kind,
        message: impl Into<String>,
        text: &str,
        keys: &[Key<'_>],
    ) -> Self {
        let others = [Key::top("extends"), Key::top("name")];
        let span = keys.iter().chain(&others).find_map(|key| key.span(text)).unwrap_or(0..0);
        Self::at(kind, message, text, span)
    }

    /// Line, mark and message, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.marked.clone();
        // Whatever it is about may quote a line of a file that is something else.
        lines.extend(self.message.lines().map(|line| line.chars().take(300).collect()));
        lines
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for Fault {}

/// Where in a description something is said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// A list such as `region`; empty for what is in none.
    list: &'a str,
    /// Which of its entries, by name.
    entry: &'a str,
    key: &'a str,
}

impl<'a> Key<'a> {
    pub(crate) const fn new(list: &'a str, entry: &'a str, key: &'a str) -> Self {
        Self { list, entry, key }
    }

    pub(crate) const fn top(key: &'a str) -> Self {
        Self { list: "", entry: "", key }
    }

    /// Where its value is. Of several entries of a name the last counts, for the first is not the one too many.
    fn span(&self, text: &str) -> Option<Range<usize>> {
        let table = DeTable::parse(text).ok()?;
        let table = table.get_ref();
        if self.list.is_empty() {
            return Some(table.get(self.key)?.span());
        }
        let list = match table.get(self.list)?.get_ref() {
            DeValue::Array(list) => list,
            // `[forms]`
            DeValue::Table(table) => return Some(table.get(self.key)?.span()),
            _ => return None,
        };
        let is_it = |value: &&Spanned<DeValue<'_>>| {
            let named = |by| value.get_ref().get(by).and_then(|name| name.get_ref().as_str());
            named("name").or(named("payload")) == Some(self.entry)
        };
        let entry = list.iter().rev().find(is_it)?;
        let value = entry.get_ref().get(self.key).or_else(|| entry.get_ref().get("name"));
        Some(value.map_or(entry.span(), Spanned::span))
    }
}

/// The first line of a place, and a mark below it.
fn marked(text: &str, span: Range<usize>) -> Vec<String> {
    // Of what is no text no line is shown.
    if text.is_empty() {
        return Vec::new();
    }
    let start = span.start.min(text.len());
    let before = text.get(..start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = text.get(line_start..start).unwrap_or_default().chars().count();
    let end = span.end.min(line_start + line.len());
    let width = text.get(start..end).map_or(1, |part| part.chars().count()).max(1);
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    let head = format!("line {number}, column {}", column + 1);
    if column > MAX_LINE {
        return vec![head];
    }
    let line: String = line.chars().take(MAX_LINE).collect();
    let mark = "^".repeat(width.min(MAX_LINE - column + 1));
    vec![
        head,
        format!("{margin} |"),
        format!("{number} | {line}"),
        format!("{margin} | {:column$}{mark}", ""),
    ]
}
