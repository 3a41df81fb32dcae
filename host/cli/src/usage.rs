//! Errors in the arguments: the advice that clap gives with them is replaced where it does not work.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use serde::Serialize;

use crate::failure::Failure;
use crate::help;
use crate::output::{Output, Report};
use crate::suggest::nearest;

/// Lets values of options begin with a minus sign and a digit, so that the error is about the value. Without this
/// the value would be taken for an option.
pub fn with_negative_numbers(command: Command) -> Command {
    let permit = |argument: Arg| {
        let takes_values = argument.get_action().takes_values() && !argument.is_positional();
        argument.allow_negative_numbers(takes_values)
    };
    command.mut_args(permit).mut_subcommands(with_negative_numbers)
}

/// Replaces the suggestions of clap, which are less similar than others, or to pass an unknown option as a file name.
pub fn advise(error: &mut clap::Error, command: &Command, words: &[OsString]) {
    let verb = verb_of(command, words);
    error.remove(ContextKind::Suggested);
    if let Some(typed) = text(error, ContextKind::InvalidSubcommand) {
        error.remove(ContextKind::SuggestedSubcommand);
        let names = verb.get_subcommands().map(Command::get_name);
        insert_names(error, ContextKind::SuggestedSubcommand, "", &nearest(&typed, names));
    }
    let typed = text(error, ContextKind::InvalidArg).filter(|typed| typed.starts_with("--"));
    let Some(typed) = typed.filter(|_| error.kind() == ErrorKind::UnknownArgument) else { return };
    error.remove(ContextKind::SuggestedArg);
    // The usage of clap contains the argument that clap suggests.
    error.insert(ContextKind::Usage, ContextValue::StyledStr(verb.clone().render_usage()));
    let typed = typed.trim_start_matches('-');
    let names = nearest(typed, verb.get_arguments().filter_map(Arg::get_long));
    if !names.is_empty() {
        return insert_names(error, ContextKind::SuggestedArg, "--", &names);
    }
    let has_it = |verb: &&Command| verb.get_arguments().any(|it| it.get_long() == Some(typed));
    let others: Vec<_> = command.get_subcommands().filter(has_it).map(Command::get_name).collect();
    if !others.is_empty() {
        let tip = format!("'--{typed}' is an option of {}", others.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn insert_names(error: &mut clap::Error, kind: ContextKind, before: &str, names: &[&str]) {
    let mut names: Vec<_> = names.iter().map(|name| format!("{before}{name}")).collect();
    let value = match names.len() {
        0 => return,
        1 => ContextValue::String(names.remove(0)),
        _ => ContextValue::Strings(names),
    };
    error.insert(kind, value);
}

/// Returns the verb that the words name, or the command itself.
fn verb_of<'a>(command: &'a Command, words: &[OsString]) -> &'a Command {
    let deeper = |verb: &'a Command, word| verb.find_subcommand(word).unwrap_or(verb);
    words.iter().skip(1).fold(command, deeper)
}

/// Prints the requested help, or the error in the arguments, and returns the exit code.
pub fn print(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let mut options = words.iter().take_while(|word| *word != "--");
    if !error.use_stderr() || !options.any(|word| word == "--json") {
        return help::print(error);
    }
    let command = crate::Cli::command();
    let verb = words.iter().skip(1).find_map(|word| command.find_subcommand(word));
    let verb = verb.map_or("usage", Command::get_name);
    Output::new(true, false).finish::<NoReport>(verb, Err(failure(error)))
}

/// A verb that was not run has no report.
#[derive(Serialize)]
enum NoReport {}

impl Report for NoReport {
    fn text(&self) -> String {
        match *self {}
    }
}

/// Takes the text of clap apart: the error, its details, suggestions and the usage.
fn failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let fault = paragraphs.next().and_then(|text| text.trim().strip_prefix("error: "));
    let Some(fault) = fault else {
        return Failure::undecided("no verb is given", "`--help` lists the verbs");
    };
    let mut lines = fault.lines().map(str::trim);
    let message = lines.next().unwrap_or_default();
    let advice = paragraphs.flat_map(str::lines).map(str::trim);
    let advice: Vec<_> = advice.filter(|line| !line.starts_with("For more")).collect();
    let advice = advice.iter().map(|line| line.trim_start_matches("tip: ")).chain(["see `--help`"]);
    Failure::undecided(message.trim_end_matches(':'), advice.collect::<Vec<_>>().join("; "))
        .with_context(lines.map(str::to_owned).collect())
}
