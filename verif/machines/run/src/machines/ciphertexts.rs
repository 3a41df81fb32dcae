//! AES-256 in software: what engines encrypt is judged by it.

use aes::Aes256;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce};
use cbc::Encryptor;
use cbc::cipher::{Block, BlockModeEncrypt, KeyIvInit};
use ctr::Ctr128BE;
use ctr::cipher::StreamCipher;

/// Bytes of a block.
pub const BLOCK_LEN: usize = 16;

/// CBC (SP 800-38A §6.2), of whole blocks: what is after the last is left as it is.
pub fn cbc(key: &[u8; 32], iv: &[u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let mut mode = Encryptor::<Aes256>::new(key.into(), iv.into());
    for block in text.as_chunks_mut::<BLOCK_LEN>().0 {
        mode.encrypt_block(<&mut Block<Aes256>>::from(block));
    }
    text
}

/// CTR (SP 800-38A §6.5).
pub fn ctr(key: &[u8; 32], counter: &[u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    Ctr128BE::<Aes256>::new(key.into(), counter.into()).apply_keystream(&mut text);
    text
}

/// GCM (SP 800-38D §7.1): the ciphertext, and its tag after it. `more` is authenticated alone.
pub fn seal(key: &[u8; 32], iv: &[u8; 12], more: &[u8], text: &[u8]) -> Vec<u8> {
    let mut sealed = text.to_vec();
    let mode = Aes256Gcm::new(key.into());
    let tag = mode.encrypt_inout_detached(&Nonce::from(*iv), more, sealed.as_mut_slice().into());
    sealed.extend(tag.expect("a text is shorter than 64 GiB"));
    sealed
}
