//! What a writer may replace: the one place that decides it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use zeroize::Zeroizing;

use crate::{FileError, check_regular, may_be_private_key, private_key};

/// Why a file is kept, and the output is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kept {
    /// The file is there, and the caller did not say that it may be replaced.
    #[error("it exists already, and holds something else")]
    Exists,
    /// The same command reads it, or writes something else into it.
    #[error("the same command uses it for something else")]
    IsInput,
    /// It cannot be made again.
    #[error("it is a private key")]
    IsPrivateKey,
}

impl Kept {
    /// The error of an output of this name.
    pub fn of(self, path: &Path) -> FileError {
        FileError::new("replace", path, io::Error::other(self))
    }

    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Kept::Exists => "choose another name, or add `--force` if the file may be replaced",
            Kept::IsInput | Kept::IsPrivateKey => "choose another name for the output",
        }
    }
}

/// Refuses an output that would destroy what the user has: an input of the same command, a private key, something
/// that is no regular file, and, unless `is_forced`, any file.
///
/// # Errors
/// [`Kept`], or what the operating system says.
pub fn check_output<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
    is_forced: bool,
) -> Result<(), FileError> {
    if inputs.into_iter().any(|input| is_same(path, input)) {
        return Err(Kept::IsInput.of(path));
    }
    check_replaceable(path)?;
    if !is_forced && path.symlink_metadata().is_ok() {
        return Err(Kept::Exists.of(path));
    }
    Ok(())
}

/// Whether two names are names of one file: links of both kinds count.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    one == other || identity(one).is_some_and(|it| identity(other) == Some(it))
}

/// Refuses to replace files that cannot be restored.
///
/// # Errors
/// If `path` is a folder, a device or a private key.
pub fn check_replaceable(path: &Path) -> Result<(), FileError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(FileError::new("replace", path, error)),
    };
    check_regular("replace", path, &metadata)?;
    let mut start = Vec::new();
    // A file that cannot be read may be a key.
    File::open(path)
        .and_then(|file| file.take(private_key::SEARCHED).read_to_end(&mut start))
        .map_err(|error| FileError::new("replace", path, error))?;
    let start = Zeroizing::new(start);
    if may_be_private_key(&start) {
        return Err(Kept::IsPrivateKey.of(path));
    }
    Ok(())
}

/// Whether the file has `len` bytes, and `start` are the first of them.
pub fn holds(path: &Path, len: u64, start: &[u8]) -> bool {
    let Ok((file, actual)) = crate::open(path) else { return false };
    let mut bytes = vec![0; start.len()];
    actual == len && file.read_exact_at(&mut bytes, 0).is_ok() && bytes == start
}

/// Whether the file has the bytes of another one, compared piece by piece: payloads are large.
pub(crate) fn is_copy(path: &Path, other: &File) -> bool {
    const PIECE: u64 = 1 << 16;
    let Ok((file, len)) = crate::open(path) else { return false };
    let piece = |file: &File, at: u64| {
        let mut bytes = vec![0; PIECE.min(len - at) as usize];
        file.read_exact_at(&mut bytes, at).is_ok().then_some(bytes)
    };
    other.metadata().is_ok_and(|metadata| metadata.len() == len)
        && (0..len)
            .step_by(PIECE as usize)
            .all(|at| piece(&file, at).is_some_and(|bytes| piece(other, at) == Some(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_no_output_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("linux"), "kernel").unwrap();
        fs::hard_link(path("linux"), path("hard")).unwrap();
        std::os::unix::fs::symlink("linux", path("soft")).unwrap();
        let kept = |output: &str, is_forced| {
            let inputs = [path("missing"), path("linux")];
            check_output(&path(output), inputs.iter().map(AsRef::as_ref), is_forced)
                .map_err(|error| error.kept())
        };
        for name in ["linux", "hard", "soft", "missing"] {
            assert_eq!(kept(name, true), Err(Some(Kept::IsInput)), "{name}");
        }
        fs::write(path("notes"), "text").unwrap();
        assert_eq!(kept("notes", false), Err(Some(Kept::Exists)));
        assert_eq!(kept("notes", true), Ok(()));
        assert_eq!(kept("new", false), Ok(()));
        fs::write(path("key"), "-----BEGIN PRIVATE KEY-----").unwrap();
        assert_eq!(kept("key", true), Err(Some(Kept::IsPrivateKey)));
    }
}
