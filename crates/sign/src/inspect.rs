//! Reads a bundle file and believes nothing in it.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use hartlock_image::{
    HEADER_SIZE, Head, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS, Manifest, Reason,
    SignatureBlocks, u32_at, u64_at,
};
use serde::Serialize;

use crate::Error;
use crate::describe::{Description, block_keys, lifecycle_names};
use crate::file::{self, FileError};

/// What a bundle file claims. No signature and no digest was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Bytes of the file.
    pub file_size: u64,
    /// Fields of the header as they stand, if there are enough bytes for one.
    pub header: Option<Header>,
    /// The manifest, if one can be read.
    pub manifest: Option<Description>,
    /// The first thing in the form of the bundle that a verifier would refuse. `None` says
    /// nothing about signatures and payloads.
    pub reason: Option<Reason>,
}

/// Fields of a header (image format §4.1) that may be wrong in every way.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the specification")]
pub struct Header {
    pub tag: String,
    pub signed_size: u32,
    pub signatures_size: u32,
    pub bundle_size: u64,
    pub security_version: u64,
    pub created: u64,
    pub lifecycle_mask: u32,
    pub lifecycle: Vec<&'static str>,
    pub signer_count: u32,
    pub payload_count: u32,
    pub board: String,
    pub soc: String,
    pub label: String,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let lifecycle_mask = u32_at(bytes, 48)?;
        // Escaped: these bytes are anybody's, and a terminal obeys some of them.
        let text = |from: usize, to: usize| {
            let field = bytes.get(from..to)?;
            let len = field.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            Some(field[..len].escape_ascii().to_string())
        };
        Some(Self {
            tag: text(0, 16)?,
            signed_size: u32_at(bytes, 16)?,
            signatures_size: u32_at(bytes, 20)?,
            bundle_size: u64_at(bytes, 24)?,
            security_version: u64_at(bytes, 32)?,
            created: u64_at(bytes, 40)?,
            lifecycle_mask,
            lifecycle: lifecycle_names(lifecycle_mask),
            signer_count: u32_at(bytes, 52)?,
            payload_count: u32_at(bytes, 56)?,
            board: text(64, 96)?,
            soc: text(96, 128)?,
            label: text(128, 192)?,
        })
    }
}

/// Reads what a bundle file says about itself.
///
/// # Errors
/// [`Error::File`] if it cannot be read. What is wrong with the bundle is in the result.
pub fn inspect_file(path: &Path) -> Result<Inspection, Error> {
    let (mut file, file_size) = file::open(path)?;
    let fail = |source| FileError::new("read", path, source);

    let mut bytes = Vec::new();
    (&mut file).take(HEADER_SIZE as u64).read_to_end(&mut bytes).map_err(fail)?;
    let header = (bytes.len() == HEADER_SIZE).then(|| Header::read(&bytes)).flatten();
    let head = match Head::parse(&bytes) {
        Ok(head) => head,
        Err(reason) => {
            return Ok(Inspection { file_size, header, manifest: None, reason: Some(reason) });
        }
    };

    bytes.clear();
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    (&mut file).take(head.total_size() as u64).read_to_end(&mut bytes).map_err(fail)?;
    let (manifest, reason) = match bytes.split_at_checked(head.signed_size()) {
        Some((signed, area)) if area.len() == head.signatures_size() => read(signed, area),
        _ => (None, Some(Reason::Truncated)),
    };
    let reason = reason.or_else(|| {
        let bundle_size = manifest.as_ref()?.bundle_size;
        match file_size {
            len if len < bundle_size => Some(Reason::Truncated),
            len if len > bundle_size => Some(Reason::TrailingBytes),
            _ => None,
        }
    });
    Ok(Inspection { file_size, header, manifest, reason })
}

/// The manifest as far as it can be shown, and what is wrong with it.
fn read(signed: &[u8], area: &[u8]) -> (Option<Description>, Option<Reason>) {
    let parse = |keys: &List<KeyRecord, MAX_SIGNERS>| {
        Manifest::parse(signed, keys).map(|manifest| Description::from(&manifest))
    };
    let reason = match SignatureBlocks::parse(area) {
        Err(reason) => reason,
        Ok(blocks) => match parse(&block_keys(&blocks)) {
            Ok(description) => return (Some(description), None),
            Err(reason) => reason,
        },
    };
    // The manifest may be fine where only the blocks are not: then it is shown by its own list
    // of signers.
    let signer_count = u32_at(signed, 52).unwrap_or(0) as usize;
    let own_keys = signed
        .get(HEADER_SIZE..)
        .unwrap_or(&[])
        .chunks_exact(KEY_RECORD_SIZE)
        .take(signer_count)
        .filter_map(KeyRecord::parse)
        .collect();
    (parse(&own_keys).ok(), Some(reason))
}
