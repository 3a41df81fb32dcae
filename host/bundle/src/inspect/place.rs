//! Locates the fault that a verifier reports.
//!
//! The parser of the boot stages returns only a reason, without a position. This module takes that reason as
//! given and searches for the first field that breaks the rule.

use hartlock_image::{
    Algorithm, BundleType, KeyRecord, List, MAX_SIGNERS, Name, Reason, SignatureBlocks, u32_at,
};
use serde::Serialize;

use super::fields::{Field, Part};
use super::record::Record;
use super::table::number;
use crate::describe::block_keys;

/// The bytes that a reason refers to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Size in bytes; 0 at the end of a file that is too short.
    pub size: u64,
    /// Part of the bundle, if the bytes belong to one.
    pub part: Option<Part>,
    /// Name of the field, if the bytes belong to only one field.
    pub field: Option<&'static str>,
    /// Value of the field in words.
    pub value: Option<String>,
}

/// The data about a malformed bundle that the search uses.
pub(super) struct Bundle<'a> {
    pub fields: &'a [Field],
    /// Bytes of signed region and signature area, as far as the file has them.
    pub metadata: &'a [u8],
    pub signed_size: usize,
    pub bundle_type: Option<BundleType>,
    pub file_size: u64,
}

/// Returns the position of the fault that `reason` names; `None` if `reason` is not about the form of the
/// bundle.
pub(super) fn place_of(reason: Reason, bundle: &Bundle<'_>) -> Option<Place> {
    let header = |name| bundle.field(Part::Header, name).map(whole);
    match reason {
        Reason::Truncated => Some(Place {
            offset: bundle.file_size,
            size: 0,
            part: bundle.fields.iter().map(|it| it.part).rfind(|part| *part != Part::Unparsed),
            field: None,
            value: None,
        }),
        Reason::UnknownTag => header("tag"),
        Reason::SignedSizeOutOfRange | Reason::SignedSizeMismatch => header("signed_size"),
        Reason::SignaturesSizeOutOfRange => header("signatures_size"),
        Reason::BundleSizeMismatch => header("bundle_size"),
        Reason::LifecycleMaskInvalid => header("lifecycle_mask"),
        Reason::SignerCountOutOfRange => header("signer_count"),
        Reason::PayloadCountOutOfRange | Reason::PayloadMissing => header("payload_count"),
        Reason::BoardNameInvalid => bundle.bad_name("board"),
        Reason::SocNameInvalid => bundle.bad_name("soc"),
        Reason::LabelInvalid => header("label"),
        Reason::ExtensionsSizeOutOfRange => header("extensions_size"),
        Reason::ExtensionUnknown
        | Reason::ExtensionOrder
        | Reason::ExtensionLength
        | Reason::IdentityRepeated
        | Reason::BootVersionZero
        | Reason::CipherUnknown
        | Reason::EncryptionOrder
        | Reason::EncryptionWithoutPayload => bundle.extension(reason),
        Reason::TrustedKeyNotCarried => bundle.field(Part::Trust, "carried").map(whole),
        // The closing section may have no fields. It begins at an offset that depends on the size of the
        // extensions, so the fault is then reported there.
        Reason::PolicyUnknown | Reason::PolicyUnsatisfiable => {
            bundle.field(Part::Trust, "policy").map(whole).or_else(|| header("extensions_size"))
        }
        Reason::TrustedKeyCountOutOfRange => {
            bundle.field(Part::Trust, "key_count").map(whole).or_else(|| header("extensions_size"))
        }
        Reason::BootargsTooLong => bundle
            .field(Part::CommandLine, "length")
            .map(whole)
            .or_else(|| header("extensions_size")),
        Reason::BootargsInvalid => {
            let field = bundle.field(Part::CommandLine, "bootargs")?;
            bundle.first_byte(field, |byte| !matches!(byte, 0x20..=0x7e))
        }
        Reason::BootargsPadding => bundle.filler(|part| part == Part::CommandLine, "padding"),
        Reason::ReservedNotZero => bundle.filler(|_| true, "reserved"),
        Reason::DigestPadding => bundle.filler(|_| true, "digest padding"),
        Reason::SignatureBlockPadding => {
            bundle.filler(|part| matches!(part, Part::SignatureBlock(_)), "padding")
        }
        Reason::DuplicateSigner => bundle.duplicate(|part| matches!(part, Part::Signer(_))),
        Reason::DuplicateTrustedKey => bundle.duplicate(|part| matches!(part, Part::TrustedKey(_))),
        Reason::TooManySignatureBlocks => bundle.fifth_block(),
        Reason::SignatureBlockTruncated
        | Reason::SignatureAlgorithmZero
        | Reason::SignatureBlockSizes => bundle.signature_block(reason),
        Reason::SignatureBlockMissing | Reason::SignatureBlockExtra | Reason::SignerMismatch => {
            bundle.signers_against_blocks(reason)
        }
        Reason::TrailingBytes => {
            bundle.fields.iter().find(|it| it.part == Part::TrailingBytes).map(whole)
        }
        _ => bundle.payload(reason),
    }
}

