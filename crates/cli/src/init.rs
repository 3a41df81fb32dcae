//! `hartlock init`

use std::path::{Path, PathBuf};

use hartlock_emulator::qemu::Machine;
use hartlock_files::{FileError, NewFile, check_output};
use hartlock_terminal as terminal;
use hartlock_verify::board::Board;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;
use crate::project;

/// Write a hartlock.toml with comments
///
/// `sign` and `verify` then find board and keys in it, from its folder and all folders below.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Board of the bundles
    #[arg(long, value_name = "NAME", default_value = "qemu-virt", value_parser = boards())]
    board: String,
    /// Folder of the file
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

fn boards() -> clap::builder::PossibleValuesParser {
    Machine::ALL.map(|machine| machine.board().name).into()
}

/// What was written.
#[derive(Debug, Serialize)]
pub struct Written {
    files: Vec<PathBuf>,
}

impl Report for Written {
    fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            text += &format!("written  {}\n", terminal::path(file));
        }
        text + "next     hartlock keygen -o keys/root.pem\n"
    }
}

/// Writes the files.
pub fn run(args: &Args) -> Result<Written, Failure> {
    let keys = args.folder.join("keys");
    let files = [
        (args.folder.join(project::NAME), settings(&args.board)),
        (keys.join(".gitignore"), IGNORED.to_string()),
    ];
    for (file, _) in &files {
        check_output(file, [], args.force)?;
    }
    std::fs::create_dir_all(&keys).map_err(|source| FileError::new("create", &keys, source))?;
    for (path, text) in &files {
        write(path, text, args.force)?;
    }
    Ok(Written { files: files.into_iter().map(|(path, _)| path).collect() })
}

fn write(path: &Path, text: &str, is_forced: bool) -> Result<(), FileError> {
    let mut file = NewFile::public(path)?;
    file.write(text.as_bytes())?;
    file.finish(is_forced)
}

/// Private keys stay out of version control.
const IGNORED: &str = "*\n!.gitignore\n!*.pub.pem\n";

fn settings(board: &str) -> String {
    let soc = Board::by_name(board).map_or("", |board| board.soc);
    format!(
        "# Settings of `hartlock` for this folder and those below it.\n\n\
         # What bundles are for that do not say it themselves.\n\
         board = \"{board}\"\n\
         soc = \"{soc}\"\n\n\
         # Folder of key files: the name `root` is keys/root.pem, and keys/root.pub.pem where a public key is wanted.\n\
         keys = \"keys\"\n\n\
         # Names of the keys that sign and verify if the command names none.\n\
         sign = [\"root\"]\n\
         verify = [\"root\"]\n"
    )
}
