//! Ed25519 signature verification (RFC 8032 §5.1, FIPS 186-5 §7.7) with the strict rule.
//!
//! RFC 8032 allows verifiers that disagree about malformed signatures. This verifier accepts the smallest set of
//! signatures. No third party can derive a second valid signature from a valid one, and a key cannot be chosen such
//! that one signature is valid for many messages:
//!
//! * S is below L;
//! * the key A and R are canonical encodings: y is below p, and x = 0 does not have the sign bit;
//! * neither A nor R has a small order (one that divides 8);
//! * the equation is the cofactorless \[S\]B = R + \[k\]A, and R is compared byte by byte.
//!
//! A key or an R with a small-order *component* is not refused only for this reason. It must satisfy the same
//! equation.
//!
//! The run time depends on the key, the message and the signature, which are all public. The module `signer` makes
//! signatures and has its own multiplication, which runs in constant time.
//!
//! # Why not ed25519-dalek
//!
//! Version 3.0.0 was measured without tables and without zeroize, linked with fat LTO for riscv64imac. It takes 32.6
//! kB at `opt-level = "s"` and 43.3 kB at 3, and both images contain `panic_bounds_check` and `panic_fmt`. This
//! verifier takes 12 kB at "s" with its SHA-512 (20 kB at 3) and has no panic path. The tests compare it with dalek.

#[cfg(any(feature = "ed25519-signer", test))]
mod comb;
mod constants;
#[cfg(feature = "ed25519-contexts")]
pub mod contexts;
mod field;
#[cfg(feature = "ed25519-keystone")]
pub mod keystone;
mod point;
mod scalar;
#[cfg(any(feature = "ed25519-signer", test))]
pub mod signer;
#[cfg(test)]
mod tests;

use crate::signature::{Comparison, Rejection, Verifier};
use crate::{Hash, Kernels, sha2::Sha512};
pub use hartlock_algorithm::Ed25519Set;
use point::EncodedPoint;
use scalar::Scalar;

/// Length in bytes of a public key: the encoded point A.
pub const PUBLIC_KEY_LEN: usize = 32;

/// Length in bytes of a signature: the encoded point R, then the scalar S, little-endian.
pub const SIGNATURE_LEN: usize = 64;

/// The part of the strict rule that a signature violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// The key is not a canonical encoding of a y coordinate and a sign.
    NonCanonicalKey,
    /// The key has an order that divides 8. One signature could be valid for many messages.
    SmallOrderKey,
    /// No point of the curve has the encoded y coordinate of the key.
    KeyNotOnCurve,
    /// R is not a canonical encoding of a y coordinate and a sign.
    NonCanonicalR,
    /// R has an order that divides 8. No correct signer makes such an R.
    SmallOrderR,
    /// S is not below the group order L, so that it is a second encoding of S mod L.
    NonCanonicalS,
    /// The signature is well formed, but not valid for this message and key.
    Mismatch,
}

impl From<Violation> for Rejection {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::NonCanonicalKey | Violation::SmallOrderKey | Violation::KeyNotOnCurve => {
                Rejection::InvalidKey
            }
            Violation::NonCanonicalR | Violation::SmallOrderR | Violation::NonCanonicalS => {
                Rejection::NonCanonicalSignature
            }
            Violation::Mismatch => Rejection::Mismatch,
        }
    }
}

impl Verifier for Ed25519Set {
    fn compare(
        kernels: &Kernels,
        _: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        #[cfg(any(all(feature = "engine", feature = "ed25519-signer"), test))]
        if let Some(judged) = by_engine(kernels, public_key, message, signature) {
            return judged;
        }
        in_software(kernels, public_key, message, signature)
    }
}

// Out of line where there may be an engine: points are on the stack only where software does its work.
#[cfg_attr(any(all(feature = "engine", feature = "ed25519-signer"), test), inline(never))]
fn in_software(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let public_key = public_key.first_chunk().ok_or(Rejection::InvalidKey)?;
    let signature = signature.first_chunk().ok_or(Rejection::SignatureLength)?;
    let expected = expected_r(kernels, public_key, message, signature)?;
    let (r, _) = signature.split_at(expected.len());
    Comparison::of(&expected, r)
}

/// Value for a signature that the engine accepts. No other answer produces these bits.
#[cfg(any(all(feature = "engine", feature = "ed25519-signer"), test))]
const GENUINE: [u8; 32] = [0x5c; 32];

