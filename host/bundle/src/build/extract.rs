//! Payloads of a bundle as files, and as payloads of another bundle.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Source, copy_and_digest};
use crate::digest::{Plan, core_count};
use crate::spec::PayloadSpec;
use crate::{Error, Refusal};
use hartlock_files::{FileError, NewFile};
use hartlock_image::{PayloadRecord, Reason};

/// Writes a payload of a bundle (see [`crate::reuse`]) into a file. The bytes that are written are those that were
/// hashed; if `is_verified`, their digest must be the one of the manifest.
///
/// # Errors
/// `PayloadDigestMismatch`, or if a file fails.
pub fn extract(
    payload: &PayloadSpec,
    output: &Path,
    is_verified: bool,
    is_forced: bool,
) -> Result<(), Error> {
    let Some(record) = &payload.part else { return Err(Reason::PayloadMissing.into()) };
    let source = Source::open(payload)?;
    let file = NewFile::public(output)?;
    file.reserve(record.size)?;
    let digest = copy_and_digest(record, &source, &file, 0, &mut |_| ())?;
    // Pieces are padded to whole pages.
    file.reserve(record.size)?;
    if is_verified && digest != record.digest {
        return Err(changed(record));
    }
    Ok(file.finish(is_forced)?)
}

/// Refuses a payload that was copied to `at`, and is not the one of the old record. The digest covers the record, too,
/// and the new one may differ.
pub(super) fn check_copy(record: &PayloadRecord, bundle: &NewFile, at: u64) -> Result<(), Error> {
    let file: File = bundle.handle()?;
    let digest = Plan::new(record, core_count()).digest(
        |piece| {
            let offset = at + piece.offset();
            file.read_exact_at(piece.bytes(), offset)
        },
        |_| (),
    );
    let digest = digest.map_err(|error| FileError::new("read", bundle.path(), error))?;
    if digest == record.digest { Ok(()) } else { Err(changed(record)) }
}

/// The refusal of a payload that is not the one of the manifest any more.
fn changed(record: &PayloadRecord) -> Error {
    let context = format!("payload {}", record.payload_type.name());
    Refusal::with(Reason::PayloadDigestMismatch, context).into()
}
