//! Files that are read with bounds, and files that appear whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// Private keys are readable by their owner alone.
const PRIVATE_MODE: u32 = 0o600;
/// Everything else follows the umask.
const PUBLIC_MODE: u32 = 0o666;

/// The operating system refused to do something with a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {}", .path.display(), describe(.source))]
pub struct FileError {
    /// What was tried, in the infinitive.
    pub action: &'static str,
    /// With which file.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl FileError {
    pub(crate) fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_path_buf(), source }
    }

    fn other(action: &'static str, path: &Path, text: &'static str) -> Self {
        Self::new(action, path, io::Error::other(text))
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self.source.kind() {
            io::ErrorKind::NotFound => "check the path; for output, create the folder first",
            io::ErrorKind::PermissionDenied => "check who owns the file and its folder",
            io::ErrorKind::AlreadyExists => "choose another name, or move the old file away",
            io::ErrorKind::IsADirectory => "name a file, not a folder",
            io::ErrorKind::StorageFull => "free some space and try again",
            io::ErrorKind::FileTooLarge => "check that this is the file that you mean",
            _ if self.action == "replace" => "choose another name with `-o`",
            _ => "name a regular file on storage that works, and leave it alone meanwhile",
        }
        .to_string()
    }
}

/// The cause in plain words, without the number of the operating system.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::AlreadyExists => "it exists already".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        io::ErrorKind::StorageFull => "no space left".to_string(),
        io::ErrorKind::FileTooLarge => "it is far too long for what it should be".to_string(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(message, _)| message.to_string())
        }
    }
}

/// Opens a regular file for reading and returns its length.
///
/// Nothing else has a length that can be relied on; a pipe would even block the open.
///
/// # Errors
/// If it is missing, unreadable or not a regular file.
pub fn open(path: &Path) -> Result<(File, u64), FileError> {
    let fail = |source| FileError::new("read", path, source);
    check_regular("read", path, &fs::metadata(path).map_err(fail)?)?;
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    check_regular("read", path, &metadata)?;
    Ok((file, metadata.len()))
}

fn check_regular(
    action: &'static str,
    path: &Path,
    metadata: &fs::Metadata,
) -> Result<(), FileError> {
    if metadata.is_dir() {
        return Err(FileError::new(action, path, io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(FileError::other(action, path, "it is not a regular file"));
    }
    Ok(())
}

/// Reads a small file into memory that is wiped when it is dropped: it may be a private key. It
/// may also be a pipe, for keys that never lie on a disk.
///
/// # Errors
/// If it is missing, unreadable, a folder, or longer than `limit` bytes.
pub fn read_small(path: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, FileError> {
    let fail = |source| FileError::new("read", path, source);
    let file = File::open(path).map_err(fail)?;
    // With room for one byte more than allowed, so that the buffer never moves and leaves a
    // copy of a key behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() > limit {
        return Err(FileError::new("read", path, io::ErrorKind::FileTooLarge.into()));
    }
    Ok(bytes)
}

/// A file that is not there yet: it is written under another name in the same folder, and gets
/// its own name once it is complete. Dropped before that, it is gone.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl NewFile {
    /// Begins a file that everybody may read.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written.
    pub fn public(path: &Path) -> Result<Self, FileError> {
        Self::begin(path, PUBLIC_MODE)
    }

    /// Begins a file that only its owner may read, from its first byte on.
    ///
    /// # Errors
    /// As [`NewFile::public`].
    pub fn private(path: &Path) -> Result<Self, FileError> {
        Self::begin(path, PRIVATE_MODE)
    }

    fn begin(path: &Path, mode: u32) -> Result<Self, FileError> {
        let Some(name) = path.file_name() else {
            return Err(FileError::new("create", path, io::ErrorKind::IsADirectory.into()));
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode));
        #[cfg(not(unix))]
        let _ = mode;
        let temporary = builder
            .tempfile_in(folder)
            .map_err(|error| FileError::new("create", path, without_path(error)))?;
        Ok(Self { path: path.to_path_buf(), temporary })
    }

    /// Name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }

    /// A second handle to the open file. It shares the position.
    ///
    /// # Errors
    /// If the operating system has no handle left.
    pub fn handle(&self) -> Result<File, FileError> {
        self.temporary
            .as_file()
            .try_clone()
            .map_err(|error| FileError::new("read", &self.path, error))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the storage is full or fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.temporary
            .as_file_mut()
            .write_all(bytes)
            .map_err(|error| FileError::new("write", &self.path, error))
    }

    /// Gives the file its name. An older file of that name is replaced, unless it is a private
    /// key or not a regular file.
    ///
    /// # Errors
    /// If that is so, or the storage fails.
    pub fn replace(self) -> Result<(), FileError> {
        check_replaceable(&self.path)?;
        let Self { path, temporary } = self;
        sync(&temporary, &path)?;
        temporary
            .persist(&path)
            .map(drop)
            .map_err(|error| FileError::new("create", &path, error.error))
    }

    /// Gives the file its name, if no file has it.
    ///
    /// # Errors
    /// `AlreadyExists` if one does, or if the storage fails.
    pub fn create(self) -> Result<(), FileError> {
        let Self { path, temporary } = self;
        sync(&temporary, &path)?;
        temporary
            .persist_noclobber(&path)
            .map(drop)
            .map_err(|error| FileError::new("create", &path, error.error))
    }
}

/// The name is given to bytes that are on the disk, so that a power cut leaves no empty file.
fn sync(temporary: &NamedTempFile, path: &Path) -> Result<(), FileError> {
    temporary.as_file().sync_all().map_err(|error| FileError::new("write", path, error))
}

/// Removes the temporary name that `tempfile` adds to its errors: nobody asked for that file.
fn without_path(error: io::Error) -> io::Error {
    error.kind().into()
}

/// Refuses targets whose loss cannot be made good.
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
    // A file that cannot be read cannot be shown to be no key.
    File::open(path)
        .and_then(|file| file.take(4096).read_to_end(&mut start))
        .map_err(|error| FileError::new("replace", path, error))?;
    if start.windows(16).any(|bytes| bytes == b"PRIVATE KEY-----") {
        return Err(FileError::other("replace", path, "it is a private key"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut file = NewFile::public(&path).unwrap();
        file.write(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn create_never_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "old").unwrap();
        let error = NewFile::private(&path).unwrap().create().unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn replace_spares_private_keys_folders_and_devices() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root.pem");
        fs::write(&path, "note\n-----BEGIN PRIVATE KEY-----\n").unwrap();
        assert!(NewFile::public(&path).unwrap().replace().is_err());
        assert!(fs::read_to_string(&path).unwrap().starts_with("note"));
        assert!(check_replaceable(folder.path()).is_err());
        assert!(check_replaceable(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn reads_only_regular_files_of_bounded_length() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_small(folder.path(), 10).is_err());
        assert!(read_small(Path::new("/dev/zero"), 10).is_err());
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(**read_small(&path, 10).unwrap(), *b"0123456789");
        assert!(read_small(&path, 9).is_err());
    }
}
