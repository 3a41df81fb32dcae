//! Extension records of a manifest (image format §4.6).

use core::num::NonZeroU64;

use crate::Reason;
use crate::bytes::{Writer, bytes_at, u32_at, u64_at};
use crate::payload::PayloadRecord;
use crate::types::{
    BundleType, IDENTITY_SIZE, Identity, IdentityField, List, MAX_PAYLOADS, PayloadType,
};

/// Largest extension area, in bytes (§4.1).
pub const MAX_EXTENSIONS_SIZE: usize = 2048;
/// Maximum number of identities in addition to that of the header (§4.6).
pub const MAX_OTHER_IDENTITIES: usize = 7;
/// Length in bytes of the type and length fields before the value.
const EXTENSION_HEADER_SIZE: usize = 8;

/// Size in bytes of the record of an encrypted payload (§4.6).
pub const ENCRYPTION_RECORD_SIZE: usize = 64;
/// Length in bytes of the id of a class key (§7.6).
pub const CLASS_ID_SIZE: usize = 16;
/// Length in bytes of a key of AES-256 that is wrapped (RFC 3394).
pub const WRAPPED_KEY_SIZE: usize = 40;
/// The number of AES-256 in counter mode, the only cipher.
const AES_256_CTR: u32 = 1;

/// An encoded record of an encrypted payload.
pub type EncryptionField = [u8; ENCRYPTION_RECORD_SIZE];

/// The encryption of a payload (§4.6, §7.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// Type of the payload.
    pub payload_type: PayloadType,
    /// Id of the class key that wraps the content key.
    pub class_id: [u8; CLASS_ID_SIZE],
    /// Content key, wrapped.
    pub wrapped: [u8; WRAPPED_KEY_SIZE],
}

impl Encryption {
    /// Parses a record. Returns `None` for one that no manifest has.
    fn parse(field: &EncryptionField) -> Option<Self> {
        Some(Self {
            payload_type: PayloadType::from_number(u32_at(field, 0)?)?,
            class_id: bytes_at(field, 8)?,
            wrapped: bytes_at(field, 24)?,
        })
    }

    /// Encodes the record.
    pub fn encode(&self) -> EncryptionField {
        let mut field = [0; ENCRYPTION_RECORD_SIZE];
        let mut out = Writer::new(&mut field);
        out.put_u32(self.payload_type as u32);
        out.put_u32(AES_256_CTR);
        out.put(&self.class_id);
        out.put(&self.wrapped);
        field
    }
}

/// The type of an extension record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
enum ExtensionType {
    /// Other boards and SoCs that the bundle is for.
    Identities = 1,
    /// The boot bundle version that a system bundle requires.
    BootVersion = 2,
    /// Encrypted payloads of a system bundle.
    Encryption = 3,
}

impl ExtensionType {
    /// Returns the type with this number, or `None` if a bundle of this type may not have it.
    fn from_number(number: u32, bundle_type: BundleType) -> Option<Self> {
        match number {
            1 => Some(ExtensionType::Identities),
            2 if bundle_type == BundleType::System => Some(ExtensionType::BootVersion),
            3 if bundle_type == BundleType::System => Some(ExtensionType::Encryption),
            _ => None,
        }
    }
}

/// The extension records of a manifest. Each type occurs at most once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extensions<'a> {
    /// Encoded identities of devices that the bundle is for, in addition to the identity in the
    /// header.
    pub identities: &'a [IdentityField],
    /// Lowest security version of the boot bundle with which a system bundle may boot.
    pub boot_version: Option<NonZeroU64>,
    /// Encoded records of the encrypted payloads.
    pub encryption: &'a [EncryptionField],
}

impl<'a> Extensions<'a> {
    /// The value without any records.
    pub const NONE: Self = Self { identities: &[], boot_version: None, encryption: &[] };

