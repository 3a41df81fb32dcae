//! Signature algorithms that this build carries (image format §2.2, §5.2).

use hartlock_image::{Algorithm, KEY_ID_SIZE, KeyRecord, Reason, SignatureBlock};
use hartlock_kernels::ed25519::{self, Rejection};
use hartlock_kernels::sha2::Sha384;
use hartlock_kernels::{Hash, Kernels};

use crate::harden::{self, difference};
use crate::tree::padded;

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
pub fn key_record(block: &SignatureBlock<'_>) -> KeyRecord {
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

/// Verifies one block over the signed region. Returns the difference between the signature and
/// the one right signature, 0 if there is none, sealed with `index`; `None` if the algorithm is not
/// carried, and nothing is known about the signature.
///
/// # Errors
/// `PublicKeyInvalid`, `SignatureNotCanonical`, `SignatureBlockSizes`. A signature that does not
/// verify is a difference, for the caller to refuse and to fold into the verdict.
#[inline(never)]
pub(crate) fn verify(
    kernels: &Kernels,
    block: &SignatureBlock<'_>,
    signed: &[u8],
    index: u32,
) -> Result<Option<u64>, Reason> {
    let Some(algorithm) = block.known_algorithm() else { return Ok(None) };
    match algorithm {
        Algorithm::Ed25519 => {
            let public_key = block.public_key.first_chunk().ok_or(Reason::SignatureBlockSizes)?;
            let signature = block.signature.first_chunk().ok_or(Reason::SignatureBlockSizes)?;
            let expected =
                ed25519::expected_r(kernels, public_key, signed, signature).map_err(reason_of)?;
            let (r, _) = signature.split_at(expected.len());
            Ok(Some(harden::seal(difference(&padded(&expected), &padded(r)), index)))
        }
    }
}

const fn reason_of(rejection: Rejection) -> Reason {
    match rejection {
        Rejection::NonCanonicalKey | Rejection::SmallOrderKey | Rejection::KeyNotOnCurve => {
            Reason::PublicKeyInvalid
        }
        Rejection::NonCanonicalS | Rejection::NonCanonicalR | Rejection::SmallOrderR => {
            Reason::SignatureNotCanonical
        }
        Rejection::Mismatch => Reason::SignatureMismatch,
    }
}
