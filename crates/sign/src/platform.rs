//! A bundle file as a platform of the verifier.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hartlock_image::{PAGE_SIZE, PayloadRecord, PayloadType, Reason, align_up};
use hartlock_verify::{Loaded, Platform, bits_of};

use crate::digest::{core_count, digest_stream};
use crate::file::{self, FileError};

/// Reads a bundle through one handle, so that a file that is exchanged meanwhile changes nothing.
///
/// It does not keep payloads: what was hashed here is not what will run. A workstation decides
/// about the file, and the device decides again about what it loads.
pub struct FilePlatform<'a> {
    file: File,
    len: u64,
    threads: usize,
    on_progress: &'a mut dyn FnMut(u64),
    done: u64,
    loading: Option<PayloadType>,
    failure: Option<io::Error>,
}

impl<'a> FilePlatform<'a> {
    /// Opens a bundle. `on_progress` receives the bytes of payloads that are hashed.
    ///
    /// # Errors
    /// If the file is missing, unreadable or not a regular file.
    pub fn open(path: &Path, on_progress: &'a mut dyn FnMut(u64)) -> Result<Self, FileError> {
        let (file, len) = file::open(path)?;
        Ok(Self::new(file, len, on_progress))
    }

    /// Takes an open file of `len` bytes.
    pub fn new(file: File, len: u64, on_progress: &'a mut dyn FnMut(u64)) -> Self {
        let threads = core_count();
        Self { file, len, threads, on_progress, done: 0, loading: None, failure: None }
    }

    /// The payload that was begun last.
    pub const fn loading(&self) -> Option<PayloadType> {
        self.loading
    }

    /// What the operating system said, if a read failed. Then nothing is decided.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

/// Turns the end of a file into a fact about the bundle, and everything else into one about the
/// medium.
fn read_exact(
    file: &mut File,
    failure: &mut Option<io::Error>,
    into: &mut [u8],
) -> Result<(), Reason> {
    file.read_exact(into).map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Reason::Truncated;
        }
        *failure = Some(error);
        Reason::MediumError
    })
}

impl Platform for FilePlatform<'_> {
    fn medium_len(&self) -> u64 {
        self.len
    }

    fn ends_with_bundle(&self) -> bool {
        true
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        self.seek(offset)?;
        read_exact(&mut self.file, &mut self.failure, into)
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        self.loading = Some(payload.payload_type);
        self.seek(payload.offset)?;
        let Self { file, failure, on_progress, done, .. } = self;
        let digest = digest_stream(payload, self.threads, |into| {
            read_exact(file, failure, into)?;
            *done += into.len() as u64;
            on_progress(*done);
            Ok(())
        })?;
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let mut padding = vec![0; (padded_size - payload.size) as usize];
        read_exact(file, failure, &mut padding)?;
        Ok(Loaded { digest, padding: bits_of(&padding) })
    }
}

impl FilePlatform<'_> {
    fn seek(&mut self, offset: u64) -> Result<(), Reason> {
        self.file.seek(SeekFrom::Start(offset)).map(drop).map_err(|error| {
            self.failure = Some(error);
            Reason::MediumError
        })
    }
}
