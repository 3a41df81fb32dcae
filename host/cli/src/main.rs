//! The `hartlock` command: keys, signing and verification of bundles on a workstation.
//!
//! Each verb is a module with its arguments (`SignArgs` for `sign`), a type for its result (`impl Report`) and a function
//! `run`. Results go to the standard output, messages to the standard error. The exit code is 0 for yes, 1
//! for refused and 2 if no decision was possible. `host/cli/JSON.md` documents the output of `--json`.

#![forbid(unsafe_code)]

mod attach;
mod board;
mod boot;
mod completions;
mod diff;
mod digest;
mod examples;
mod explain;
mod extract;
mod failure;
mod first_stage;
mod form;
mod help;
mod init;
mod inspect;
mod installation;
mod kat;
mod key;
mod keygen;
mod man;
mod output;
mod page;
mod passphrase;
mod progress;
mod project;
mod reason;
mod rework;
mod sign;
mod signer;
mod source_bundle;
mod style;
mod suggest;
mod units;
mod usage;
mod values;
mod verify;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use hartlock_terminal as terminal;

use output::Output;

/// Secure boot for RISC-V: make keys, and sign, verify, inspect and boot bundles.
#[derive(Debug, Parser)]
#[command(name = "hartlock", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit code: 0 success, 1 refused, 2 could not decide (for example, a file cannot be read)."
)]
#[command(after_long_help = examples::HARTLOCK)]
struct Cli {
    /// Print one JSON object instead of text
    #[arg(long, global = true, display_order = 900)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(after_long_help = examples::INIT)]
    Init(init::InitArgs),
    #[command(after_long_help = examples::KEYGEN)]
    Keygen(keygen::KeygenArgs),
    #[command(after_long_help = examples::KEY)]
    Key(key::KeyArgs),
    #[command(after_long_help = examples::SIGN)]
    Sign(Box<sign::SignArgs>),
    #[command(after_long_help = examples::DIGEST)]
    Digest(Box<digest::DigestArgs>),
    #[command(after_long_help = examples::ATTACH)]
    Attach(attach::AttachArgs),
    #[command(after_long_help = examples::RESIGN)]
    Resign(Box<rework::ResignArgs>),
    #[command(after_long_help = examples::REPLACE)]
    Replace(Box<rework::ReplaceArgs>),
    #[command(after_long_help = examples::VERIFY)]
    Verify(verify::VerifyArgs),
    #[command(after_long_help = examples::INSPECT)]
    Inspect(inspect::InspectArgs),
    #[command(after_long_help = examples::DIFF)]
    Diff(diff::DiffArgs),
    #[command(after_long_help = examples::EXTRACT)]
    Extract(extract::ExtractArgs),
    #[command(after_long_help = examples::EXPLAIN)]
    Explain(explain::ExplainArgs),
    #[command(after_long_help = examples::BOOT)]
    Boot(Box<boot::BootArgs>),
    #[command(after_long_help = examples::KAT)]
    Kat(kat::KatArgs),
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(completions::CompletionsArgs),
    #[command(after_long_help = examples::MAN)]
    Man(man::ManArgs),
}

