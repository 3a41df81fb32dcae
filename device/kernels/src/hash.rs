//! The trait of all hash functions.

use crate::dispatch::Kernels;

/// A hash function that absorbs its message in pieces.
///
/// The digest does not depend on how the message is split into [`update`](Hash::update) calls.
///
/// ```
/// use hartlock_kernels::{Hash, sha2::Sha256};
///
/// let mut whole = Sha256::new();
/// whole.update(b"abc");
/// let mut pieces = Sha256::new();
/// pieces.update(b"a");
/// pieces.update(b"bc");
/// assert_eq!(whole.finalize(), pieces.finalize());
/// ```
pub trait Hash: Clone {
    /// Length of the digest in bytes.
    const OUTPUT_LEN: usize;

    /// Type of the digest, which is `[u8; OUTPUT_LEN]`. The byte order is that of the standard.
    type Output: AsRef<[u8]> + Copy + Eq;

    /// Makes a hash state for an empty message, which these kernels update.
    fn with(kernels: &Kernels) -> Self;

    /// Makes a hash state for an empty message with the portable implementation.
    fn new() -> Self {
        Self::with(&Kernels::PORTABLE)
    }

    /// Appends `data` to the message. Its length is not limited.
    fn update(&mut self, data: &[u8]);

    /// Pads the message as the standard requires and returns the digest.
    fn finalize(self) -> Self::Output;
}

/// Computes the digest of `abc` for a `self_test`.
pub(crate) fn digest_of_abc<H: Hash>() -> H::Output {
    let mut hash = H::new();
    // `black_box` prevents the compiler from evaluating the test, so that it runs on the device.
    hash.update(core::hint::black_box(b"abc"));
    hash.finalize()
}
