//! One way out for every verb: text or JSON, and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::page;

/// What a verb found out.
pub trait Report: Serialize {
    /// For people. Ends with a line feed; may be empty.
    fn text(&self) -> String;

    /// Whether other programs read the text: its lines must stay as they are.
    fn is_for_programs(&self) -> bool {
        false
    }

    /// Accepted, unless the verb can report details about a refusal.
    fn outcome(&self) -> Outcome {
        Outcome::Accepted
    }

    /// Why not, if the outcome is not accepted.
    fn failure(&self) -> Option<Failure> {
        None
    }
}

/// Where results go.
#[derive(Debug)]
pub struct Output {
    is_json: bool,
}

/// The JSON object of a verb (see JSON.md).
#[derive(Serialize)]
struct Envelope<'a, R> {
    schema: String,
    outcome: Outcome,
    error: Option<&'a Failure>,
    #[serde(flatten)]
    report: Option<&'a R>,
}

impl Output {
    /// Text, or JSON if `is_json`.
    pub const fn new(is_json: bool) -> Self {
        Self { is_json }
    }

    /// Prints what a verb found out or why it failed, and turns it into an exit code.
    pub fn finish<R: Report>(&self, verb: &str, result: Result<R, Failure>) -> ExitCode {
        let (report, failure) = match &result {
            Ok(report) => (Some(report), report.failure()),
            Err(failure) => (None, Some(failure.clone())),
        };
        let outcome = match &result {
            Ok(report) => report.outcome(),
            Err(failure) => failure.outcome(),
        };
        let text = if self.is_json {
            let schema = format!("hartlock/{verb}-v1");
            let envelope = Envelope { schema, outcome, error: failure.as_ref(), report };
            let json = serde_json::to_string_pretty(&envelope).map_or_else(
                // Names of fields are strings and numbers are finite: there is nothing that
                // cannot be written.
                |error| format!("{{\"error\":\"{error}\"}}\n"),
                |json| json + "\n",
            );
            hartlock_terminal::json(&json).into_owned()
        } else {
            report.map(fitted).unwrap_or_default()
        };
        let written = print(&text);
        if let Some(failure) = &failure {
            failure.print();
        }
        match written {
            Ok(()) => outcome.exit_code(),
            Err(error) => {
                let failure = Failure::undecided(
                    format!("cannot write to standard output: {error}"),
                    "check where the output goes",
                );
                failure.print();
                failure.outcome().exit_code()
            }
        }
    }
}

/// The text of a report, for the terminal that is there.
fn fitted(report: &impl Report) -> String {
    let text = report.text();
    if report.is_for_programs() { text } else { page::narrowed(&text, page::width()) }
}

/// Writes to standard output. A closed pipe is no error: the exit code still
/// answers the question.
fn print(text: &str) -> io::Result<()> {
    let text = hartlock_terminal::output(text);
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a line to standard error, or several if the terminal is narrow. A failure cannot be reported.
///
/// Text from outside within it is escaped by the caller: here a line feed in it is no longer told from ours.
pub fn talk(text: &str) {
    let text = hartlock_terminal::output(text);
    let text = match page::error_width() {
        Some(width) => page::narrowed(&text, width),
        None => text.into_owned(),
    };
    let _ = writeln!(anstream::stderr(), "{text}");
}