    /// Returns the encryption of each encrypted payload, in ascending order of the types.
    pub fn encrypted(&self) -> impl Iterator<Item = Encryption> + use<'a> {
        // The fields were checked before, so `filter_map` drops none.
        self.encryption.iter().filter_map(Encryption::parse)
    }

    /// Returns the encryption of the payload of a type, or `None` for plain text.
    pub fn encryption_of(&self, payload_type: PayloadType) -> Option<Encryption> {
        self.encrypted().find(|encryption| encryption.payload_type == payload_type)
    }

    /// Parses the extension area (§8 step 9). `own` is the identity in the header.
    pub(crate) fn parse(
        area: &'a [u8],
        bundle_type: BundleType,
        own: &IdentityField,
        payloads: &List<PayloadRecord, MAX_PAYLOADS>,
    ) -> Result<Self, Reason> {
        let mut extensions = Self::NONE;
        let mut rest = area;
        let mut last = None;
        while !rest.is_empty() {
            // The lengths of the area and of every record are multiples of eight bytes.
            let field = |offset| u32_at(rest, offset).ok_or(Reason::ExtensionLength);
            let (number, len) = (field(0)?, field(4)? as usize);
            let kind =
                ExtensionType::from_number(number, bundle_type).ok_or(Reason::ExtensionUnknown)?;
            if last >= Some(kind) {
                return Err(Reason::ExtensionOrder);
            }
            last = Some(kind);
            let (value, after) = rest
                .get(EXTENSION_HEADER_SIZE..)
                .and_then(|bytes| bytes.split_at_checked(len))
                .ok_or(Reason::ExtensionLength)?;
            match kind {
                ExtensionType::Identities => {
                    extensions.identities = parse_identities(value, own)?;
                }
                ExtensionType::BootVersion => {
                    extensions.boot_version = Some(parse_boot_version(value)?);
                }
                ExtensionType::Encryption => {
                    extensions.encryption = parse_encryption(value, payloads)?;
                }
            }
            rest = after;
        }
        Ok(extensions)
    }

    /// Writes the records without checking them.
    pub(crate) fn encode(&self, out: &mut Writer<'_>) {
        if !self.identities.is_empty() {
            let len = self.identities.len().wrapping_mul(IDENTITY_SIZE);
            put_header(out, ExtensionType::Identities, len);
            out.put(self.identities.as_flattened());
        }
        if let Some(version) = self.boot_version {
            put_header(out, ExtensionType::BootVersion, 8);
            out.put_u64(version.get());
        }
        if !self.encryption.is_empty() {
            put_header(out, ExtensionType::Encryption, self.encryption.as_flattened().len());
            out.put(self.encryption.as_flattened());
        }
    }

    /// Returns the length of the encoded records in bytes.
    pub(crate) fn encoded_len(&self) -> usize {
        let with_header =
            |len: usize| if len > 0 { len.wrapping_add(EXTENSION_HEADER_SIZE) } else { 0 };
        with_header(self.identities.len().wrapping_mul(IDENTITY_SIZE))
            .wrapping_add(with_header(if self.boot_version.is_some() { 8 } else { 0 }))
            .wrapping_add(with_header(self.encryption.as_flattened().len()))
    }
}

fn put_header(out: &mut Writer<'_>, kind: ExtensionType, len: usize) {
    out.put_u32(kind as u32);
    out.put_u32(len as u32);
}

fn parse_identities<'a>(
    value: &'a [u8],
    own: &IdentityField,
) -> Result<&'a [IdentityField], Reason> {
    let (fields, rest) = value.as_chunks::<IDENTITY_SIZE>();
    if fields.is_empty() || fields.len() > MAX_OTHER_IDENTITIES || !rest.is_empty() {
        return Err(Reason::ExtensionLength);
    }
    for (index, field) in fields.iter().enumerate() {
        Identity::from_field(field)?;
        if field == own || fields.iter().take(index).any(|earlier| earlier == field) {
            return Err(Reason::IdentityRepeated);
        }
    }
    Ok(fields)
}

fn parse_boot_version(value: &[u8]) -> Result<NonZeroU64, Reason> {
    if value.len() != 8 {
        return Err(Reason::ExtensionLength);
    }
    // Every boot bundle has version 0 or more, so a record with 0 would be a second encoding of a
    // missing record.
    u64_at(value, 0).and_then(NonZeroU64::new).ok_or(Reason::BootVersionZero)
}

fn parse_encryption<'a>(
    value: &'a [u8],
    payloads: &List<PayloadRecord, MAX_PAYLOADS>,
) -> Result<&'a [EncryptionField], Reason> {
    let (fields, rest) = value.as_chunks::<ENCRYPTION_RECORD_SIZE>();
    if fields.is_empty() || fields.len() > MAX_PAYLOADS || !rest.is_empty() {
        return Err(Reason::ExtensionLength);
    }
    let mut last = None;
    for field in fields {
        if u32_at(field, 4) != Some(AES_256_CTR) {
            return Err(Reason::CipherUnknown);
        }
        let number = u32_at(field, 0);
        if last >= number {
            return Err(Reason::EncryptionOrder);
        }
        last = number;
        let is_of = |payload: &PayloadRecord| Some(payload.payload_type as u32) == number;
        if !payloads.iter().any(|payload| is_of(payload) && payload.size > 0) {
            return Err(Reason::EncryptionWithoutPayload);
        }
    }
    Ok(fields)
}
