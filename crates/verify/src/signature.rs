//! Signature algorithms that this build carries (image format §2.2, §5.2).
//!
//! Each algorithm is a feature of this crate: a boot stage carries what its keys need and nothing else.

#[cfg(feature = "ecdsa")]
use hartlock_image::Curve;
#[cfg(feature = "ml-dsa")]
use hartlock_image::MlDsaSet;
use hartlock_image::{Algorithm, KEY_ID_SIZE, KeyRecord, Reason, SignatureBlock};
#[cfg(feature = "rsa")]
use hartlock_image::{HashId, RsaPadding};
#[cfg(feature = "ed25519")]
use hartlock_kernels::ed25519;
#[cfg(feature = "rsa")]
use hartlock_kernels::rsa;
use hartlock_kernels::sha2::Sha384;
use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::{Hash, Kernels};

use crate::harden::{self, difference};

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
    match Algorithm::from_numbers(algorithm, parameters) {
        Some(algorithm) => carries(algorithm),
        None => false,
    }
}

/// Whether this build can verify an algorithm.
pub const fn carries(algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::Ed25519 => cfg!(feature = "ed25519"),
        Algorithm::Rsa { .. } => cfg!(feature = "rsa"),
        Algorithm::Ecdsa(_) => cfg!(feature = "ecdsa"),
        Algorithm::Hss(_) => cfg!(feature = "lms"),
        Algorithm::Xmss(_) | Algorithm::XmssMt(_) => cfg!(feature = "xmss"),
        Algorithm::MlDsa(_) => cfg!(feature = "ml-dsa"),
        Algorithm::SlhDsa(_) => cfg!(feature = "slh-dsa"),
    }
}

/// Verifies one block over the signed region. Returns the difference between the two values that a
/// genuine signature makes equal, 0 if there is none, sealed with `index`; `None` if the algorithm is
/// not carried, and nothing is known about the signature.
///
/// # Errors
/// `PublicKeyInvalid`, `PublicKeyUnsupported`, `SignatureNotCanonical`, `SignatureBlockSizes`,
/// `SignatureParametersDiffer`, `SignatureIndexOutOfRange`. A signature that does not verify is a
/// difference, for the caller to refuse and to fold into the verdict, or `SignatureMismatch`.
#[inline(never)]
pub(crate) fn verify(
    kernels: &Kernels,
    block: &SignatureBlock<'_>,
    signed: &[u8],
    index: u32,
) -> Result<Option<u64>, Reason> {
    let Some(algorithm) = block.known_algorithm() else { return Ok(None) };
    if !carries(algorithm) {
        return Ok(None);
    }
    let compared = compare(kernels, algorithm, block.public_key, signed, block.signature)
        .map_err(reason_of)?;
    Ok(Some(harden::seal(difference(&compared.computed, &compared.claimed), index)))
}

/// Whether one block's signature fits its key and the signed region: the plain answer, for tools;
/// `None` if the algorithm is not carried.
///
/// # Errors
/// Those of the format for signatures: E0202 and E0301 to E0310.
pub fn check_signature(block: &SignatureBlock<'_>, signed: &[u8]) -> Option<Result<(), Reason>> {
    let algorithm = block.known_algorithm().filter(|algorithm| carries(*algorithm))?;
    let compared =
        compare(&Kernels::PORTABLE, algorithm, block.public_key, signed, block.signature);
    Some(compared.and_then(|compared| compared.check()).map_err(reason_of))
}

