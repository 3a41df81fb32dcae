//! Keys that are no secret, to get behind the signatures.

use std::sync::LazyLock;

use ed25519_dalek::{Signer, SigningKey};
use hartlock_image::KeyRecord;
use hartlock_verify::key_id;

/// A key pair with its record.
pub struct FakeKey {
    signing: SigningKey,
    pub public: [u8; 32],
    pub record: KeyRecord,
}

/// Five keys; their seeds are their numbers.
pub static KEYS: LazyLock<[FakeKey; 5]> =
    LazyLock::new(|| [1, 2, 3, 4, 5].map(|seed| FakeKey::from_seed([seed; 32])));

/// Algorithm and parameters of Ed25519, and of an algorithm that nobody carries.
pub const ED25519: (u32, u32) = (1, 0);
pub const FOREIGN: (u32, u32) = (9, 0x0102_0304);

impl FakeKey {
    fn from_seed(seed: [u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(&seed);
        let public = signing.verifying_key().to_bytes();
        Self { record: record(ED25519, &public), signing, public }
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.signing.sign(message).to_bytes()
    }
}

/// The record of a public key (image format §2.5).
pub fn record((algorithm, parameters): (u32, u32), public_key: &[u8]) -> KeyRecord {
    KeyRecord { algorithm, parameters, key_id: key_id(algorithm, parameters, public_key) }
}
