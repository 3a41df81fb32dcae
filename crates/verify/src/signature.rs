//! Signature algorithms that this build carries (image format §2.2, §5.2).

use hartlock_image::{Algorithm, KEY_ID_SIZE, KeyRecord, Reason, SignatureBlock};
use hartlock_kernels::Hash;
use hartlock_kernels::ed25519::{self, Rejection};
use hartlock_kernels::sha2::Sha384;

/// Id of a public key (image format §2.5).
pub fn key_id(algorithm: u32, parameters: u32, public_key: &[u8]) -> [u8; KEY_ID_SIZE] {
    let mut hash = Sha384::new();
    hash.update(b"HLKkeyid");
    hash.update(&algorithm.to_le_bytes());
    hash.update(&parameters.to_le_bytes());
    hash.update(public_key);
    hash.finalize()
}

/// The key record that a signature block would have among the signers.
pub(crate) fn key_record(block: &SignatureBlock<'_>) -> KeyRecord {
    KeyRecord {
        algorithm: block.algorithm,
        parameters: block.parameters,
        key_id: key_id(block.algorithm, block.parameters, block.public_key),
    }
}

/// Whether this build can verify the algorithm behind these numbers.
pub(crate) const fn is_carried(algorithm: u32, parameters: u32) -> bool {
    Algorithm::from_numbers(algorithm, parameters).is_some()
}

/// Verifies one block over the signed region. `Ok(false)`: the algorithm is not carried, and
/// nothing is known about the signature.
pub(crate) fn verify(block: &SignatureBlock<'_>, signed: &[u8]) -> Result<bool, Reason> {
    match block.known_algorithm() {
        Some(Algorithm::Ed25519) => {
            let public_key = block.public_key.first_chunk().ok_or(Reason::SignatureBlockSizes)?;
            let signature = block.signature.first_chunk().ok_or(Reason::SignatureBlockSizes)?;
            match ed25519::verify(public_key, signed, signature) {
                Ok(()) => Ok(true),
                Err(
                    Rejection::NonCanonicalKey
                    | Rejection::SmallOrderKey
                    | Rejection::KeyNotOnCurve,
                ) => Err(Reason::PublicKeyInvalid),
                Err(
                    Rejection::NonCanonicalS | Rejection::NonCanonicalR | Rejection::SmallOrderR,
                ) => Err(Reason::SignatureNotCanonical),
                Err(Rejection::Mismatch) => Err(Reason::SignatureMismatch),
            }
        }
        None => Ok(false),
    }
}
