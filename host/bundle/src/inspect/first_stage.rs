//! Reads a first-stage image (`spec/first-stage.md`) without trusting any value in it.

use hartlock_first_stage_model::{ROOM_SIZE, check_signature, key_digest};
use hartlock_image::first_stage::{
    FIRST_STAGE_TAG, FirstStageAlgorithm, FirstStageHeader, Front, Image, KEY_AREA_SIZE,
};
use hartlock_image::{Reason, is_zero};
use serde::Serialize;

use super::Inspection;
use super::fields::{Field, Part, Walk, push_until};
use super::place::{Place, whole};
use super::signatures::Check;
use super::table::{Kind, Row, algorithm, row};
use crate::first_stage::{FirstStageDescription, KeyByDigest};

/// The content of a first-stage image, unverified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstStage {
    /// Public key in the image. An attacker may have put it there.
    pub key: Option<KeyByDigest>,
    /// Result of checking the signature with that key, if key, signature and signed part could be located.
    pub check: Option<Check>,
    /// Content of the header and the code, if the header is well formed.
    pub content: Option<FirstStageDescription>,
}

/// Fields at the start of the image (first stage §4).
const LEAD: [Row; 4] = [
    row("tag", 16, Kind::Text, "§4", "what this is"),
    row("algorithm", 4, Kind::Named(algorithm), "§2", "signature algorithm: it gives every offset"),
    row("parameters", 4, Kind::Number, "§2", "variant of the algorithm"),
    row("reserved", 40, Kind::Zero, "§4", "without a meaning, so it must be zero"),
];
const KEY: Row = row("public key", 0, Kind::Bytes, "§2.1", "not trusted: devices know its digest");
const KEY_PADDING: Row = row("padding", 0, Kind::Zero, "§2.1", "after a key of less than 64 bytes");
const SIGNATURE: Row =
    row("signature", 0, Kind::Bytes, "§2.2", "over header and code, and over nothing else");
const SIGNATURE_PADDING: Row = row("padding", 0, Kind::Zero, "§3", "up to a multiple of 64");
/// Fields of the signed header (first stage §6).
const HEADER: [Row; 13] = [
    row("tag", 16, Kind::Text, "§6", "no other signed object begins with it"),
    row("algorithm", 4, Kind::Named(algorithm), "§2", "that of the lead, and signed"),
    row("parameters", 4, Kind::Number, "§2", "those of the lead, and signed"),
    row("code_size", 8, Kind::Size, "§6", "bytes of the code: the one length"),
    row("security_version", 8, Kind::Number, "§7", "a device with a higher floor refuses it"),
    row("lifecycle_mask", 4, Kind::Lifecycle, "§7", "states of a device in which it may start"),
    row("reserved", 20, Kind::Zero, "§6", "without a meaning, so it must be zero"),
    row("board", 32, Kind::Text, "§7", "a device of another board refuses it"),
    row("soc", 32, Kind::Text, "§7", "a device with another SoC refuses it"),
    row("next_algorithm", 4, Kind::Named(algorithm), "§6.1", "of the key of the next stage"),
    row("next_parameters", 4, Kind::Number, "§6.1", "variant of that algorithm"),
    row("reserved", 24, Kind::Zero, "§6", "without a meaning, so it must be zero"),
    row("next_key_digest", 32, Kind::Bytes, "§6.1", "what that key must be; zeros: none"),
];
const HEADER_END: Row =
    row("reserved", 64, Kind::Zero, "§6", "without a meaning, so it must be zero");
const CODE: Row = row("code", 0, Kind::Bytes, "§9", "what the core starts");
const TRAILING_BYTES: Row =
    row("trailing bytes", 0, Kind::Bytes, "§3", "no part of the image; a file has none");
const UNPARSED: Row =
    row("not read", 0, Kind::Bytes, "§3", "what it means depends on what is wrong before it");

/// Returns true if the bytes begin with the tag of a first-stage image.
pub(super) fn is_one(start: &[u8]) -> bool {
    start.starts_with(FIRST_STAGE_TAG)
}

/// Inspects an image. `image` has the bytes of the file, up to the maximum size of an image.
pub(super) fn inspect(image: Vec<u8>, file_size: u64) -> Inspection {
    let fields = fields(&image, file_size);
    let front = Front::parse(&image);
    let mut view = FirstStage { key: None, check: None, content: None };
    let reason = read(&image, file_size, &mut view).err();
    // Code is shown by its size, so its bytes are not kept.
    let end = fields
        .iter()
        .find(|it| it.part == Part::Code)
        .map_or(image.len(), |it| usize::try_from(it.offset).unwrap_or(image.len()));
    let place = reason.and_then(|reason| place_of(reason, &fields, &image, file_size));
    if let Ok(front) = front {
        view.key = Some(KeyByDigest::new(front.algorithm(), &key_digest(&front)));
    }
    let mut metadata = image;
    metadata.truncate(end);
    Inspection {
        file_size,
        header: None,
        manifest: None,
        reason,
        place,
        signatures: Vec::new(),
        memory: None,
        fields,
        metadata,
        first_stage: Some(view),
        carried: None,
        looks_like: None,
    }
}

