//! Packs: cases for a verifier.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-SIGS-v1` |
//! | 16 | 4 | bytes of all cases |
//! | 20 | 4 | count of cases |
//!
//! A case:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | 1: the signature is genuine; 0: it has to be refused |
//! | 4 | 4 | bytes of the public key |
//! | 8 | 4 | bytes of the message |
//! | 12 | 4 | bytes of the signature |
//! | 16 | | the three, each with zeros to a multiple of 8 |
//!
//! Keys and signatures are encoded as the image format says (§2.2): these are the bytes that a boot
//! stage has. A pack is made and read on one machine and not authenticated.

use hartlock_image::{Writer, bytes_at, u32_at};

/// First bytes of a pack.
pub const TAG: &[u8; 16] = b"HARTLOCK-SIGS-v1";
/// Bytes in front of the cases.
pub const HEADER_SIZE: usize = 24;
/// Maximum number of bytes of all cases.
pub const MAX_BODY_SIZE: usize = 16 << 20;
/// Bytes of a case in front of its key.
const FIELDS_SIZE: usize = 16;

/// The header of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of all cases.
    pub body_size: usize,
    /// How many there are.
    pub count: u32,
}

impl Header {
    /// Reads a header; `None` if there is no pack, or one that is too long.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let tag: [u8; 16] = bytes_at(bytes, 0)?;
        let body_size = u32_at(bytes, 16)? as usize;
        let is_pack = tag == *TAG && body_size <= MAX_BODY_SIZE;
        is_pack.then_some(Self { body_size, count: u32_at(bytes, 20)? })
    }

    /// The header as it is encoded.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put(TAG);
        out.put_u32(self.body_size as u32);
        out.put_u32(self.count);
        bytes
    }
}

/// A signature and what has to come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// Whether it has to be accepted.
    pub is_genuine: bool,
    /// The public key.
    pub key: &'a [u8],
    /// What was signed.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

impl<'a> Case<'a> {
    /// Reads the case at the front of `bytes`, and returns the bytes after it, too.
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

    /// Writes the case; `None` if it does not fit.
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

    /// Bytes that [`encode`](Self::encode) writes.
    pub fn size(&self) -> usize {
        let parts = [self.key, self.message, self.signature];
        parts.iter().fold(FIELDS_SIZE, |size, part| size + part.len().next_multiple_of(8))
    }
}

/// The first `len` bytes, and the bytes after them and their padding.
fn part(bytes: &[u8], len: u32) -> Option<(&[u8], &[u8])> {
    let len = len as usize;
    let (padded, rest) = bytes.split_at_checked(len.checked_next_multiple_of(8)?)?;
    Some((padded.get(..len)?, rest))
}
