//! Hash values as words, and from bytes to words and back.

/// A hash value, or the first 64 bytes of an output, as stored in memory: little-endian words of
/// a byte string. States of SHA-2 are kept in it too, one word of theirs in each.
pub(crate) type Words = [u64; 8];

/// Reads words out of bytes, as many as both have.
pub(crate) fn load(words: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

/// The bytes of a hash value.
pub(crate) fn to_bytes(words: &Words) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// The big-endian bytes of `value`, as the low half of a word.
#[inline(always)]
pub(crate) const fn be32(value: u32) -> u64 {
    value.swap_bytes() as u64
}
