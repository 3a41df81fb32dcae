//! Prints the output of `--help` and usage errors, in lines that fit the terminal.

use std::io::Write;
use std::process::ExitCode;

use clap::Command;

use crate::page::{broken, broken_command, error_width, known_width, wrap};

/// Width in columns for which help is written; its examples are not wider. In narrower terminals its lines
/// are broken.
const EXAMPLE_WIDTH: usize = 80;
/// Maximum width of help in columns. Longer lines are hard to read.
const MOST_WIDTH: usize = 100;
/// Indentation in columns of a comment that was moved to lines of its own.
const COMMENT_INDENT: usize = 6;
/// Indentation in columns of indented text.
const TEXT_INDENT: usize = 2;

/// Returns the command with its help adapted to the width of the standard output.
pub fn fit_to_terminal(command: Command) -> Command {
    let Some(width) = known_width() else { return command };
    let command = command.term_width(width.min(MOST_WIDTH));
    if width < EXAMPLE_WIDTH { with_narrow_examples(command, width) } else { command }
}

fn with_narrow_examples(command: Command, width: usize) -> Command {
    let text = command.get_after_long_help().map(|text| narrow_examples(&text.to_string(), width));
    let command = match text {
        Some(text) => command.after_long_help(text),
        None => command,
    };
    command.mut_subcommands(|verb| with_narrow_examples(verb, width))
}

/// Prints the requested help or the usage error, and returns the exit code. A closed output stream is not an
/// error.
pub fn print(error: &clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    // The usage is kept in one line, even if a verb has many required arguments.
    let text = |width| match width {
        Some(width) => broken(&text, width),
        None => text.clone(),
    };
    let _ = if error.use_stderr() {
        anstream::stderr().write_all(text(error_width()).as_bytes())
    } else {
        anstream::stdout().write_all(text(known_width()).as_bytes())
    };
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Adapts the text after the options to a narrow terminal. Commands and file contents in it can still be
/// copied.
fn narrow_examples(text: &str, width: usize) -> String {
    let blocks: Vec<_> = text.split("\n\n").map(|block| narrow_block(block, width)).collect();
    blocks.join("\n\n")
}

fn narrow_block(block: &str, width: usize) -> String {
    let (title, body) = match block.split_once(":\n").filter(|(title, _)| !title.starts_with(' ')) {
        Some((title, body)) => (format!("{title}:\n"), body),
        None => (String::new(), block),
    };
    let is_prose = title == "Result:\n" || title.is_empty() && body.ends_with('.');
    let body = if is_prose { paragraph(body, width) } else { lines(body, width) };
    title + &body
}

/// Joins a paragraph that was broken for a wider terminal, and breaks it for this width.
fn paragraph(text: &str, width: usize) -> String {
    let indent = " ".repeat(TEXT_INDENT);
    let words: Vec<_> = text.split_whitespace().collect();
    let lines = wrap(&words.join(" "), width.saturating_sub(TEXT_INDENT));
    lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// Breaks commands, file contents and tables. A comment for which the line is too short is moved to lines of
/// its own after it.
fn lines(text: &str, width: usize) -> String {
    let mut out = Vec::new();
    let mut comment = Comment::default();
    let mut is_continued = false;
    for line in text.lines() {
        let (code, remark) = split(line, width, comment.column);
        if let Some((column, remark)) = remark.filter(|_| code.is_empty())
            && comment.column == Some(column)
        {
            comment.text += &format!(" {remark}");
            continue;
        }
        out.extend(std::mem::take(&mut comment).lines(width));
        let text = code.trim_start();
        let indent = code.len() - text.len();
        if is_continued {
            out.extend(broken_command(&code[..indent], text, indent, width));
        } else if !code.is_empty() {
            out.push(broken(code, width));
        }
        is_continued = line.ends_with('\\');
        if let Some((column, remark)) = remark {
            comment = Comment { column: Some(column), text: remark.to_owned() };
        }
    }
    out.extend(comment.lines(width));
    out.join("\n")
}

/// A comment that was taken out of its line, with the lines that continue it.
#[derive(Default)]
struct Comment {
    /// Column at which the comment began.
    column: Option<usize>,
    text: String,
}

impl Comment {
    fn lines(self, width: usize) -> Vec<String> {
        if self.column.is_none() {
            return Vec::new();
        }
        let lines = wrap(&self.text, width.saturating_sub(COMMENT_INDENT + 2));
        lines.iter().map(|line| format!("{:COMMENT_INDENT$}# {line}", "")).collect()
    }
}

/// Splits off the comment of a line, with its column, if the line is too long or the comment continues one at
/// `column`.
fn split(line: &str, width: usize, column: Option<usize>) -> (&str, Option<(usize, &str)>) {
    let parts = line.split_once("# ").filter(|(code, _)| code.is_empty() || code.ends_with("  "));
    match parts {
        Some((code, comment)) if line.chars().count() > width || column == Some(code.len()) => {
            (code.trim_end(), Some((code.len(), comment.trim_start())))
        }
        _ => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_narrow_terminals_can_be_copied() {
        let text = "Examples:\n  hartlock verify a.hlk --key root.pub.pem \\\n    --floor 6 --lifecycle production     # all of it\n\nbundle.toml:\n  lifecycle = [\"development\", \"production\"]   # default";
        let narrow = "Examples:\n  hartlock verify a.hlk \\\n    --key root.pub.pem \\\n    --floor 6 --lifecycle production\n      # all of it\n\nbundle.toml:\n  lifecycle = [\"development\",\n    \"production\"]\n      # default";
        assert_eq!(narrow_examples(text, 40), narrow);
        assert_eq!(narrow_examples(text, 80), text);
    }

    #[test]
    fn comments_of_narrow_terminals_follow_in_lines_of_their_own() {
        let text = "Algorithms:\n  rsa-pss-3072-sha384    # rsa-pss or rsa-pkcs1; 2048,\n                         # 3072\n  # other";
        let narrow = "Algorithms:\n  rsa-pss-3072-sha384\n      # rsa-pss or rsa-pkcs1; 2048, 3072\n  # other";
        assert_eq!(narrow_examples(text, 40), narrow);
    }

    #[test]
    fn sentences_of_narrow_terminals_are_filled() {
        let text = "Result:\n  A sentence that was broken for a terminal of eighty\n  columns.";
        let narrow = "Result:\n  A sentence that was broken for a\n  terminal of eighty columns.";
        assert_eq!(narrow_examples(text, 36), narrow);
    }
}
