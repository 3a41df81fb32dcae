//! What every way to endorse a monitor can do.

/// A way to do it all.
pub trait Software {
    const WHO: &str;

    fn digest(&self, parts: &[&[u8]]) -> [u8; 64];
    fn public_key(&self, expanded: &[u8; 64]) -> [u8; 32];
    /// `None` if it checks what it signed, and that fails.
    fn sign(&self, expanded: &[u8; 64], public_key: &[u8; 32], message: &[u8]) -> Option<[u8; 64]>;
}
