//! What is counted of every peer.

/// A peer's hash: 64 bytes of digest, zero padded.
pub type Hash = fn(&[u8], &mut [u8; 64]);
