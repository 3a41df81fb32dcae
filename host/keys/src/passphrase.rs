//! Passphrases and PINs in files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hartlock_files::FileError;
use zeroize::Zeroizing;

/// A passphrase. Its memory is wiped when it is dropped.
pub type Passphrase = Zeroizing<Vec<u8>>;

/// Number of bytes that no passphrase has, because `openssl` cuts a longer line.
pub const MAX_PASSPHRASE: usize = 1 << 10;

/// Reads the passphrase in the first line of a file. It has the same bytes as for `openssl -passin file:`, which removes
/// the line feed and nothing else. Where that program would silently cut the passphrase, the file is refused.
///
/// # Errors
/// If the file cannot be read, is empty, or has a first line that is too long or has a zero byte.
pub fn passphrase_in_file(path: &Path) -> Result<Passphrase, FileError> {
    let fail = |source| FileError::new(FileError::USE_PASSPHRASE, path, source);
    let mut content = Passphrase::new(Vec::with_capacity(MAX_PASSPHRASE + 1));
    let file = File::open(path).map_err(|source| FileError::new("read", path, source))?;
    file.take(MAX_PASSPHRASE as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|source| FileError::new("read", path, source))?;
    if content.is_empty() {
        return Err(fail(io::Error::other("it is empty")));
    }
    let end = content.iter().position(|byte| *byte == b'\n').unwrap_or(content.len());
    if end >= MAX_PASSPHRASE {
        return Err(fail(io::Error::other("its first line has more than 1,023 bytes")));
    }
    content.truncate(end);
    if content.contains(&0) {
        return Err(fail(io::Error::other("its first line has a zero byte")));
    }
    Ok(content)
}
