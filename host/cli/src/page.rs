//! Text that fits the width of the terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstyle::Style;
use hartlock_terminal as terminal;

use crate::style::{BOLD, DIM};

/// Minimum width in columns. In a narrower terminal, the terminal itself breaks the lines.
const LEAST_WIDTH: usize = 40;
/// Maximum width in columns. Longer lines are hard to read.
const MOST_WIDTH: usize = 120;
/// Width in columns of the names in front of values.
const NAME_WIDTH: usize = 17;

/// Returns the width of the standard output in columns: that of the terminal, or `COLUMNS`, or 80.
pub fn width() -> usize {
    known_width().unwrap_or_else(|| clamped(TABLE_WIDTH))
}

/// Returns the width of the standard output in columns, if it is a terminal or `COLUMNS` is set.
pub fn known_width() -> Option<usize> {
    of_terminal(std::io::stdout()).or_else(of_environment)
}

/// Returns the width of the standard error in columns, if it is a terminal or `COLUMNS` is set. Lines of a
/// log file are not broken.
pub fn error_width() -> Option<usize> {
    of_terminal(std::io::stderr()).or_else(of_environment)
}

fn of_environment() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0)?;
    Some(clamped(columns))
}

fn of_terminal(stream: impl IsTerminal + AsFd) -> Option<usize> {
    // The size of a terminal may be unknown.
    let (width, _) = terminal_size::terminal_size_of(&stream).filter(|_| stream.is_terminal())?;
    Some(clamped(width.0.into()))
}

fn clamped(width: usize) -> usize {
    width.clamp(LEAST_WIDTH, MOST_WIDTH)
}

/// Width in columns for which tables are written. Their lines are broken in narrower terminals only.
const TABLE_WIDTH: usize = 80;
/// Further indentation in columns of the rest of a broken line.
const REST_INDENT: usize = 2;
/// Minimum width in columns of indented text.
const LEAST_TEXT: usize = 20;

/// Returns the width of a text in columns: the number of its characters without style sequences.
fn columns(text: &str) -> usize {
    let mut is_style = false;
    let is_seen = |c: &char| {
        let was_style = is_style;
        is_style = if is_style { !c.is_ascii_alphabetic() } else { *c == '\x1b' };
        !was_style && !is_style
    };
    text.chars().filter(is_seen).count()
}

/// Returns the text, with its lines broken between words if the terminal is narrower than tables.
pub fn narrowed(text: &str, width: usize) -> String {
    if width >= TABLE_WIDTH { text.to_owned() } else { broken(text, width) }
}

/// Breaks lines that are too long for this width between words.
pub fn broken(text: &str, width: usize) -> String {
    let lines: Vec<_> = text.split('\n').flat_map(|line| broken_line(line, width)).collect();
    lines.join("\n")
}

/// Breaks a line that is too long. A command is continued with `\`, so that it can still be copied.
fn broken_line(line: &str, width: usize) -> Vec<String> {
    if columns(line) <= width || is_quoted(line) {
        return vec![line.to_owned()];
    }
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    if let Some(at) = command_start(line) {
        return broken_command(&line[..at], &line[at..], indent + REST_INDENT, width);
    }
    let rest = " ".repeat(indent + REST_INDENT);
    let set_in = |(number, part): (usize, String)| match number {
        0 => format!("{}{part}", &line[..indent]),
        _ => format!("{rest}{}", without_blanks(&part)),
    };
    let parts = wrap(text, width.saturating_sub(rest.len()).max(LEAST_TEXT));
    parts.into_iter().enumerate().map(set_in).map(|line| line.trim_end().to_string()).collect()
}

/// Removes the spaces at the start of a text, also those after style sequences.
fn without_blanks(text: &str) -> String {
    let text = text.trim_start_matches(' ');
    match text.strip_prefix('\x1b').and_then(|rest| rest.split_once('m')) {
        Some((style, rest)) if style.starts_with('[') => {
            format!("\x1b{style}m{}", without_blanks(rest))
        }
        _ => text.to_owned(),
    }
}

/// Returns true if the line is quoted from a file, with its number, or is the mark below such a line.
pub fn is_quoted(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with("| ")
}

/// Returns the index at which a command begins in a line, unless the command is part of a sentence.
fn command_start(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(' ');
    if text.starts_with("$ ") || text.starts_with("hartlock ") {
        return Some(line.len() - text.len());
    }
    line.find("  hartlock ").map(|at| at + 2)
}

/// Breaks a command into lines that can be copied. The first line follows `start`, and the others are
/// indented by `indent`.
pub fn broken_command(start: &str, command: &str, indent: usize, width: usize) -> Vec<String> {
    const CONTINUED: &str = " \\";
    let (command, is_continued) = match command.strip_suffix(CONTINUED) {
        Some(command) => (command, true),
        None => (command, false),
    };
    let mut lines = Vec::new();
    let mut line = start.to_owned();
    let mut is_begun = false;
    for word in shell_words(command) {
        if is_begun && columns(&line) + 1 + columns(&word) + CONTINUED.len() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)) + CONTINUED);
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(&word);
        is_begun = true;
    }
    lines.push(if is_continued { line + CONTINUED } else { line });
    lines
}

