//! Bytes at the address of a word.

/// Bytes that are copied from or to the host's memory by words, if their address there is that of a word: an access to
/// that memory costs the same for a byte as for a word.
#[repr(align(4))]
pub struct Words<const N: usize>(pub [u8; N]);
