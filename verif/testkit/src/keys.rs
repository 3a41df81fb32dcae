//! Keys that are not secret: this file contains their seeds, so a signature with them proves
//! nothing.

use anyhow::{Context, Result};
use ed25519_dalek::pkcs8::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::{Signer, SigningKey};
use hartlock_image::KeyRecord;

/// Algorithm and parameters of Ed25519 (image format §2.2).
pub const ED25519: (u32, u32) = (1, 0);
/// The numbers of an algorithm and parameters that no verifier of this version supports.
pub const FOREIGN: (u32, u32) = (9, 0x0102_0304);

/// An Ed25519 key pair with all values that follow from its seed, computed once.
pub struct KeyPair {
    signing: SigningKey,
    pub public: [u8; 32],
    pub record: KeyRecord,
}

impl KeyPair {
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(&seed);
        let public = signing.verifying_key().to_bytes();
        Self { record: record(ED25519.0, ED25519.1, &public), signing, public }
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.signing.sign(message).to_bytes()
    }
}

/// A published key pair.
#[derive(Debug)]
pub struct FakeKey {
    /// The name of the key, as in the file `<name>.pub.pem`.
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

    fn pair(&self) -> KeyPair {
        KeyPair::from_seed(self.seed)
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.pair().public
    }

    pub fn record(&self) -> KeyRecord {
        self.pair().record
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.pair().sign(message)
    }

    /// Encodes the public key as a SubjectPublicKeyInfo file.
    pub fn public_pem(&self) -> Result<String> {
        Ok(self.signing_key().verifying_key().to_public_key_pem(LineEnding::LF)?)
    }
}

/// Makes the record of any public key (image format §2.5).
pub fn record(algorithm: u32, parameters: u32, public_key: &[u8]) -> KeyRecord {
    let key_id = hartlock_verify::key_id(algorithm, parameters, public_key);
    KeyRecord { algorithm, parameters, key_id }
}
