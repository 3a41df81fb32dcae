//! The first-stage form (`spec/first-stage.md`): an image format that hardware verifies while no core runs.
//!
//! An image is parsed in three steps, in the order in which hardware reads it: [`Front`] before the key is trusted,
//! [`Image`] before anything is authentic, and [`FirstStageHeader`] after the signature was verified.

mod algorithm;
#[cfg(test)]
mod tests;

use core::ops::RangeInclusive;

use crate::Reason;
use crate::bytes::{Writer, bytes_at, is_zero, u32_at, u64_at};
use crate::types::{Lifecycle, Name};

pub use algorithm::FirstStageAlgorithm;

/// Tag at the start of an image (§4).
pub const FIRST_STAGE_TAG: &[u8; 16] = b"HARTLOCK-FRST-v1";
/// Tag at the start of the signed part (§6). No other signed object begins with it.
pub const CODE_TAG: &[u8; 16] = b"HARTLOCK-CODE-v1";
/// Length of the lead in bytes (§4).
const LEAD_SIZE: usize = 64;
/// Length of the key area in bytes (§2.1).
pub const KEY_AREA_SIZE: usize = 64;
/// Length of lead and key area in bytes. The digest of the key covers these bytes (§5).
pub const FRONT_SIZE: usize = 128;
/// Length of the header of the signed part in bytes (§6).
pub const FIRST_STAGE_HEADER_SIZE: usize = 256;
/// Alignment of every part in bytes. This is the block length of SHA-256.
const PART_ALIGNMENT: usize = 64;
/// Length of the digest of a key in bytes (§5).
pub const KEY_DIGEST_SIZE: usize = 32;

/// The digest of a key and its algorithm (§5).
pub type KeyDigest = [u8; KEY_DIGEST_SIZE];

/// Allowed sizes of the code in bytes (§6).
pub const CODE_SIZES: RangeInclusive<u64> = 64..=16 << 20;
/// Alignment of the code size in bytes. Code is padded with zeros.
pub const CODE_ALIGNMENT: usize = PART_ALIGNMENT;

/// Lead and key of an image. They are well formed, but **not trusted** before their digest was compared (§8 step 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front<'a> {
    bytes: &'a [u8; FRONT_SIZE],
    key: &'a [u8; KEY_AREA_SIZE],
    algorithm: FirstStageAlgorithm,
}

impl<'a> Front<'a> {
    /// Parses the first [`FRONT_SIZE`] bytes of an image.
    ///
    /// # Errors
    /// `Truncated`, `UnknownTag`, `FirstStageAlgorithm`, `SignatureBlockPadding`.
    pub fn parse(image: &'a [u8]) -> Result<Self, Reason> {
        let bytes = image.first_chunk::<FRONT_SIZE>().ok_or(Reason::Truncated)?;
        if !bytes.starts_with(FIRST_STAGE_TAG) {
            return Err(Reason::UnknownTag);
        }
        let field = |offset| u32_at(bytes, offset).ok_or(Reason::Truncated);
        let algorithm = FirstStageAlgorithm::from_numbers(field(16)?, field(20)?)
            .ok_or(Reason::FirstStageAlgorithm)?;
        let (lead, key) = bytes.split_first_chunk::<LEAD_SIZE>().ok_or(Reason::Truncated)?;
        let key = key.first_chunk::<KEY_AREA_SIZE>().ok_or(Reason::Truncated)?;
        if !lead.get(24..).is_some_and(is_zero) || !algorithm.is_padded(key) {
            return Err(Reason::SignatureBlockPadding);
        }
        Ok(Self { bytes, key, algorithm })
    }

    /// Returns the bytes that the digest of the key covers (§5).
    pub const fn bytes(&self) -> &'a [u8; FRONT_SIZE] {
        self.bytes
    }

    /// Returns the key area.
    pub const fn key(&self) -> &'a [u8; KEY_AREA_SIZE] {
        self.key
    }

    /// Returns the algorithm in the lead.
    pub const fn algorithm(&self) -> FirstStageAlgorithm {
        self.algorithm
    }
}

