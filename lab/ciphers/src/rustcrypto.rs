//! RustCrypto's crates `aes`, `ctr` and `ghash`.

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};
use hartlock_kernels::CipherTier;

use crate::{Peer, Prepared};

pub const PEER: Peer = Peer { name: "rustcrypto", with_key };

pub fn encrypt(key: &[u8; 32], iv: &[u8; 12], text: &mut [u8]) -> [u8; 16] {
    let cipher = Aes256Gcm::new(&(*key).into());
    let tag = cipher.encrypt_inout_detached(&(*iv).into(), &[], text.into());
    tag.map(Into::into).unwrap_or_default()
}

fn with_key(_: CipherTier, key: &[u8; 32], work: &mut dyn FnMut(&dyn Prepared)) {
    work(&Aes256Gcm::new(&(*key).into()));
}

impl Prepared for Aes256Gcm {
    fn gcm(&self, iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.decrypt_inout_detached(&(*iv).into(), &[], text.into(), &(*tag).into()).is_ok()
    }
}