/// Returns the first rule that the form of the image breaks. Rules about the device are not checked.
fn read(image: &[u8], file_size: u64, view: &mut FirstStage) -> Result<(), Reason> {
    let front = Front::parse(image)?;
    let parts = Image::parse(front, image, None)?;
    view.check = Some(match check_signature(&parts, &mut vec![0; ROOM_SIZE]) {
        Ok(()) => Check::Verifies,
        Err(reason) => Check::Fails(reason),
    });
    let header = FirstStageHeader::parse(parts.signed, front.algorithm())?;
    header.board_name()?;
    header.soc_name()?;
    let content = FirstStageDescription::new(&header, key_digest(&front), parts.code());
    let size = content.image_size;
    view.content = Some(content);
    if file_size > size { Err(Reason::TrailingBytes) } else { Ok(()) }
}

/// Divides the file into fields, so that every byte belongs to exactly one field.
fn fields(image: &[u8], file_size: u64) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut walk = Walk::new(&mut fields, image, 0);
    let code_size = known_fields(&mut walk, image);
    match code_size {
        None => push_until(&mut fields, Part::Unparsed, &UNPARSED, file_size),
        Some(code_size) => {
            let start = fields.last().map_or(0, Field::end);
            let end = start.saturating_add(code_size).min(file_size);
            push_until(&mut fields, Part::Code, &CODE, end);
            push_until(&mut fields, Part::AfterImage, &TRAILING_BYTES, file_size);
        }
    }
    fields
}

/// Adds the fields before the code and returns the size of the code. Returns `None` where the next field
/// cannot be located.
fn known_fields(walk: &mut Walk<'_, '_>, image: &[u8]) -> Option<u64> {
    walk.record(Part::Lead, &LEAD)?;
    let number = |offset| hartlock_image::u32_at(image, offset);
    let algorithm = FirstStageAlgorithm::from_numbers(number(16)?, number(20)?)?;
    walk.take(Part::Key, &KEY, algorithm.key_size())?;
    walk.take(Part::Key, &KEY_PADDING, KEY_AREA_SIZE - algorithm.key_size())?;
    let signature = algorithm.signature_range();
    walk.take(Part::Signature, &SIGNATURE, signature.len())?;
    walk.take(Part::Signature, &SIGNATURE_PADDING, algorithm.signed_offset() - signature.end)?;
    walk.record(Part::Header, &HEADER)?;
    walk.record(Part::Header, std::slice::from_ref(&HEADER_END))?;
    hartlock_image::u64_at(image, algorithm.signed_offset() + 24)
}

/// Returns the position of the fault that `reason` names.
fn place_of(reason: Reason, fields: &[Field], image: &[u8], file_size: u64) -> Option<Place> {
    let field = |part, name: &str| fields.iter().find(|it| it.part == part && it.name == name);
    let header = |name| field(Part::Header, name).map(whole);
    let bytes =
        |field: &Field| image.get(field.offset as usize..field.end() as usize).unwrap_or_default();
    let filler = |is_part: fn(Part) -> bool| {
        let not_zero = |it: &&Field| it.is_filler() && is_part(it.part) && !is_zero(bytes(it));
        fields.iter().find(not_zero).map(|it| {
            let index = bytes(it).iter().position(|byte| *byte != 0).unwrap_or(0) as u64;
            Place { offset: it.offset + index, size: 1, ..whole(it) }
        })
    };
    match reason {
        Reason::Truncated => Some(Place {
            offset: file_size,
            size: 0,
            part: fields.iter().map(|it| it.part).rfind(|part| *part != Part::Unparsed),
            field: None,
            value: None,
        }),
        Reason::UnknownTag => field(Part::Lead, "tag").map(whole),
        Reason::FirstStageAlgorithm => field(Part::Lead, "algorithm").map(whole),
        Reason::SignatureBlockPadding => filler(|part| part != Part::Header),
        Reason::CodeSizeOutOfRange => header("code_size"),
        Reason::WrongBundleType => header("tag"),
        Reason::SignerMismatch => header("algorithm"),
        Reason::ReservedNotZero => filler(|part| part == Part::Header),
        Reason::LifecycleMaskInvalid => header("lifecycle_mask"),
        Reason::NextKeyInvalid => header("next_algorithm"),
        Reason::BoardNameInvalid => header("board"),
        Reason::SocNameInvalid => header("soc"),
        Reason::TrailingBytes => field(Part::AfterImage, TRAILING_BYTES.name).map(whole),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::comparison::{check_section, compare_with};
    use super::*;

    const SPEC: &str = include_str!("../../../../spec/first-stage.md");

    #[test]
    fn the_tables_are_those_of_the_specification() {
        compare_with(SPEC, "## 4. Lead", &LEAD);
        compare_with(SPEC, "## 6. Header", HEADER.iter().chain([&HEADER_END]));
    }

    #[test]
    fn every_section_that_is_named_exists() {
        let single = [
            &KEY,
            &KEY_PADDING,
            &SIGNATURE,
            &SIGNATURE_PADDING,
            &HEADER_END,
            &CODE,
            &TRAILING_BYTES,
            &UNPARSED,
        ];
        for row in LEAD.iter().chain(&HEADER).chain(single) {
            check_section(SPEC, row);
        }
    }
}
