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
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|it| *it > 0);
    of_terminal(std::io::stdout()).unwrap_or_else(|| clamped(of_environment().unwrap_or(80)))
}

/// Columns of standard error, if it is a terminal. Lines of a log are not broken.
pub fn error_width() -> Option<usize> {
    of_terminal(std::io::stderr())
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

/// A line for a terminal of some width: as it is, or broken between words if the terminal is narrow.
fn narrowed(line: &str, width: usize) -> Vec<String> {
    if width >= TABLE_WIDTH || columns(line) <= width {
        return vec![line.to_string()];
    }
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let rest = " ".repeat(indent + REST_INDENT);
    let set_in = |(number, part): (usize, String)| match number {
        0 => format!("{}{part}", &line[..indent]),
        _ => format!("{rest}{}", part.trim_start_matches(' ')),
    };
    let parts = wrap(text, width.saturating_sub(rest.len()).max(20));
    parts.into_iter().enumerate().map(set_in).map(|line| line.trim_end().to_string()).collect()
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

    /// A line as it is, if the terminal is not narrow.
    pub fn line(&mut self, text: impl std::fmt::Display) {
        for line in narrowed(&text.to_string(), self.width) {
            let _ = writeln!(self.text, "{line}");
        }
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

    /// Text after `start`, its further lines set in as far.
    pub fn hanging(&mut self, start: &str, text: &str, style: Style) {
        let indent = start.chars().count();
        let lines = wrap(text, self.width.saturating_sub(indent).max(20));
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
        assert_eq!(narrowed(line, 80), [line]);
        let broken = ["  opensbi      120,000  0x80000000 to", "    0x80020000, entry"];
        assert_eq!(narrowed(line, 40), broken);
        // What styles it takes no columns.
        assert_eq!(columns("\x1b[1mtwo words\x1b[0m"), 9);
        let bold = "\x1b[1mA heading of forty columns, exactly so.\x1b[0m";
        assert_eq!(narrowed(bold, 40), [bold]);
        assert_eq!(narrowed(&format!("{bold} no"), 40).len(), 2);
    }

    #[test]
    fn further_lines_stand_below_the_value() {
        let mut page = Page { text: String::new(), width: 40 };
        page.row("label", "words that do not fit into one line");
        assert_eq!(
            page.finish(),
            "label             words that do not fit\n                  into one line\n"
        );
    }
}
