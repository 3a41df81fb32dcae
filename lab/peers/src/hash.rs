//! Type of the counted functions.

/// A peer's hash, which writes a digest of up to 64 bytes, padded with zeros.
pub type Hash = fn(&[u8], &mut [u8; 64]);
