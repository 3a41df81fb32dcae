//! `hartlock man`

use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use hartlock_files::{FileError, NewFile};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;
use crate::units::count_text;

/// Write manual pages, one for each command
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder to write the pages to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace existing pages
    #[arg(long)]
    force: bool,
}

/// The manual pages that were written.
#[derive(Debug, Serialize)]
pub struct Pages {
    files: Vec<PathBuf>,
}

impl Report for Pages {
    fn text(&self) -> String {
        let mut text = count_text(self.files.len() as u64, "page", "pages");
        text.push('\n');
        for file in &self.files {
            text += &format!("{}\n", terminal::path(file));
        }
        text
    }
}

/// Writes the manual pages.
pub fn run<Cli: CommandFactory>(args: &ManArgs) -> Result<Pages, Failure> {
    std::fs::create_dir_all(&args.output).map_err(|source| {
        let path = args.output.clone();
        FileError { action: "create", path, source }
    })?;
    let files = pages(Cli::command())
        .map_err(|error| {
            Failure::undecided(format!("cannot make the pages: {error}"), "report this")
        })?
        .into_iter()
        .map(|(name, page)| write(&args.output.join(name), &page, args.force))
        .collect::<Result<_, FileError>>()?;
    Ok(Pages { files })
}

fn write(path: &Path, page: &[u8], is_forced: bool) -> Result<PathBuf, FileError> {
    let mut file = NewFile::public(path)?;
    file.write(page)?;
    file.finish(is_forced)?;
    Ok(path.to_path_buf())
}

/// Returns name and content of each page.
fn pages(command: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    // A page for `help` is not needed: `hartlock help sign` prints the same as `hartlock sign --help`.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default().to_string();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    // A verb with verbs below it has a page, and each of these has one too.
    let verbs = verbs.flat_map(|verb| std::iter::once(verb).chain(verb.get_subcommands())).cloned();
    std::iter::once(command.clone()).chain(verbs).map(|verb| page(verb, &version)).collect()
}

fn page(command: Command, version: &str) -> io::Result<(String, Vec<u8>)> {
    let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let is_top = command.get_name() == "hartlock";
    let has_verbs = command.has_subcommands();
    let man = Man::new(command).source(format!("hartlock {version}")).manual("Hartlock");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_verbs {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if !examples.is_empty() {
        write_blocks(&mut rest, &examples);
    }
    write_exit_status(&mut rest);
    if !is_top {
        rest.control("SH", ["SEE ALSO"]);
        rest.text([bold("hartlock"), roman("(1)")]);
    }
    rest.to_writer(&mut page)?;
    Ok((man.get_filename(), page))
}

/// Writes the text after the options, line by line. A line at the left margin that ends in a colon is a
/// title. The block about exit codes is skipped, because every page has a section for them.
fn write_blocks(roff: &mut Roff, text: &str) {
    for block in text.split("\n\n") {
        let (title, lines) = block.split_once(":\n").unwrap_or(("", block));
        if title == "Exit code" {
            continue;
        }
        // A block without a title follows an empty line within another block, and is indented.
        let lines = if title.is_empty() || title.starts_with(' ') {
            roff.control("PP", []);
            block
        } else {
            roff.control("SH", [title.to_uppercase().as_str()]);
            lines
        };
        roff.control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
}

fn write_exit_status(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in [
        ("0", "Success."),
        ("1", "Refused, with a reason code."),
        ("2", "Could not decide: wrong usage, a file that cannot be read, a missing tool."),
    ] {
        roff.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
}
