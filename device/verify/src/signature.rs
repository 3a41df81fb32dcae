//! Signatures of a bundle (image format §2.2, §5.2).
//!
//! Each algorithm is a feature of this crate, so that a boot stage contains only the verifiers that its keys need. The
//! table of verifiers is in `hartlock_kernels::signature`.

use hartlock_image::{Algorithm, KEY_ID_SIZE, KeyRecord, Reason, SignatureBlock};
use hartlock_kernels::sha2::Sha384;
pub use hartlock_kernels::signature::carries;
#[cfg(feature = "in-place")]
use hartlock_kernels::signature::compare_in;
use hartlock_kernels::signature::{Comparison, Rejection, compare};
use hartlock_kernels::{Hash, Kernels};

use crate::harden;

/// Returns the id of a public key (image format §2.5).
pub fn key_id(algorithm: u32, parameters: u32, public_key: &[u8]) -> [u8; KEY_ID_SIZE] {
    let mut hash = Sha384::new();
    hash.update(b"HLKkeyid");
    hash.update(&algorithm.to_le_bytes());
    hash.update(&parameters.to_le_bytes());
    hash.update(public_key);
    hash.finalize()
}

/// Returns the key record that the manifest must contain for the signer of this block.
pub fn key_record(block: &SignatureBlock<'_>) -> KeyRecord {
    KeyRecord {
        algorithm: block.algorithm,
        parameters: block.parameters,
        key_id: key_id(block.algorithm, block.parameters, block.public_key),
    }
}

/// Returns true if this build can verify the algorithm with these numbers.
pub(crate) fn is_carried(algorithm: u32, parameters: u32) -> bool {
    Algorithm::from_numbers(algorithm, parameters).is_some_and(carries)
}

/// Verifies one block over the signed region. A genuine signature makes two values equal; the function returns their
/// difference, sealed with `index`.
///
/// # Errors
/// `TrustedAlgorithmMissing` for an algorithm that this build does not contain, `PublicKeyInvalid`,
/// `PublicKeyUnsupported`, `SignatureNotCanonical`, `SignatureBlockSizes`, `SignatureParametersDiffer`,
/// `SignatureIndexOutOfRange`. A signature that does not verify gives a difference, which the caller refuses and folds
/// into the verdict, or `SignatureMismatch`.
#[inline(never)]
pub(crate) fn verify(
    kernels: &Kernels,
    block: &SignatureBlock<'_>,
    signed: &[u8],
    index: u32,
) -> Result<u64, Reason> {
    let algorithm = block
        .known_algorithm()
        .filter(|algorithm| carries(*algorithm))
        .ok_or(Reason::TrustedAlgorithmMissing)?;
    #[cfg(not(feature = "in-place"))]
    let compared = compare(kernels, algorithm, block.public_key, signed, block.signature)
        .map_err(reason_of)?;
    #[cfg(feature = "in-place")]
    let mut compared = None;
    #[cfg(feature = "in-place")]
    compare_in(kernels, algorithm, block.public_key, signed, block.signature, &mut compared)
        .map_err(reason_of)?;
    #[cfg(feature = "in-place")]
    let compared = compared.as_ref().ok_or(Reason::SignatureMismatch)?;
    #[cfg(not(feature = "in-place"))]
    let compared = &compared;
    Ok(sealed(compared, index))
}

/// Returns the difference of the two values of a signature, sealed with `index`.
pub(crate) fn sealed(compared: &Comparison, index: u32) -> u64 {
    harden::compare_twice(&compared.computed, &compared.claimed, index)
}

/// Checks the signature of one block with its key over the signed region, without hardening; for tools. Returns `None`
/// if this build does not contain the algorithm.
///
/// # Errors
/// The errors of the format for signatures: E0202 and E0301 to E0310.
pub fn check_signature(block: &SignatureBlock<'_>, signed: &[u8]) -> Option<Result<(), Reason>> {
    let algorithm = block.known_algorithm().filter(|algorithm| carries(*algorithm))?;
    let compared =
        compare(&Kernels::PORTABLE, algorithm, block.public_key, signed, block.signature);
    Some(compared.and_then(|compared| compared.check()).map_err(reason_of))
}

/// Returns the reason for refusing a bundle whose signature was rejected.
pub(crate) const fn reason_of(rejection: Rejection) -> Reason {
    match rejection {
        Rejection::InvalidKey => Reason::PublicKeyInvalid,
        Rejection::UnsupportedKey => Reason::PublicKeyUnsupported,
        Rejection::SignatureLength => Reason::SignatureBlockSizes,
        Rejection::OtherParameters => Reason::SignatureParametersDiffer,
        Rejection::IndexOutOfRange => Reason::SignatureIndexOutOfRange,
        // Bundles sign with an empty context, so that `ContextLength` does not occur.
        Rejection::NonCanonicalSignature | Rejection::ContextLength => {
            Reason::SignatureNotCanonical
        }
        Rejection::Mismatch => Reason::SignatureMismatch,
    }
}
