//! First-stage images, valid ones and ones with a single fault, and their vectors
//! (`spec/first-stage.md`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub mod catalogue;
mod image;
pub mod order;

pub use image::{
    FirstStageDraft, FirstStageEdit, FirstStageExpected, FirstStageOptions, FirstStageRow,
    FirstStageVector, Places, build, digest, front, sample,
};

/// The folder of the vectors in `spec/vectors`.
pub const FOLDER: &str = "first-stage";
/// The extension of the file names.
const EXTENSION: &str = "hlf";

/// Returns every row: first those with one fault, then those for the order of the rules.
pub fn rows() -> Vec<FirstStageRow> {
    catalogue::rows().cloned().chain(order::rows()).collect()
}

/// Makes every vector.
pub fn generate() -> Vec<FirstStageVector> {
    rows().iter().map(FirstStageRow::make).collect()
}

fn folder(root: &Path) -> PathBuf {
    root.join("spec/vectors").join(FOLDER)
}

/// Returns every generated file by its name.
///
/// # Errors
/// If the list cannot be encoded as JSON.
pub(crate) fn files(all: &[FirstStageVector]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for made in all {
        files.insert(format!("{}.{EXTENSION}", made.expected.name), made.image.clone());
    }
    let lines: Vec<String> =
        all.iter().map(|made| serde_json::to_string(&made.expected)).collect::<Result<_, _>>()?;
    files.insert("expected.json".into(), format!("[\n{}\n]\n", lines.join(",\n")).into_bytes());
    Ok(files)
}

/// Writes every file and removes files of other vectors. Returns the number of vectors.
///
/// # Errors
/// If a file cannot be written.
pub fn write(root: &Path) -> Result<usize> {
    let folder = folder(root);
    fs::create_dir_all(&folder)?;
    let all = generate();
    let files = files(&all)?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|it| it == EXTENSION) && !files.contains_key(&*name) {
            fs::remove_file(&path)?;
        }
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        if fs::read(&path).ok().as_ref() != Some(&bytes) {
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(all.len())
}

/// Reads the vectors from their folder.
///
/// # Errors
/// If a file cannot be read.
pub fn load(root: &Path) -> Result<Vec<FirstStageVector>> {
    let folder = folder(root);
    let list = folder.join("expected.json");
    let text = fs::read(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let list: Vec<FirstStageExpected> = serde_json::from_slice(&text)?;
    let read = |expected: FirstStageExpected| {
        let path = folder.join(&expected.name).with_extension(EXTENSION);
        let image = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(FirstStageVector { expected, image })
    };
    list.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests;
