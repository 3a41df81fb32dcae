//! AES-256 in software, with which the ciphertexts of engines are compared.

use aes::Aes256;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce};
use cbc::Encryptor;
use cbc::cipher::{Block, BlockModeEncrypt, KeyIvInit};
use ctr::Ctr128BE;
use ctr::cipher::StreamCipher;

/// The length of a block in bytes.
pub const BLOCK_LEN: usize = 16;

/// Encrypts in CBC mode (SP 800-38A §6.2). Only whole blocks are encrypted; bytes after the last
/// one stay unchanged.
pub fn cbc(key: &[u8; 32], iv: &[u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let mut mode = Encryptor::<Aes256>::new(key.into(), iv.into());
    for block in text.as_chunks_mut::<BLOCK_LEN>().0 {
        mode.encrypt_block(<&mut Block<Aes256>>::from(block));
    }
    text
}

/// Encrypts in CTR mode (SP 800-38A §6.5).
pub fn ctr(key: &[u8; 32], counter: &[u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    Ctr128BE::<Aes256>::new(key.into(), counter.into()).apply_keystream(&mut text);
    text
}

/// Encrypts in GCM mode (SP 800-38D §7.1); returns the ciphertext followed by its tag. `more` is
/// only authenticated.
pub fn seal(key: &[u8; 32], iv: &[u8; 12], more: &[u8], text: &[u8]) -> Vec<u8> {
    let mut sealed = text.to_vec();
    let mode = Aes256Gcm::new(key.into());
    let tag = mode.encrypt_inout_detached(&Nonce::from(*iv), more, sealed.as_mut_slice().into());
    sealed.extend(tag.expect("a text is shorter than 64 GiB"));
    sealed
}
