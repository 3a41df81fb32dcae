//! Reads a loader's statement of the signature algorithms that it supports (boot flow §5.5).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hartlock_files::FileError;
use hartlock_image::{bytes_at, u64_at};

use crate::Error;
use crate::spec::SpecError;

/// The 16 bytes before the statement.
const TAG: &[u8; 16] = b"HARTLOCK-CARRIES";
/// Number of bytes of a loader that are searched. Loaders are much smaller.
const MAX_LOADER_SIZE: usize = 16 << 20;

/// Returns the statement of a loader, or `None` if the loader has none.
///
/// # Errors
/// Fails if the file cannot be read, or contains two different statements.
pub(super) fn find(file: &File, path: &Path) -> Result<Option<u64>, Error> {
    let fail = |source| FileError::new("read", path, source);
    let len = file.metadata().map_err(fail)?.len();
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(MAX_LOADER_SIZE)];
    file.read_exact_at(&mut bytes, 0).map_err(fail)?;
    let mut found = statements(&bytes);
    let first = found.next();
    if found.any(|other| Some(other) != first) {
        return Err(SpecError::CarriedTwice { path: path.to_path_buf() }.into());
    }
    Ok(first)
}

/// Returns all statements in a loader. They are aligned to 8 bytes.
fn statements(bytes: &[u8]) -> impl Iterator<Item = u64> {
    (0..bytes.len())
        .step_by(8)
        .filter(|at| bytes_at::<16>(bytes, *at).as_ref() == Some(TAG))
        .filter_map(|at| u64_at(bytes, at + TAG.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Vec<u64> {
        statements(bytes).collect()
    }

    #[test]
    fn statements_are_found_where_words_are() {
        let statement = [&TAG[..], &7u64.to_le_bytes()].concat();
        assert_eq!(found(&statement), [7]);
        assert_eq!(found(&[&[0; 24], &statement[..], &[1; 5]].concat()), [7]);
        assert_eq!(found(&[&[0; 4], &statement[..]].concat()), []);
        assert_eq!(found(&[&statement[..], &statement].concat()), [7, 7]);
        // A truncated statement is ignored.
        assert_eq!(found(&statement[..23]), []);
        assert_eq!(found(&[]), []);
    }
}
