//! RustCrypto's `sha3`, and `ed25519-dalek` with SHA3-512 in place of SHA-512.

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use sha3::{Digest, Sha3_512};

use crate::software::Software;

pub struct Crates;

impl Software for Crates {
    const WHO: &str = "crates";

    fn digest(&self, parts: &[&[u8]]) -> [u8; 64] {
        let mut hash = Sha3_512::new();
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize().into()
    }

    fn public_key(&self, expanded: &[u8; 64]) -> [u8; 32] {
        VerifyingKey::from(&ExpandedSecretKey::from_bytes(expanded)).to_bytes()
    }

    /// Signs without verifying the result, like Keystone's loader.
    fn sign(&self, expanded: &[u8; 64], public_key: &[u8; 32], message: &[u8]) -> Option<[u8; 64]> {
        let key = VerifyingKey::from_bytes(public_key).ok()?;
        let expanded = ExpandedSecretKey::from_bytes(expanded);
        Some(raw_sign::<Sha3_512>(&expanded, message, &key).to_bytes())
    }
}
