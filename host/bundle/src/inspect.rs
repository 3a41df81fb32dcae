//! Reads the file of a bundle or of a first stage without trusting any value in it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hartlock_boards::Boards;
use hartlock_image::{
    Algorithm, BundleType, HEADER_SIZE, Head, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS,
    Manifest, Reason, SignatureBlocks, u32_at, u64_at,
};
use serde::Serialize;

use crate::describe::{Description, block_keys, lifecycle_names, stated, stated_text};
use crate::{Error, build, content};
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
pub use signatures::{Check, Obstacle, PolicyOutcome, Signature};

/// The content of a bundle file, unverified. Signatures were checked with the public keys in their own
/// blocks, which proves nothing about trust, and no payload was hashed.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Size of the file in bytes.
    pub file_size: u64,
    /// Fields of the header as stored, if the file is long enough to have one.
    pub header: Option<Header>,
    /// Description of the manifest, if it can be parsed.
    pub manifest: Option<Description>,
    /// Reason for which a verifier would first refuse the form of the bundle. `None` says nothing about
    /// signatures, payloads and load addresses.
    pub reason: Option<Reason>,
    /// Position of the fault of `reason`, if it is known.
    pub place: Option<Place>,
    /// Signature blocks in order, if they can be parsed.
    pub signatures: Vec<Signature>,
    /// Memory map after the payloads were loaded, if the manifest can be parsed.
    pub memory: Option<Memory>,
    /// Fields of the file in order. Every byte is in exactly one field.
    pub fields: Vec<Field>,
    /// Bytes of signed region and signature area, as far as the file has them; for a first stage, all bytes
    /// before the code.
    pub metadata: Vec<u8>,
    /// Content of a first-stage image, if the file begins as one. All properties of a manifest are then
    /// empty.
    pub first_stage: Option<FirstStage>,
    /// Signature algorithms that a ROM or loader states that it carries: bit i stands for algorithm number i of image
    /// format §2.2.
    pub carried: Option<u64>,
    /// Type of a file that is no bundle and no first stage, if it is known, with its article.
    pub looks_like: Option<&'static str>,
}

/// The fields of a header (image format §4.1). Each of them may have an invalid value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the specification")]
pub struct Header {
    pub tag: String,
    pub signed_size: u32,
    pub signatures_size: u32,
    pub bundle_size: u64,
    pub security_version: u64,
    #[serde(serialize_with = "stated")]
    pub created: u64,
    pub lifecycle_mask: u32,
    pub lifecycle: Vec<&'static str>,
    pub signer_count: u32,
    pub payload_count: u32,
    pub board: String,
    pub soc: String,
    #[serde(serialize_with = "stated_text")]
    pub label: String,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let lifecycle_mask = u32_at(bytes, 48)?;
        // The text is escaped, because the bytes are untrusted and could contain control characters of
        // terminals.
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

/// Reads a bundle file without verifying it.
///
/// # Errors
/// Returns [`Error::File`] if the file cannot be read. Faults of the bundle are part of the result.
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
    // A file of another type is no bundle that is too short, either.
    if matches!(inspection.reason, Some(Reason::UnknownTag | Reason::Truncated))
        && !inspection.metadata.starts_with(b"HARTLOCK-")
        && !has_damaged_tag(&inspection.metadata)
    {
        if let Some((name, carried)) = build::stage(&file).map_err(fail)? {
            (inspection.looks_like, inspection.carried) = (Some(name), Some(carried));
            inspection.reason = None;
            return Ok(inspection);
        }
        let start = read_at(&mut file, 0, content::SEARCHED).map_err(fail)?;
        inspection.looks_like = content::name_of(&start);
        if inspection.looks_like.is_some() {
            inspection.reason = Some(Reason::UnknownTag);
        }
    }
    inspection.look_at_padding(&mut file).map_err(fail)?;
    Ok(inspection)
}

/// Returns the name of the type of a file, with its article, if it is known to be no ROM.
///
/// # Errors
/// Returns a [`FileError`] if the file cannot be read.
pub fn other_than_rom(path: &Path) -> Result<Option<&'static str>, FileError> {
    let (mut file, _) = hartlock_files::open(path)?;
    let fail = |source| FileError::new("read", path, source);
    let start = read_at(&mut file, 0, content::SEARCHED).map_err(fail)?;
    let name = match content::name_of(&start) {
        Some(name) => Some(name),
        None => build::stage(&file).map_err(fail)?.map(|(name, _)| name),
    };
    Ok(name.filter(|name| *name != content::ROM))
}

/// Returns true if only the tag of a header is wrong. The file is then a damaged bundle, whose payload may be a loader.
fn has_damaged_tag(header: &[u8]) -> bool {
    let tag = BundleType::Boot.tag();
    header.get(tag.len()..).is_some_and(|rest| Head::parse(&[&tag[..], rest].concat()).is_ok())
}

/// Reads up to `len` bytes from `offset` on.
fn read_at(file: &mut File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Inspects a bundle as far as that is possible without the bytes after the signature area.
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
        carried: None,
        looks_like: None,
    }
}

impl Inspection {
    /// Returns the names of the schemes that a ROM or loader states that it carries, without their parameters. A number
    /// that the format does not define has no name.
    pub fn carried_names(&self) -> Option<Vec<&'static str>> {
        let carried = self.carried?;
        let is_there = |number: &u32| carried >> number & 1 != 0;
        Some((0..u64::BITS).filter(is_there).filter_map(Algorithm::scheme_name).collect())
    }

    /// Returns the possible result of these signatures under each policy; an empty list if they cannot be
    /// parsed.
    pub fn policy_outcomes(&self) -> Vec<PolicyOutcome> {
        if self.signatures.is_empty() {
            return Vec::new();
        }
        let misplaced = self.memory.as_ref().and_then(|memory| memory.faults.first());
        // A device ignores the bytes after the bundle on a medium (image format §3.3).
        let malformed = self.reason.filter(|reason| *reason != Reason::TrailingBytes);
        signatures::policy_outcomes(
            &self.signatures,
            malformed.or(misplaced.map(|fault| fault.reason)),
        )
    }

    /// Reads the padding after the signature area and after each payload (image format §3.3). Each padding is
    /// shorter than a page, whatever the bundle says.
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

/// The parsed content of signed region and signature area.
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

/// Parses the manifest as far as it can be shown, and finds the first fault.
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
    // The manifest may be valid although the signature blocks are not. It is then parsed with its own list of
    // signers.
    if view.manifest.is_none()
        && let Ok(manifest) = Manifest::parse(signed, &own_signers(signed))
    {
        view.show(&manifest, boards);
    }
    view
}

/// Parses the list of signers in the manifest.
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
