//! What a user reads when the answer is not yes.

use std::path::Path;
use std::process::ExitCode;

use hartlock_bundle::Error;
use hartlock_files::FileError;
use hartlock_image::{Fault, Reason, hint_line, refusal_line};
use hartlock_terminal as terminal;
use serde::{Serialize, Serializer};

use crate::output::talk;
use crate::page::{error_width, is_quoted, wrap};
use crate::reason::AnyReason;
use crate::style::{BOLD, ERROR};

/// Columns before what happened.
const INDENT: usize = 7;
/// Columns before a hint.
const HINT_INDENT: usize = 13;

/// The three answers, and their exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Yes.
    Accepted,
    /// Yes, but nothing was verified: the output must not say that a bundle was accepted.
    WellFormed,
    /// Two bundles are not equal.
    Different,
    /// No, with a reason code.
    Refused,
    /// Neither: wrong usage, a file that cannot be read, a missing tool.
    Undecided,
}

impl Outcome {
    /// 0 for both kinds of yes, 1, 2.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Accepted | Outcome::WellFormed => 0,
            Outcome::Refused | Outcome::Different => 1,
            Outcome::Undecided => 2,
        })
    }
}

/// A reason code in words.
#[derive(Clone, Debug, Serialize)]
pub struct ReasonText {
    /// `E` and four digits.
    pub code: String,
    /// Its name in the specification and in code.
    pub name: &'static str,
    /// What happened.
    pub title: &'static str,
    /// Why that is a refusal.
    pub why: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// Who has to act: `image`, `device` or `caller`.
    pub fault: &'static str,
    /// Page and section.
    pub spec: String,
}

impl<R: Into<AnyReason>> From<R> for ReasonText {
    fn from(reason: R) -> Self {
        let reason = reason.into();
        Self {
            code: reason.code(),
            name: reason.name(),
            title: reason.title(),
            why: reason.why(),
            hint: reason.hint(),
            fault: match reason.fault() {
                Fault::Image => "image",
                Fault::Device => "device",
                Fault::Caller => "caller",
            },
            // `image-format §5.2` is the page spec/image-format.md.
            spec: reason.spec().replacen('-', " ", 1),
        }
    }
}

/// Why the answer is not yes.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    #[serde(skip)]
    outcome: Outcome,
    /// What happened.
    message: String,
    /// Details, a line each.
    context: Vec<String>,
    /// What to do.
    hint: String,
    /// The reason code of a refusal, or of a key file that cannot be used.
    #[serde(serialize_with = "in_words")]
    reason: Option<AnyReason>,
}

impl Failure {
    /// A failure to decide.
    pub fn undecided(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Undecided,
            message: message.into(),
            context: Vec::new(),
            hint: hint.into(),
            reason: None,
        }
    }

    /// Adds details, a line each.
    #[must_use]
    pub fn with_context(mut self, lines: Vec<String>) -> Self {
        self.context.extend(lines);
        self
    }

    /// A refusal.
    pub fn refused(reason: Reason, context: Vec<String>) -> Self {
        Self {
            outcome: Outcome::Refused,
            message: reason.title().trim_end_matches('.').to_string(),
            context,
            hint: reason.hint().to_string(),
            reason: Some(reason.into()),
        }
    }

    /// The same, for a question that a refusal does not answer.
    #[must_use]
    pub fn and_undecided(self) -> Self {
        Self { outcome: Outcome::Undecided, ..self }
    }

    /// Says which file a refusal is about.
    #[must_use]
    pub fn about(mut self, path: &Path) -> Self {
        if self.outcome == Outcome::Refused {
            let path = path.display().to_string();
            self.context = match self.context.split_first() {
                None => vec![path],
                Some((first, rest)) => {
                    let first = format!("{path}: {first}");
                    std::iter::once(first).chain(rest.iter().cloned()).collect()
                }
            };
        }
        self
    }

    /// What happened, in a line.
    pub fn line(&self) -> String {
        self.lines().0
    }

    /// What happened, and what to do: with a code, in the words and the form of a device.
    fn lines(&self) -> (String, String) {
        let message = terminal::text(&self.message);
        let hint = sentence(&terminal::text(&self.hint));
        let Some(reason) = self.reason else { return (lower_first(&message), hint) };
        let digits = format!("{:04}", reason.number());
        (refusal_line([""; 3], &digits, &sentence(&message)).concat(), hint)
    }

    /// Refused or undecided.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Prints it to standard error.
    pub fn print(&self) {
        // Each is one line, whatever names of files and quoted input are in it.
        let (head, hint) = self.lines();
        let width = error_width();
        let head = wrapped(&head, INDENT, width);
        talk(&format!("{ERROR}error:{ERROR:#} {BOLD}{head}{BOLD:#}"));
        for line in shown(&self.context, width.map(|width| width - INDENT)) {
            talk(&format!("{:INDENT$}{}", "", wrapped(&terminal::text(&line), INDENT, width)));
        }
        talk(&hint_line("\n       ", &wrapped(&hint, HINT_INDENT, width)).concat());
        if let Some(reason) = self.reason {
            talk(&format!("       spec: {}", ReasonText::from(reason).spec));
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match &error {
            Error::Refused(refusal) => Self {
                hint: refusal.hint().to_string(),
                ..Self::refused(refusal.reason, refusal.context.clone())
            },
            // Nothing is known about a bundle: only a refusal of one is an answer.
            Error::Key(key) => Self {
                reason: Some(key.kind.reason().into()),
                ..Self::undecided(key.to_string(), key.hint())
            },
            Error::Spec(_) | Error::Content(_) | Error::Board(_) | Error::File(_) => Self {
                outcome: match &error {
                    Error::Content(_) => Outcome::Refused,
                    _ => Outcome::Undecided,
                },
                context: error.context(),
                reason: error.command_reason().map(Into::into),
                ..Self::undecided(error.to_string(), error.hint())
            },
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Error::from(error).into()
    }
}

impl From<hartlock_keys::Error> for Failure {
    fn from(error: hartlock_keys::Error) -> Self {
        Error::from(error).into()
    }
}

fn in_words<S: Serializer>(reason: &Option<AnyReason>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.map(ReasonText::from).serialize(serializer)
}

/// A text in lines for a terminal of some width, if it is one. A line that is quoted from a file, with the mark
/// below it, is left as it is.
fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    match width {
        Some(width) if !is_quoted(text) => {
            wrap(text, width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""))
        }
        _ => text.to_owned(),
    }
}

