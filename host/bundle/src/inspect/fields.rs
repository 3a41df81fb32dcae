//! Divides the bytes of a bundle file into fields, so that every byte belongs to exactly one field.
//!
//! Unlike the parser, this module accepts invalid values. It continues as long as sizes and counts determine
//! where the next field begins; the remaining bytes become one field with the name of [`table::UNPARSED`].

use std::fmt;

use hartlock_image::{
    BundleType, HEADER_SIZE, HashId, Head, MAX_BOOTARGS, MAX_EXTENSIONS_SIZE, MAX_PAYLOADS,
    MAX_SIGNERS, MAX_TRUSTED_KEYS, PayloadType, u32_at,
};
use serde::{Serialize, Serializer};

use super::table::{self, Row};
use crate::describe::Description;

/// A range of bytes of a bundle file, and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Size in bytes; never 0.
    pub size: u64,
    /// Part of the bundle that contains the field.
    pub part: Part,
    /// Name of the field in the specification.
    pub name: &'static str,
    /// Value of the bytes in words.
    pub value: String,
    /// Section of image-format.md with the rule for the value.
    pub section: &'static str,
    /// Purpose of the field, in a clause.
    pub meaning: &'static str,
}

impl Field {
    /// Returns the offset of the first byte after the field.
    pub const fn end(&self) -> u64 {
        self.offset + self.size
    }

    /// Returns true if the field has no meaning, so that it must be zero.
    pub fn is_filler(&self) -> bool {
        matches!(self.name, "reserved" | "padding" | "digest padding")
    }

    /// Returns true if the field contains text.
    pub fn is_text(&self) -> bool {
        self.value.starts_with('"')
    }
}

