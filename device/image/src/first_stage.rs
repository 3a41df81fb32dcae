//! The first-stage form (`spec/first-stage.md`): what hardware verifies when no core runs.
//!
//! An image is read in three steps, in the order in which hardware meets its bytes: [`Front`] before the key is
//! known to be trusted, [`Image`] before anything is authentic, [`FirstStageHeader`] after the signature verified.

mod algorithm;
#[cfg(test)]
mod tests;

use core::ops::RangeInclusive;

use crate::Reason;
use crate::bytes::{Writer, bytes_at, is_zero, u32_at, u64_at};
use crate::types::{Lifecycle, Name};

pub use algorithm::FirstStageAlgorithm;

/// Tag of an image: its first bytes (§4).
pub const FIRST_STAGE_TAG: &[u8; 16] = b"HARTLOCK-FRST-v1";
/// Tag of the signed part (§6). No other signed object begins with it.
pub const CODE_TAG: &[u8; 16] = b"HARTLOCK-CODE-v1";
/// Bytes of the lead (§4).
const LEAD_SIZE: usize = 64;
/// Bytes of the area of the key (§2.1).
pub const KEY_AREA_SIZE: usize = 64;
/// Bytes of lead and key, which the digest of the key covers (§5).
pub const FRONT_SIZE: usize = 128;
/// Bytes of the header of the signed part (§6).
pub const FIRST_STAGE_HEADER_SIZE: usize = 256;
/// Every part begins at a multiple of so many bytes: a block of SHA-256.
const PART_ALIGNMENT: usize = 64;
/// Bytes of a digest of a key (§5).
pub const KEY_DIGEST_SIZE: usize = 32;

/// Digest of a key, and of its algorithm (§5).
pub type KeyDigest = [u8; KEY_DIGEST_SIZE];

/// Sizes that code can have (§6).
pub const CODE_SIZES: RangeInclusive<u64> = 64..=16 << 20;
/// Code is padded with zeros to a multiple of so many bytes.
pub const CODE_ALIGNMENT: usize = PART_ALIGNMENT;

/// Lead and key of an image: well formed, and **not trusted** before a digest of them was compared (§8 step 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front<'a> {
    bytes: &'a [u8; FRONT_SIZE],
    key: &'a [u8; KEY_AREA_SIZE],
    algorithm: FirstStageAlgorithm,
}

impl<'a> Front<'a> {
    /// Reads the first bytes of an image.
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

    /// What the digest of the key covers (§5).
    pub const fn bytes(&self) -> &'a [u8; FRONT_SIZE] {
        self.bytes
    }

    /// The area of the key.
    pub const fn key(&self) -> &'a [u8; KEY_AREA_SIZE] {
        self.key
    }

    /// The algorithm that the lead states.
    pub const fn algorithm(&self) -> FirstStageAlgorithm {
        self.algorithm
    }
}

/// An image cut into its parts. Sizes are bounded, and nothing is authentic (§8 steps 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// Lead and key.
    pub front: Front<'a>,
    /// The signature, in the encoding of the form (§2.2).
    pub signature: &'a [u8],
    /// Header and code: the signed bytes.
    pub signed: &'a [u8],
    /// Bytes of the file that are not part of the image.
    pub trailing: usize,
}

impl<'a> Image<'a> {
    /// Reads what follows lead and key. `image` is the whole medium; `capacity` is the most code that there is room for.
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
        // At most 16 MiB.
        let signed_size = FIRST_STAGE_HEADER_SIZE.saturating_add(code_size as usize);
        let (signed, trailing) =
            from_header.split_at_checked(signed_size).ok_or(Reason::Truncated)?;
        let signature = unsigned.get(range).ok_or(Reason::Truncated)?;
        Ok(Self { front, signature, signed, trailing: trailing.len() })
    }

    /// The code.
    pub fn code(&self) -> &'a [u8] {
        self.signed.get(FIRST_STAGE_HEADER_SIZE..).unwrap_or_default()
    }
}

/// The key of the stage after this one (§6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextKey {
    /// Its algorithm.
    pub algorithm: FirstStageAlgorithm,
    /// Its digest (§5).
    pub digest: KeyDigest,
}

/// An authenticated and well-formed header (§6).
///
/// It does not prove that the image is for this device or new enough (§7). *Board* and *soc* are bytes here: a
/// device compares them as they are, and only a tool that does not needs them to be names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStageHeader {
    /// Who signs; that of the lead.
    pub algorithm: FirstStageAlgorithm,
    /// Bytes of the code.
    pub code_size: u64,
    /// Anti-rollback counter.
    pub security_version: u64,
    /// States in which the image may start.
    pub lifecycle_mask: u32,
    /// Name of the board, not checked.
    pub board: [u8; 32],
    /// Name of the SoC, not checked.
    pub soc: [u8; 32],
    /// Key of the stage after this one.
    pub next_key: Option<NextKey>,
}

impl FirstStageHeader {
    /// Reads the header of a signed part (§8 step 6). Call it only after the signature over exactly these bytes verified.
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

    /// The name of the board (§7).
    ///
    /// # Errors
    /// `BoardNameInvalid`.
    pub fn board_name(&self) -> Result<Name, Reason> {
        Name::from_field(&self.board).ok_or(Reason::BoardNameInvalid)
    }

    /// The name of the SoC (§7).
    ///
    /// # Errors
    /// `SocNameInvalid`.
    pub fn soc_name(&self) -> Result<Name, Reason> {
        Name::from_field(&self.soc).ok_or(Reason::SocNameInvalid)
    }

    /// The header as it is encoded, right or wrong: the signing tool verifies the result.
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

/// Lead and key as they are encoded (§4, §2.1).
pub fn encode_front(algorithm: FirstStageAlgorithm, key: &[u8; KEY_AREA_SIZE]) -> [u8; FRONT_SIZE] {
    let mut bytes = [0; FRONT_SIZE];
    let mut out = Writer::new(&mut bytes);
    put_type(&mut out, FIRST_STAGE_TAG, algorithm);
    out.pad_to(LEAD_SIZE);
    out.put(key);
    bytes
}

/// A tag, algorithm and parameters.
fn put_type(out: &mut Writer<'_>, tag: &[u8; 16], algorithm: FirstStageAlgorithm) {
    let (number, parameters) = algorithm.algorithm().numbers();
    out.put(tag);
    out.put_u32(number);
    out.put_u32(parameters);
}