/// An image that is split into its parts. Sizes are within their bounds, but nothing is authentic yet (§8 steps 3 and
/// 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// Lead and key.
    pub front: Front<'a>,
    /// The signature in the encoding of the first-stage form (§2.2).
    pub signature: &'a [u8],
    /// The signed bytes: header and code.
    pub signed: &'a [u8],
    /// Number of bytes after the image in the file.
    pub trailing: usize,
}

impl<'a> Image<'a> {
    /// Parses the image after lead and key. `image` is the whole medium, including lead and key. `capacity` is the
    /// maximum size of the code in bytes, if there is a limit.
    ///
    /// # Errors
    /// `Truncated`, `SignatureBlockPadding`, `CodeSizeOutOfRange`.
    pub fn parse(front: Front<'a>, image: &'a [u8], capacity: Option<u64>) -> Result<Self, Reason> {
        let at = front.algorithm.signed_offset();
        let range = front.algorithm.signature_range();
        let (unsigned, from_header) = image.split_at_checked(at).ok_or(Reason::Truncated)?;
        let header = from_header.get(..FIRST_STAGE_HEADER_SIZE).ok_or(Reason::Truncated)?;
        if !unsigned.get(range.end..).is_some_and(is_zero) {
            return Err(Reason::SignatureBlockPadding);
        }
        let code_size = u64_at(header, 24).ok_or(Reason::Truncated)?;
        if !CODE_SIZES.contains(&code_size)
            || !code_size.is_multiple_of(CODE_ALIGNMENT as u64)
            || capacity.is_some_and(|capacity| code_size > capacity)
        {
            return Err(Reason::CodeSizeOutOfRange);
        }
        // The code size is at most 16 MiB, so the sum does not saturate.
        let signed_size = FIRST_STAGE_HEADER_SIZE.saturating_add(code_size as usize);
        let (signed, trailing) =
            from_header.split_at_checked(signed_size).ok_or(Reason::Truncated)?;
        let signature = unsigned.get(range).ok_or(Reason::Truncated)?;
        Ok(Self { front, signature, signed, trailing: trailing.len() })
    }

    /// Returns the code.
    pub fn code(&self) -> &'a [u8] {
        self.signed.get(FIRST_STAGE_HEADER_SIZE..).unwrap_or_default()
    }
}

/// The key that signs the stage after this one (§6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextKey {
    /// Algorithm of the key.
    pub algorithm: FirstStageAlgorithm,
    /// Digest of the key (§5).
    pub digest: KeyDigest,
}

/// An authenticated and well-formed header (§6).
///
/// The header does not prove that the image is for this device or new enough (§7). The fields `board` and `soc` are
/// unchecked bytes: a device compares them as bytes, and only a tool needs them to be valid names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStageHeader {
    /// Algorithm of the signature. It equals the algorithm in the lead.
    pub algorithm: FirstStageAlgorithm,
    /// Size of the code in bytes.
    pub code_size: u64,
    /// Security version for anti-rollback.
    pub security_version: u64,
    /// Bit mask of the lifecycle states in which the image may start.
    pub lifecycle_mask: u32,
    /// Name of the board as encoded. Its form is not checked.
    pub board: [u8; 32],
    /// Name of the SoC as encoded. Its form is not checked.
    pub soc: [u8; 32],
    /// Key of the stage after this one, if there is such a stage.
    pub next_key: Option<NextKey>,
}