/// Returns the position of a byte of padding that is not zero. `index` is its index in the field.
pub(super) fn in_padding(field: &Field, index: usize) -> Place {
    Place { offset: field.offset + index as u64, size: 1, ..whole(field) }
}

pub(super) fn whole(field: &Field) -> Place {
    Place {
        offset: field.offset,
        size: field.size,
        part: Some(field.part),
        field: Some(field.name),
        value: Some(field.value.clone()).filter(|value| !value.is_empty()),
    }
}

impl Bundle<'_> {
    fn field(&self, part: Part, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.part == part && field.name == name)
    }

    fn bytes(&self, field: &Field) -> &[u8] {
        let range = field.offset as usize..field.end() as usize;
        self.metadata.get(range).unwrap_or(&[])
    }

    /// Returns the position of the first byte in a field for which `is_bad` returns true.
    fn first_byte(&self, field: &Field, is_bad: impl Fn(u8) -> bool) -> Option<Place> {
        let index = self.bytes(field).iter().position(|byte| is_bad(*byte))?;
        Some(Place { offset: field.offset + index as u64, size: 1, ..whole(field) })
    }

    /// Returns the position of the first byte that is not zero in a field with this name.
    fn filler(&self, is_part: impl Fn(Part) -> bool, name: &str) -> Option<Place> {
        self.fields
            .iter()
            .filter(|field| field.name == name && is_part(field.part))
            .find_map(|field| self.first_byte(field, |byte| byte != 0))
    }

    /// Returns the first field with this name that does not contain a valid board or SoC name.
    fn bad_name(&self, name: &str) -> Option<Place> {
        let is_name = |field: &Field| {
            let bytes = self.bytes(field).first_chunk::<32>();
            bytes.is_some_and(|bytes| Name::from_field(bytes).is_some())
        };
        let of_name = |field: &&Field| field.name == name;
        self.fields.iter().filter(of_name).find(|field| !is_name(field)).map(whole)
    }

    /// Returns the field of the first extension record that breaks the rule (§4.6).
    fn extension(&self, reason: Reason) -> Option<Place> {
        let of_records = |field: &&Field| matches!(field.part, Part::Extension(_));
        let fields: Vec<_> = self.fields.iter().filter(of_records).collect();
        let value = |field: &Field| number(self.bytes(field));
        let types: Vec<_> = fields.iter().filter(|field| field.name == "type").collect();
        let found = match reason {
            Reason::ExtensionUnknown => {
                let is_system = self.bundle_type == Some(BundleType::System);
                types
                    .iter()
                    .copied()
                    .find(|it| !matches!((value(it), is_system), (1, _) | (2 | 3, true)))
            }
            Reason::ExtensionOrder => {
                types.windows(2).find(|pair| value(pair[0]) >= value(pair[1])).map(|pair| pair[1])
            }
            Reason::IdentityRepeated => {
                let pairs: Vec<_> = self
                    .fields
                    .iter()
                    .filter(|field| field.name == "board")
                    .filter_map(|field| Some((field, self.bytes_from(field).get(..64)?)))
                    .collect();
                let is_known = |at: usize| pairs[..at].iter().any(|pair| pair.1 == pairs[at].1);
                return (0..pairs.len()).find(|at| is_known(*at)).map(|at| whole(pairs[at].0));
            }
            Reason::CipherUnknown => {
                fields.iter().find(|field| field.name == "cipher" && value(field) != 1)
            }
            Reason::EncryptionOrder | Reason::EncryptionWithoutPayload => {
                let payloads: Vec<_> =
                    fields.iter().filter(|field| field.name == "payload").collect();
                let index = match reason {
                    Reason::EncryptionOrder => {
                        let is_late = |at: &usize| value(payloads[at - 1]) >= value(payloads[*at]);
                        (1..payloads.len()).find(is_late)
                    }
                    _ => payloads.iter().position(|it| !self.has_bytes(value(it))),
                };
                return index.map(|at| whole(payloads[at]));
            }
            Reason::BootVersionZero => fields.iter().find(|field| field.name == "boot_version"),
            // A record that cannot be parsed is the last one, so its length is wrong.
            _ => fields.iter().rfind(|field| field.name == "length"),
        };
        found.map(|field| whole(field))
    }

    /// Returns true if the bundle has a payload of this type that is not empty.
    fn has_bytes(&self, payload_type: u64) -> bool {
        self.fields
            .iter()
            .filter(|it| matches!(it.part, Part::PayloadRecord(..)) && it.name == "type")
            .filter_map(|field| Record::read(self.bytes_from(field)))
            .any(|record| record.has_bytes_of(payload_type))
    }

    /// Returns the second of two key ids that are equal.
    fn duplicate(&self, is_part: impl Fn(Part) -> bool) -> Option<Place> {
        let ids: Vec<_> = self
            .fields
            .iter()
            .filter(|field| field.name == "key_id" && is_part(field.part))
            .collect();
        let is_known = |at: usize| ids[..at].iter().any(|it| self.bytes(it) == self.bytes(ids[at]));
        (0..ids.len()).find(|at| is_known(*at)).map(|at| whole(ids[at]))
    }

    /// Returns the bytes after four signature blocks.
    fn fifth_block(&self) -> Option<Place> {
        let is_in_area = |field: &&Field| field.offset >= self.signed_size as u64;
        self.fields.iter().filter(is_in_area).find(|field| field.part == Part::Unparsed).map(whole)
    }

    /// Returns the field of the first signature block that breaks the rule (§5.1).
    fn signature_block(&self, reason: Reason) -> Option<Place> {
        (0..MAX_SIGNERS).find_map(|index| {
            let part = Part::SignatureBlock(index);
            let field = |name| self.field(part, name);
            let value = |name| field(name).map(|field| number(self.bytes(field)));
            let name = match reason {
                Reason::SignatureAlgorithmZero => (value("algorithm")? == 0).then_some("algorithm"),
                Reason::SignatureBlockSizes => {
                    let numbers = (value("algorithm")? as u32, value("parameters")? as u32);
                    let known = Algorithm::from_numbers(numbers.0, numbers.1)?;
                    if value("public_key_size")? != known.public_key_size() as u64 {
                        Some("public_key_size")
                    } else {
                        let size = value("signature_size")?;
                        let is_right =
                            known.signature_size().is_none_or(|right| right as u64 == size);
                        (!is_right).then_some("signature_size")
                    }
                }
                // The size is wrong for which the block has too few bytes.
                _ => match (value("public_key_size"), value("signature_size")) {
                    (Some(1..), _) if field("public key").is_none() => Some("public_key_size"),
                    (_, Some(1..)) if field("signature").is_none() => Some("signature_size"),
                    (_, Some(_)) => None,
                    // The bytes end within the four numbers, so the position is the whole block.
                    (_, None) => return self.span(part),
                },
            };
            name.and_then(field).map(whole)
        })
    }

    /// Returns the position of all fields of a part.
    fn span(&self, part: Part) -> Option<Place> {
        let mut fields = self.fields.iter().filter(|field| field.part == part);
        let first = fields.next()?;
        let end = fields.next_back().map_or(first.end(), Field::end);
        let size = end - first.offset;
        Some(Place { offset: first.offset, size, part: Some(part), field: None, value: None })
    }

    /// Returns the position of the first difference between signature blocks and list of signers (§5.2).
    fn signers_against_blocks(&self, reason: Reason) -> Option<Place> {
        let area = self.metadata.get(self.signed_size..)?;
        let blocks: List<KeyRecord, MAX_SIGNERS> = block_keys(&SignatureBlocks::parse(area).ok()?);
        let signer_count = u32_at(self.metadata, 52)? as usize;
        match reason {
            Reason::SignatureBlockMissing => self.span(Part::Signer(blocks.len())),
            Reason::SignatureBlockExtra => self.span(Part::SignatureBlock(signer_count)),
            _ => {
                let index = (0..signer_count).find(|index| {
                    let record = self
                        .field(Part::Signer(*index), "algorithm")
                        .and_then(|field| self.metadata.get(field.offset as usize..))
                        .and_then(KeyRecord::parse);
                    record.as_ref() != blocks.get(*index)
                })?;
                self.span(Part::SignatureBlock(index))
            }
        }
    }

    /// Returns the field of the first payload record that breaks the rule (§4.3).
    fn payload(&self, reason: Reason) -> Option<Place> {
        let starts = self
            .fields
            .iter()
            .filter(|field| matches!(field.part, Part::PayloadRecord(..)) && field.name == "type");
        let (parts, records): (Vec<_>, Vec<_>) = starts
            .map_while(|start| Some((start.part, Record::read(self.bytes_from(start))?)))
            .unzip();
        let mut end = self.metadata.len() as u64;
        for (index, record) in records.iter().enumerate() {
            let fault = record.fault(reason, &records[..index], end, self.bundle_type?);
            if let Some((first, last)) = fault {
                let part = parts[index];
                let (first, last) = (self.field(part, first)?, self.field(part, last)?);
                return Some(Place { size: last.end() - first.offset, ..whole(first) });
            }
            end = record.end();
        }
        None
    }

    fn bytes_from(&self, field: &Field) -> &[u8] {
        self.metadata.get(field.offset as usize..).unwrap_or(&[])
    }
}
