//! Hash functions as trait objects.

use core::marker::PhantomData;

use crate::{Hash, Kernels};

/// Length in bytes of the longest digest.
pub const MAX_DIGEST_LEN: usize = 64;

/// A hash function for PSS as a trait object, so that one copy of the scheme serves all hash
/// functions.
pub trait Digester {
    /// Returns the length of the digest in bytes, at most [`MAX_DIGEST_LEN`].
    fn output_len(&self) -> usize;

    /// Hashes the concatenation of `parts`. `digest` has the length of the output.
    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]);
}

/// A hash function of this crate with the kernels that compute it.
pub struct KernelHasher<'k, H> {
    kernels: &'k Kernels,
    hash: PhantomData<H>,
}

impl<'k, H: Hash> KernelHasher<'k, H> {
    /// Makes the hash function `H` with these kernels.
    pub const fn new(kernels: &'k Kernels) -> Self {
        Self { kernels, hash: PhantomData }
    }
}

impl<H: Hash> Digester for KernelHasher<'_, H> {
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
