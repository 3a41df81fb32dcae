//! The tables of image format §4 and §5.1: the fields of a bundle and their meaning.

use hartlock_image::{Algorithm, HashId, Lifecycle, PayloadType, Policy};

use crate::date::date_text;
use crate::describe::{carried_names, hex, lifecycle_names};

/// A row of a table of the specification: one field.
#[derive(Debug)]
pub(super) struct Row {
    pub name: &'static str,
    /// Size in bytes; 0 if it depends on another field.
    pub size: usize,
    pub kind: Kind,
    /// Section of image-format.md with the rule for the value.
    pub section: &'static str,
    /// Purpose of the field, in a clause.
    pub meaning: &'static str,
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Text, padded with zeros.
    Text,
    /// A number that is printed in decimal.
    Number,
    /// A size or an offset in the bundle, in bytes.
    Size,
    /// An address in memory.
    Address,
    /// Seconds since 1970-01-01.
    Date,
    /// A bit mask of lifecycle states.
    Lifecycle,
    /// A bit mask of signature algorithms.
    Algorithms,
    /// A number with a name.
    Named(fn(u32) -> Option<&'static str>),
    /// A digest, a key or a signature.
    Bytes,
    /// Bytes without a meaning.
    Zero,
}

pub(super) const fn row(
    name: &'static str,
    size: usize,
    kind: Kind,
    section: &'static str,
    meaning: &'static str,
) -> Row {
    Row { name, size, kind, section, meaning }
}

const fn reserved(size: usize) -> Row {
    row("reserved", size, Kind::Zero, "§4", "without a meaning, so it must be zero")
}

/// The header (§4.1).
pub(super) const HEADER: [Row; 14] = [
    row("tag", 16, Kind::Text, "§3.1", "what this is; a signature over one type fits no other"),
    row("signed_size", 4, Kind::Size, "§3.2", "bytes of the signed region, this header included"),
    row("signatures_size", 4, Kind::Size, "§3.2", "bytes of the signature area that follows"),
    row("bundle_size", 8, Kind::Size, "§4.3", "bytes of the whole bundle"),
    row("security_version", 8, Kind::Number, "§7.2", "a device with a higher floor refuses it"),
    row("created", 8, Kind::Date, "§4.1", "when it was made; information only"),
    row("lifecycle_mask", 4, Kind::Lifecycle, "§7.3", "states of a device in which it may boot"),
    row("signer_count", 4, Kind::Number, "§4.1", "keys that sign, 1 to 4"),
    row("payload_count", 4, Kind::Number, "§4.1", "payloads, 1 to 8"),
    row("extensions_size", 4, Kind::Size, "§4.6", "bytes of the extension records"),
    row("board", 32, Kind::Text, "§7.1", "a device of another board refuses it"),
    row("soc", 32, Kind::Text, "§7.1", "a device with another SoC refuses it"),
    row("label", 64, Kind::Text, "§4.1", "text for people; a device does not read it"),
    reserved(64),
];

/// A key record (§4.2).
pub(super) const KEY_RECORD: [Row; 4] = [
    row("algorithm", 4, Kind::Named(algorithm), "§2.2", "signature algorithm of the key"),
    row("parameters", 4, Kind::Number, "§2.2", "variant of the algorithm"),
    row("key_id", 48, Kind::Bytes, "§2.5", "SHA-384 over algorithm, parameters and public key"),
    reserved(8),
];

/// A payload record up to the digest (§4.3).
pub(super) const PAYLOAD_RECORD: [Row; 10] = [
    row("type", 4, Kind::Named(payload_type), "§2.4", "what the payload is"),
    row("hash", 4, Kind::Named(hash), "§2.3", "hash of the digest"),
    row("mode", 4, Kind::Named(mode), "§6.1", "one hash over all, or a tree over blocks"),
    row("block_size", 4, Kind::Size, "§6.1", "bytes that are hashed independently; 0 if flat"),
    row("offset", 8, Kind::Size, "§4.3", "where the payload begins in the bundle"),
    row("size", 8, Kind::Size, "§4.3", "its bytes, without padding"),
    row("load_address", 8, Kind::Address, "§4.3", "where it goes in memory"),
    row("memory_size", 8, Kind::Size, "§4.3", "memory that belongs to it, from there on"),
    row("entry", 8, Kind::Address, "§4.3", "its first instruction; 0 for data"),
    reserved(8),
];

/// The digest of a payload record (§4.3). Its length depends on the hash.
pub(super) const DIGEST: Row =
    row("digest", 64, Kind::Bytes, "§6", "what the hash of the payload must be");
pub(super) const DIGEST_PADDING: Row =
    row("digest padding", 0, Kind::Zero, "§4.3", "after a digest of less than 64 bytes");

/// The trust section, before its keys (§4.4).
pub(super) const TRUST: [Row; 3] = [
    row("policy", 4, Kind::Named(policy), "§5.3", "which of these keys must sign what boots next"),
    row("key_count", 4, Kind::Number, "§4.4", "keys, 1 to 8"),
    row("carried", 8, Kind::Algorithms, "§4.4", "signature algorithms of the next stage"),
];

/// An extension record, before its value (§4.6).
pub(super) const EXTENSION: [Row; 2] = [
    row("type", 4, Kind::Named(extension), "§4.6", "what the record says"),
    row("length", 4, Kind::Size, "§4.6", "bytes of its value"),
];
/// An extension with one of several further devices (§4.6).
pub(super) const IDENTITY: [Row; 2] = [
    row("board", 32, Kind::Text, "§7.1", "a further board that accepts it"),
    row("soc", 32, Kind::Text, "§7.1", "with this SoC"),
];
/// An extension with the minimum version of the boot bundle (§4.6).
pub(super) const BOOT_VERSION: [Row; 1] =
    [row("boot_version", 8, Kind::Number, "§7.4", "with an older boot bundle it does not boot")];
/// An extension with the encryption of a payload (§4.6).
pub(super) const ENCRYPTION: [Row; 4] = [
    row("payload", 4, Kind::Named(payload_type), "§4.6", "the payload that is encrypted"),
    row("cipher", 4, Kind::Named(cipher), "§4.6", "how it is encrypted"),
    row("class", 16, Kind::Bytes, "§7.6", "id of the key that a device must have"),
    row("wrapped key", 40, Kind::Bytes, "§7.6", "key of the payload, wrapped by that key"),
];
/// The value of an extension of an unknown type (§4.6).
pub(super) const EXTENSION_VALUE: Row =
    row("value", 0, Kind::Bytes, "§4.6", "what it means depends on the type");

/// The section with the kernel command line (§4.5).
pub(super) const COMMAND_LINE: [Row; 2] =
    [row("length", 4, Kind::Number, "§4.5", "characters of the command line"), reserved(4)];
pub(super) const BOOTARGS: Row = row("bootargs", 0, Kind::Text, "§4.5", "what Linux is told");
pub(super) const BOOTARGS_PADDING: Row =
    row("padding", 0, Kind::Zero, "§4.5", "up to a multiple of 8");

/// A signature block, before its public key (§5.1).
pub(super) const SIGNATURE_BLOCK: [Row; 4] = [
    row("algorithm", 4, Kind::Named(algorithm), "§2.2", "signature algorithm"),
    row("parameters", 4, Kind::Number, "§2.2", "variant of the algorithm"),
    row("public_key_size", 4, Kind::Size, "§5.1", "bytes of the public key"),
    row("signature_size", 4, Kind::Size, "§5.1", "bytes of the signature"),
];
pub(super) const PUBLIC_KEY: Row =
    row("public key", 0, Kind::Bytes, "§5.2", "not trusted as such: devices know its key id");
pub(super) const SIGNATURE: Row =
    row("signature", 0, Kind::Bytes, "§5.2", "over the signed region, from its first byte");
pub(super) const BLOCK_PADDING: Row =
    row("padding", 0, Kind::Zero, "§5.1", "up to a multiple of 8");

/// The bytes after the signature area (§3, §3.3).
pub(super) const PADDING: Row = row("padding", 0, Kind::Zero, "§3.3", "up to a multiple of 4096");
pub(super) const PAYLOAD: Row = row("payload", 0, Kind::Bytes, "§6", "signed through its digest");
pub(super) const TRAILING_BYTES: Row =
    row("trailing bytes", 0, Kind::Bytes, "§3.3", "no part of the bundle; a file has none");
pub(super) const UNPARSED: Row =
    row("not read", 0, Kind::Bytes, "§3", "what it means depends on what is wrong before it");

pub(super) fn algorithm(number: u32) -> Option<&'static str> {
    Algorithm::scheme_name(number)
}

