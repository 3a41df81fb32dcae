//! Inputs to start from that the repository already has, in another form.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder with the seeds of a target, made anew; it is not there if the target has none.
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
        // The first byte chooses bytes as they are (verif/fuzz/targets/src/targets/bundle.rs).
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

/// Bytes of the signed region and of the signature area, as the header claims them.
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
