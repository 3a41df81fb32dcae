//! Hashes as trait objects.

use core::marker::PhantomData;

use crate::{Hash, Kernels};

/// Length in bytes of the longest digest.
pub const MAX_DIGEST_LEN: usize = 64;

/// A hash function for PSS, as a trait object: one copy of the scheme serves all of them.
pub trait Digester {
    /// Length of the digest in bytes, at most [`MAX_DIGEST_LEN`].
    fn output_len(&self) -> usize;

    /// Hashes `parts`, one after the other. `digest` has the length of the output.
    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]);
}

/// A hash of this crate, computed by these kernels.
pub struct Hasher<'k, H> {
    kernels: &'k Kernels,
    hash: PhantomData<H>,
}

impl<'k, H: Hash> Hasher<'k, H> {
    /// The hash `H`.
    pub const fn new(kernels: &'k Kernels) -> Self {
        Self { kernels, hash: PhantomData }
    }
}

impl<H: Hash> Digester for Hasher<'_, H> {
    fn output_len(&self) -> usize {
        H::OUTPUT_LEN
    }

    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]) {
        let mut hash = H::with(self.kernels);
        for part in parts {
            hash.update(part);
        }
        for (to, from) in digest.iter_mut().zip(hash.finalize().as_ref()) {
            *to = *from;
        }
    }
}
