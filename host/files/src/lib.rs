//! Reads files with limits on type and length, and writes files that appear completely or not at all.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

mod output;
mod private_key;
mod stream;

pub use output::{ReplaceRefusal, check_output, check_replaceable};
pub use private_key::may_be_private_key;
pub use stream::is_standard;

use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// File mode of private keys: only the owner may read and write them.
const PRIVATE_MODE: u32 = 0o600;
/// File mode of all other files, before the umask is applied.
const PUBLIC_MODE: u32 = 0o666;

/// An operation on a file that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {}", .path.display(), describe(.source))]
pub struct FileError {
    /// The operation as a verb in the infinitive, for instance `read`.
    pub action: &'static str,
    /// Path of the file.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

impl FileError {
    /// Value of `action` for an environment variable that could not be read; `path` is then the name of the
    /// variable.
    pub const READ_VARIABLE: &str = "read the variable";
    /// The action for a file whose content is no passphrase.
    pub const USE_PASSPHRASE: &str = "use the passphrase in";

    /// Makes an error from an error of the operating system and the operation that was tried.
    pub fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_path_buf(), source }
    }

    fn other(action: &'static str, path: &Path, text: &'static str) -> Self {
        Self::new(action, path, io::Error::other(text))
    }

    /// Returns the reason why an output does not replace an existing file, if that is the cause.
    pub fn replace_refusal(&self) -> Option<ReplaceRefusal> {
        self.source.get_ref()?.downcast_ref().copied()
    }

    /// Returns advice for the user, in one clause. It depends on the operation: for instance, the advice to
    /// create the missing folder is only given for an output.
    pub fn hint(&self) -> String {
        use io::ErrorKind as Kind;
        let is_read = self.action == "read";
        let folder = folder_of(&self.path).display();
        if self.action == Self::READ_VARIABLE {
            return format!("set it first: `export {}=…`", self.path.display());
        }
        if self.action == Self::USE_PASSPHRASE {
            return "give a file whose first line is the passphrase, of 1 to 1,023 bytes"
                .to_string();
        }
        let text = match (self.source.kind(), self.replace_refusal()) {
            (_, Some(refusal)) => refusal.hint(),
            (Kind::NotFound, _) if is_read => "check the spelling of the path",
            (Kind::NotFound, _) => {
                return format!("create its folder first, with `mkdir -p {folder}`");
            }
            (Kind::PermissionDenied, _) if is_read => "check who may read the file and its folder",
            (Kind::PermissionDenied, _) => "check who may write to its folder",
            (Kind::AlreadyExists, _) => "choose another name, or move the old file away",
            (Kind::IsADirectory, _) => "name a file, not a folder",
            (Kind::NotADirectory, _) => "check the path: one of its folders is a file",
            (Kind::InvalidFilename, _) => "choose a shorter name",
            (Kind::StorageFull, _) => "free some space and try again",
            (Kind::FileTooLarge, _) => "check that this is the right file",
            _ if is_read => {
                "name a regular file or a pipe, and do not change the file while this command runs"
            }
            _ => "name another file, on working storage",
        };
        text.to_string()
    }
}

/// Returns the cause in plain words, without the error number of the operating system.
pub fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::AlreadyExists => "it exists already".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_string(),
        io::ErrorKind::StorageFull => "no space left".to_string(),
        io::ErrorKind::FileTooLarge => "it is far too large for such a file".to_string(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(message, _)| message.to_string())
        }
    }
}

/// Opens a file for reading and returns its length. Of a pipe, and of standard input as `-`, a copy is opened, which
/// is made the first time. The handle has a position of its own.
///
/// # Errors
/// Fails if the file is missing, unreadable, a folder or a device, or if a pipe delivers more than 4 GiB.
pub fn open(path: &Path) -> Result<(File, u64), FileError> {
    if let Some(copy) = stream::open(path)? {
        return Ok(copy);
    }
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

/// Reads a small file into memory that is wiped when it is dropped, because the file may be a private key.
/// The file may also be a pipe, for keys that are never stored on a disk.
///
/// # Errors
/// Fails if the file is missing, unreadable, a folder, or longer than `limit` bytes.
pub fn read_small(path: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, FileError> {
    let fail = |source| FileError::new("read", path, source);
    let file = File::open(path).map_err(fail)?;
    // The capacity is one byte more than the limit, so that the buffer is never reallocated: a reallocation
    // would leave a copy of a key in memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() > limit {
        return Err(FileError::new("read", path, io::ErrorKind::FileTooLarge.into()));
    }
    Ok(bytes)
}

/// A new file that gets its name when it is complete. If the value is dropped before that, the file is
/// removed. With the name `-` it is written to standard output when it is complete.
///
/// Where the file system supports it, the file has no name at all until then, so that even a signal or a
/// power failure leaves no file. Elsewhere it has a temporary name in the same folder.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Unnamed(File),
    Named(NamedTempFile),
    /// The file goes to standard output when it is complete.
    Output(File),
}

