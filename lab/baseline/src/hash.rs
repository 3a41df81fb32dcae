//! Types of the counted functions.

/// A digest of SHA-256 or a code of HMAC-SHA-256.
pub type Digest = [u8; 32];
/// Function that computes the code of a message from a key and the message.
pub type Mac = fn(&[u8], &[u8]) -> Digest;
