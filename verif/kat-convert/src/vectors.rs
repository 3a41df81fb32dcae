//! The folder with the vector files of the publishers.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::case::Collection;

/// The folder with the vector files.
pub struct Vectors {
    /// The path of the folder.
    pub folder: PathBuf,
}

impl Vectors {
    /// Reads a file. The cases added to `out` afterwards belong to it.
    pub(crate) fn read(&self, out: &mut Collection, path: &str) -> Result<String> {
        out.begin(path);
        let file = self.folder.join(path);
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    pub(crate) fn read_json(&self, out: &mut Collection, path: &str) -> Result<Value> {
        let text = self.read(out, path)?;
        serde_json::from_str(&text).with_context(|| format!("{path} is not JSON"))
    }

    /// Lists the files with this extension in a subfolder, sorted by name.
    pub(crate) fn list(&self, folder: &str, extension: &str) -> Result<Vec<String>> {
        let path = self.folder.join(folder);
        let entries =
            fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
            if name.ends_with(&format!(".{extension}")) {
                names.push(format!("{folder}/{name}"));
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}