fn extension(number: u32) -> Option<&'static str> {
    match number {
        1 => Some("identities"),
        2 => Some("boot-version"),
        3 => Some("encryption"),
        _ => None,
    }
}

fn cipher(number: u32) -> Option<&'static str> {
    (number == 1).then_some("aes-256-ctr")
}

fn payload_type(number: u32) -> Option<&'static str> {
    PayloadType::from_number(number).map(PayloadType::name)
}

fn hash(number: u32) -> Option<&'static str> {
    HashId::from_number(number).map(|hash| match hash.is_nist_approved() {
        true => hash.name(),
        // KT128 is the only hash that is not NIST-approved.
        false => "kt128, not NIST-approved",
    })
}

fn mode(number: u32) -> Option<&'static str> {
    match number {
        1 => Some("flat"),
        2 => Some("blocks"),
        3 => Some("parallelhash"),
        _ => None,
    }
}

fn policy(number: u32) -> Option<&'static str> {
    Policy::from_number(number).map(Policy::name)
}

impl Kind {
    /// Returns the value in words. Bytes that could control a terminal are escaped.
    pub(super) fn text(self, bytes: &[u8]) -> String {
        let number = number(bytes);
        match self {
            Kind::Text => format!("\"{}\"", text_of(bytes)),
            Kind::Number => number.to_string(),
            Kind::Size if number < 10 => number.to_string(),
            Kind::Size => format!("{number} ({number:#x})"),
            Kind::Address => format!("{number:#x}"),
            Kind::Date if number == 0 => "0 (not stated)".to_string(),
            Kind::Date => format!("{number} ({})", date_text(number)),
            Kind::Lifecycle => lifecycle_text(number as u32),
            Kind::Algorithms => format!("{number:#x} ({})", carried_names(number).join(", ")),
            Kind::Named(name_of) => {
                let name = u32::try_from(number).ok().and_then(name_of);
                format!("{number} ({})", name.unwrap_or("unknown"))
            }
            Kind::Zero if hartlock_image::is_zero(bytes) => "zero".to_string(),
            Kind::Zero => format!("not zero: {}", hex(bytes)),
            Kind::Bytes => hex(bytes),
        }
    }
}