impl NewFile {
    /// Creates a file that every user may read.
    ///
    /// # Errors
    /// Fails if the folder does not exist or cannot be written.
    pub fn public(path: &Path) -> Result<Self, FileError> {
        Self::begin(path, PUBLIC_MODE)
    }

    /// Creates a file that only its owner may read, from its first byte on.
    ///
    /// # Errors
    /// Same as [`NewFile::public`].
    pub fn private(path: &Path) -> Result<Self, FileError> {
        Self::begin(path, PRIVATE_MODE)
    }

    fn begin(path: &Path, mode: u32) -> Result<Self, FileError> {
        if is_standard(path) {
            let file = stream::begin_output().map_err(|it| FileError::new("write", path, it))?;
            return Ok(Self { path: path.to_path_buf(), storage: Storage::Output(file) });
        }
        if path.file_name().is_none() {
            return Err(FileError::new("create", path, io::ErrorKind::IsADirectory.into()));
        }
        let storage = match linux::open_unnamed(folder_of(path), mode) {
            Some(file) => Storage::Unnamed(file),
            None => Storage::Named(
                tempfile::Builder::new()
                    .prefix(&temporary_prefix(path))
                    .permissions(Permissions::from_mode(mode))
                    .tempfile_in(folder_of(path))
                    .map_err(|error| FileError::new("create", path, without_path(error)))?,
            ),
        };
        Ok(Self { path: path.to_path_buf(), storage })
    }

    /// Returns the name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self) -> &File {
        match &self.storage {
            Storage::Unnamed(file) | Storage::Output(file) => file,
            Storage::Named(temporary) => temporary.as_file(),
        }
    }

    /// Returns a second handle to the open file. Both handles share the file position.
    ///
    /// # Errors
    /// Fails if the operating system has no handle left.
    pub fn handle(&self) -> Result<File, FileError> {
        self.file().try_clone().map_err(|error| FileError::new("read", &self.path, error))
    }

    /// Sets the length of the file, and allocates its disk space where the file system supports that: then a
    /// full disk is detected at once, and writing is faster. Bytes that are not written later are zero.
    ///
    /// # Errors
    /// Fails if the storage is full or fails.
    pub fn reserve(&self, len: u64) -> Result<(), FileError> {
        let result = linux::reserve(self.file(), len).and_then(|()| self.file().set_len(len));
        result.map_err(|error| FileError::new("write", &self.path, error))
    }

    /// Appends bytes at the file position.
    ///
    /// # Errors
    /// Fails if the storage is full or fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file().write_all(bytes).map_err(|error| FileError::new("write", &self.path, error))
    }

    /// Writes bytes at an offset. Several threads may do so at the same time.
    ///
    /// # Errors
    /// Fails if the storage is full or fails.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), FileError> {
        self.file()
            .write_all_at(bytes, offset)
            .map_err(|error| FileError::new("write", &self.path, error))
    }

    /// Gives the file its name. An existing file of that name is replaced, unless it is a private key or not
    /// a regular file.
    ///
    /// # Errors
    /// Fails if the existing file must not be replaced, or if the storage fails.
    pub fn replace(self) -> Result<(), FileError> {
        check_replaceable(&self.path)?;
        self.sync()?;
        self.persist_over()
    }

    /// Gives the file its name. An existing file of that name is replaced only if `is_forced`. An existing
    /// file with the same content stays as it is.
    ///
    /// # Errors
    /// Returns [`ReplaceRefusal`] as the source of the error, or fails if the storage fails.
    pub fn finish(self, is_forced: bool) -> Result<(), FileError> {
        if is_standard(&self.path) {
            return self.create();
        }
        if self.path.symlink_metadata().is_err() {
            return self.create();
        }
        if is_forced {
            return self.replace();
        }
        match output::is_copy(&self.path, self.file()) {
            true => Ok(()),
            false => Err(ReplaceRefusal::Exists.of(&self.path)),
        }
    }

    /// Gives the file its name, even if another file has it. The content must have been synced to the disk.
    ///
    /// # Errors
    /// Fails if the storage fails.
    pub fn persist_over(self) -> Result<(), FileError> {
        let Self { path, storage } = self;
        let replaced = match storage {
            // A link cannot replace a file, but a rename can, so the file gets a temporary name first.
            Storage::Unnamed(file) => tempfile::Builder::new()
                .prefix(&temporary_prefix(&path))
                .make_in(folder_of(&path), |name| linux::link(&file, name))
                .map_err(without_path)
                .and_then(|temporary| temporary.persist(&path).map_err(|error| error.error)),
            Storage::Named(temporary) => {
                temporary.persist(&path).map(drop).map_err(|error| error.error)
            }
            Storage::Output(file) => stream::finish_output(file),
        };
        replaced.map_err(|error| FileError::new("create", &path, error))
    }

    /// Gives the file its name, if no file has that name.
    ///
    /// # Errors
    /// Fails with `AlreadyExists` if a file has that name, or with the error of the storage.
    pub fn create(self) -> Result<(), FileError> {
        self.sync()?;
        let Self { path, storage } = self;
        let created = match storage {
            Storage::Unnamed(file) => linux::link(&file, &path),
            Storage::Named(temporary) => {
                temporary.persist_noclobber(&path).map(drop).map_err(|error| error.error)
            }
            Storage::Output(file) => {
                return stream::finish_output(file)
                    .map_err(|error| FileError::new("write", &path, error));
            }
        };
        created.map_err(|error| FileError::new("create", &path, error))
    }

    /// Syncs the content to the disk. This is done before the file gets its name, so that a power failure
    /// cannot leave an empty file.
    pub fn sync(&self) -> Result<(), FileError> {
        self.file().sync_all().map_err(|error| FileError::new("write", &self.path, error))
    }
}