/// By the engine, twice: one wrong answer is not enough. Nothing without an engine, or if it fails.
#[cfg(any(all(feature = "engine", feature = "ed25519-signer"), test))]
fn by_engine(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Option<Result<Comparison, Rejection>> {
    let engines = kernels.engines_for(crate::EngineUse::Ed25519)?;
    // Software says what is wrong with other lengths.
    let public_key: &[u8; PUBLIC_KEY_LEN] = public_key.try_into().ok()?;
    let signature: &[u8; SIGNATURE_LEN] = signature.try_into().ok()?;
    let (r, _) = signature.split_at(32);
    let mut answers = [0; 64];
    for answer in answers.as_chunks_mut::<32>().0 {
        let mut hash = Sha512::with(kernels);
        [r, public_key, message].into_iter().for_each(|part| hash.update(part));
        let challenge = hash.finalize();
        match engines.verify_ed25519(public_key, signature, &challenge)? {
            Ok(()) => *answer = GENUINE,
            Err(Rejection::Mismatch) => {}
            Err(rejection) => return Some(Err(rejection)),
        }
    }
    Some(Comparison::of(&answers, [GENUINE; 2].as_flattened()))
}

/// Runs the known-answer test and returns true if it passes. A published signature (RFC 8032 §7.1, test 3) must be
/// accepted, and must be refused for another message. The test takes the time of two verifications.
pub fn self_test() -> bool {
    let message = core::hint::black_box([0xaf, 0x82]);
    verify(KAT_PUBLIC_KEY, &message, KAT_SIGNATURE) == Ok(())
        && verify(KAT_PUBLIC_KEY, &message[..1], KAT_SIGNATURE) == Err(Violation::Mismatch)
}

const KAT_PUBLIC_KEY: &[u8; PUBLIC_KEY_LEN] = b"\
      \xfc\x51\xcd\x8e\x62\x18\xa1\xa3\x8d\xa4\x7e\xd0\x02\x30\xf0\x58\
      \x08\x16\xed\x13\xba\x33\x03\xac\x5d\xeb\x91\x15\x48\x90\x80\x25";

const KAT_SIGNATURE: &[u8; SIGNATURE_LEN] = b"\
      \x62\x91\xd6\x57\xde\xec\x24\x02\x48\x27\xe6\x9c\x3a\xbe\x01\xa3\
      \x0c\xe5\x48\xa2\x84\x74\x3a\x44\x5e\x36\x80\xd7\xdb\x5a\xc3\xac\
      \x18\xff\x9b\x53\x8d\x16\xf2\x90\xae\x67\xf7\x60\x98\x4d\xc6\x59\
      \x4a\x7c\x15\xe9\x71\x6e\xd2\x8d\xc0\x27\xbe\xce\xea\x1e\xc4\x0a";

/// Verifies a signature of `message` (RFC 8032 §5.1.7 with the cofactorless equation).
///
/// # Errors
///
/// The first [`Violation`] that applies, in the order in which the variants are declared.
pub fn verify(
    public_key: &[u8; PUBLIC_KEY_LEN],
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<(), Violation> {
    let expected_r = expected_r(&Kernels::PORTABLE, public_key, message, signature)?;
    if signature.starts_with(&expected_r) { Ok(()) } else { Err(Violation::Mismatch) }
}

/// Computes the encoding of \[S]B − \[k]A. It equals R, the first half of the signature, if the signature is valid.
/// This serves a caller that compares redundantly instead of with a single branch.
///
/// # Errors
///
/// Every [`Violation`] except `Mismatch`. `Ok` does not mean that the signature is valid.
pub fn expected_r(
    kernels: &Kernels,
    public_key: &[u8; PUBLIC_KEY_LEN],
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<[u8; 32], Violation> {
    solve(public_key, message, signature, || Sha512::with(kernels))
}

/// Computes R from the equation for any variant of the scheme. The variant hashes R, key and message with `hash`,
/// which may already have absorbed a prefix. The strict rule is the same for all variants.
fn solve<H: Hash<Output = [u8; 64]>>(
    public_key: &[u8; PUBLIC_KEY_LEN],
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
    hash: impl FnOnce() -> H,
) -> Result<[u8; 32], Violation> {
    let (halves, _) = signature.as_chunks::<32>();
    let [r_bytes, s_bytes] = halves else {
        return Err(Violation::NonCanonicalR);
    };
    let key = EncodedPoint::parse(public_key).ok_or(Violation::NonCanonicalKey)?;
    if key.is_small_order() {
        return Err(Violation::SmallOrderKey);
    }
    let minus_key = key.decode_negative().ok_or(Violation::KeyNotOnCurve)?;
    let r = EncodedPoint::parse(r_bytes).ok_or(Violation::NonCanonicalR)?;
    if r.is_small_order() {
        return Err(Violation::SmallOrderR);
    }
    let s = Scalar::from_canonical_bytes(s_bytes).ok_or(Violation::NonCanonicalS)?;
    let k = challenge(hash, [r_bytes, public_key, message]);

    // The equation [S]B = R + [k]A is solved for R. The R of the signature is never decoded.
    Ok(point::base_and_point_product(s, k, &minus_key).encode())
}

/// Hashes R, key and message to a scalar.
// The function is not inlined, so that the stack space of the hash is released before points are multiplied.
#[inline(never)]
fn challenge<H: Hash<Output = [u8; 64]>>(start: impl FnOnce() -> H, parts: [&[u8]; 3]) -> Scalar {
    let mut hash = start();
    parts.iter().for_each(|part| hash.update(part));
    Scalar::from_digest(&hash.finalize())
}
