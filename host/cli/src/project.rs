//! `hartlock.toml`: settings of the verbs for a folder and the folders below it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hartlock_boards::is_file;
use hartlock_files::{FileError, folder_of, read_small};
use hartlock_keys::is_uri;
use hartlock_terminal as terminal;
use serde::Deserialize;

use crate::failure::Failure;
use crate::output::talk;
use crate::suggest::completed;

/// Name of the settings file. It is searched for from the working directory upward.
pub const NAME: &str = "hartlock.toml";
const MAX_SIZE: usize = 64 << 10;

/// The settings and the path of their file.
#[derive(Debug)]
pub struct Project {
    file: PathBuf,
    settings: Settings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "settings of a project")]
struct Settings {
    board: Option<String>,
    soc: Option<String>,
    keys: Option<PathBuf>,
    /// Signers that are not files in the folder of keys, by name.
    #[serde(default)]
    signers: BTreeMap<String, String>,
    #[serde(default)]
    sign: Vec<String>,
    #[serde(default)]
    verify: Vec<String>,
}

/// The half of a key pair that a file is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHalf {
    /// The private key.
    Private,
    /// The public key.
    Public,
}

impl KeyHalf {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Private => "pem",
            Self::Public => "pub.pem",
        }
    }
}

impl Project {
    /// Reads the settings of the nearest folder that has some.
    ///
    /// # Errors
    /// Fails if the file cannot be used, or if it belongs to another user, who could name a key of their own.
    pub fn find() -> Result<Option<Self>, Failure> {
        let Ok(folder) = std::env::current_dir() else { return Ok(None) };
        let files = folder.ancestors().map(|folder| folder.join(NAME));
        let Some(file) = files.into_iter().find(|file| file.is_file()) else { return Ok(None) };
        let fail = |source: io::Error| FileError::new("read", &file, source);
        let owner = fs::metadata(&file).map_err(fail)?.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Err(Failure::undecided(
                format!(
                    "`{}` belongs to another user, and would choose keys for you",
                    file.display()
                ),
                format!(
                    "make it yours if you trust it, with `sudo chown $USER {}`",
                    file.display()
                ),
            ));
        }
        let bytes = read_small(&file, MAX_SIZE)?;
        let wrong = |message: String| {
            Failure::undecided(
                format!("`{}` is not valid", file.display()),
                "correct the marked place; `hartlock init` writes a file with all settings",
            )
            .with_context(message.lines().map(|line| completed(line.to_owned())).collect())
        };
        let text = str::from_utf8(&bytes).map_err(|error| wrong(error.to_string()))?;
        let settings = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self { file, settings }))
    }

    /// Returns the board for bundles that name none, or the path of its description.
    pub fn board(&self) -> Option<String> {
        let board = self.settings.board.as_ref()?;
        let file = || folder_of(&self.file).join(board).display().to_string();
        Some(if is_file(board) { file() } else { board.clone() })
    }

    /// Returns the SoC for bundles that name none.
    pub fn soc(&self) -> Option<String> {
        self.settings.soc.clone()
    }

    /// Returns the path of the key with this name, or the URI of its signer.
    fn key(&self, name: &str, wanted: KeyHalf) -> PathBuf {
        let named = self.settings.signers.get(name).map(String::as_str);
        let uri = named.or(Some(name).filter(|name| is_uri(Path::new(name))));
        if let Some(uri) = uri.filter(|_| wanted == KeyHalf::Private) {
            return uri.into();
        }
        let keys = self.settings.keys.as_deref().unwrap_or(Path::new("keys"));
        folder_of(&self.file).join(keys).join(format!("{name}.{}", wanted.suffix()))
    }

    /// Prints that a setting was used.
    pub fn say(&self, what: &str) {
        talk(&format!("using {what}, as set in {}", terminal::path(&self.file)));
    }
}

/// Returns the keys in `given`, which has paths, URIs of signers, and names that the settings resolve. If `given`
/// is empty, the keys are those of the settings.
///
/// # Errors
/// Fails if there is no key, or the settings cannot be used.
pub fn keys(given: &[PathBuf], wanted: KeyHalf, option: &str) -> Result<Vec<PathBuf>, Failure> {
    let is_name = |path: &PathBuf| {
        !is_uri(path)
            && !path.exists()
            && path.components().count() == 1
            && path.extension().is_none()
    };
    if !given.is_empty() && !given.iter().any(is_name) {
        return Ok(given.to_vec());
    }
    let project = Project::find()?;
    let named: Vec<String> = match &project {
        Some(project) if given.is_empty() => match wanted {
            KeyHalf::Private => project.settings.sign.clone(),
            KeyHalf::Public => project.settings.verify.clone(),
        },
        _ => Vec::new(),
    };
    if given.is_empty() && named.is_empty() {
        return Err(Failure::undecided(
            "no key is given",
            format!(
                "give one with `{option}`, or name it in `{NAME}`, which `hartlock init` writes"
            ),
        ));
    }
    let found = |name: &str| {
        let project = project.as_ref()?;
        let file = project.key(name, wanted);
        // The query of a URI says how a token is reached, which is nobody's concern.
        let shown = file.to_str().filter(|_| is_uri(&file)).and_then(|uri| uri.split('?').next());
        let shown = shown.map_or_else(|| terminal::path(&file), |it| terminal::path(it.as_ref()));
        project.say(&shown);
        Some(file)
    };
    let of_name = |path: &PathBuf| {
        let name = path.to_str().filter(|_| is_name(path));
        name.and_then(found).unwrap_or_else(|| path.clone())
    };
    let of_project = named.iter().filter_map(|name| found(name));
    Ok(given.iter().map(of_name).chain(of_project).collect())
}
