//! Reads the file of a bundle or of a first stage, and trusts nothing in it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hartlock_boards::Boards;
use hartlock_image::{
    HEADER_SIZE, Head, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS, Manifest, Reason,
    SignatureBlocks, u32_at, u64_at,
};
use serde::Serialize;

use crate::Error;
use crate::describe::{Description, block_keys, lifecycle_names};
use hartlock_files::FileError;

mod fields;
mod first_stage;
mod memory;
mod place;
mod record;
mod signatures;
mod table;

pub use fields::{Field, Part};
pub use first_stage::FirstStage;
pub use memory::{Memory, PlacementFault, Segment, Usage};
pub use place::Place;
pub use signatures::{Check, Obstacle, Prospect, Signature};

/// What a bundle file claims. Signatures were checked with the keys in their blocks, which
/// proves nothing about trust; no payload was hashed.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Bytes of the file.
    pub file_size: u64,
    /// Fields of the header as stored, if there are enough bytes for one.
    pub header: Option<Header>,
    /// The manifest, if one can be read.
    pub manifest: Option<Description>,
    /// The first fault in the form of the bundle that a verifier would refuse. `None` says
    /// nothing about signatures, payloads and their places.
    pub reason: Option<Reason>,
    /// Where the fault is located, if it can be told.
    pub place: Option<Place>,
    /// Signature blocks in order, if they can be read.
    pub signatures: Vec<Signature>,
    /// Where the payloads would go; there if the manifest is.
    pub memory: Option<Memory>,
    /// Every byte of the file, in order, each in one field.
    pub fields: Vec<Field>,
    /// Signed region and signature area, as far as the file has them; of a first stage all before the code.
    pub metadata: Vec<u8>,
    /// What a first stage says, if the file begins as one. It has no manifest, and what belongs to one is empty.
    pub first_stage: Option<FirstStage>,
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
        // Escaped: these bytes are untrusted, and a terminal obeys some of them.
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
pub fn inspect_file(path: &Path, boards: &Boards) -> Result<Inspection, Error> {
    let (mut file, file_size) = hartlock_files::open(path)?;
    let fail = |source| FileError::new("read", path, source);
    let mut metadata = read_at(&mut file, 0, HEADER_SIZE).map_err(fail)?;
    if first_stage::is_one(&metadata) {
        return Ok(first_stage::inspect(crate::first_stage::read(&file, path)?, file_size));
    }
    if let Ok(head) = Head::parse(&metadata) {
        metadata = read_at(&mut file, 0, head.total_size()).map_err(fail)?;
    }
    let mut inspection = inspect(metadata, file_size, boards);
    inspection.look_at_padding(&mut file).map_err(fail)?;
    Ok(inspection)
}

/// Up to `len` bytes from `offset` on.
fn read_at(file: &mut File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All that can be said without the bytes after the signature area.
fn inspect(metadata: Vec<u8>, file_size: u64, boards: &Boards) -> Inspection {
    let head = Head::parse(&metadata);
    let signed_size = head.map_or(0, |head| head.signed_size());
    let (signed, area) = metadata.split_at(signed_size.min(metadata.len()));
    let view = match head {
        Ok(head) => read(&head, signed, area, boards),
        Err(reason) => View { reason: Some(reason), ..View::default() },
    };
    let manifest = view.manifest;
    let reason = view.reason.or_else(|| match manifest.as_ref()?.bundle_size {
        size if file_size < size => Some(Reason::Truncated),
        size if file_size > size => Some(Reason::TrailingBytes),
        _ => None,
    });
    let fields = fields::of_file(&metadata, head.ok().as_ref(), manifest.as_ref(), file_size);
    let bundle = place::Bundle {
        fields: &fields,
        metadata: &metadata,
        signed_size,
        bundle_type: head.ok().map(|head| head.bundle_type()),
        file_size,
    };
    Inspection {
        file_size,
        header: (metadata.len() >= HEADER_SIZE).then(|| Header::read(&metadata)).flatten(),
        place: reason.and_then(|reason| place::place_of(reason, &bundle)),
        manifest,
        reason,
        signatures: view.signatures,
        memory: view.memory,
        fields,
        metadata,
        first_stage: None,
    }
}

impl Inspection {
    /// The possible result of these signatures under each policy; empty if they cannot be read.
    pub fn prospects(&self) -> Vec<Prospect> {
        if self.signatures.is_empty() {
            return Vec::new();
        }
        let misplaced = self.memory.as_ref().and_then(|memory| memory.faults.first());
        // A device ignores the bytes after the bundle on a medium (image format §3.3).
        let malformed = self.reason.filter(|reason| *reason != Reason::TrailingBytes);
        signatures::prospects(&self.signatures, malformed.or(misplaced.map(|fault| fault.reason)))
    }

    /// Reads the padding after the signature area and after each payload (image format §3.3).
    /// It is less than a page each, whatever the bundle says.
    fn look_at_padding(&mut self, file: &mut File) -> io::Result<()> {
        let is_last_fault = self.reason.is_none();
        let mut first_fault = None;
        for field in self.fields.iter_mut().filter(|field| field.part == Part::Padding) {
            let bytes = read_at(file, field.offset, field.size as usize)?;
            field.value = "zero".to_string();
            if let Some(index) = bytes.iter().position(|byte| *byte != 0) {
                field.value = format!("not zero from {:#x} on", field.offset + index as u64);
                first_fault = first_fault.or_else(|| Some(place::in_padding(field, index)));
            }
        }
        if is_last_fault && let Some(place) = first_fault {
            self.reason = Some(Reason::PaddingNotZero);
            self.place = Some(place);
        }
        Ok(())
    }
}

/// What signed region and signature area say.
#[derive(Default)]
struct View {
    manifest: Option<Description>,
    memory: Option<Memory>,
    signatures: Vec<Signature>,
    reason: Option<Reason>,
}

impl View {
    fn show(&mut self, manifest: &Manifest<'_>, boards: &Boards) {
        self.manifest = Some(Description::new(manifest, boards));
        self.memory = Some(memory::map(manifest, boards));
    }
}

/// The manifest as far as it can be shown, and what is wrong with it.
fn read(head: &Head, signed: &[u8], area: &[u8], boards: &Boards) -> View {
    let mut view = View::default();
    if signed.len() + area.len() < head.total_size() {
        view.reason = Some(Reason::Truncated);
    } else {
        match SignatureBlocks::parse(area) {
            Err(reason) => view.reason = Some(reason),
            Ok(blocks) => {
                view.signatures = signatures::check_all(&blocks, signed);
                match Manifest::parse(signed, &block_keys(&blocks)) {
                    Err(reason) => view.reason = Some(reason),
                    Ok(manifest) => view.show(&manifest, boards),
                }
            }
        }
    }
    // The manifest may be fine where only the blocks are not: then it is shown by its own list
    // of signers.
    if view.manifest.is_none()
        && let Ok(manifest) = Manifest::parse(signed, &own_signers(signed))
    {
        view.show(&manifest, boards);
    }
    view
}

/// Signers as the manifest lists them.
fn own_signers(signed: &[u8]) -> List<KeyRecord, MAX_SIGNERS> {
    let signer_count = u32_at(signed, 52).unwrap_or(0) as usize;
    signed
        .get(HEADER_SIZE..)
        .unwrap_or(&[])
        .chunks_exact(KEY_RECORD_SIZE)
        .take(signer_count)
        .filter_map(KeyRecord::parse)
        .collect()
}
