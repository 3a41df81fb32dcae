//! An array of bytes that is aligned to 8 bytes, as the stream of the scratchpad requires.

/// Bytes that are copied from or to the host's memory in words, if their address there is aligned as well. An access to
/// that memory takes the same time for a byte as for a word.
#[repr(align(8))]
pub struct Words<const N: usize>(pub [u8; N]);
