//! Reads the statement of a loader or ROM of the signature algorithms that it supports (boot flow §5.5).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hartlock_files::FileError;
use hartlock_image::{bytes_at, u64_at};
use hartlock_verify::Statement;

use crate::Error;
use crate::content::{LOADER, ROM};
use crate::spec::SpecError;

/// Number of bytes of a stage that are searched. Stages are much smaller.
const MAX_STAGE_SIZE: usize = 16 << 20;

/// Returns the statement of a loader, or `None` if the loader has none.
///
/// # Errors
/// Fails if the file cannot be read, or contains two different statements.
pub(super) fn find(file: &File, path: &Path) -> Result<Option<u64>, Error> {
    find_tagged(file, path, Statement::LOADER)
}

/// Returns the signature algorithms that a ROM states that it supports: bit i stands for algorithm number i of image
/// format §2.2. Returns `None` if the file contains no statement of a ROM.
///
/// # Errors
/// Fails if the file cannot be read, or contains two different statements.
pub fn rom_statement(path: &Path) -> Result<Option<u64>, Error> {
    find_tagged(&hartlock_files::open(path)?.0, path, Statement::ROM)
}

/// Returns the name of the stage that a file is, with its article, and the algorithms that it states. Returns `None` if
/// the file contains no statement, or two different ones.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn stage(file: &File) -> io::Result<Option<(&'static str, u64)>> {
    let bytes = start_of(file)?;
    let stated = |(name, tag)| match single(&bytes, tag) {
        Ok(carried) => Some((name, carried?)),
        Err(Contradiction) => None,
    };
    Ok([(ROM, Statement::ROM), (LOADER, Statement::LOADER)].into_iter().find_map(stated))
}

fn find_tagged(file: &File, path: &Path, tag: &[u8; 16]) -> Result<Option<u64>, Error> {
    let bytes = start_of(file).map_err(|source| FileError::new("read", path, source))?;
    single(&bytes, tag)
        .map_err(|Contradiction| SpecError::CarriedTwice { path: path.to_path_buf() }.into())
}

/// Reads as much of a file as is searched.
fn start_of(file: &File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(MAX_STAGE_SIZE)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A file contains two different statements with one tag.
struct Contradiction;

fn single(bytes: &[u8], tag: &[u8; 16]) -> Result<Option<u64>, Contradiction> {
    let mut found = statements(bytes, tag);
    let first = found.next();
    if found.any(|other| Some(other) != first) {
        return Err(Contradiction);
    }
    Ok(first)
}

/// Returns all statements with this tag. They are aligned to 8 bytes.
fn statements(bytes: &[u8], tag: &[u8; 16]) -> impl Iterator<Item = u64> {
    (0..bytes.len())
        .step_by(8)
        .filter(move |at| bytes_at::<16>(bytes, *at).as_ref() == Some(tag))
        .filter_map(move |at| u64_at(bytes, at + tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Vec<u64> {
        statements(bytes, Statement::LOADER).collect()
    }

    #[test]
    fn statements_are_found_where_words_are() {
        let statement = [&Statement::LOADER[..], &7u64.to_le_bytes()].concat();
        assert_eq!(found(&statement), [7]);
        assert_eq!(found(&[&[0; 24], &statement[..], &[1; 5]].concat()), [7]);
        assert_eq!(found(&[&[0; 4], &statement[..]].concat()), [0; 0]);
        assert_eq!(found(&[&statement[..], &statement].concat()), [7, 7]);
        // A truncated statement is ignored.
        assert_eq!(found(&statement[..23]), [0; 0]);
        assert_eq!(found(&[]), [0; 0]);
        // A ROM says nothing about a loader.
        assert_eq!(statements(&statement, Statement::ROM).count(), 0);
    }
}
