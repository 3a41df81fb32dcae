//! Seeds of the fuzz targets that are made from files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Writes the seeds of a target to a new folder and returns its path. The folder does not exist if
/// the target has no seeds.
pub fn prepare(root: &Path, work: &Path, target: &str) -> Result<PathBuf> {
    let folder = work.join("seeds").join(target);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let part: fn(&[u8]) -> Option<Vec<u8>> = match target {
        "head" => |file| Some(file.get(..256)?.to_vec()),
        "manifest" => |file| Some(file.get(..sizes(file)?.0)?.to_vec()),
        "signature-blocks" => |file| {
            let (signed, signatures) = sizes(file)?;
            Some(file.get(signed..signed.checked_add(signatures)?)?.to_vec())
        },
        // The first byte selects an input that is used without changes
        // (verif/fuzz/targets/src/targets/bundle.rs).
        "inspect" => |file| Some([&[1], file.get(..4096.min(file.len()))?].concat()),
        _ => return Ok(folder),
    };
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(root.join("spec/vectors/image"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "hlk")
            && let Some(seed) = part(&fs::read(&path)?)
        {
            fs::write(folder.join(path.file_name().context("a file")?), seed)?;
        }
    }
    Ok(folder)
}

/// Returns the sizes in bytes of the signed region and of the signature area that the header
/// states.
fn sizes(file: &[u8]) -> Option<(usize, usize)> {
    let field =
        |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?) as usize);
    Some((field(16)?, field(20)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::project;

    #[test]
    fn vectors_are_cut_into_their_parts() {
        let work = tempfile::tempdir().unwrap();
        let seed = |target: &str| {
            let folder = prepare(&project::root(), work.path(), target).unwrap();
            fs::read(folder.join("minimal_system.hlk")).unwrap()
        };
        assert_eq!(seed("head").len(), 256);
        assert!(seed("manifest").starts_with(b"HARTLOCK-SYST-v1"));
        assert_eq!(seed("signature-blocks").len(), 112);
        assert!(!prepare(&project::root(), work.path(), "keys").unwrap().exists());
    }
}