/// Returns a little-endian number of up to 8 bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Returns the text before the zeros at the end. It is escaped, because the bytes are untrusted and could
/// contain control characters of terminals.
pub(super) fn text_of(field: &[u8]) -> String {
    let len = field.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    field[..len].escape_ascii().to_string()
}

fn lifecycle_text(mask: u32) -> String {
    let names = lifecycle_names(mask).join(", ");
    match (names.as_str(), mask & !Lifecycle::MASK) {
        ("", 0) => "none".to_string(),
        (_, 0) => names,
        ("", unknown) => format!("unknown bits {unknown:#x}"),
        (_, unknown) => format!("{names}, unknown bits {unknown:#x}"),
    }
}

/// Comparisons of tables with the text of a specification.
#[cfg(test)]
pub mod comparison {
    use super::Row;

    /// Returns offset, size and name of each row of the table below a heading, as far as these are numbers. A remark in
    /// parentheses is no part of a name.
    fn table_of(spec: &str, heading: &str) -> Vec<(usize, usize, String)> {
        let section = spec.split_once(heading).expect(heading).1;
        let rows = section.lines().skip_while(|line| !line.starts_with('|'));
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
        rows.take_while(|line| line.starts_with('|'))
            .map(cells)
            .filter_map(|cells: Vec<String>| {
                let name = cells[3].split(" (").next()?.to_owned();
                Some((cells[1].parse().ok()?, cells[2].parse().ok()?, name))
            })
            .collect()
    }

