//! Checks whether an output may replace an existing file. All writers use these checks.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use zeroize::Zeroizing;

use crate::{FileError, check_regular, may_be_private_key, private_key};

/// The reason why an existing file is kept and the output is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceRefusal {
    /// The file exists, and the caller did not allow it to be replaced.
    #[error("it exists already, and holds something else")]
    Exists,
    /// The same command reads the file, or writes another output into it.
    #[error("the same command uses it for something else")]
    IsInput,
    /// The file is a private key, which cannot be made again.
    #[error("it is a private key")]
    IsPrivateKey,
}

impl ReplaceRefusal {
    /// Returns the error for an output with this path.
    pub fn of(self, path: &Path) -> FileError {
        FileError::new("replace", path, io::Error::other(self))
    }

    /// Returns advice for the user, in one clause.
    pub const fn hint(self) -> &'static str {
        match self {
            ReplaceRefusal::Exists => "choose another name, or replace the file with `--force`",
            ReplaceRefusal::IsInput | ReplaceRefusal::IsPrivateKey => {
                "choose another name for the output"
            }
        }
    }
}

/// Refuses an output that would destroy data of the user: an input of the same command, a private key,
/// something that is not a regular file, and, unless `is_forced`, any existing file.
///
/// # Errors
/// Returns [`ReplaceRefusal`] as the source of the error, or the error of the operating system.
pub fn check_output<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
    is_forced: bool,
) -> Result<(), FileError> {
    // As an input the same path means standard input, and standard output replaces no file.
    if crate::is_standard(path) {
        return Ok(());
    }
    if inputs.into_iter().any(|input| is_same(path, input)) {
        return Err(ReplaceRefusal::IsInput.of(path));
    }
    check_replaceable(path)?;
    if !is_forced && path.symlink_metadata().is_ok() {
        return Err(ReplaceRefusal::Exists.of(path));
    }
    Ok(())
}

/// Returns true if both paths name the same file, also through hard or symbolic links.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    one == other || identity(one).is_some_and(|it| identity(other) == Some(it))
}

/// Refuses to replace a file that cannot be restored. A path at which no file exists is accepted.
///
/// # Errors
/// Fails if `path` is a folder, a device or a private key, or if the file cannot be read.
pub fn check_replaceable(path: &Path) -> Result<(), FileError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(FileError::new("replace", path, error)),
    };
    check_regular("replace", path, &metadata)?;
    let mut start = Vec::new();
    // A file that cannot be read might be a private key, so it is not replaced either.
    File::open(path)
        .and_then(|file| file.take(private_key::SEARCHED).read_to_end(&mut start))
        .map_err(|error| FileError::new("replace", path, error))?;
    let start = Zeroizing::new(start);
    if may_be_private_key(&start) {
        return Err(ReplaceRefusal::IsPrivateKey.of(path));
    }
    Ok(())
}

/// Returns true if the file at `path` has the same content as `other`. The comparison reads 64 KiB at a time,
/// because payloads are large.
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
        let refusal = |output: &str, is_forced| {
            let inputs = [path("missing"), path("linux")];
            check_output(&path(output), inputs.iter().map(AsRef::as_ref), is_forced)
                .map_err(|error| error.replace_refusal())
        };
        for name in ["linux", "hard", "soft", "missing"] {
            assert_eq!(refusal(name, true), Err(Some(ReplaceRefusal::IsInput)), "{name}");
        }
        fs::write(path("notes"), "text").unwrap();
        assert_eq!(refusal("notes", false), Err(Some(ReplaceRefusal::Exists)));
        assert_eq!(refusal("notes", true), Ok(()));
        assert_eq!(refusal("new", false), Ok(()));
        fs::write(path("key"), "-----BEGIN PRIVATE KEY-----").unwrap();
        assert_eq!(refusal("key", true), Err(Some(ReplaceRefusal::IsPrivateKey)));
    }
}
