//! Failures, and the messages that they print.

use std::path::Path;
use std::process::ExitCode;

use hartlock_boards::{KnownBoard, shipped};
use hartlock_bundle::Error;
use hartlock_bundle::spec::SpecError;
use hartlock_files::FileError;
use hartlock_image::{Fault, Reason, hint_line, refusal_line};
use hartlock_terminal as terminal;
use serde::{Serialize, Serializer};

use crate::output::talk;
use crate::page::{error_width, is_quoted, wrap};
use crate::reason::AnyReason;
use crate::style::{BOLD, ERROR};
use crate::suggest::{completed, nearest};

/// Indentation in columns of the details of an error, and of the further lines of its description.
const INDENT: usize = 7;
/// Indentation in columns of the further lines of a hint.
const HINT_INDENT: usize = 13;

/// The outcome of a verb, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The answer is yes.
    Accepted,
    /// The answer is yes, but nothing was verified, so the output must not say that a bundle was accepted.
    WellFormed,
    /// Two bundles are different.
    Different,
    /// The answer is no, with a reason code.
    Refused,
    /// No decision was possible: wrong usage, a file that cannot be read, or a missing tool.
    Undecided,
}

impl Outcome {
    /// Returns the exit code: 0 for yes, 1 for no, 2 if no decision was possible.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Accepted | Outcome::WellFormed => 0,
            Outcome::Refused | Outcome::Different => 1,
            Outcome::Undecided => 2,
        })
    }
}

/// The texts of a reason code.
#[derive(Clone, Debug, Serialize)]
pub struct ReasonText {
    /// The code: `E` and four digits.
    pub code: String,
    /// Name of the reason in the specification and in code.
    pub name: &'static str,
    /// Description of the fault.
    pub title: &'static str,
    /// Purpose of the rule that was broken.
    pub why: &'static str,
    /// Advice for the user.
    pub hint: &'static str,
    /// The party that has to act: `image`, `device` or `caller`.
    pub fault: &'static str,
    /// Specification and section of the rule.
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
            // The name of the page is printed without its dash: `image-format §5.2` is in
            // spec/image-format.md.
            spec: reason.spec().replacen('-', " ", 1),
        }
    }
}

/// A refusal, or an error that made a decision impossible.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    #[serde(skip)]
    outcome: Outcome,
    /// Description of the fault or error.
    message: String,
    /// Details, one line each.
    context: Vec<String>,
    /// Advice for the user.
    hint: String,
    /// Reason code of a refusal, or of a key file that cannot be used.
    #[serde(serialize_with = "in_words")]
    reason: Option<AnyReason>,
}

impl Failure {
    /// Makes a failure that left the verb without a decision.
    pub fn undecided(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Undecided,
            message: message.into(),
            context: Vec::new(),
            hint: hint.into(),
            reason: None,
        }
    }

    /// Adds details, one line each.
    #[must_use]
    pub fn with_context(mut self, lines: Vec<String>) -> Self {
        self.context.extend(lines);
        self
    }

    /// Replaces the advice by one for a cause that is known.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Makes a refusal.
    pub fn refused(reason: Reason, context: Vec<String>) -> Self {
        Self {
            outcome: Outcome::Refused,
            message: reason.title().trim_end_matches('.').to_string(),
            context,
            hint: reason.hint().to_string(),
            reason: Some(reason.into()),
        }
    }

    /// Turns a refusal into a failure without a decision, for a verb whose question the refusal does not
    /// answer.
    #[must_use]
    pub fn and_undecided(self) -> Self {
        Self { outcome: Outcome::Undecided, ..self }
    }

    /// Adds the name of the file that was refused to the details. Other failures are not changed.
    #[must_use]
    pub fn with_path(mut self, path: &Path) -> Self {
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

    /// Returns the description of the failure in one line.
    pub fn line(&self) -> String {
        self.lines().0
    }

    /// Returns the description and the advice, each as one line. With a reason code they have the same words
    /// and form as on the console of a device.
    fn lines(&self) -> (String, String) {
        let message = terminal::text(&self.message);
        let hint = sentence(&terminal::text(&self.hint));
        let Some(reason) = self.reason else { return (lower_first(&message), hint) };
        let digits = format!("{:04}", reason.number());
        (refusal_line([""; 3], &digits, &sentence(&message)).concat(), hint)
    }

    /// Returns the outcome: refused, different or undecided.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Prints the failure to the standard error.
    pub fn print(&self) {
        // Description and hint are one line each, even if a file name or quoted input in them contains line
        // feeds.
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
            // An unusable key is no refusal: nothing was decided about a bundle.
            Error::Key(key) => Self {
                reason: Some(key.kind.reason().into()),
                ..Self::undecided(key.to_string(), key.hint())
            },
            Error::Signer(signer) => Self {
                context: signer.context(),
                reason: Some(signer.reason.into()),
                ..Self::undecided(signer.to_string(), signer.reason.hint())
            },
            // The name of a known board was meant, if one is near.
            Error::Spec(SpecError::LoadAddressMissing { board, .. })
                if !nearest(board, shipped().iter().map(KnownBoard::name)).is_empty() =>
            {
                let names = nearest(board, shipped().iter().map(KnownBoard::name)).join("` or `");
                Self::undecided(
                    error.to_string(),
                    format!("did you mean the board `{names}`? Of another board, {}", error.hint()),
                )
            }
            Error::Spec(_) | Error::Content(_) | Error::Board(_) | Error::File(_) => Self {
                outcome: match &error {
                    Error::Content(_) => Outcome::Refused,
                    _ => Outcome::Undecided,
                },
                context: error.context().into_iter().map(completed).collect(),
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

/// Breaks a text into lines for a terminal of this width, if there is one. A line that is quoted from a file
/// and the mark below it are not broken.
fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    match width {
        Some(width) if !is_quoted(text) => {
            wrap(text, width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""))
        }
        _ => text.to_owned(),
    }
}

/// Returns the details. If the terminal is too narrow for a quoted line, only the part around its mark is
/// shown.
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

/// Cuts a quoted line and its mark to `width` columns. Returns `None` if they fit, or are not a quoted line
/// and a mark.
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

/// Makes a sentence of a clause: a capital letter at the start and a full stop at the end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let text: String = first.into_iter().chain(chars).collect();
    if text.ends_with(['.', '?', '!', '…', ':']) { text } else { text + "." }
}

/// Changes the first letter of a title to lower case, so that the title can be used within a sentence. A word
/// that begins with two capitals is not changed.
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
            // The line has the form that a device prints and the emulator parses.
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
        // The line is not cut where it fits, or if there is no terminal.
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
