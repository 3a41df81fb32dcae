//! A bundle file as a platform of the verifier.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hartlock_image::{PAGE_SIZE, PayloadRecord, PayloadType, Reason, align_up};
use hartlock_verify::{Loaded, Platform, bits_of};

use crate::digest::{Plan, core_count};
use hartlock_files::FileError;

/// A platform that reads a bundle from a file. It uses one file handle, so that a file that is replaced in
/// the meantime has no effect.
///
/// Payloads are hashed and not kept. The result is a decision about the file only; a device verifies the
/// payloads again when it loads them.
pub struct FilePlatform<'a> {
    file: File,
    len: u64,
    on_progress: &'a mut dyn FnMut(u64),
    done: u64,
    loading: Option<PayloadType>,
    failure: Option<io::Error>,
    /// True if bytes may follow the bundle. The caller looks at them.
    pub may_be_longer: bool,
}

/// The bytes that fill a dump of flash after the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Number of bytes.
    pub size: u64,
    /// The byte that is repeated.
    pub byte: u8,
}

impl Filling {
    /// Erased flash has ones, and unused flash of some devices zeros.
    const BYTES: [u8; 2] = [0xff, 0];
}

impl<'a> FilePlatform<'a> {
    /// Opens a bundle. `on_progress` receives the number of payload bytes hashed so far.
    ///
    /// # Errors
    /// Fails if the file is missing, unreadable or not a regular file.
    pub fn open(path: &Path, on_progress: &'a mut dyn FnMut(u64)) -> Result<Self, FileError> {
        let (file, len) = hartlock_files::open(path)?;
        Ok(Self::new(file, len, on_progress))
    }

    /// Uses an open file of `len` bytes.
    pub fn new(file: File, len: u64, on_progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { file, len, on_progress, done: 0, loading: None, failure: None, may_be_longer: false }
    }

    /// Returns the type of the payload that was last begun.
    pub const fn loading(&self) -> Option<PayloadType> {
        self.loading
    }

    /// Returns the error of the operating system if a read failed. Nothing is decided about the bundle in
    /// that case.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

impl Platform for FilePlatform<'_> {
    fn medium_len(&self) -> u64 {
        self.len
    }

    fn ends_with_bundle(&self) -> bool {
        !self.may_be_longer
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let result = self.file.read_exact_at(into, offset);
        self.judge(result)
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        self.loading = Some(payload.payload_type);
        let Self { file, on_progress, done, .. } = self;
        let plan = Plan::new(payload, core_count());
        let digest = plan.digest(
            |piece| {
                let offset = payload.offset + piece.offset();
                file.read_exact_at(piece.bytes(), offset)
            },
            |count| {
                *done += count;
                on_progress(*done);
            },
        );
        let digest = self.judge(digest)?;
        Ok(Loaded { digest, padding: self.padding(payload)? })
    }
}

impl FilePlatform<'_> {
    /// Reads what follows a bundle of `bundle_size` bytes in a dump of flash. Returns `None` if nothing does.
    ///
    /// # Errors
    /// `TrailingBytes` if it is anything else than one repeated byte, which erased or unused flash has.
    pub(crate) fn filling(&mut self, bundle_size: u64) -> Result<Option<Filling>, Reason> {
        const PIECE: u64 = 1 << 20;
        let size = self.len.saturating_sub(bundle_size);
        let mut first = None;
        for at in (bundle_size..self.len).step_by(PIECE as usize) {
            let mut bytes = vec![0; PIECE.min(self.len - at) as usize];
            self.read(at, &mut bytes)?;
            let byte = *first.get_or_insert(bytes[0]);
            if !Filling::BYTES.contains(&byte) || bytes.iter().any(|it| *it != byte) {
                return Err(Reason::TrailingBytes);
            }
        }
        Ok(first.map(|byte| Filling { size, byte }))
    }

    /// Reads the padding between a payload and the next page, and returns the bits that are set in any of its
    /// bytes: 0 if all bytes are zero.
    pub(crate) fn padding(&mut self, payload: &PayloadRecord) -> Result<u64, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let mut padding = vec![0; (padded_size - payload.size) as usize];
        self.read(payload.offset + payload.size, &mut padding)?;
        Ok(bits_of(&padding))
    }

    /// Converts an error of the operating system: the end of the file is a fault of the bundle (`Truncated`),
    /// every other error one of the medium.
    fn judge<T>(&mut self, result: io::Result<T>) -> Result<T, Reason> {
        result.map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                return Reason::Truncated;
            }
            self.failure = Some(error);
            Reason::MediumError
        })
    }
}
