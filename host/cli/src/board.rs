//! Parses `--board`: the name of a board, or the path of its description.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::TypedValueParser;
use hartlock_boards::{Boards, KnownBoard, is_file, shipped};
use hartlock_bundle::Error;
use hartlock_emulator::board::Emulated;
use hartlock_image::Name;

use crate::failure::Failure;
use crate::project::Project;
use crate::values::WithNames;

/// The value of `--board`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Name of a board.
    Name(String),
    /// Path of a board description.
    File(PathBuf),
}

impl Choice {
    /// Parses the value.
    pub fn of(text: &str) -> Self {
        if is_file(text) { Self::File(text.into()) } else { Self::Name(text.to_owned()) }
    }

    /// Returns the path of the description, if the value is a path.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Name(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

fn all() -> Vec<String> {
    shipped().iter().map(|board| board.name().to_owned()).collect()
}

fn emulated() -> Vec<String> {
    let boards = shipped().iter().filter(|board| Emulated::of(board).is_ok());
    boards.map(|board| board.name().to_owned()).collect()
}

/// Parses the value and refuses a name that is not among `names`.
fn among(text: &str, names: &[String]) -> Result<Choice, String> {
    let choice = Choice::of(text);
    match &choice {
        Choice::Name(name) if !names.contains(name) => Err(format!(
            "use one of {}, or a file that describes the board and ends in .toml",
            names.join(", ")
        )),
        _ => Ok(choice),
    }
}

/// Returns a parser that accepts any board: bundles can be signed and verified for unknown boards.
pub fn any() -> impl TypedValueParser<Value = String> {
    WithNames { parse: |text| Ok(text.to_owned()), names: all }
}

/// Returns a parser that accepts descriptions and every name that a bundle can have.
pub fn nameable() -> impl TypedValueParser<Value = Choice> {
    let parse = |text: &str| {
        let choice = Choice::of(text);
        let is_name = choice.file().is_some() || Name::new(text).is_some();
        if is_name { Ok(choice) } else { crate::values::name(text).map(|_| choice) }
    };
    WithNames { parse, names: all }
}

/// Returns a parser that accepts descriptions and the names of known boards.
pub fn known() -> impl TypedValueParser<Value = Choice> {
    WithNames { parse: |text| among(text, &all()), names: all }
}

/// Returns a parser that accepts descriptions and the names of boards that the emulator supports.
pub fn machine() -> impl TypedValueParser<Value = Choice> {
    WithNames { parse: |text| among(text, &emulated()), names: emulated }
}

/// Reads a description and adds its board to `boards`.
pub fn read(boards: &mut Boards, file: &Path) -> Result<Arc<KnownBoard>, Failure> {
    Ok(boards.add(file).map_err(Error::from)?)
}

/// Returns the known boards for a verb that reads a bundle: also the board of the given description or, if
/// none is given, of the description in the settings.
pub fn boards(given: Option<&Path>) -> Result<Boards, Failure> {
    let mut boards = Boards::default();
    if let Some(file) = given {
        read(&mut boards, file)?;
        return Ok(boards);
    }
    // Settings that cannot be read are ignored here: the output then says that the board is unknown, and a
    // verb that needs the settings fails.
    let Ok(Some(project)) = Project::find() else { return Ok(boards) };
    if let Some(file) = project.board().filter(|board| is_file(board)) {
        let known = read(&mut boards, Path::new(&file))?;
        project.say(&format!("the memory map of {}", known.name()));
    }
    Ok(boards)
}
