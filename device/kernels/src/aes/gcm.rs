//! Galois/counter mode (SP 800-38D): decryption that releases nothing that is not authentic.

use super::ghash::Ghash;
use super::{AesKey, BLOCK_SIZE, Block, LANES, ctr, xor};
use crate::secret::wipe;

/// Lengths of a tag in bytes (SP 800-38D §5.2.1.2).
const TAG_LENGTHS: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];
/// Maximum number of bytes of a text: 2^32 - 2 blocks (SP 800-38D §5.2.1.1).
const MAX_TEXT: u64 = ((1 << 32) - 2) * BLOCK_SIZE as u64;
/// Maximum number of bytes of additional data and of an initialization vector: 2^64 - 1 bits.
const MAX_OTHER: u64 = u64::MAX >> 3;

/// The reason for which nothing was decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcmError {
    /// The initialization vector is empty.
    IvEmpty,
    /// A tag of this length does not exist.
    TagLength,
    /// The text, the additional data or the initialization vector is longer than the mode allows.
    TooLong,
    /// The tag is that of something else. The text was overwritten with zeros.
    NotAuthentic,
}

/// Checks the tag of a cipher text and of the additional data, and decrypts the text in place.
///
/// # Errors
/// [`GcmError`]. After `NotAuthentic` the text is all zeros, after the others it is unchanged.
pub fn decrypt(
    key: &AesKey,
    iv: &[u8],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8],
) -> Result<(), GcmError> {
    let first = authenticate(key, iv, aad, text, tag).inspect_err(|error| {
        if *error == GcmError::NotAuthentic {
            wipe(text);
        }
    })?;
    ctr::stream(key, &first, text);
    Ok(())
}

/// Does the same for a text that stays as it is: `output` receives the plain text in pieces.
///
/// # Errors
/// [`GcmError`]; nothing is put out then.
pub fn decrypt_to(
    key: &AesKey,
    iv: &[u8],
    aad: &[u8],
    text: &[u8],
    tag: &[u8],
    output: &mut dyn FnMut(&[u8]),
) -> Result<(), GcmError> {
    const PIECE: usize = LANES * BLOCK_SIZE;
    let first = authenticate(key, iv, aad, text, tag)?;
    let mut buffer = [0; PIECE];
    let mut done = 0_u32;
    for from in text.chunks(PIECE) {
        let piece = buffer.get_mut(..from.len()).unwrap_or_default();
        piece.copy_from_slice(from);
        ctr::stream(key, &ctr::after(&first, done), piece);
        output(piece);
        done = done.wrapping_add(LANES as u32);
    }
    wipe(&mut buffer);
    Ok(())
}

/// Checks the tag, and returns the counter block of the first block of the text.
fn authenticate(
    key: &AesKey,
    iv: &[u8],
    aad: &[u8],
    text: &[u8],
    tag: &[u8],
) -> Result<Block, GcmError> {
    let is_longer =
        |bytes: &[u8], most: u64| u64::try_from(bytes.len()).is_ok_and(|len| len > most);
    if iv.is_empty() {
        return Err(GcmError::IvEmpty);
    }
    if !TAG_LENGTHS.contains(&tag.len()) {
        return Err(GcmError::TagLength);
    }
    if is_longer(text, MAX_TEXT) || is_longer(aad, MAX_OTHER) || is_longer(iv, MAX_OTHER) {
        return Err(GcmError::TooLong);
    }
    let mut hash_key = key.encrypt_one(&[0; BLOCK_SIZE]);
    let first = first_counter(&hash_key, iv);
    let mut hash = Ghash::new(&hash_key);
    wipe(&mut hash_key);
    hash.update(aad);
    hash.update(text);
    let mut expected = hash.finish(aad.len() as u64, text.len() as u64);
    let mut mask = key.encrypt_one(&first);
    xor(&mut expected, &mask);
    wipe(&mut mask);
    let difference = expected.iter().zip(tag).fold(0, |all, (ours, theirs)| all | ours ^ theirs);
    wipe(&mut expected);
    if core::hint::black_box(difference) != 0 {
        return Err(GcmError::NotAuthentic);
    }
    Ok(ctr::after(&first, 1))
}

/// Returns the pre-counter block J0 (SP 800-38D §7.1, step 2).
fn first_counter(hash_key: &Block, iv: &[u8]) -> Block {
    if iv.len() == 12 {
        let mut block = [0; BLOCK_SIZE];
        for (to, from) in block.iter_mut().zip(iv.iter().chain(&[0, 0, 0, 1])) {
            *to = *from;
        }
        return block;
    }
    let mut hash = Ghash::new(hash_key);
    hash.update(iv);
    hash.finish(0, iv.len() as u64)
}
