//! This project's kernels for the same hart.

use hartlock_kernels::aes::{AesKey, cbc, ctr, gcm};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};

use crate::hash::Digest;
use crate::operands::{AES_BLOCK_LEN, AES_KEY_LEN, GCM_IV_LEN, HEADER};

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

/// Expands a key and calls a function with it. `None` if the key or the text has a length that the function refuses.
fn with_key<T>(
    kernels: &Kernels,
    key: &[u8; AES_KEY_LEN],
    work: impl FnOnce(&AesKey) -> Option<T>,
) -> Option<T> {
    let mut expanded = AesKey::with(kernels);
    expanded.expand(key).ok()?;
    work(&expanded)
}

/// Encrypts whole blocks in CBC mode in place.
pub fn cbc(
    kernels: &Kernels,
    key: &[u8; AES_KEY_LEN],
    iv: &[u8; AES_BLOCK_LEN],
    text: &mut [[u8; AES_BLOCK_LEN]],
) -> Option<()> {
    with_key(kernels, key, |key| cbc::encrypt(key, iv, text.as_flattened_mut()).ok())
}

/// Encrypts in counter mode in place.
pub fn ctr(
    kernels: &Kernels,
    key: &[u8; AES_KEY_LEN],
    iv: &[u8; AES_BLOCK_LEN],
    text: &mut [u8],
) -> Option<()> {
    with_key(kernels, key, |key| ctr::apply(key, iv, text).ok())
}

/// Encrypts in place and returns the tag. The kernels only decrypt in one pass, so that this is counter mode, whose first block
/// is 2 (SP 800-38D §7.1), and the tag of its result.
pub fn gcm(
    kernels: &Kernels,
    key: &[u8; AES_KEY_LEN],
    iv: &[u8; AES_BLOCK_LEN],
    text: &mut [u8],
) -> Option<[u8; AES_BLOCK_LEN]> {
    let mut first = *iv;
    first[GCM_IV_LEN..].copy_from_slice(&2_u32.to_be_bytes());
    with_key(kernels, key, |key| {
        ctr::apply(key, &first, text).ok()?;
        gcm::tag(key, &iv[..GCM_IV_LEN], HEADER, text).ok()
    })
}
