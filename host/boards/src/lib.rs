//! Boards by their descriptions: those of `device/boards/`, which firmware is made from too, and files of users
//! (device/boards/README.md).

#![forbid(unsafe_code)]

mod fault;
mod map;
pub mod model;
mod read;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hartlock_files::{FileError, read_small};
use hartlock_image::PayloadType;
use hartlock_verify::board as verifier;

pub use fault::{Fault, Kind};
pub use read::{Base, read};

use fault::Key;
use model::{Board, Dma};

/// Longest description.
const MAX_SIZE: usize = 256 << 10;

/// Whether a board is meant by its description, and not by its name: a path, or a name that ends so.
pub fn is_file(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

/// A description that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is wrong.
    #[error("`{}` {}", .path.display(), said(.fault.kind))]
    Wrong {
        /// The description.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
}

fn said(kind: Kind) -> &'static str {
    match kind {
        Kind::Form => "is not a valid description of a board",
        Kind::Contradiction => "describes a board that contradicts itself",
        Kind::Taken => "has the name of another board",
        Kind::NotEmulated => "describes a board that the emulator cannot be",
    }
}

/// A board that is known here.
#[derive(Debug)]
pub struct Known {
    /// All that its description says.
    pub description: Board,
    /// What a verifier needs of it.
    pub map: &'static verifier::Board,
    /// The description as text, and its file if it is a user's.
    text: String,
    file: Option<PathBuf>,
}

impl Known {
    fn new(text: &str, file: Option<&Path>) -> Result<Self, Fault> {
        let description = read(text, &shipped_text)?;
        let map = map::of(&description).map_err(|missing| {
            Fault::of_key(Kind::Contradiction, missing.0, text, &[Key::top("name")])
        })?;
        Ok(Self { description, map, text: text.to_owned(), file: file.map(Path::to_path_buf) })
    }

    /// Its name in manifests.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Its file, if it is a user's.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Where `hartlock sign` puts a payload.
    pub fn load_address(&self, payload_type: PayloadType) -> Option<u64> {
        let board = &self.description;
        board.signing.as_ref()?;
        let place = board.place.iter().find(|place| place.payload == payload_type)?;
        place.load_address.or_else(|| Some(board.region(&place.region).ok()?.start))
    }

    /// Memory that a payload gets at least: what its code or its editor needs, if the description says it.
    pub fn least_memory(&self, payload_type: PayloadType) -> Option<u64> {
        let place = self.description.place.iter().find(|place| place.payload == payload_type);
        place.and_then(|place| place.memory).map(|size| size.0)
    }

    /// What the board guarantees against devices that read and write memory themselves, in one line.
    pub fn devices(&self) -> &'static str {
        match self.description.forms.dma {
            Dma::Iommu => "an IOMMU keeps them from stages, flash and state",
            Dma::Open => "no IOMMU: they reach stages, flash and state",
        }
    }

    /// An error about what is said in its description: the entry of a list, or all of it if that is empty, and
    /// the key there.
    pub fn wrong(&self, kind: Kind, message: String, at: (&str, &str, &str)) -> Error {
        let (list, entry, key) = at;
        let fault = Fault::of_key(kind, message, &self.text, &[Key::new(list, entry, key)]);
        let path = self
            .file
            .clone()
            .unwrap_or_else(|| Path::new("device/boards").join(self.name()).join("board.toml"));
        Error::Wrong { path, fault }
    }
}

/// The descriptions that this build is made with.
static TEXTS: &[&str] = include!(concat!(env!("OUT_DIR"), "/descriptions.rs"));

/// Theirs. That all of them are right is what a test of this crate shows, and the generator before it.
static SHIPPED: LazyLock<Vec<Known>> =
    LazyLock::new(|| TEXTS.iter().filter_map(|text| Known::new(text, None).ok()).collect());

/// The text of the description of a board of this build.
fn shipped_text(name: &str) -> Option<String> {
    // Each extends at most one that extends none, so this finds it without reading it as a board.
    let is_it = |text: &&&str| {
        let table = toml::de::DeTable::parse(text).ok();
        let own = table.as_ref().and_then(|table| table.get_ref().get("name"));
        own.and_then(|own| own.get_ref().as_str()) == Some(name)
    };
    TEXTS.iter().find(is_it).map(|text| (*text).to_owned())
}

/// The boards of this build.
pub fn shipped() -> &'static [Known] {
    &SHIPPED
}

/// The boards that are known: those of this build, and those that were read.
#[derive(Clone, Debug, Default)]
pub struct Boards {
    own: Vec<Arc<Known>>,
}

impl Boards {
    /// Reads a description and knows its board from then on.
    ///
    /// # Errors
    /// If it is wrong, or has the name of a board that is known and different.
    pub fn add(&mut self, path: &Path) -> Result<Arc<Known>, Error> {
        let wrong = |fault| Error::Wrong { path: path.to_path_buf(), fault };
        let bytes = read_small(path, MAX_SIZE)?;
        let Ok(text) = str::from_utf8(&bytes) else {
            return Err(wrong(Fault::at(Kind::Form, "it is not UTF-8 text", "", 0..0)));
        };
        let known = Arc::new(Known::new(text, Some(path)).map_err(wrong)?);
        let is_other = |it: &Known| it.map != known.map;
        if self.by_name(known.name()).is_some_and(is_other) {
            let message = format!("{} is another board, with another map", known.name());
            return Err(known.wrong(Kind::Taken, message, ("", "", "name")));
        }
        self.own.push(Arc::clone(&known));
        Ok(known)
    }

    /// The board of a name.
    pub fn by_name(&self, name: &str) -> Option<&Known> {
        self.all().find(|board| board.name() == name)
    }

    /// The board that nothing needs to name.
    pub fn default_board(&self) -> Option<&Known> {
        shipped().iter().find(|board| board.description.is_default())
    }

    /// What a verifier needs of each.
    pub fn maps(&self) -> Vec<&'static verifier::Board> {
        self.all().map(|board| board.map).collect()
    }

    /// Those that were read first: they are meant where two have the same map.
    fn all(&self) -> impl Iterator<Item = &Known> {
        self.own.iter().map(Arc::as_ref).chain(shipped())
    }
}
