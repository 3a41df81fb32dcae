//! What is counted of both.

/// Of SHA-256 and of HMAC-SHA-256.
pub type Digest = [u8; 32];
/// A key and a message to their code.
pub type Mac = fn(&[u8], &[u8]) -> Digest;