/// A part of a bundle file (image format §3). Numbers count from 0; when they are printed, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the parts of the specification")]
pub enum Part {
    Header,
    Signer(usize),
    /// A payload record, with its type if that is known.
    PayloadRecord(usize, Option<PayloadType>),
    Extension(usize),
    Trust,
    TrustedKey(usize),
    CommandLine,
    SignatureBlock(usize),
    /// The padding before the first payload or after a payload.
    Padding,
    Payload(usize),
    /// The first 64 bytes of a first-stage image. The four parts after this one are also those of such an
    /// image.
    Lead,
    Key,
    Signature,
    Code,
    AfterImage,
    /// The bytes after the end of the bundle.
    TrailingBytes,
    /// Bytes that cannot be parsed, because of a fault before them.
    Unparsed,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Header => f.write_str("header"),
            Part::Signer(index) => write!(f, "signer {}", index + 1),
            Part::PayloadRecord(index, _) => write!(f, "payload record {}", index + 1),
            Part::Extension(index) => write!(f, "extension record {}", index + 1),
            Part::Trust => f.write_str("trust list"),
            Part::TrustedKey(index) => write!(f, "trusted key {}", index + 1),
            Part::CommandLine => f.write_str("command line"),
            Part::SignatureBlock(index) => write!(f, "signature block {}", index + 1),
            Part::Padding => f.write_str("padding"),
            Part::Payload(index) => write!(f, "payload {}", index + 1),
            Part::Lead => f.write_str("lead"),
            Part::Key => f.write_str("public key"),
            Part::Signature => f.write_str("signature"),
            Part::Code => f.write_str("code"),
            Part::AfterImage => f.write_str("after the image"),
            Part::TrailingBytes => f.write_str("after the bundle"),
            Part::Unparsed => f.write_str("not read"),
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the fields of a file of `file_size` bytes, in order and without gap or overlap.
///
/// `metadata` has the bytes before the payloads: as many as `head` states, or fewer if the file is too short.
/// If the file has no valid head, it has the bytes of the header.
pub(super) fn of_file(
    metadata: &[u8],
    head: Option<&Head>,
    manifest: Option<&Description>,
    file_size: u64,
) -> Vec<Field> {
    let mut fields = Vec::new();
    let Some(head) = head else {
        let header = &metadata[..metadata.len().min(HEADER_SIZE)];
        let mut walk = Walk::new(&mut fields, header, 0);
        let _ = walk.record(Part::Header, &table::HEADER);
        walk.rest();
        push_until(&mut fields, Part::Unparsed, &table::UNPARSED, file_size);
        return fields;
    };
    let (signed, area) = metadata.split_at(metadata.len().min(head.signed_size()));
    let mut walk = Walk::new(&mut fields, signed, 0);
    let _ = signed_region(&mut walk, head.bundle_type());
    walk.rest();
    let mut walk = Walk::new(&mut fields, area, signed.len());
    let _ = signature_area(&mut walk);
    walk.rest();
    match manifest {
        Some(manifest) => after_manifest(&mut fields, manifest, file_size),
        None => push_until(&mut fields, Part::Unparsed, &table::UNPARSED, file_size),
    }
    fields
}

/// Adds the fields of the signed region (image format §4). Returns `None` where the next field cannot be
/// located.
fn signed_region(walk: &mut Walk<'_, '_>, bundle_type: BundleType) -> Option<()> {
    walk.record(Part::Header, &table::HEADER)?;
    let count = |offset, most| {
        let count = u32_at(walk.bytes, offset)? as usize;
        (1..=most).contains(&count).then_some(count)
    };
    let (signer_count, payload_count) = (count(52, MAX_SIGNERS), count(56, MAX_PAYLOADS));
    for index in 0..signer_count? {
        walk.record(Part::Signer(index), &table::KEY_RECORD)?;
    }
    for index in 0..payload_count? {
        payload_record(walk, index)?;
    }
    extension_area(walk)?;
    let start = walk.at;
    match bundle_type {
        BundleType::Boot => {
            walk.record(Part::Trust, &table::TRUST)?;
            let key_count = u32_at(walk.bytes, start + 4)? as usize;
            let key_count = Some(key_count).filter(|count| *count <= MAX_TRUSTED_KEYS)?;
            (0..key_count)
                .try_for_each(|index| walk.record(Part::TrustedKey(index), &table::KEY_RECORD))
        }
        BundleType::System => {
            walk.record(Part::CommandLine, &table::COMMAND_LINE)?;
            let len = u32_at(walk.bytes, start)? as usize;
            let len = Some(len).filter(|len| *len <= MAX_BOOTARGS)?;
            walk.take(Part::CommandLine, &table::BOOTARGS, len)?;
            walk.pad(Part::CommandLine, &table::BOOTARGS_PADDING, len)
        }
    }
}

/// Adds the fields of the extension area (image format §4.6).
fn extension_area(walk: &mut Walk<'_, '_>) -> Option<()> {
    let size = u32_at(walk.bytes, 60)? as usize;
    let end = walk.at.checked_add(size).filter(|_| size <= MAX_EXTENSIONS_SIZE)?;
    let mut index = 0;
    while walk.at < end {
        let (start, part) = (walk.at, Part::Extension(index));
        walk.record(part, &table::EXTENSION)?;
        let number = u32_at(walk.bytes, start)?;
        let len = u32_at(walk.bytes, start + 4)? as usize;
        let value_end = walk.at.checked_add(len).filter(|it| *it <= end)?;
        let rows: &[Row] = match number {
            1 => &table::IDENTITY,
            2 => &table::BOOT_VERSION,
            3 => &table::ENCRYPTION,
            _ => &[],
        };
        let size: usize = rows.iter().map(|row| row.size).sum();
        while size > 0 && walk.at + size <= value_end {
            walk.record(part, rows)?;
        }
        walk.take(part, &table::EXTENSION_VALUE, value_end - walk.at)?;
        index += 1;
    }
    Some(())
}

/// Adds the fields of a payload record (image format §4.3).
fn payload_record(walk: &mut Walk<'_, '_>, index: usize) -> Option<()> {
    let number = u32_at(walk.bytes, walk.at).and_then(PayloadType::from_number);
    let hash = u32_at(walk.bytes, walk.at + 4).and_then(HashId::from_number);
    let part = Part::PayloadRecord(index, number);
    walk.record(part, &table::PAYLOAD_RECORD)?;
    let digest_len = hash.map_or(table::DIGEST.size, HashId::output_len);
    walk.take(part, &table::DIGEST, digest_len)?;
    walk.take(part, &table::DIGEST_PADDING, table::DIGEST.size - digest_len)
}

/// Adds the fields of the signature area (image format §5.1).
fn signature_area(walk: &mut Walk<'_, '_>) -> Option<()> {
    for index in 0..MAX_SIGNERS {
        if walk.is_at_end() {
            break;
        }
        let part = Part::SignatureBlock(index);
        let start = walk.at;
        walk.record(part, &table::SIGNATURE_BLOCK)?;
        let size = |offset| u32_at(walk.bytes, start + offset).map(|size| size as usize);
        let (key_size, signature_size) = (size(8)?, size(12)?);
        walk.take(part, &table::PUBLIC_KEY, key_size)?;
        walk.pad(part, &table::BLOCK_PADDING, key_size)?;
        walk.take(part, &table::SIGNATURE, signature_size)?;
        walk.pad(part, &table::BLOCK_PADDING, signature_size)?;
    }
    Some(())
}

/// Adds fields for the payloads and the padding, as far as the file has them. Their bytes are not read.
fn after_manifest(fields: &mut Vec<Field>, manifest: &Description, file_size: u64) {
    for (index, payload) in manifest.payloads.iter().enumerate() {
        push_until(fields, Part::Padding, &table::PADDING, payload.offset.min(file_size));
        let end = payload.offset.saturating_add(payload.size);
        push_until(fields, Part::Payload(index), &table::PAYLOAD, end.min(file_size));
        if let Some(field) = fields.last_mut().filter(|last| last.part == Part::Payload(index)) {
            field.value = payload.payload_type.to_string();
        }
    }
    push_until(fields, Part::Padding, &table::PADDING, manifest.bundle_size.min(file_size));
    push_until(fields, Part::TrailingBytes, &table::TRAILING_BYTES, file_size);
}

/// Adds a field from the end of the last field to offset `end`, unless it would be empty.
pub(super) fn push_until(fields: &mut Vec<Field>, part: Part, row: &Row, end: u64) {
    let offset = fields.last().map_or(0, Field::end);
    if end > offset {
        fields.push(field(part, row, offset, end - offset, String::new()));
    }
}

fn field(part: Part, row: &Row, offset: u64, size: u64, value: String) -> Field {
    let Row { name, section, meaning, .. } = *row;
    Field { offset, size, part, name, value, section, meaning }
}

/// A reader that divides bytes into fields.
pub(super) struct Walk<'a, 'f> {
    fields: &'f mut Vec<Field>,
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    base: usize,
    at: usize,
}

impl<'a, 'f> Walk<'a, 'f> {
    pub(super) fn new(fields: &'f mut Vec<Field>, bytes: &'a [u8], base: usize) -> Self {
        Self { fields, bytes, base, at: 0 }
    }

    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Adds the next `size` bytes as a field. Returns `None` if fewer bytes are left.
    pub(super) fn take(&mut self, part: Part, row: &Row, size: usize) -> Option<()> {
        let end = self.at.checked_add(size)?;
        let bytes = self.bytes.get(self.at..end)?;
        if size > 0 {
            let offset = (self.base + self.at) as u64;
            self.fields.push(field(part, row, offset, size as u64, row.kind.text(bytes)));
        }
        self.at = end;
        Some(())
    }

    pub(super) fn record(&mut self, part: Part, rows: &[Row]) -> Option<()> {
        rows.iter().try_for_each(|row| self.take(part, row, row.size))
    }

    /// Adds the padding after `len` bytes, up to a multiple of 8.
    fn pad(&mut self, part: Part, row: &Row, len: usize) -> Option<()> {
        self.take(part, row, len.next_multiple_of(8) - len)
    }

    /// Adds all remaining bytes as one field.
    fn rest(&mut self) {
        let size = self.bytes.len() - self.at;
        if size > 0 {
            let offset = (self.base + self.at) as u64;
            self.fields.push(field(
                Part::Unparsed,
                &table::UNPARSED,
                offset,
                size as u64,
                String::new(),
            ));
            self.at = self.bytes.len();
        }
    }
}
