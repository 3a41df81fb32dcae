//! Spends the index of a key file, so that no index is used twice (`spec/stateful-key.md` §3).
//!
//! To raise the index, the signer writes a new file, makes it durable, renames it over the old one and makes
//! the rename durable. Only then may a signature be made. Writing the index in place would save the rename,
//! but a power cut can leave a partial write, after which the next index is unknown. After a rename, the
//! file is either the old or the new one.
//!
//! Neither method can know about copies of the file; the owner must not make any. Further hard links to the
//! file are refused, because a rename would leave the old index under their names.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::Error;
use crate::formats::MAX_KEY_FILE_SIZE;
use crate::{KeyError, KeyErrorKind};
use hartlock_files::{FileError, NewFile, folder_of};

/// The steps of replacing a file. A test implements them so that each step can fail.
pub(super) trait Storage {
    /// Reads the content of the file.
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error>;

    /// Writes the new content to a new file in the same folder.
    fn write_new(&mut self, content: &[u8]) -> Result<(), Error>;

    /// Waits until the new content is durable.
    fn sync_new(&mut self) -> Result<(), Error>;

    /// Renames the new file over the old one.
    fn rename(&mut self) -> Result<(), Error>;

    /// Waits until the rename is durable.
    fn sync_folder(&mut self) -> Result<(), Error>;
}

/// Replaces the content of a file. After this function returns, a power cut cannot bring the old content
/// back.
pub(super) fn replace(storage: &mut impl Storage, content: &[u8]) -> Result<(), Error> {
    storage.write_new(content)?;
    storage.sync_new()?;
    storage.rename()?;
    storage.sync_folder()
}

/// A key file with a lock. No other signer can change it until this value is dropped or the process ends.
pub(super) struct LockedFile {
    path: PathBuf,
    /// The open file, which holds the lock.
    file: File,
    /// The user id that the file must keep. A test sets it to that of another user.
    pub(super) owner: u32,
    new: Option<NewFile>,
}

impl LockedFile {
    /// Waits for the lock. `any_file_system` accepts a file system that is not known to keep the index.
    ///
    /// # Errors
    /// If the file cannot keep an index, or cannot be opened.
    pub(super) fn lock(path: &Path, any_file_system: bool) -> Result<Self, Error> {
        let fail = |source| Error::File(FileError::new("read", path, source));
        let refuse = |kind| Error::Key(KeyError { path: path.to_path_buf(), kind });
        loop {
            // A rename would replace the link by a file, and the target of the link would keep the old
            // index.
            if path.symlink_metadata().map_err(fail)?.is_symlink() {
                return Err(refuse(KeyErrorKind::StateIsLink));
            }
            let file = open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            // Another process may replace the file after this one opened it. The open file then has no name,
            // and the loop opens the new one.
            if metadata.nlink() == 0 {
                continue;
            }
            // This is checked before locking, so that no caller waits for the lock of an unsuitable file.
            check_suitable(&metadata).map_err(refuse)?;
            if !any_file_system && let Some(name) = unsupported_file_system(file_system(&file)) {
                return Err(refuse(KeyErrorKind::StateFileSystem(name)));
            }
            file.lock().map_err(fail)?;
            let current = path.symlink_metadata().map_err(fail)?;
            let is_same = (current.dev(), current.ino()) == (metadata.dev(), metadata.ino());
            if is_same && current.nlink() != 0 {
                check_suitable(&current).map_err(refuse)?;
                let owner = current.uid();
                return Ok(Self { path: path.to_path_buf(), file, owner, new: None });
            }
        }
    }

    fn refuse(&self, kind: KeyErrorKind) -> Error {
        Error::Key(KeyError { path: self.path.clone(), kind })
    }

    fn fail(&self, action: &'static str, source: io::Error) -> Error {
        FileError::new(action, &self.path, source).into()
    }
}

