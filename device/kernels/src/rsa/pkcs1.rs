//! RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2).
//!
//! The encoded message is not parsed. The only encoding that the standard allows is compared byte by byte with the
//! content of the signature. This prevents forgeries that exploit a lenient parser.

use core::hint::black_box;

use super::digest::MAX_DIGEST_LEN;
use super::key::{MAX_MODULUS_LEN, RsaPublicKey};
use super::known_answer;
use crate::sha2::{Sha256, Sha384, Sha512};
use crate::signature::{Comparison, Rejection};
use crate::{Hash, Kernels};

/// A hash function that has a DigestInfo (RFC 8017 §9.2, note 1).
pub trait Identified: Hash {
    /// The DER encoding of DigestInfo up to the digest. The algorithm parameters are NULL and not absent.
    const DIGEST_INFO: &'static [u8];
}

/// Defines the DigestInfo of a NIST hash with the object identifier `2.16.840.1.101.3.4.2.$number`.
macro_rules! identified {
    ($hash:ty, $number:literal) => {
        impl Identified for $hash {
            const DIGEST_INFO: &'static [u8] = &[
                0x30,
                17 + Self::OUTPUT_LEN as u8, // DigestInfo
                0x30,
                13, // AlgorithmIdentifier
                0x06,
                9,
                0x60,
                0x86,
                0x48,
                0x01,
                0x65,
                0x03,
                0x04,
                0x02,
                $number, // OBJECT IDENTIFIER
                0x05,
                0, // NULL
                0x04,
                Self::OUTPUT_LEN as u8, // OCTET STRING
            ];
        }
    };
}

identified!(Sha256, 1);
identified!(Sha384, 2);
identified!(Sha512, 3);

/// Runs the known-answer test and returns true if it passes. A signature with SHA-384 must be accepted, and must be
/// refused for another digest. The test takes the time of two verifications with a key of 2048 bits and hashes
/// nothing.
pub fn self_test() -> bool {
    let judge = |digest: &[u8]| {
        let key = RsaPublicKey::new(known_answer::MODULUS, &[1, 0, 1])?;
        compare(&key, Sha384::DIGEST_INFO, digest, black_box(known_answer::PKCS1))
            .and_then(|comparison| comparison.check())
    };
    let mut other = Sha384::KAT;
    if let Some(byte) = other.last_mut() {
        *byte ^= 1;
    }
    judge(&black_box(Sha384::KAT)) == Ok(()) && judge(&other) == Err(Rejection::Mismatch)
}

/// Verifies a signature of `message`.
///
/// # Errors
/// The errors of [`compare`], and `Mismatch` if the signature is not valid.
pub fn verify<H: Identified>(
    kernels: &Kernels,
    key: &RsaPublicKey,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    let mut hash = H::with(kernels);
    hash.update(message);
    compare(key, H::DIGEST_INFO, hash.finalize().as_ref(), signature)?.check()
}

/// Recovers the digest in the signature, and returns it as the claimed value, with `digest` as the computed value.
/// `digest_info` is the part of DigestInfo before the digest, as in [`Identified`].
///
/// # Errors
/// `SignatureLength` unless the signature has the length of the modulus, and `NonCanonicalSignature` unless it is
/// below the modulus. `Mismatch` if any other part of the encoded message is wrong, or if the digest is empty or
/// longer than [`MAX_DIGEST_LEN`].
pub fn compare(
    key: &RsaPublicKey,
    digest_info: &[u8],
    digest: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut encoded = [0; MAX_MODULUS_LEN];
    judge(key.open(signature, &mut encoded)?, digest_info, digest)
}

/// Does the work of [`compare`] for an encoded message.
pub(super) fn judge(
    encoded: &[u8],
    digest_info: &[u8],
    digest: &[u8],
) -> Result<Comparison, Rejection> {
    if digest.is_empty() || digest.len() > MAX_DIGEST_LEN {
        return Err(Rejection::Mismatch);
    }
    // The encoded message is 00 01, at least eight bytes ff, 00, and DigestInfo (RFC 8017 §9.2).
    let split = |bytes, len: usize| {
        <[u8]>::len(bytes).checked_sub(len).and_then(|at| bytes.split_at_checked(at))
    };
    let parts = || {
        let (front, claimed) = split(encoded, digest.len())?;
        let (front, info) = split(front, digest_info.len())?;
        let (first, front) = front.split_first_chunk::<2>()?;
        let (zero, padding) = front.split_last()?;
        let is_right = *first == [0, 1]
            && padding.len() >= 8
            && padding.iter().all(|byte| *byte == 0xff)
            && *zero == 0
            && info == digest_info;
        is_right.then_some(claimed)
    };
    Comparison::of(digest, parts().ok_or(Rejection::Mismatch)?)
}
