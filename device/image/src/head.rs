//! The sizes that a verifier needs before it can check the signature (image format §3).

use crate::Reason;
use crate::bytes::{bytes_at, u32_at};
use crate::types::BundleType;

/// Length of the header in bytes (§4.1).
pub const HEADER_SIZE: usize = 256;
/// Largest signed region, in bytes (§3.2).
pub const MAX_SIGNED_SIZE: usize = 16 << 10;
/// Largest signature area, in bytes (§3.2).
pub const MAX_SIGNATURES_SIZE: usize = 256 << 10;
/// Smallest signed region in bytes: header, one signer, one payload record and the shortest closing
/// section.
const MIN_SIGNED_SIZE: usize = 456;

/// The type and the sizes of a bundle. They are within their bounds, but **not authenticated**.
///
/// The sizes are part of the signed bytes. Once the signature over `[0, signed_size)` was verified,
/// they are as authentic as the rest of the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    bundle_type: BundleType,
    signed_size: usize,
    signatures_size: usize,
}

impl Head {
    /// Parses tag and sizes (§8 step 1) of a bundle of any type.
    ///
    /// # Errors
    /// `Truncated`, `UnknownTag`, `SignedSizeOutOfRange`, `SignaturesSizeOutOfRange`.
    pub fn parse(header: &[u8]) -> Result<Self, Reason> {
        Self::parse_as(header, None)
    }

    /// Parses tag and sizes, and requires the type `expected` if it is given.
    ///
    /// # Errors
    /// The errors of [`Head::parse`], and `WrongBundleType`.
    pub fn parse_as(header: &[u8], expected: Option<BundleType>) -> Result<Self, Reason> {
        let header = header.first_chunk::<HEADER_SIZE>().ok_or(Reason::Truncated)?;
        let tag: [u8; 16] = bytes_at(header, 0).ok_or(Reason::Truncated)?;
        let bundle_type = BundleType::from_tag(&tag).ok_or(Reason::UnknownTag)?;
        if expected.is_some_and(|expected| expected != bundle_type) {
            return Err(Reason::WrongBundleType);
        }
        let signed_size = u32_at(header, 16).ok_or(Reason::Truncated)? as usize;
        let signatures_size = u32_at(header, 20).ok_or(Reason::Truncated)? as usize;
        if !(MIN_SIGNED_SIZE..=MAX_SIGNED_SIZE).contains(&signed_size)
            || !signed_size.is_multiple_of(8)
        {
            return Err(Reason::SignedSizeOutOfRange);
        }
        if !(8..=MAX_SIGNATURES_SIZE).contains(&signatures_size)
            || !signatures_size.is_multiple_of(8)
        {
            return Err(Reason::SignaturesSizeOutOfRange);
        }
        Ok(Self { bundle_type, signed_size, signatures_size })
    }

    /// Returns the type of the bundle.
    pub const fn bundle_type(&self) -> BundleType {
        self.bundle_type
    }

    /// Returns the length of the signed region in bytes, including the tag.
    pub const fn signed_size(&self) -> usize {
        self.signed_size
    }

    /// Returns the length in bytes of the signature area, which follows the signed region.
    pub const fn signatures_size(&self) -> usize {
        self.signatures_size
    }

    /// Returns the length of signed region and signature area in bytes.
    pub const fn total_size(&self) -> usize {
        // The sum cannot overflow, because both are bounded by small constants.
        self.signed_size.wrapping_add(self.signatures_size)
    }
}