impl FirstStageHeader {
    /// Parses the header of a signed part (§8 step 6). Call this function only after the signature over exactly these
    /// bytes was verified.
    ///
    /// # Errors
    /// `WrongBundleType`, `SignerMismatch`, `ReservedNotZero`, `LifecycleMaskInvalid`, `NextKeyInvalid`.
    pub fn parse(signed: &[u8], algorithm: FirstStageAlgorithm) -> Result<Self, Reason> {
        let header = signed.first_chunk::<FIRST_STAGE_HEADER_SIZE>().ok_or(Reason::Truncated)?;
        let field32 = |offset| u32_at(header, offset).ok_or(Reason::Truncated);
        let field64 = |offset| u64_at(header, offset).ok_or(Reason::Truncated);
        if !header.starts_with(CODE_TAG) {
            return Err(Reason::WrongBundleType);
        }
        if (field32(16)?, field32(20)?) != algorithm.algorithm().numbers() {
            return Err(Reason::SignerMismatch);
        }
        let is_free = |from: usize, to: usize| header.get(from..to).is_some_and(is_zero);
        if !is_free(44, 64) || !is_free(136, 160) || !is_free(192, 256) {
            return Err(Reason::ReservedNotZero);
        }
        let lifecycle_mask = field32(40)?;
        if lifecycle_mask == 0 || lifecycle_mask & !Lifecycle::MASK != 0 {
            return Err(Reason::LifecycleMaskInvalid);
        }
        let digest: KeyDigest = bytes_at(header, 160).ok_or(Reason::Truncated)?;
        let next_key = match (field32(128)?, field32(132)?) {
            (0, 0) if is_zero(&digest) => None,
            (number, parameters) => Some(NextKey {
                algorithm: FirstStageAlgorithm::from_numbers(number, parameters)
                    .ok_or(Reason::NextKeyInvalid)?,
                digest,
            }),
        };
        Ok(Self {
            algorithm,
            code_size: field64(24)?,
            security_version: field64(32)?,
            lifecycle_mask,
            board: bytes_at(header, 64).ok_or(Reason::Truncated)?,
            soc: bytes_at(header, 96).ok_or(Reason::Truncated)?,
            next_key,
        })
    }

    /// Checks and returns the name of the board (§7).
    ///
    /// # Errors
    /// `BoardNameInvalid`.
    pub fn board_name(&self) -> Result<Name, Reason> {
        Name::from_field(&self.board).ok_or(Reason::BoardNameInvalid)
    }

    /// Checks and returns the name of the SoC (§7).
    ///
    /// # Errors
    /// `SocNameInvalid`.
    pub fn soc_name(&self) -> Result<Name, Reason> {
        Name::from_field(&self.soc).ok_or(Reason::SocNameInvalid)
    }

    /// Encodes the header without checking it. The signing tool verifies the result.
    pub fn encode(&self) -> [u8; FIRST_STAGE_HEADER_SIZE] {
        let mut bytes = [0; FIRST_STAGE_HEADER_SIZE];
        let mut out = Writer::new(&mut bytes);
        put_type(&mut out, CODE_TAG, self.algorithm);
        out.put_u64(self.code_size);
        out.put_u64(self.security_version);
        out.put_u32(self.lifecycle_mask);
        out.pad_to(64);
        out.put(&self.board);
        out.put(&self.soc);
        if let Some(next) = &self.next_key {
            let (number, parameters) = next.algorithm.algorithm().numbers();
            out.put_u32(number);
            out.put_u32(parameters);
            out.put(&[0; 24]);
            out.put(&next.digest);
        }
        bytes
    }
}

/// Encodes lead and key area (§4, §2.1).
pub fn encode_front(algorithm: FirstStageAlgorithm, key: &[u8; KEY_AREA_SIZE]) -> [u8; FRONT_SIZE] {
    let mut bytes = [0; FRONT_SIZE];
    let mut out = Writer::new(&mut bytes);
    put_type(&mut out, FIRST_STAGE_TAG, algorithm);
    out.pad_to(LEAD_SIZE);
    out.put(key);
    bytes
}

/// Writes a tag, followed by the algorithm and parameter numbers.
fn put_type(out: &mut Writer<'_>, tag: &[u8; 16], algorithm: FirstStageAlgorithm) {
    let (number, parameters) = algorithm.algorithm().numbers();
    out.put(tag);
    out.put_u32(number);
    out.put_u32(parameters);
}
