//! Ed25519 keys (RFC 8410).

use ed25519_dalek::ed25519::pkcs8::KeypairBytes;
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use pkcs8::PrivateKeyInfoRef;
use zeroize::Zeroizing;

use super::KeyErrorKind;
use super::random::random;

/// Checks an encoded point in the same way as a verifier (image format §5.2): the encoding is
/// canonical, and the point is on the curve and not of small order.
pub(super) fn check_public(bytes: &[u8]) -> Result<(), KeyErrorKind> {
    let malformed =
        KeyErrorKind::Malformed("its point is not on the curve, not canonical or of small order");
    let bytes = bytes.try_into().map_err(|_| malformed.clone())?;
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| malformed.clone())?;
    let is_canonical = key.to_edwards().compress().as_bytes() == bytes;
    if is_canonical && !key.is_weak() { Ok(()) } else { Err(malformed) }
}

/// A private key. Its memory is wiped when it is dropped.
pub(super) struct Ed25519Key(SigningKey);

impl Ed25519Key {
    pub(super) fn generate() -> Result<Self, KeyErrorKind> {
        let mut seed = Zeroizing::new([0; 32]);
        random(seed.as_mut_slice())?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Decodes the private key. The caller checks that a public key in the file belongs to it.
    pub(super) fn decode(info: PrivateKeyInfoRef<'_>) -> Result<Self, KeyErrorKind> {
        let pair = KeypairBytes::try_from(info).map_err(|_| {
            KeyErrorKind::Malformed("it has no octet string with the 32 bytes of a seed")
        })?;
        Ok(Self(SigningKey::from_bytes(&pair.secret_key)))
    }

    /// Encodes CurvePrivateKey (RFC 8410 §7): an octet string around the seed.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let seed = Zeroizing::new(self.0.to_bytes());
        let mut encoded = Zeroizing::new(Vec::with_capacity(34));
        encoded.extend([0x04, 0x20]);
        encoded.extend(seed.iter());
        encoded
    }

    pub(super) fn public(&self) -> Vec<u8> {
        self.0.verifying_key().to_bytes().to_vec()
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).to_bytes().to_vec()
    }
}