/// Returns the folder of a file; `.` if the path has only one component.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the start of the name of an unfinished file: a dot, the final name and a dot.
fn temporary_prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

/// Functions that only Linux offers: files without a name, and allocation of disk space in advance.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
    use rustix::io::Errno;

    /// Opens a file without a name in this folder. Returns `None` if the file system has no such files, or if
    /// no name could be given to the file later.
    pub(super) fn open_unnamed(folder: &Path, mode: u32) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file: File =
            rustix::fs::openat(CWD, folder, flags, Mode::from_raw_mode(mode)).ok()?.into();
        own_path(&file).symlink_metadata().ok()?;
        Some(file)
    }

    /// Gives the file a name. Fails if another file has that name.
    pub(super) fn link(file: &File, name: &Path) -> io::Result<()> {
        let from = own_path(file);
        Ok(rustix::fs::linkat(CWD, &from, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Allocates disk space for `len` bytes. Succeeds without effect if the file system cannot do that.
    pub(super) fn reserve(file: &File, len: u64) -> io::Result<()> {
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, len) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
            result => Ok(result?),
        }
    }

    /// Opens the same file again, with a position of its own.
    pub(super) fn opened_again(file: &File) -> io::Result<File> {
        File::open(own_path(file))
    }

    fn own_path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open_unnamed(_: &Path, _: u32) -> Option<File> {
        None
    }

    /// The handles share a position, so that only one of them may be read from its position at a time.
    pub(super) fn opened_again(file: &File) -> io::Result<File> {
        let mut again = file.try_clone()?;
        std::io::Seek::rewind(&mut again)?;
        Ok(again)
    }

    pub(super) fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn reserve(_: &File, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Removes the temporary path that `tempfile` adds to its errors, because the caller did not name that file.
fn without_path(error: io::Error) -> io::Error {
    error.kind().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_has_no_name_where_that_is_possible() {
        let folder = tempfile::tempdir().unwrap();
        let is_possible = linux::open_unnamed(folder.path(), PUBLIC_MODE).is_some();
        let file = NewFile::public(&folder.path().join("out")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(!is_possible));
        file.replace().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn both_ways_of_writing_a_file_end_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let unnamed = || linux::open_unnamed(folder.path(), PRIVATE_MODE).map(Storage::Unnamed);
        let named = || Some(Storage::Named(NamedTempFile::new_in(folder.path()).unwrap()));
        for storage in [&unnamed as &dyn Fn() -> Option<Storage>, &named] {
            let path = folder.path().join("out");
            let begin = || storage().map(|storage| NewFile { path: path.clone(), storage });
            let Some(mut file) = begin() else { continue };
            file.write(b"first").unwrap();
            file.create().unwrap();
            let error = begin().unwrap().create().unwrap_err();
            assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).unwrap(), b"first");
            let second = begin().unwrap();
            second.reserve(8).unwrap();
            second.write_at(b"cond", 2).unwrap();
            second.write_at(b"se", 0).unwrap();
            second.replace().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"second\0\0");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, PRIVATE_MODE);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            fs::remove_file(&path).unwrap();
        }
    }

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
    fn finish_replaces_nothing_unless_it_is_forced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let finish = |text: &str, is_forced| {
            let mut file = NewFile::public(&path).unwrap();
            file.write(text.as_bytes()).unwrap();
            file.finish(is_forced).map_err(|error| error.replace_refusal())
        };
        assert_eq!(finish("first", false), Ok(()));
        assert_eq!(finish("other", false), Err(Some(ReplaceRefusal::Exists)));
        assert_eq!(finish("first and more", false), Err(Some(ReplaceRefusal::Exists)));
        assert_eq!(finish("first", false), Ok(()));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        // The contents differ only in the last byte, in the second 64 KiB that are compared.
        let long = "a".repeat((1 << 16) + 1);
        assert_eq!(finish(&long, true), Ok(()));
        assert_eq!(finish(&long, false), Ok(()));
        let changed = "a".repeat(1 << 16) + "b";
        assert_eq!(finish(&changed, false), Err(Some(ReplaceRefusal::Exists)));
        assert_eq!(finish("other", true), Ok(()));
        assert_eq!(fs::read(&path).unwrap(), b"other");
        // A symbolic link to nowhere counts as an existing file.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(finish("other", false).is_err());
        assert!(path.symlink_metadata().unwrap().is_symlink());
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
