//! Text that fits the width of the reader's terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstyle::Style;
use hartlock_terminal as terminal;

use crate::style::{BOLD, DIM};

/// Below this width the text is not readable; the terminal breaks the lines instead.
const LEAST_WIDTH: usize = 40;
/// Beyond this the eye loses the line.
const MOST_WIDTH: usize = 120;
/// Where values begin.
const NAME_WIDTH: usize = 17;

/// Columns of standard output: those of the terminal, or `COLUMNS`, or 80.
pub fn width() -> usize {
    known_width().unwrap_or_else(|| clamped(TABLE_WIDTH))
}

/// Columns of standard output, if it is a terminal or `COLUMNS` says them.
pub fn known_width() -> Option<usize> {
    of_terminal(std::io::stdout()).or_else(of_environment)
}

/// The same of standard error. Lines of a log are not broken otherwise.
pub fn error_width() -> Option<usize> {
    of_terminal(std::io::stderr()).or_else(of_environment)
}

fn of_environment() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0)?;
    Some(clamped(columns))
}

fn of_terminal(stream: impl IsTerminal + AsFd) -> Option<usize> {
    // A terminal that does not know its width gives none.
    let (width, _) = terminal_size::terminal_size_of(&stream).filter(|_| stream.is_terminal())?;
    Some(clamped(width.0.into()))
}

fn clamped(width: usize) -> usize {
    width.clamp(LEAST_WIDTH, MOST_WIDTH)
}

/// Tables are made for this width. A line of one is broken in narrower terminals, and stays as it is in others.
const TABLE_WIDTH: usize = 80;
/// Further columns by which the rest of a broken line is set in.
const REST_INDENT: usize = 2;
/// Columns that text gets, however far it is set in.
const LEAST_TEXT: usize = 20;

/// Columns that a text takes: its characters without the sequences that style them.
fn columns(text: &str) -> usize {
    let mut is_style = false;
    let is_seen = |c: &char| {
        let was_style = is_style;
        is_style = if is_style { !c.is_ascii_alphabetic() } else { *c == '\x1b' };
        !was_style && !is_style
    };
    text.chars().filter(is_seen).count()
}

/// Text for a terminal of some width: as it is, or with its lines broken between words if the terminal is narrow.
pub fn narrowed(text: &str, width: usize) -> String {
    if width >= TABLE_WIDTH { text.to_owned() } else { broken(text, width) }
}

/// Text whose lines are broken between words where they are too long for a terminal of some width.
pub fn broken(text: &str, width: usize) -> String {
    let lines: Vec<_> = text.split('\n').flat_map(|line| broken_line(line, width)).collect();
    lines.join("\n")
}

/// A line that is too long, in several. Commands stay commands: a `\` continues them.
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

/// A text without the blanks at its start, before and after what styles them.
fn without_blanks(text: &str) -> String {
    let text = text.trim_start_matches(' ');
    match text.strip_prefix('\x1b').and_then(|rest| rest.split_once('m')) {
        Some((style, rest)) if style.starts_with('[') => {
            format!("\x1b{style}m{}", without_blanks(rest))
        }
        _ => text.to_owned(),
    }
}

/// Whether a line is quoted from a file, with its number, or is the mark below it.
pub fn is_quoted(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with("| ")
}

/// Where a command to copy begins, if a line has one that is not within a sentence.
fn command_start(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(' ');
    if text.starts_with("$ ") || text.starts_with("hartlock ") {
        return Some(line.len() - text.len());
    }
    line.find("  hartlock ").map(|at| at + 2)
}

/// A command in lines that can be copied, after `start` and with its further lines set in by `indent`.
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

/// Words as a shell separates them, each option with its value: blanks between quotes are no end of one.
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

/// Breaks text between words into lines of at most `width` columns, or one word. Line feeds
/// stay, and so do spaces within a line.
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

/// A page that is written from top to bottom.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// An empty page.
    pub fn new() -> Self {
        Self { text: String::new(), width: width() }
    }

    /// Columns of the page.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Everything that was written.
    pub fn finish(self) -> String {
        self.text
    }

    /// A line as it is. Where it is printed, it is broken if the terminal is narrow.
    pub fn line(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.text, "{text}");
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// An empty line and the title of what follows.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.line(format_args!("{BOLD}{text}{BOLD:#}"));
    }

    /// A name and its value.
    pub fn row(&mut self, name: &str, value: &str) {
        self.hanging(&format!("{name:<NAME_WIDTH$} "), &terminal::text(value), Style::new());
    }

    /// A remark, less loud than the rest where there are colours.
    pub fn remark(&mut self, indent: usize, text: &str) {
        self.hanging(&" ".repeat(indent), text, DIM);
    }

    /// Text after `start`, its further lines set in as far. Below it, if the terminal is too narrow for both.
    pub fn hanging(&mut self, start: &str, text: &str, style: Style) {
        let indent = start.chars().count();
        if self.width < indent + LEAST_TEXT {
            if !start.trim().is_empty() {
                self.line(start.trim_end());
            }
            return self.hanging(&" ".repeat(2 * REST_INDENT), text, style);
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
        // What styles it takes no columns.
        assert_eq!(columns("\x1b[1mtwo words\x1b[0m"), 9);
        let bold = "\x1b[1mA heading of forty columns, exactly so.\x1b[0m";
        assert_eq!(narrowed(bold, 40), bold);
        assert_eq!(narrowed(&format!("{bold} no"), 40).lines().count(), 2);
        // A column that was filled up goes below without what filled it.
        let filled = "  0x80800000        \x1b[2mfree of use\x1b[0m          24 MiB";
        let lines = "  0x80800000        \x1b[2mfree of use\x1b[0m\n    24 MiB";
        assert_eq!(narrowed(filled, 40), lines);
        // Broken once, a text stays as it is.
        assert_eq!(narrowed(broken, 40), broken);
    }

    #[test]
    fn broken_commands_can_be_copied() {
        let example = "  hartlock sign bundle.toml --key root.pem -o system.hlk \\";
        let lines = "  hartlock sign bundle.toml \\\n    --key root.pem -o system.hlk \\";
        assert_eq!(broken(example, 40), lines);
        let row = "next     hartlock keygen -o keys/root.pem";
        assert_eq!(broken(row, 40), "next     hartlock keygen \\\n  -o keys/root.pem");
        // A shell would take the break for a part of what is in quotes.
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
        page.hanging(&format!("{:<30}", "range"), "words below", Style::new());
        page.remark(30, "a remark");
        assert_eq!(columns(&page.text.replace('\n', "")), "range    words below    a remark".len());
    }
}