impl Storage for LockedFile {
    /// Opens the file by name, so that the last check reads the same file as the next process.
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut content = Zeroizing::new(Vec::with_capacity(MAX_KEY_FILE_SIZE + 1));
        let file = open(&self.path).map_err(|error| self.fail("read", error))?;
        file.take(MAX_KEY_FILE_SIZE as u64 + 1)
            .read_to_end(&mut content)
            .map_err(|error| self.fail("read", error))?;
        if content.len() > MAX_KEY_FILE_SIZE {
            return Err(self.refuse(KeyErrorKind::TooLong));
        }
        Ok(content)
    }

    fn write_new(&mut self, content: &[u8]) -> Result<(), Error> {
        let mut new = NewFile::private(&self.path)?;
        new.write(content)?;
        // If the owner changed, the previous owner could not read the key any more.
        let owner = new.handle()?.metadata().map_err(|error| self.fail("write", error))?.uid();
        if owner != self.owner {
            return Err(self.refuse(KeyErrorKind::StateOfOther));
        }
        self.new = Some(new);
        Ok(())
    }

    fn sync_new(&mut self) -> Result<(), Error> {
        self.new.as_ref().map_or(Ok(()), NewFile::sync).map_err(Error::from)
    }

    fn rename(&mut self) -> Result<(), Error> {
        match self.new.take() {
            Some(new) => Ok(new.persist_over()?),
            None => Err(self.fail("replace", io::ErrorKind::NotFound.into())),
        }
    }

    fn sync_folder(&mut self) -> Result<(), Error> {
        let folder = folder_of(&self.path);
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| FileError::new("write", folder, error).into())
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file also releases the lock; the call makes that explicit. A failure cannot be
        // reported here.
        let _ = self.file.unlock();
    }
}

/// Opens a file for reading, without following a link or waiting for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Checks that an index can be kept in a file of this kind.
fn check_suitable(metadata: &Metadata) -> Result<(), KeyErrorKind> {
    if !metadata.is_file() {
        return Err(KeyErrorKind::StateNotRegular);
    }
    if metadata.nlink() != 1 {
        return Err(KeyErrorKind::StateHasNames);
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode != 0o600 {
        return Err(KeyErrorKind::StateMode(mode));
    }
    Ok(())
}

/// Returns the name of the file system of `path` if it is not known to keep an index, else `None`.
pub(super) fn unsupported_file_system_of(path: &Path) -> Option<String> {
    open(path).map_or_else(
        |_| unsupported_file_system(None),
        |file| unsupported_file_system(file_system(&file)),
    )
}

/// Returns the type of a file's file system, a number of linux/magic.h, or `None` if it cannot be
/// identified.
#[cfg(target_os = "linux")]
fn file_system(file: &File) -> Option<u32> {
    Some(rustix::fs::fstatfs(file).ok()?.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn file_system(_: &File) -> Option<u32> {
    None
}

/// Returns the name of a file system, or `None` if the file system is known to keep an index: every process
/// that can open the file sees its locks, and rename and `fsync` are durable (`spec/stateful-key.md` §3).
///
/// A file system in memory is accepted: after a power cut the whole key is lost. An overlay is not: two
/// overlays can show the same file of a lower layer, and each keeps its own index.
pub(super) fn unsupported_file_system(file_system: Option<u32>) -> Option<String> {
    let Some(number) = file_system else {
        return Some("a file system that cannot be identified".into());
    };
    let name = match number {
        // These are ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, JFS, NILFS2, UBIFS, tmpfs and ramfs.
        0xef53 | 0x5846_5342 | 0x9123_683e | 0xf2f5_2010 | 0xca45_1a4e | 0x2fc1_2fc1
        | 0x3153_464a | 0x3434 | 0x2405_1905 | 0x0102_1994 | 0x8584_58f6 => return None,
        0x4d44 => "FAT",
        0x2011_bab0 => "exFAT",
        0x5346_544e | 0x7366_746e => "NTFS",
        0x6969 => "NFS",
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0102_1997 => "9P",
        0x5346_414f => "AFS",
        0x00c3_6400 => "Ceph",
        0x794c_7630 => "overlay",
        0x6573_5546 => "FUSE",
        other => return Some(format!("type {other:#x}")),
    };
    Some(name.into())
}
