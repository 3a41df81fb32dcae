//! The interface of an implementation that endorses a monitor.

/// An implementation of all operations that an endorsement needs.
pub trait Software {
    const WHO: &str;

    fn digest(&self, parts: &[&[u8]]) -> [u8; 64];
    fn public_key(&self, expanded: &[u8; 64]) -> [u8; 32];
    /// Returns a signature; `None` if the implementation verifies its signature and that fails.
    fn sign(&self, expanded: &[u8; 64], public_key: &[u8; 32], message: &[u8]) -> Option<[u8; 64]>;
}
