//! This project's kernel for the same hart.

use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};

use crate::hash::Digest;

const BLOCK_LEN: usize = 64;

pub fn sha256(kernels: &Kernels, message: &[u8]) -> Digest {
    let mut hash = Sha256::with(kernels);
    hash.update(message);
    hash.finalize()
}

/// Computes HMAC (FIPS 198-1 §4) with a key of at most one block.
pub fn hmac(kernels: &Kernels, key: &[u8], message: &[u8]) -> Digest {
    let keyed = |pad: u8| {
        let mut block = [pad; BLOCK_LEN];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        let mut hash = Sha256::with(kernels);
        hash.update(&block);
        hash
    };
    let mut inner = keyed(0x36);
    inner.update(message);
    let mut outer = keyed(0x5c);
    outer.update(&inner.finalize());
    outer.finalize()
}
