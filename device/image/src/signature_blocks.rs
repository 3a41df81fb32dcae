//! The signature area (image format §5.1), which is the only part of a bundle that no signature
//! covers.

use crate::Reason;
use crate::bytes::{is_zero, u32_at};
use crate::types::{List, MAX_SIGNERS};
use hartlock_algorithm::Algorithm;

/// Length in bytes of the block header, which precedes the public key.
const BLOCK_HEADER_SIZE: usize = 16;

/// A public key and a signature. Neither of them was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureBlock<'a> {
    /// Number of the algorithm, which is not 0.
    pub algorithm: u32,
    /// Number of the parameter set.
    pub parameters: u32,
    /// Public key. Its length was checked if the algorithm is known.
    pub public_key: &'a [u8],
    /// Signature. Its length was checked if the algorithm is known.
    pub signature: &'a [u8],
}

impl SignatureBlock<'_> {
    /// Returns the algorithm, or `None` if this version of the format does not define it.
    pub fn known_algorithm(&self) -> Option<Algorithm> {
        Algorithm::from_numbers(self.algorithm, self.parameters)
    }
}

/// A list of one to four signature blocks that fill the signature area exactly.
pub type SignatureBlocks<'a> = List<SignatureBlock<'a>, MAX_SIGNERS>;

/// Splits the signature area into blocks (§8 step 3).
///
/// # Errors
/// `TooManySignatureBlocks`, `SignatureBlockTruncated`, `SignatureAlgorithmZero`,
/// `SignatureBlockSizes`, `SignatureBlockPadding`.
pub fn parse_signature_blocks(area: &[u8]) -> Result<SignatureBlocks<'_>, Reason> {
    let mut blocks = SignatureBlocks::new();
    let mut rest = area;
    while !rest.is_empty() {
        if blocks.len() == MAX_SIGNERS {
            return Err(Reason::TooManySignatureBlocks);
        }
        let field = |offset| u32_at(rest, offset).ok_or(Reason::SignatureBlockTruncated);
        let (algorithm, parameters) = (field(0)?, field(4)?);
        let (public_key_size, signature_size) = (field(8)? as usize, field(12)? as usize);

        let body = rest.get(BLOCK_HEADER_SIZE..).ok_or(Reason::SignatureBlockTruncated)?;
        let (public_key, key_padding, body) =
            split_padded(body, public_key_size).ok_or(Reason::SignatureBlockTruncated)?;
        let (signature, signature_padding, body) =
            split_padded(body, signature_size).ok_or(Reason::SignatureBlockTruncated)?;

        if algorithm == 0 {
            return Err(Reason::SignatureAlgorithmZero);
        }
        if let Some(known) = Algorithm::from_numbers(algorithm, parameters) {
            let is_right = public_key_size == known.public_key_size()
                && known.signature_size().is_none_or(|size| size == signature_size);
            if !is_right {
                return Err(Reason::SignatureBlockSizes);
            }
        }
        if !is_zero(key_padding) || !is_zero(signature_padding) {
            return Err(Reason::SignatureBlockPadding);
        }
        let block = SignatureBlock { algorithm, parameters, public_key, signature };
        if !blocks.push(block) {
            return Err(Reason::TooManySignatureBlocks);
        }
        rest = body;
    }
    Ok(blocks)
}

/// Splits `bytes` into the first `len` bytes, the padding up to a multiple of 8, and the rest.
/// Returns `None` if `bytes` is too short.
fn split_padded(bytes: &[u8], len: usize) -> Option<(&[u8], &[u8], &[u8])> {
    let padded_len = len.checked_add(7)? & !7;
    let (padded, rest) = bytes.split_at_checked(padded_len)?;
    let (content, padding) = padded.split_at_checked(len)?;
    Some((content, padding, rest))
}

impl<'a> SignatureBlocks<'a> {
    /// Splits the signature area into blocks. See [`parse_signature_blocks`].
    ///
    /// # Errors
    /// The errors of [`parse_signature_blocks`].
    pub fn parse(area: &'a [u8]) -> Result<Self, Reason> {
        parse_signature_blocks(area)
    }
}
