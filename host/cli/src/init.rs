//! `hartlock init`

use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_files::{FileError, NewFile, check_output};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::board::{self, Choice};
use crate::failure::Failure;
use crate::output::Report;
use crate::project;

/// Write a commented hartlock.toml, which names the board and the keys of a project
///
/// `sign` and `verify` read it when you run them in its folder or in any folder below.
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// Board of the bundles: a known name, or a file that describes the board
    #[arg(long, value_name = "BOARD", default_value = "qemu-virt", value_parser = board::known(), hide_possible_values = true)]
    board: Choice,
    /// Folder to write the file to
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// The files that were written.
#[derive(Debug, Serialize)]
pub struct Written {
    files: Vec<PathBuf>,
    /// The `.gitignore` that was there and stays as it is.
    kept: Option<PathBuf>,
}

impl Report for Written {
    fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            text += &format!("written  {}\n", terminal::path(file));
        }
        if let Some(kept) = &self.kept {
            let lines = GENERATED.replace('\n', " ");
            text += &format!("kept     {}; add {}\n", terminal::path(kept), lines.trim_end());
        }
        text + "next     hartlock keygen -o keys/root.pem\n"
    }
}

/// Writes the files.
pub fn run(args: &InitArgs) -> Result<Written, Failure> {
    let keys = args.folder.join("keys");
    let mut files = vec![
        (args.folder.join(project::NAME), settings(&args.board, &args.folder)?),
        (keys.join(".gitignore"), IGNORED.to_string()),
    ];
    let ignored = args.folder.join(".gitignore");
    let is_kept = ignored.symlink_metadata().is_ok();
    if !is_kept {
        files.push((ignored.clone(), GENERATED.to_string()));
    }
    for (file, _) in &files {
        check_output(file, [], args.force)?;
    }
    std::fs::create_dir_all(&keys).map_err(|source| FileError::new("create", &keys, source))?;
    for (path, text) in &files {
        write(path, text, args.force)?;
    }
    let files = files.into_iter().map(|(path, _)| path).collect();
    Ok(Written { files, kept: is_kept.then_some(ignored) })
}

fn write(path: &Path, text: &str, is_forced: bool) -> Result<(), FileError> {
    let mut file = NewFile::public(path)?;
    file.write(text.as_bytes())?;
    file.finish(is_forced)
}

/// Content of the `.gitignore` that keeps private keys out of version control.
const IGNORED: &str = "*\n!.gitignore\n!*.pub.pem\n";

/// Content of the `.gitignore` beside the settings: bundles, first stages, and the folder of an emulated device, all of which
/// commands make.
const GENERATED: &str = "*.hlk\n*.hlf\n/device/\n";

fn settings(choice: &Choice, folder: &Path) -> Result<String, Failure> {
    let mut boards = Boards::default();
    let (board, soc) = match choice {
        Choice::Name(name) => {
            let soc = boards.by_name(name).map(|known| known.description.soc.clone());
            (name.clone(), soc.unwrap_or_default())
        }
        Choice::File(file) => {
            let soc = board::read(&mut boards, file)?.description.soc.clone();
            // The path in the settings is relative to the folder of the settings.
            let is_here = folder == Path::new(".") || file.is_absolute();
            let file = if is_here { Ok(file.clone()) } else { file.canonicalize() };
            let file = file.map_err(|source| FileError::new("read", folder, source))?;
            (file.display().to_string(), soc)
        }
    };
    // Every JSON string is also a TOML string.
    let [board, soc] = [board, soc].map(|text| serde_json::Value::from(text).to_string());
    Ok(format!(
        "# Settings of `hartlock` for this folder and those below it.\n\n\
         # Default board of bundles: its name, or a file that describes it.\n\
         board = {board}\n\
         soc = {soc}\n\n\
         # Folder of key files: `root` means keys/root.pem, or keys/root.pub.pem where a public key is needed.\n\
         keys = \"keys\"\n\n\
         # Keys for `sign` and `verify` if no key is given on the command line.\n\
         sign = [\"root\"]\n\
         verify = [\"root\"]\n\n\
         # Names of signers that are not key files: keys in tokens, and programs.\n\
         # [signers]\n\
         # root = \"pkcs11:token=Release;object=root?module-path=/usr/lib/softhsm/libsofthsm2.so\"\n"
    ))
}