/// Splits a command into words. A quoted string is one word, and so is an option with its value.
fn shell_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in command.split(' ') {
        let is_whole = |last: &&mut String| {
            let is_open = ['\'', '"'].iter().any(|quote| last.matches(*quote).count() % 2 == 1);
            let is_option = last.starts_with('-') && !last.contains(' ');
            !is_open && (!is_option || word.starts_with('-'))
        };
        match words.last_mut().filter(|last| !is_whole(last)) {
            Some(last) => *last += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Breaks text between words into lines of at most `width` columns; a longer word has a line of its own. Line
/// feeds and repeated spaces are kept.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut words = paragraph.split(' ');
        let mut line = words.next().unwrap_or_default().to_string();
        for word in words {
            if columns(&line) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A page of text that is written from top to bottom.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// Makes an empty page.
    pub fn new() -> Self {
        Self { text: String::new(), width: width() }
    }

    /// Returns the width of the page in columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the text of the page.
    pub fn finish(self) -> String {
        self.text
    }

    /// Writes a line without breaking it. It is broken when it is printed if the terminal is narrow.
    pub fn line(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.text, "{text}");
    }

    /// Writes an empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Writes an empty line and a title.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.line(format_args!("{BOLD}{text}{BOLD:#}"));
    }

    /// Writes a name and its value.
    pub fn row(&mut self, name: &str, value: &str) {
        self.write_indented(&format!("{name:<NAME_WIDTH$} "), &terminal::text(value), Style::new());
    }

    /// Writes a remark, dimmed if there are colours.
    pub fn remark(&mut self, indent: usize, text: &str) {
        self.write_indented(&" ".repeat(indent), text, DIM);
    }

    /// Writes text after `start`, with its further lines indented by the width of `start`. If the terminal is
    /// too narrow, the text follows below `start`.
    pub fn write_indented(&mut self, start: &str, text: &str, style: Style) {
        let indent = start.chars().count();
        if self.width < indent + LEAST_TEXT {
            if !start.trim().is_empty() {
                self.line(start.trim_end());
            }
            return self.write_indented(&" ".repeat(2 * REST_INDENT), text, style);
        }
        let lines = wrap(text, self.width - indent);
        for (number, line) in lines.iter().enumerate() {
            let blank = " ".repeat(indent);
            let before = if number == 0 { start } else { blank.as_str() };
            if line.is_empty() {
                self.line(before.trim_end());
            } else {
                self.line(format_args!("{before}{style}{line}{style:#}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrap("unbreakable it is", 5), ["unbreakable", "it is"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("a  b", 5), ["a  b"]);
        assert_eq!(wrap("§§ §§", 5), ["§§ §§"]);
    }

    #[test]
    fn lines_of_tables_break_in_narrow_terminals() {
        let line = "  opensbi      120,000  0x80000000 to 0x80020000, entry";
        assert_eq!(narrowed(line, 80), line);
        let broken = "  opensbi      120,000  0x80000000 to\n    0x80020000, entry";
        assert_eq!(narrowed(line, 40), broken);
        assert_eq!(narrowed(&format!("{line}\n{line}\n"), 40), format!("{broken}\n{broken}\n"));
        // Style sequences have no width.
        assert_eq!(columns("\x1b[1mtwo words\x1b[0m"), 9);
        let bold = "\x1b[1mA heading of forty columns, exactly so.\x1b[0m";
        assert_eq!(narrowed(bold, 40), bold);
        assert_eq!(narrowed(&format!("{bold} no"), 40).lines().count(), 2);
        // The spaces that fill a column are removed before a break.
        let filled = "  0x80800000        \x1b[2mfree of use\x1b[0m          24 MiB";
        let lines = "  0x80800000        \x1b[2mfree of use\x1b[0m\n    24 MiB";
        assert_eq!(narrowed(filled, 40), lines);
        // Text that was broken before does not change again.
        assert_eq!(narrowed(broken, 40), broken);
    }

    #[test]
    fn broken_commands_can_be_copied() {
        let example = "  hartlock sign bundle.toml --key root.pem -o system.hlk \\";
        let lines = "  hartlock sign bundle.toml \\\n    --key root.pem -o system.hlk \\";
        assert_eq!(broken(example, 40), lines);
        let row = "next     hartlock keygen -o keys/root.pem";
        assert_eq!(broken(row, 40), "next     hartlock keygen \\\n  -o keys/root.pem");
        // A line is never broken within quotes, because a shell would include the break in the string.
        let quoted = "          $ hartlock sign --bootargs 'console=ttyS0 quiet'";
        assert_eq!(
            broken(quoted, 40),
            "          $ hartlock sign \\\n            --bootargs 'console=ttyS0 quiet'"
        );
    }

    #[test]
    fn further_lines_stand_below_the_value() {
        let mut page = Page { text: String::new(), width: 40 };
        page.row("label", "words that do not fit into one line");
        assert_eq!(
            page.finish(),
            "label             words that do not fit\n                  into one line\n"
        );
        let mut page = Page { text: String::new(), width: 40 };
        page.write_indented(&format!("{:<30}", "range"), "words below", Style::new());
        page.remark(30, "a remark");
        assert_eq!(columns(&page.text.replace('\n', "")), "range    words below    a remark".len());
    }
}
