//! The shape of a hash function.

use crate::dispatch::Kernels;

/// A hash function that takes its message in pieces.
///
/// How the message is cut into [`update`](Hash::update) calls never changes the digest.
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

    /// The digest: `[u8; OUTPUT_LEN]`, in the byte order in which the standard prints it.
    type Output: AsRef<[u8]> + Copy + Eq;

    /// Starts the hash of an empty message, computed by these kernels.
    fn with(kernels: &Kernels) -> Self;

    /// Starts the hash of an empty message, in the portable form.
    fn new() -> Self {
        Self::with(&Kernels::PORTABLE)
    }

    /// Appends `data`, of any length, to the message.
    fn update(&mut self, data: &[u8]);

    /// Pads the message as the standard says and returns its digest.
    fn finalize(self) -> Self::Output;
}

/// The digest that every `self_test` computes.
pub(crate) fn digest_of_abc<H: Hash>() -> H::Output {
    let mut hash = H::new();
    // Opaque, so that the test runs on the device and the compiler does not evaluate it.
    hash.update(core::hint::black_box(b"abc"));
    hash.finalize()
}
