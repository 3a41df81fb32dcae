//! The format of packs, which contain cases for a verifier.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-SIGS-v1` |
//! | 16 | 4 | bytes of all cases |
//! | 20 | 4 | count of cases |
//!
//! The format of a case:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | 1: the signature is genuine; 0: it has to be refused |
//! | 4 | 4 | bytes of the public key |
//! | 8 | 4 | bytes of the message |
//! | 12 | 4 | bytes of the signature |
//! | 16 | | the three, each with zeros to a multiple of 8 |
//!
//! Keys and signatures are encoded as in the image format (§2.2), so that a boot stage has the same
//! bytes. A pack is created and read on one machine and is not authenticated.

use hartlock_image::{Writer, bytes_at, u32_at};

/// Tag at the start of a pack.
pub const TAG: &[u8; 16] = b"HARTLOCK-SIGS-v1";
/// Number of bytes before the cases.
pub const HEADER_SIZE: usize = 24;
/// Maximum number of bytes of all cases.
pub const MAX_BODY_SIZE: usize = 16 << 20;
/// Number of bytes of a case before its key.
const FIELDS_SIZE: usize = 16;

/// The header of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Total size of all cases in bytes.
    pub body_size: usize,
    /// Number of cases.
    pub count: u32,
}

impl Header {
    /// Reads a header. Returns `None` if the tag differs or the pack is too long.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let tag: [u8; 16] = bytes_at(bytes, 0)?;
        let body_size = u32_at(bytes, 16)? as usize;
        let is_pack = tag == *TAG && body_size <= MAX_BODY_SIZE;
        is_pack.then_some(Self { body_size, count: u32_at(bytes, 20)? })
    }

    /// Returns the encoded header.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put(TAG);
        out.put_u32(self.body_size as u32);
        out.put_u32(self.count);
        bytes
    }
}

/// A signature and the expected result of its verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// True if the signature has to be accepted.
    pub is_genuine: bool,
    /// Public key.
    pub key: &'a [u8],
    /// Signed message.
    pub message: &'a [u8],
    /// Signature to verify.
    pub signature: &'a [u8],
}

impl<'a> Case<'a> {
    /// Reads the case at the start of `bytes`, and also returns the bytes after it.
    pub fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let is_genuine = match u32_at(bytes, 0)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let (fields, rest) = bytes.split_at_checked(FIELDS_SIZE)?;
        let (key, rest) = part(rest, u32_at(fields, 4)?)?;
        let (message, rest) = part(rest, u32_at(fields, 8)?)?;
        let (signature, rest) = part(rest, u32_at(fields, 12)?)?;
        Some((Self { is_genuine, key, message, signature }, rest))
    }

    /// Writes the case. Returns `None` if it does not fit.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        out.put_u32(self.is_genuine.into());
        let parts = [self.key, self.message, self.signature];
        parts.iter().for_each(|part| out.put_u32(part.len() as u32));
        for part in parts {
            out.put(part);
            out.pad_to(8);
        }
        out.finish()
    }

    /// Returns the number of bytes that [`encode`](Self::encode) writes.
    pub fn size(&self) -> usize {
        let parts = [self.key, self.message, self.signature];
        parts.iter().fold(FIELDS_SIZE, |size, part| size + part.len().next_multiple_of(8))
    }
}

/// Returns the first `len` bytes, and the bytes after them and their padding.
fn part(bytes: &[u8], len: u32) -> Option<(&[u8], &[u8])> {
    let len = len as usize;
    let (padded, rest) = bytes.split_at_checked(len.checked_next_multiple_of(8)?)?;
    Some((padded.get(..len)?, rest))
}
