//! A fault in a description, with its position in the text.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of characters of a line that is quoted.
const MAX_LINE: usize = 120;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text is not TOML, or has an unknown key or a value of the wrong type.
    Form,
    /// Two values contradict each other.
    Contradiction,
    /// The name is that of a known board that is different.
    Taken,
    /// The emulator has no machine that fits the board.
    NotEmulated,
}

/// A fault in a description, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: Kind,
    /// Description of the fault, in a clause.
    pub message: String,
    /// The quoted line with its number, and a mark below it.
    marked: Vec<String>,
}

impl Fault {
    /// Makes a fault at a range of bytes of the text.
    pub(crate) fn at(
        kind: Kind,
        message: impl Into<String>,
        text: &str,
        span: Range<usize>,
    ) -> Self {
        Self { kind, message: message.into(), marked: marked(text, span) }
    }

    /// Makes a fault at the first of these keys that the text contains. If it contains none of them, the
    /// value comes from the board that it extends, so the fault is at `extends`, or else at `name`.
    pub(crate) fn of_key(
        kind: Kind,
        message: impl Into<String>,
        text: &str,
        keys: &[KeyPosition<'_>],
    ) -> Self {
        let others = [KeyPosition::top("extends"), KeyPosition::top("name")];
        let span = keys.iter().chain(&others).find_map(|key| key.span(text)).unwrap_or(0..0);
        Self::at(kind, message, text, span)
    }

    /// Returns the quoted line, the mark and the message as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.marked.clone();
        // The message may quote a line of any file that the user named, so its length is limited.
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

/// The position of a value in a description: a list, an entry and a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPosition<'a> {
    /// Name of a list such as `region`; empty at the top level.
    list: &'a str,
    /// Name of the entry in the list.
    entry: &'a str,
    key: &'a str,
}

impl<'a> KeyPosition<'a> {
    pub(crate) const fn new(list: &'a str, entry: &'a str, key: &'a str) -> Self {
        Self { list, entry, key }
    }

    pub(crate) const fn top(key: &'a str) -> Self {
        Self { list: "", entry: "", key }
    }

    /// Returns the range of the value in the text. If several entries have the same name, the last one is
    /// taken, because it is the duplicate.
    fn span(&self, text: &str) -> Option<Range<usize>> {
        let table = DeTable::parse(text).ok()?;
        let table = table.get_ref();
        if self.list.is_empty() {
            return Some(table.get(self.key)?.span());
        }
        let list = match table.get(self.list)?.get_ref() {
            DeValue::Array(list) => list,
            // The value is a table such as `[forms]`.
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

/// Returns the first line of a range with its number, and a mark below the range.
pub fn marked(text: &str, span: Range<usize>) -> Vec<String> {
    // An empty text means that the file is not text; nothing is quoted then.
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
