//! Hash values as words, and conversions between bytes and words.

/// A hash value, or the first 64 bytes of an output, as little-endian words of its bytes. It also
/// holds a SHA-2 state, with one word of the state in each word.
pub(crate) type Words = [u64; 8];

/// Converts bytes to words until the shorter slice ends.
pub(crate) fn load(words: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

/// Converts a hash value to bytes.
pub(crate) fn to_bytes(words: &Words) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Returns the big-endian bytes of `value` as the low half of a word.
#[inline(always)]
pub(crate) const fn be32(value: u32) -> u64 {
    value.swap_bytes() as u64
}
