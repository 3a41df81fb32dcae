//! `--board`: a board by its name, or by the file of its description.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::TypedValueParser;
use hartlock_boards::{Boards, Known, is_file, shipped};
use hartlock_bundle::Error;
use hartlock_emulator::board::Emulated;
use hartlock_image::Name;

use crate::failure::Failure;
use crate::project::Project;
use crate::values::WithNames;

/// A board as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// By name.
    Name(String),
    /// By its description.
    File(PathBuf),
}

impl Choice {
    /// Reads what was given.
    pub fn of(text: &str) -> Self {
        if is_file(text) { Self::File(text.into()) } else { Self::Name(text.to_owned()) }
    }

    /// The file of the description, if it is one.
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

/// One of these names, or a file.
fn among(text: &str, names: &[String]) -> Result<Choice, String> {
    let choice = Choice::of(text);
    match &choice {
        Choice::Name(name) if !names.contains(name) => Err(format!(
            "known are {}; a description is named as a file that ends in .toml",
            names.join(", ")
        )),
        _ => Ok(choice),
    }
}

/// Any board: bundles are signed and verified for boards that are not known here, too.
pub fn any() -> impl TypedValueParser<Value = String> {
    WithNames { parse: |text| Ok(text.to_owned()), names: all }
}

/// Any board that a bundle can name.
pub fn nameable() -> impl TypedValueParser<Value = Choice> {
    let parse = |text: &str| {
        let choice = Choice::of(text);
        let is_name = choice.file().is_some() || Name::new(text).is_some();
        if is_name { Ok(choice) } else { crate::values::name(text).map(|_| choice) }
    };
    WithNames { parse, names: all }
}

/// A board that is known.
pub fn known() -> impl TypedValueParser<Value = Choice> {
    WithNames { parse: |text| among(text, &all()), names: all }
}

/// A board that the emulator can be.
pub fn machine() -> impl TypedValueParser<Value = Choice> {
    WithNames { parse: |text| among(text, &emulated()), names: emulated }
}

/// Reads a description.
pub fn read(boards: &mut Boards, file: &Path) -> Result<Arc<Known>, Failure> {
    Ok(boards.add(file).map_err(Error::from)?)
}

/// The boards that are known where a bundle is judged: with the description that is given, or else with that of
/// the settings.
pub fn boards(given: Option<&Path>) -> Result<Boards, Failure> {
    let mut boards = Boards::default();
    if let Some(file) = given {
        read(&mut boards, file)?;
        return Ok(boards);
    }
    // Settings that cannot be used leave a board unknown, which is said; whatever needs them refuses them.
    let Ok(Some(project)) = Project::find() else { return Ok(boards) };
    if let Some(file) = project.board().filter(|board| is_file(board)) {
        let known = read(&mut boards, Path::new(&file))?;
        project.say(&format!("the memory map of {}", known.name()));
    }
    Ok(boards)
}