/// Hands the parts of a signature to the verifier of its algorithm, which this build carries.
#[cfg_attr(
    not(any(
        feature = "ecdsa",
        feature = "ed25519",
        feature = "lms",
        feature = "ml-dsa",
        feature = "rsa",
        feature = "slh-dsa",
        feature = "xmss"
    )),
    allow(unused_variables, reason = "programs that verify no signature carry no algorithm")
)]
fn compare(
    kernels: &Kernels,
    algorithm: Algorithm,
    public_key: &[u8],
    signed: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    match algorithm {
        #[cfg(feature = "ed25519")]
        Algorithm::Ed25519 => {
            let public_key = public_key.first_chunk().ok_or(Rejection::InvalidKey)?;
            let signature = signature.first_chunk().ok_or(Rejection::SignatureLength)?;
            let expected = ed25519::expected_r(kernels, public_key, signed, signature)?;
            let (r, _) = signature.split_at(expected.len());
            Comparison::of(&expected, r)
        }
        #[cfg(feature = "ml-dsa")]
        Algorithm::MlDsa(set) => {
            use hartlock_kernels::ml_dsa::{Message, Set};
            let set = match set {
                MlDsaSet::MlDsa44 => Set::MlDsa44,
                MlDsaSet::MlDsa65 => Set::MlDsa65,
                MlDsaSet::MlDsa87 => Set::MlDsa87,
            };
            let message = Message::Pure { context: &[], message: &[signed] };
            hartlock_kernels::ml_dsa::compare(kernels, set, public_key, message, signature)
        }
        #[cfg(feature = "slh-dsa")]
        Algorithm::SlhDsa(set) => {
            use hartlock_kernels::slh_dsa::{Message, ParameterSet, compare};
            // In the order of the numbers (image format §2.2).
            const SETS: [ParameterSet; 12] = [
                ParameterSet::Sha2_128s,
                ParameterSet::Shake128s,
                ParameterSet::Sha2_128f,
                ParameterSet::Shake128f,
                ParameterSet::Sha2_192s,
                ParameterSet::Shake192s,
                ParameterSet::Sha2_192f,
                ParameterSet::Shake192f,
                ParameterSet::Sha2_256s,
                ParameterSet::Shake256s,
                ParameterSet::Sha2_256f,
                ParameterSet::Shake256f,
            ];
            let index = (set.number() as usize).wrapping_sub(1);
            let set = *SETS.get(index).ok_or(Rejection::UnsupportedKey)?;
            let message = Message::Pure { context: &[], message: signed };
            compare(kernels, set, public_key, message, signature)
        }
        #[cfg(feature = "rsa")]
        Algorithm::Rsa { padding, modulus_bits, hash } => {
            let key = rsa::PublicKey::from_pkcs1_der(public_key)?;
            if key.modulus().len() != usize::from(modulus_bits >> 3) {
                return Err(Rejection::UnsupportedKey);
            }
            let compare = match hash {
                HashId::Sha256 => compare_rsa::<hartlock_kernels::sha2::Sha256>,
                HashId::Sha384 => compare_rsa::<Sha384>,
                _ => compare_rsa::<hartlock_kernels::sha2::Sha512>,
            };
            compare(kernels, padding, &key, signed, signature)
        }
        #[cfg(feature = "ecdsa")]
        Algorithm::Ecdsa(curve) => {
            use hartlock_kernels::ecdsa::{self, PublicKey};
            match curve {
                Curve::P256 => {
                    let key = PublicKey::from_sec1(ecdsa::Curve::P256, public_key)?;
                    let digest = digest::<hartlock_kernels::sha2::Sha256>(kernels, signed);
                    ecdsa::compare(&key, &digest, signature)
                }
                Curve::P384 => {
                    let key = PublicKey::from_sec1(ecdsa::Curve::P384, public_key)?;
                    ecdsa::compare(&key, &digest::<Sha384>(kernels, signed), signature)
                }
            }
        }
        #[cfg(feature = "lms")]
        Algorithm::Hss(set) => {
            // The key says the same in its first three words (RFC 8554 §6.1, §5.3).
            let words = [set.levels(), set.lms_type(), set.ots_type()].map(u32::from);
            let heads = words.map(u32::to_be_bytes);
            if !public_key.starts_with(heads.as_flattened()) {
                return Err(Rejection::InvalidKey);
            }
            hartlock_kernels::lms::hss::compare(kernels, public_key, &[signed], signature)
        }
        #[cfg(feature = "xmss")]
        Algorithm::Xmss(set) | Algorithm::XmssMt(set) => {
            use hartlock_kernels::xmss::{Scheme, Sets, compare};
            // The key says the same in its first word (RFC 8391 §4.1.7).
            if !public_key.starts_with(&set.oid().to_be_bytes()) {
                return Err(Rejection::InvalidKey);
            }
            let scheme = match algorithm {
                Algorithm::Xmss(_) => Scheme::Xmss,
                _ => Scheme::XmssMt,
            };
            compare(kernels, scheme, Sets::Approved, public_key, &[signed], signature)
        }
        // Nobody asks for what is not carried.
        #[allow(unreachable_patterns, reason = "unless everything is carried")]
        _ => Err(Rejection::UnsupportedKey),
    }
}

/// RSA with one hash for message, mask and salt length.
#[cfg(feature = "rsa")]
fn compare_rsa<H: rsa::pkcs1::Identified>(
    kernels: &Kernels,
    padding: RsaPadding,
    key: &rsa::PublicKey<'_>,
    signed: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let digest = digest::<H>(kernels, signed);
    let digest = digest.as_ref();
    match padding {
        RsaPadding::Pkcs1 => rsa::pkcs1::compare(key, H::DIGEST_INFO, digest, signature),
        RsaPadding::Pss => {
            let hash = rsa::Hasher::<H>::new(kernels);
            let mask = rsa::pss::Mgf1(&hash);
            rsa::pss::compare(key, &hash, &mask, digest, H::OUTPUT_LEN, signature)
        }
    }
}

#[cfg(any(feature = "rsa", feature = "ecdsa"))]
fn digest<H: Hash>(kernels: &Kernels, message: &[u8]) -> H::Output {
    let mut hash = H::with(kernels);
    hash.update(message);
    hash.finalize()
}

/// Why a bundle is refused whose signature was.
const fn reason_of(rejection: Rejection) -> Reason {
    match rejection {
        Rejection::InvalidKey => Reason::PublicKeyInvalid,
        Rejection::UnsupportedKey => Reason::PublicKeyUnsupported,
        Rejection::SignatureLength => Reason::SignatureBlockSizes,
        Rejection::OtherParameters => Reason::SignatureParametersDiffer,
        Rejection::IndexOutOfRange => Reason::SignatureIndexOutOfRange,
        // No bundle has a context.
        Rejection::NonCanonicalSignature | Rejection::ContextLength => {
            Reason::SignatureNotCanonical
        }
        Rejection::Mismatch => Reason::SignatureMismatch,
    }
}