/// Details, with quoted lines cut to what is around the mark below them if the terminal is too narrow for them.
fn shown(lines: &[String], width: Option<usize>) -> Vec<String> {
    let mut shown = lines.to_vec();
    for index in 1..shown.len() {
        let [line, mark] = [index - 1, index].map(|index| shown[index].as_str());
        if let Some((line, mark)) = width.and_then(|width| cut(line, mark, width)) {
            (shown[index - 1], shown[index]) = (line, mark);
        }
    }
    shown
}

/// A quoted line and its mark in so many columns, or `None` if they have room, or are none.
fn cut(line: &str, mark: &str, width: usize) -> Option<(String, String)> {
    let (number, text) = line.split_once("| ").filter(|_| is_quoted(line))?;
    let (margin, mark) = mark.split_once("| ").filter(|_| is_quoted(mark))?;
    let marks = mark.trim_start_matches(' ');
    let column = mark.len() - marks.len();
    let text: Vec<char> = text.chars().collect();
    let room = width.saturating_sub(number.len() + 2);
    if text.len() <= room || marks.is_empty() || !marks.chars().all(|c| c == '^') {
        return None;
    }
    let start = if column + marks.len() < room { 0 } else { column - column.min(room / 3) };
    let start = start.min(text.len() - room);
    let mut part: Vec<char> = text.iter().skip(start).take(room).copied().collect();
    if let Some(first) = part.first_mut().filter(|_| start > 0) {
        *first = '…';
    }
    if let Some(last) = part.last_mut().filter(|_| start + room < text.len()) {
        *last = '…';
    }
    let column = column - start;
    let count = marks.len().min(room - column);
    let part: String = part.into_iter().collect();
    Some((format!("{number}| {part}"), format!("{margin}| {:column$}{}", "", &marks[..count])))
}

/// A clause as a sentence.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let text: String = first.into_iter().chain(chars).collect();
    if text.ends_with(['.', '?', '!', '…', ':']) { text } else { text + "." }
}

/// A title within a sentence. Names in capitals stay as they are.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use hartlock_emulator::console;

    use super::*;

    #[test]
    fn every_refusal_reads_as_on_a_device() {
        for reason in Reason::ALL {
            // What a device prints, as the emulator reads it.
            let digits = format!("{:04}", *reason as u16);
            let who = ["hartlock: ", "rom", " refused: "];
            let head = refusal_line(who, &digits, reason.title()).concat();
            let hint = hint_line("hartlock: ", reason.hint()).concat();
            assert_eq!(console::Refusal::parse(&head).map(|it| it.reason), Some(*reason));

            let own = Failure::refused(*reason, Vec::new()).lines();
            assert_eq!(head.strip_prefix("hartlock: rom refused: "), Some(own.0.as_str()));
            assert_eq!(hint.strip_prefix("hartlock: hint: "), Some(own.1.as_str()));
        }
    }

    #[test]
    fn what_is_too_long_for_a_terminal_is_broken_between_words() {
        let text = "a line of more than thirty-three columns is broken";
        let broken = "a line of more than thirty-three\n       columns is broken";
        assert_eq!(wrapped(text, INDENT, Some(40)), broken);
        assert_eq!(wrapped(text, INDENT, None), text);
        for quoted in [format!("12 | {text}"), format!("   | {text}")] {
            assert_eq!(wrapped(&quoted, INDENT, Some(40)), quoted);
        }
    }

    #[test]
    fn quoted_lines_are_cut_around_their_mark() {
        let lines = |line: &str, mark: &str| vec![format!("12 | {line}"), format!("   | {mark}")];
        let long = "payload = [{ type = \"kernel\", file = \"linux\" }]";
        let mark = format!("{:37}^^^^^^^", "");
        let cut = lines("…\"kernel\", file = \"linux\" }]", "                  ^^^^^^^");
        assert_eq!(shown(&lines(long, &mark), Some(33)), cut);
        let at_start = lines("payload = [{ type = \"kernel…", "^^^^^^^");
        assert_eq!(shown(&lines(long, "^^^^^^^"), Some(33)), at_start);
        // Where there is room, and where there is no terminal.
        for width in [None, Some(100)] {
            assert_eq!(shown(&lines(long, &mark), width), lines(long, &mark));
        }
    }

    #[test]
    fn a_message_of_its_own_has_the_same_form() {
        let failure = Failure {
            reason: Some(hartlock_keys::KeyReason::NotPem.into()),
            ..Failure::undecided("the file is no PEM", "give another")
        };
        assert_eq!(failure.lines(), ("E1102 The file is no PEM.".into(), "Give another.".into()));
        let failure = Failure::undecided("No key", "give one!");
        assert_eq!(failure.lines(), ("no key".into(), "Give one!".into()));
    }
}
