//! Prints the result of every verb as text or JSON, and returns the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::page;

/// The result of a verb.
pub trait Report: Serialize {
    /// Returns the text for people. It ends with a line feed, or is empty.
    fn text(&self) -> String;

    /// Returns true if other programs read the text, so that its lines must not be broken.
    fn is_for_programs(&self) -> bool {
        false
    }

    /// Returns the outcome: accepted, unless the verb can report details about a refusal.
    fn outcome(&self) -> Outcome {
        Outcome::Accepted
    }

    /// Returns the failure if the outcome is not accepted.
    fn failure(&self) -> Option<Failure> {
        None
    }
}

/// The format in which results are printed.
#[derive(Debug)]
pub struct Output {
    is_json: bool,
    /// True if the result goes to the standard error, because the standard output receives a file.
    is_output_taken: bool,
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
    /// Makes an output that prints JSON if `is_json`, else text, and leaves the standard output to a file if
    /// `is_output_taken`.
    pub const fn new(is_json: bool, is_output_taken: bool) -> Self {
        Self { is_json, is_output_taken }
    }

    /// Prints the result of a verb or its failure, and returns the exit code.
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
                // Serialization cannot fail: all field names are strings and all numbers are finite.
                |error| format!("{{\"error\":\"{error}\"}}\n"),
                |json| json + "\n",
            );
            hartlock_terminal::json(&json).into_owned()
        } else {
            report.map(fit_to_terminal).unwrap_or_default()
        };
        let written = if self.is_output_taken {
            print(&text, anstream::stderr())
        } else {
            print(&text, anstream::stdout())
        };
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

/// Returns the text of a report, with lines that fit the terminal.
fn fit_to_terminal(report: &impl Report) -> String {
    let text = report.text();
    if report.is_for_programs() { text } else { page::narrowed(&text, page::width()) }
}

/// Writes the result. A closed pipe is not an error, because the exit code still has the answer.
fn print(text: &str, mut to: impl Write) -> io::Result<()> {
    let text = hartlock_terminal::output(text);
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a line to the standard error, or several lines if the terminal is narrow. Errors are ignored.
///
/// The caller must escape untrusted text within `text`: its line feeds cannot be distinguished here from
/// those of this program.
pub fn talk(text: &str) {
    let text = hartlock_terminal::output(text);
    let text = match page::error_width() {
        Some(width) => page::narrowed(&text, width),
        None => text.into_owned(),
    };
    let _ = writeln!(anstream::stderr(), "{text}");
}