/// Parses the arguments, with help that fits the terminal.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = usage::with_negative_numbers(help::fit_to_terminal(Cli::command()));
    let matches = command.try_get_matches_from_mut(words).map_err(|mut error| {
        usage::advise(&mut error, &command, words);
        error
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Returns the error of invalid arguments, with the arguments escaped: the error quotes them, and they may be
/// names of files that a shell expanded.
fn escaped(error: clap::Error, words: &[OsString]) -> clap::Error {
    let is_plain = |argument: &OsString| {
        matches!(terminal::text(&argument.to_string_lossy()), Cow::Borrowed(_))
    };
    if words.iter().all(is_plain) {
        return error;
    }
    let escaped = words.iter().map(|argument| terminal::path(argument.as_ref()).into());
    match parse(&escaped.collect::<Vec<_>>()) {
        Err(error) => error,
        // The escaped arguments are valid, so the characters that were escaped are the error.
        Ok(_) => Cli::command().error(
            ErrorKind::InvalidValue,
            "an argument contains characters that cannot be printed",
        ),
    }
}

impl Verb {
    /// Returns the inputs that may be standard input.
    fn inputs(&self) -> Vec<&Path> {
        match self {
            Self::Sign(args) => args.what.payload_files(),
            Self::Digest(args) => args.what.payload_files(),
            Self::Resign(args) => vec![&args.origin.bundle],
            Self::Replace(args) => {
                args.payloads.files().chain([args.origin.bundle.as_path()]).collect()
            }
            Self::Verify(args) => args.bundles.iter().map(PathBuf::as_path).collect(),
            Self::Inspect(args) => vec![&args.bundle],
            Self::Diff(args) => vec![&args.one, &args.other],
            Self::Extract(args) => vec![&args.origin.bundle],
            _ => Vec::new(),
        }
    }

    /// Returns the output, if it may be standard output.
    fn output(&self) -> Option<&Path> {
        match self {
            Self::Sign(args) => args.signer.output.as_deref(),
            Self::Attach(args) => Some(&args.output),
            Self::Resign(args) => args.signer.output.as_deref(),
            Self::Replace(args) => args.signer.output.as_deref(),
            Self::Extract(args) => Some(&args.output),
            _ => None,
        }
    }

    /// Returns true if standard output receives a file.
    fn writes_to_output(&self) -> bool {
        self.output().is_some_and(hartlock_files::is_standard)
    }
}

/// Refuses `-` where it does not stand for a bundle or a payload, and for two inputs at once. `kat` has rules of its
/// own, because it reads its input line by line.
fn check_dash(verb: &Verb, words: &[OsString]) -> Result<(), clap::Error> {
    /// Options with a text, for which a dash is valid.
    const TEXTS: [&str; 3] = ["--label", "--bootargs", "--until"];
    let is_text = |word: &str| TEXTS.contains(&word);
    let is_dash = |pair: &&[OsString]| match pair[1].to_str() {
        Some("-") => !pair[0].to_str().is_some_and(is_text),
        Some(word) => word
            .strip_suffix("=-")
            .is_some_and(|it| it.starts_with("--") && !it.contains('=') && !is_text(it)),
        None => false,
    };
    if matches!(verb, Verb::Kat(_)) {
        return Ok(());
    }
    let given = words.windows(2).filter(is_dash).count();
    let inputs = verb.inputs().into_iter().filter(|it| hartlock_files::is_standard(it)).count();
    let text = if given > inputs + usize::from(verb.writes_to_output()) {
        "`-` does not mean standard input or output here: name a file, or write `./-`"
    } else if inputs > 1 {
        "`-` is given for two inputs, and standard input can be read only once: name a file or a pipe"
    } else {
        return Ok(());
    };
    let mut command = Cli::command();
    command.build();
    let verb = words.iter().skip(1).find(|word| command.find_subcommand(word).is_some());
    let of_verb = verb.and_then(|verb| command.find_subcommand_mut(verb));
    Err(of_verb.map_or_else(Cli::command, |it| it.clone()).error(ErrorKind::InvalidValue, text))
}

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let parsed = parse(&words).map_err(|error| escaped(error, &words));
    let parsed = parsed.and_then(|cli| check_dash(&cli.verb, &words).map(|()| cli));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage::print(&error, &words),
    };
    let output = Output::new(cli.json, cli.verb.writes_to_output());
    match &cli.verb {
        Verb::Init(args) => output.finish("init", init::run(args)),
        Verb::Keygen(args) => output.finish("keygen", keygen::run(args)),
        Verb::Key(args) => key::run(args, &output),
        Verb::Sign(args) => output.finish("sign", sign::run(args)),
        Verb::Digest(args) => output.finish("digest", digest::run(args)),
        Verb::Attach(args) => output.finish("attach", attach::run(args)),
        Verb::Resign(args) => output.finish("resign", rework::resign(args)),
        Verb::Replace(args) => output.finish("replace", rework::replace(args)),
        Verb::Verify(args) => verify::run(args, &output),
        Verb::Inspect(args) => output.finish("inspect", inspect::run(args)),
        Verb::Diff(args) => output.finish("diff", diff::run(args)),
        Verb::Extract(args) => output.finish("extract", extract::run(args)),
        Verb::Explain(args) => output.finish("explain", explain::run(args)),
        Verb::Boot(args) => output.finish("boot", boot::run(args)),
        Verb::Kat(args) => output.finish("kat", kat::run(args)),
        Verb::Completions(args) => output.finish("completions", completions::run::<Cli>(args)),
        Verb::Man(args) => output.finish("man", man::run::<Cli>(args)),
    }
}
