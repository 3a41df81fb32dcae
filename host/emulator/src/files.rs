//! Writes files atomically: a file appears complete or not at all.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::Error;

/// Replaces a file by writing `bytes` to a temporary file in the same folder and renaming it. A
/// file that already holds these bytes is not written.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // If the old file cannot be read, it is replaced; only equal content avoids the write.
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let mut file = begin(path)?;
    file.write_all(bytes).map_err(|source| Error::file("write", path, source))?;
    finish(file, path)
}

/// Copies a file atomically, padded with zeros to a multiple of `unit` bytes, and returns the
/// length of the copy. The padding takes no space if the file system supports holes.
pub(crate) fn copy_padded(from: &Path, to: &Path, unit: u64) -> Result<u64, Error> {
    let mut source = open(from)?;
    let mut file = begin(to)?;
    let len = io::copy(&mut source, file.as_file_mut())
        .map_err(|source| Error::file("copy", from, source))?;
    // QEMU refuses a device without sectors, so the copy of an empty file has one unit.
    let padded = len.next_multiple_of(unit).max(unit);
    file.as_file().set_len(padded).map_err(|source| Error::file("write", to, source))?;
    finish(file, to)?;
    Ok(padded)
}

/// Reads a file that must not be longer than `limit` bytes; otherwise returns `TooLarge`.
pub(crate) fn read_bounded(path: &Path, what: &'static str, limit: u64) -> Result<Vec<u8>, Error> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    // Reading one byte more than allowed is enough to detect a file that is too long, and a device
    // file cannot fill the memory.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::file("read", path, source))?;
    if bytes.len() as u64 > limit {
        let size = fs::metadata(path).map_or(bytes.len() as u64, |metadata| metadata.len());
        return Err(Error::TooLarge { what, size: size.max(bytes.len() as u64), room: limit });
    }
    Ok(bytes)
}

/// Opens an input, which may be a pipe that was read before.
fn open(path: &Path) -> Result<fs::File, Error> {
    let opened = hartlock_files::open(path).map(|(file, _)| file);
    opened.map_err(|error| Error::file(error.action, &error.path, error.source))
}

fn begin(path: &Path) -> Result<NamedTempFile, Error> {
    // The path may be that of a private key, because the user may name any folder as the state
    // folder.
    hartlock_files::check_replaceable(path)
        .map_err(|error| Error::file(error.action, &error.path, error.source))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    NamedTempFile::new_in(folder).map_err(|error| Error::file("create", path, error))
}

fn finish(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    file.persist(path).map(drop).map_err(|error| Error::file("create", path, error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_padded_with_zeros_and_nothing_else_appears() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (len, padded) in [(0, 512), (1, 512), (512, 512), (513, 1024)] {
            fs::write(&from, vec![7; len]).unwrap();
            assert_eq!(copy_padded(&from, &to, 512).unwrap(), padded);
            let copy = fs::read(&to).unwrap();
            assert_eq!(copy.len() as u64, padded);
            assert!(copy[..len].iter().all(|byte| *byte == 7));
            assert!(copy[len..].iter().all(|byte| *byte == 0));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_failed_copy_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        fs::write(&to, "old").unwrap();
        assert!(copy_padded(&folder.path().join("missing"), &to, 512).is_err());
        assert_eq!(fs::read(&to).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_private_key_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::write(&from, "new").unwrap();
        for key in [&b"\x30\x2e\x02\x01\x00\x30\x05"[..], b"\n\n-----BEGIN PRIVATE KEY-----\n"] {
            fs::write(&to, key).unwrap();
            assert!(replace(&to, b"new").is_err());
            assert!(copy_padded(&from, &to, 512).is_err());
            assert_eq!(fs::read(&to).unwrap(), key);
        }
    }

    #[test]
    fn reading_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rom");
        fs::write(&path, [0; 9]).unwrap();
        assert_eq!(read_bounded(&path, "the ROM", 9).unwrap().len(), 9);
        assert!(matches!(
            read_bounded(&path, "the ROM", 8),
            Err(Error::TooLarge { size: 9, room: 8, .. })
        ));
    }
}
