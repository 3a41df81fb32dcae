//! Spends one index of a key file, and never one twice (`spec/stateful-key.md` §3).
//!
//! The index goes up by writing a new file, making it durable, renaming it over the old one and making
//! the rename durable; only then may a signature be made. Writing the number in place would save a rename,
//! but a power cut can tear a write, and then the next index is unknown. A rename leaves the
//! old file or the new one. What it cannot do, and neither could a write in place, is to know about
//! copies of the file: those are the owner's business, except for further names of the same file,
//! which are refused because a rename would leave the old index under them.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::Error;
use crate::formats::MAX_KEY_FILE_SIZE;
use crate::{KeyError, KeyErrorKind};
use hartlock_files::{FileError, NewFile, folder_of};

/// What has to happen to a file, step by step, so that a test can fail at each step.
pub(super) trait Storage {
    /// The content of the file.
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error>;

    /// Writes the new content beside the file.
    fn write_new(&mut self, content: &[u8]) -> Result<(), Error>;

    /// Returns when the new content is on the disk.
    fn sync_new(&mut self) -> Result<(), Error>;

    /// Gives the new content the name of the file.
    fn rename(&mut self) -> Result<(), Error>;

    /// Returns when the name is on the disk.
    fn sync_folder(&mut self) -> Result<(), Error>;
}

/// Replaces the content of a file. When it returns, a power cut cannot bring the old one back.
pub(super) fn replace(storage: &mut impl Storage, content: &[u8]) -> Result<(), Error> {
    storage.write_new(content)?;
    storage.sync_new()?;
    storage.rename()?;
    storage.sync_folder()
}

/// A key file that no other signer may change until this is dropped, or until this process ends.
pub(super) struct LockedFile {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// A test sets it to another user.
    pub(super) owner: u32,
    new: Option<NewFile>,
}

impl LockedFile {
    /// Waits for the lock. `any_file_system` accepts one of which nothing is known.
    ///
    /// # Errors
    /// If the file is none in which an index can be kept.
    pub(super) fn lock(path: &Path, any_file_system: bool) -> Result<Self, Error> {
        let fail = |source| Error::File(FileError::new("read", path, source));
        let refuse = |kind| Error::Key(KeyError { path: path.to_path_buf(), kind });
        loop {
            // A link would be replaced by a file, and what it points to would keep its index.
            if path.symlink_metadata().map_err(fail)?.is_symlink() {
                return Err(refuse(KeyErrorKind::StateIsLink));
            }
            let file = open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            // Another process may replace the file, before it is read or before it is locked. Then
            // this one has no name left.
            if metadata.nlink() == 0 {
                continue;
            }
            // Before the lock, so that no caller waits for the lock of an unsuitable file.
            suitability(&metadata).map_err(refuse)?;
            if !any_file_system && let Some(name) = doubt(file_system(&file)) {
                return Err(refuse(KeyErrorKind::StateFileSystem(name)));
            }
            file.lock().map_err(fail)?;
            let current = path.symlink_metadata().map_err(fail)?;
            let is_same = (current.dev(), current.ino()) == (metadata.dev(), metadata.ino());
            if is_same && current.nlink() != 0 {
                suitability(&current).map_err(refuse)?;
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
    /// By its name, so that the last check reads what the next process will.
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
        // Its owner could not read the key any more.
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
            Some(new) => Ok(new.supersede()?),
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
        // Closing the file would do; this says what happens. A failure cannot be reported here.
        let _ = self.file.unlock();
    }
}

/// Neither follows a link nor waits for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Whether an index can be kept in such a file.
fn suitability(metadata: &Metadata) -> Result<(), KeyErrorKind> {
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

/// Why a file system is not trusted with an index: its name. `None` for one that is.
pub(super) fn doubt_about(path: &Path) -> Option<String> {
    open(path).map_or_else(|_| doubt(None), |file| doubt(file_system(&file)))
}

/// The type of a file's file system, a number of linux/magic.h. Of one that cannot be identified, nothing is
/// known.
#[cfg(target_os = "linux")]
fn file_system(file: &File) -> Option<u32> {
    Some(rustix::fs::fstatfs(file).ok()?.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn file_system(_: &File) -> Option<u32> {
    None
}

/// The name of a file system that is not among those whose locks are seen by every process that can open
/// the file, and whose rename and `fsync` keep their promise over a power cut (`spec/stateful-key.md` §3).
///
/// One in memory is: what it forgets is the whole key. An overlay is not: two of them can show one file of a
/// lower layer, and each keeps an index of its own.
pub(super) fn doubt(file_system: Option<u32>) -> Option<String> {
    let Some(number) = file_system else {
        return Some("a file system that cannot be identified".into());
    };
    let name = match number {
        // ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, JFS, NILFS2, UBIFS, tmpfs, ramfs.
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
