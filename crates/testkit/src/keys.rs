//! Keys that are no secret: their seeds stand here, so nothing signed with them means anything.

use anyhow::{Context, Result};
use ed25519_dalek::pkcs8::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::{Signer, SigningKey};
use hartlock_image::KeyRecord;

/// A published key pair.
#[derive(Debug)]
pub struct FakeKey {
    /// As in the file `<name>.pub.pem`.
    pub name: &'static str,
    seed: [u8; 32],
}

pub const A: &FakeKey =
    &FakeKey { name: "fake-root-a", seed: *b"a fake seed, not a secret: key a" };
pub const B: &FakeKey =
    &FakeKey { name: "fake-root-b", seed: *b"a fake seed, not a secret: key b" };
pub const C: &FakeKey =
    &FakeKey { name: "fake-root-c", seed: *b"a fake seed, not a secret: key c" };
pub const D: &FakeKey =
    &FakeKey { name: "fake-root-d", seed: *b"a fake seed, not a secret: key d" };
pub const E: &FakeKey =
    &FakeKey { name: "fake-root-e", seed: *b"a fake seed, not a secret: key e" };

/// Every key.
pub const ALL: [&FakeKey; 5] = [A, B, C, D, E];

impl FakeKey {
    pub fn by_name(name: &str) -> Result<&'static FakeKey> {
        let found = ALL.into_iter().find(|key| key.name == name);
        found.with_context(|| format!("there is no key {name}"))
    }

    pub fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.signing_key().verifying_key().to_bytes()
    }

    pub fn record(&self) -> KeyRecord {
        record(1, 0, &self.public_key())
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.signing_key().sign(message).to_bytes()
    }

    /// The public key as a SubjectPublicKeyInfo file.
    pub fn public_pem(&self) -> Result<String> {
        Ok(self.signing_key().verifying_key().to_public_key_pem(LineEnding::LF)?)
    }
}

/// The record of any public key (image format §2.5).
pub fn record(algorithm: u32, parameters: u32, public_key: &[u8]) -> KeyRecord {
    let key_id = hartlock_verify::key_id(algorithm, parameters, public_key);
    KeyRecord { algorithm, parameters, key_id }
}
