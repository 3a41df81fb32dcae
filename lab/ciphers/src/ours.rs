//! The portable form of this project.

use hartlock_kernels::aes::{AesKey, gcm};

pub fn decrypt(key: &[u8; 32], iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
    let mut expanded = AesKey::EMPTY;
    expanded.expand(key).is_ok() && gcm::decrypt(&expanded, iv, &[], text, tag).is_ok()
}