    pub fn compare_with<'a>(spec: &str, heading: &str, rows: impl IntoIterator<Item = &'a Row>) {
        let mut offset = 0;
        let mut ours = Vec::new();
        for row in rows {
            ours.push((offset, row.size, row.name.to_owned()));
            offset += row.size;
        }
        assert_eq!(ours, table_of(spec, heading), "{heading}");
    }

    pub fn check_section(spec: &str, row: &Row) {
        let number = row.section.trim_start_matches('§');
        let (chapter, section) = (format!("\n## {number}. "), format!("\n### {number} "));
        assert!(spec.contains(&chapter) || spec.contains(&section), "{row:?}");
        assert!(row.meaning.chars().count() <= 60, "{row:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::comparison::{check_section, compare_with};
    use super::*;

    const SPEC: &str = include_str!("../../../../spec/image-format.md");

    fn compare<'a>(heading: &str, rows: impl IntoIterator<Item = &'a Row>) {
        compare_with(SPEC, heading, rows);
    }

    #[test]
    fn the_tables_are_those_of_the_specification() {
        compare("### 4.1", &HEADER);
        compare("### 4.2", &KEY_RECORD);
        compare("### 4.3", PAYLOAD_RECORD.iter().chain([&DIGEST]));
        compare("### 4.4", &TRUST);
        compare("### 4.5", &COMMAND_LINE);
        compare("### 4.6", &EXTENSION);
        compare("### 5.1", &SIGNATURE_BLOCK);
    }

    #[test]
    fn every_section_that_is_named_exists() {
        let tables: [&[Row]; 9] = [
            &HEADER,
            &KEY_RECORD,
            &PAYLOAD_RECORD,
            &TRUST,
            &COMMAND_LINE,
            &EXTENSION,
            &IDENTITY,
            &BOOT_VERSION,
            &SIGNATURE_BLOCK,
        ];
        let single = [
            &DIGEST,
            &DIGEST_PADDING,
            &BOOTARGS,
            &BOOTARGS_PADDING,
            &EXTENSION_VALUE,
            &PUBLIC_KEY,
            &SIGNATURE,
            &BLOCK_PADDING,
            &PADDING,
            &PAYLOAD,
            &TRAILING_BYTES,
            &UNPARSED,
        ];
        for row in tables.into_iter().flatten().chain(single) {
            check_section(SPEC, row);
        }
    }

    #[test]
    fn values_are_words_whatever_the_bytes_are() {
        assert_eq!(Kind::Named(payload_type).text(&[16, 0, 0, 0]), "16 (kernel)");
        assert_eq!(Kind::Named(payload_type).text(&[99, 0, 0, 0]), "99 (unknown)");
        assert_eq!(Kind::Size.text(&[0, 0x10, 0, 0]), "4096 (0x1000)");
        assert_eq!(Kind::Lifecycle.text(&[0; 4]), "none");
        assert_eq!(Kind::Lifecycle.text(&[9, 0, 0, 0]), "development, unknown bits 0x8");
        assert_eq!(Kind::Text.text(b"a\x1b[2J\0\0"), "\"a\\x1b[2J\"");
        assert_eq!(Kind::Text.text(&[0; 32]), "\"\"");
        assert_eq!(Kind::Zero.text(&[0, 2]), "not zero: 0002");
        assert_eq!(Kind::Number.text(&[0xff; 8]), u64::MAX.to_string());
    }
}
