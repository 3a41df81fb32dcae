//! Galois/counter mode (SP 800-38D): decryption that releases nothing that is not authentic.

use super::ghash::{self, lengths};
use super::{AesKey, BLOCK_SIZE, Block, LANES, ctr};
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
    let mut message = Message::new(key);
    message.start(iv, aad, text.len(), tag.len())?;
    let first = ctr::after(&message.first, 1);
    // A kernel may decrypt what it hashes. Nobody else can read the text until the tag was compared.
    (key.kernels.gcm.open)(key, &first, &message.hash_key, &mut message.hash, text);
    message.compare(tag).inspect_err(|_| wipe(text))
}

/// Returns the tag of 16 bytes of a cipher text and of the additional data.
///
/// # Errors
/// [`GcmError`].
pub fn tag(key: &AesKey, iv: &[u8], aad: &[u8], text: &[u8]) -> Result<[u8; BLOCK_SIZE], GcmError> {
    let mut message = Message::new(key);
    message.start(iv, aad, text.len(), BLOCK_SIZE)?;
    message.add(text);
    Ok(*message.finish())
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
    let mut message = Message::new(key);
    message.start(iv, aad, text.len(), tag.len())?;
    message.add(text);
    let first = ctr::after(&message.first, 1);
    message.compare(tag)?;
    drop(message);
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

/// The hash of a message whose tag is made or checked. Its secrets are overwritten when it is dropped.
///
/// It is made empty and filled in place: a move would leave a copy behind.
struct Message<'a> {
    key: &'a AesKey,
    /// The pre-counter block J0 (SP 800-38D §7.1, step 2).
    first: Block,
    hash_key: Block,
    hash: Block,
    /// The last block of the hash.
    lengths: Block,
}

impl<'a> Message<'a> {
    const fn new(key: &'a AesKey) -> Self {
        let [first, hash_key, hash, lengths] = [[0; BLOCK_SIZE]; 4];
        Self { key, first, hash_key, hash, lengths }
    }

    /// Checks the lengths, and hashes the additional data.
    fn start(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        text_len: usize,
        tag_len: usize,
    ) -> Result<(), GcmError> {
        let is_longer = |len: usize, most: u64| u64::try_from(len).is_ok_and(|len| len > most);
        if iv.is_empty() {
            return Err(GcmError::IvEmpty);
        }
        if !TAG_LENGTHS.contains(&tag_len) {
            return Err(GcmError::TagLength);
        }
        if is_longer(text_len, MAX_TEXT)
            || is_longer(aad.len(), MAX_OTHER)
            || is_longer(iv.len(), MAX_OTHER)
        {
            return Err(GcmError::TooLong);
        }
        ctr::stream(self.key, &[0; BLOCK_SIZE], &mut self.hash_key);
        self.set_first(iv);
        self.lengths = lengths(aad.len(), text_len);
        self.add(aad);
        Ok(())
    }

    /// Computes the pre-counter block.
    fn set_first(&mut self, iv: &[u8]) {
        if let (Some(start), Ok(iv)) = (self.first.first_chunk_mut::<12>(), iv.try_into()) {
            *start = iv;
            self.first[BLOCK_SIZE - 1] = 1;
            return;
        }
        self.add(iv);
        self.add(&lengths(0, iv.len()));
        self.first = core::mem::take(&mut self.hash);
    }

    /// Hashes the bytes, padded with zeros to whole blocks.
    fn add(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            (self.key.kernels.gcm.hash)(&self.hash_key, &mut self.hash, bytes);
        }
    }

    /// Hashes the lengths, and makes the tag of the hash (SP 800-38D §7.1, steps 5 and 6).
    fn finish(&mut self) -> &Block {
        let lengths = self.lengths;
        self.add(&lengths);
        ctr::stream(self.key, &self.first, &mut self.hash);
        &self.hash
    }

    /// Compares the tag with another one, in a time that does not depend on either.
    fn compare(&mut self, tag: &[u8]) -> Result<(), GcmError> {
        let expected = self.finish();
        let difference =
            expected.iter().zip(tag).fold(0, |all, (ours, theirs)| all | ours ^ theirs);
        if core::hint::black_box(difference) != 0 {
            return Err(GcmError::NotAuthentic);
        }
        Ok(())
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        wipe(&mut self.hash_key);
        wipe(&mut self.hash);
    }
}

/// The portable form of the decryption: adds the text to the hash, and XORs the key stream that starts with the
/// encrypted block `first`, by the kernel of counter mode if the key has no planes.
pub(crate) fn portable_open(
    key: &AesKey,
    first: &Block,
    hash_key: &Block,
    hash: &mut Block,
    text: &mut [u8],
) {
    ghash::add(hash_key, hash, text);
    if key.has_planes() {
        ctr::portable_stream(key, first, text);
    } else {
        ctr::stream(key, first, text);
    }
}
