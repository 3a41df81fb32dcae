//! RustCrypto's crates `aes`, `ctr` and `ghash`.

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};

pub fn encrypt(key: &[u8; 32], iv: &[u8; 12], text: &mut [u8]) -> [u8; 16] {
    let cipher = Aes256Gcm::new(&(*key).into());
    let tag = cipher.encrypt_inout_detached(&(*iv).into(), &[], text.into());
    tag.map(Into::into).unwrap_or_default()
}

pub fn decrypt(key: &[u8; 32], iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
    let cipher = Aes256Gcm::new(&(*key).into());
    cipher.decrypt_inout_detached(&(*iv).into(), &[], text.into(), &(*tag).into()).is_ok()
}
