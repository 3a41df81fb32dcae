//! Bytes at the address of a word, also of one of eight bytes, as the stream of the scratchpad needs it.

/// Bytes that are copied from or to the host's memory by words, if their address there is that of a word: an access to
/// that memory costs the same for a byte as for a word.
#[repr(align(8))]
pub struct Words<const N: usize>(pub [u8; N]);
