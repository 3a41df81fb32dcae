//! Copies payloads of a bundle into files and into other bundles.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Source, copy_and_digest};
use crate::digest::{Plan, core_count};
use crate::encryption::{content_key, decrypt};
use crate::spec::PayloadSpec;
use crate::{Error, Refusal};
use hartlock_files::{FileError, NewFile};
use hartlock_image::{PayloadRecord, Reason};
use hartlock_keys::ClassKey;

/// Writes a payload of a bundle (see [`crate::reuse`]) into a file. The bytes that are hashed are those that
/// are written. If `is_verified`, the digest must be equal to the one in the manifest. An encrypted payload is decrypted
/// after that with the key of its class.
///
/// # Errors
/// Fails with `PayloadDigestMismatch`, `ClassKeyMissing` or `ContentKeyInvalid`, or if a file fails.
pub fn extract(
    payload: &PayloadSpec,
    output: &Path,
    is_verified: bool,
    is_forced: bool,
    class_keys: &[ClassKey],
) -> Result<(), Error> {
    let Some(record) = &payload.part else { return Err(Reason::PayloadMissing.into()) };
    let key = payload.encryption.map(|it| content_key(&it, class_keys)).transpose()?;
    let source = Source::open(payload)?;
    // Whoever encrypted it did not mean it for every user of this machine.
    let file = match &key {
        Some(_) => NewFile::private(output)?,
        None => NewFile::public(output)?,
    };
    file.reserve(record.size)?;
    let digest = copy_and_digest(record, &source, (&file, 0), |_, _| (), &mut |_| ())?;
    if let Some(key) = key {
        decrypt(&file, record.size, &key)?;
    }
    // The last piece was padded to a whole page, so the file is cut to the size of the payload.
    file.reserve(record.size)?;
    if is_verified && digest != record.digest {
        return Err(changed(record));
    }
    Ok(file.finish(is_forced)?)
}

/// Checks the copy at offset `at`, after `cipher` has decrypted it, against the digest in the record of the old bundle. That
/// digest is computed again, because it covers the old record, from which the new record may differ.
pub(super) fn check_copy(
    record: &PayloadRecord,
    bundle: &NewFile,
    at: u64,
    cipher: impl Fn(u64, &mut [u8]) + Sync,
) -> Result<(), Error> {
    let file: File = bundle.handle()?;
    let digest = Plan::new(record, core_count()).digest(
        |piece| {
            let offset = piece.offset();
            file.read_exact_at(piece.bytes(), at + offset)?;
            cipher(offset, piece.bytes());
            Ok(())
        },
        |_| (),
    );
    let digest = digest.map_err(|error| FileError::new("read", bundle.path(), error))?;
    if digest == record.digest { Ok(()) } else { Err(changed(record)) }
}

/// Returns the refusal of a payload whose digest is not the one in the manifest.
fn changed(record: &PayloadRecord) -> Error {
    let context = format!("payload {}", record.payload_type.name());
    Refusal::with(Reason::PayloadDigestMismatch, context).into()
}
