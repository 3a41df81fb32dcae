//! Reads board descriptions (device/boards/README.md): those in `device/boards/`, from which firmware is generated too, and
//! files of users.

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

pub use fault::{Fault, Kind, marked};
pub use read::{Base, read};

use fault::KeyPosition;
use model::{Board, Dma};

/// Maximum length of a description in bytes.
const MAX_SIZE: usize = 256 << 10;

/// Returns true if `text` is the path of a description and not the name of a board: it contains a slash or
/// ends in `.toml`.
pub fn is_file(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

/// An error in a board description.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is not a valid description.
    #[error("`{}` {}", .path.display(), said(.fault.kind))]
    Wrong {
        /// Path of the description.
        path: PathBuf,
        /// The fault and its position.
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

/// A known board: its description and its memory map.
#[derive(Debug)]
pub struct KnownBoard {
    /// The parsed description.
    pub description: Board,
    /// Lists of the memory map for the verifier.
    lists: map::MapLists,
    /// The text of the description, and its path if it is a file of the user.
    text: String,
    file: Option<PathBuf>,
}

impl KnownBoard {
    fn new(text: &str, file: Option<&Path>) -> Result<Self, Fault> {
        let description = read(text, &shipped_text)?;
        let lists = map::MapLists::new(&description).map_err(|missing| {
            Fault::of_key(Kind::Contradiction, missing.0, text, &[KeyPosition::top("name")])
        })?;
        Ok(Self { description, lists, text: text.to_owned(), file: file.map(Path::to_path_buf) })
    }

    /// Returns the memory map for the verifier.
    pub fn map(&self) -> verifier::Board<'_> {
        self.lists.map(&self.description)
    }

    /// Returns the name of the board in manifests.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Returns the path of the description if it is a file of the user.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the default load address that `hartlock sign` gives a payload, if the board has one.
    pub fn load_address(&self, payload_type: PayloadType) -> Option<u64> {
        let board = &self.description;
        board.signing.as_ref()?;
        let place = board.place.iter().find(|place| place.payload == payload_type)?;
        place.load_address.or_else(|| Some(board.region(&place.region).ok()?.start))
    }

    /// Returns the minimum memory size of a payload in bytes, if the description states one: the memory that
    /// firmware needs at run time, or the space in which a device tree is edited.
    pub fn least_memory(&self, payload_type: PayloadType) -> Option<u64> {
        let place = self.description.place.iter().find(|place| place.payload == payload_type);
        place.and_then(|place| place.memory).map(|size| size.0)
    }

    /// Describes in one line how the board restricts devices that read and write memory themselves.
    pub fn devices(&self) -> &'static str {
        match self.description.forms.dma {
            Dma::Iommu => {
                "an IOMMU keeps them from stages, flash and state, and from payloads until Linux is entered"
            }
            Dma::Open => {
                "no IOMMU: they reach stages, flash and state, and payloads that were verified"
            }
        }
    }

    /// Makes an error about a key of this description. `at` is the name of a list, the name of its entry and
    /// the key in that entry; the first two are empty for a key at the top level.
    pub fn wrong(&self, kind: Kind, message: String, at: (&str, &str, &str)) -> Error {
        let (list, entry, key) = at;
        let fault = Fault::of_key(kind, message, &self.text, &[KeyPosition::new(list, entry, key)]);
        let path = self
            .file
            .clone()
            .unwrap_or_else(|| Path::new("device/boards").join(self.name()).join("board.toml"));
        Error::Wrong { path, fault }
    }
}

/// The descriptions in `boards/`, as text, in the version that this program was built with.
static TEXTS: &[&str] = include!(concat!(env!("OUT_DIR"), "/descriptions.rs"));

/// The boards of [`TEXTS`]. Invalid descriptions are skipped, but there are none: the generator and a test of
/// this crate check them all.
static SHIPPED: LazyLock<Vec<KnownBoard>> =
    LazyLock::new(|| TEXTS.iter().filter_map(|text| KnownBoard::new(text, None).ok()).collect());

/// Returns the text of the shipped description with this board name.
fn shipped_text(name: &str) -> Option<String> {
    // `SHIPPED` cannot be searched here: it is built with this function, for descriptions that extend another.
    let is_it = |text: &&&str| {
        let table = toml::de::DeTable::parse(text).ok();
        let own = table.as_ref().and_then(|table| table.get_ref().get("name"));
        own.and_then(|own| own.get_ref().as_str()) == Some(name)
    };
    TEXTS.iter().find(is_it).map(|text| (*text).to_owned())
}

/// Returns the boards that are built into this program.
pub fn shipped() -> &'static [KnownBoard] {
    &SHIPPED
}

/// The known boards: those built into this program, and those that were read from files.
#[derive(Clone, Debug, Default)]
pub struct Boards {
    from_files: Vec<Arc<KnownBoard>>,
}

impl Boards {
    /// Reads a description and adds its board to the known ones.
    ///
    /// # Errors
    /// Fails if the description is invalid, or has the name of a known board that is different.
    pub fn add(&mut self, path: &Path) -> Result<Arc<KnownBoard>, Error> {
        let wrong = |fault| Error::Wrong { path: path.to_path_buf(), fault };
        let bytes = read_small(path, MAX_SIZE)?;
        let Ok(text) = str::from_utf8(&bytes) else {
            return Err(wrong(Fault::at(Kind::Form, "it is not UTF-8 text", "", 0..0)));
        };
        let known = Arc::new(KnownBoard::new(text, Some(path)).map_err(wrong)?);
        let is_other = |it: &KnownBoard| it.map() != known.map();
        if self.by_name(known.name()).is_some_and(is_other) {
            let message = format!("{} is another board, with another map", known.name());
            return Err(known.wrong(Kind::Taken, message, ("", "", "name")));
        }
        self.from_files.push(Arc::clone(&known));
        Ok(known)
    }

    /// Returns the board with this name.
    pub fn by_name(&self, name: &str) -> Option<&KnownBoard> {
        self.all().find(|board| board.name() == name)
    }

    /// Returns the board that is used if none is named.
    pub fn default_board(&self) -> Option<&KnownBoard> {
        shipped().iter().find(|board| board.description.is_default())
    }

    /// Returns the memory maps of all known boards.
    pub fn maps(&self) -> Vec<verifier::Board<'_>> {
        self.all().map(KnownBoard::map).collect()
    }

    /// Iterates over all known boards, those from files first: they are preferred if two boards have the same
    /// map.
    fn all(&self) -> impl Iterator<Item = &KnownBoard> {
        self.from_files.iter().map(Arc::as_ref).chain(shipped())
    }
}
