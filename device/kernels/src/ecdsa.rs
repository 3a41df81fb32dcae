//! ECDSA signature verification (FIPS 186-5 §6.4.2) on the curves P-256 and P-384 (SP 800-186).
//!
//! Every ECDSA signature (r, s) has a second valid form (r, n - s), which the standard allows and this verifier
//! accepts. So signatures are malleable and must not serve as identifiers.
//!
//! The run time depends on key, digest and signature, which are all public. Do not reuse any code of this module for
//! signing.

mod curve;
mod field;
mod known_answer;
mod point;
#[cfg(test)]
mod tests;

use crate::bignum::{self, Modulus};
use crate::der::{self, OBJECT_IDENTIFIER, Reader};
use crate::sha2::{Sha256, Sha384};
use crate::signature::{Comparison, Rejection, Verifier};
use crate::{Hash, Kernels};
pub use hartlock_algorithm::Curve;
#[cfg(any(feature = "engine", test))]
pub(crate) use known_answer::known_to;
pub use known_answer::self_test;

use curve::{Affine, Domain};
use field::{LIMBS, Limbs};

/// Length in bytes of the longest signature in the form r ‖ s.
pub const MAX_SIGNATURE_LEN: usize = 96;

const fn domain(curve: Curve) -> &'static Domain {
    match curve {
        Curve::P256 => &curve::P256,
        Curve::P384 => &curve::P384,
    }
}

/// Returns the length in bytes of a signature in the form r ‖ s.
const fn signature_len(curve: Curve) -> usize {
    domain(curve).len_bytes().wrapping_mul(2)
}

impl Verifier for Curve {
    fn compare(
        kernels: &Kernels,
        curve: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        let key = EcdsaPublicKey::from_sec1(curve, public_key)?;
        match curve {
            Curve::P256 => compare_by(
                kernels,
                &key,
                public_key,
                &digest::<Sha256>(kernels, message),
                signature,
            ),
            Curve::P384 => compare_by(
                kernels,
                &key,
                public_key,
                &digest::<Sha384>(kernels, message),
                signature,
            ),
        }
    }
}

/// Verifies with the engine of these kernels if they have one, otherwise in software. `encoded` is the encoded key,
/// which was checked.
#[allow(unused_variables, reason = "unless there may be an engine")]
fn compare_by(
    kernels: &Kernels,
    key: &EcdsaPublicKey,
    encoded: &[u8],
    digest: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    #[cfg(any(feature = "engine", test))]
    {
        use crate::EngineUse;
        use crate::engines::{EcdsaRequest, GENUINE, NOT_GENUINE};
        scalars(domain(key.curve), signature)?;
        let (_, point) = encoded.split_first().ok_or(Rejection::InvalidKey)?;
        let is_p384 = key.curve == Curve::P384;
        let purpose = if is_p384 { EngineUse::P384 } else { EngineUse::P256 };
        let request = EcdsaRequest { is_p384, point, digest, signature };
        if let Some(engines) = kernels.engines_for(purpose)
            && let Some(word @ (GENUINE | NOT_GENUINE)) = engines.judge_ecdsa(&request)
        {
            return Comparison::of(&word.to_be_bytes(), &GENUINE.to_be_bytes());
        }
    }
    compare(key, digest, signature)
}

fn digest<H: Hash>(kernels: &Kernels, message: &[u8]) -> H::Output {
    let mut hash = H::with(kernels);
    hash.update(message);
    hash.finalize()
}

/// A public key. It was checked to be a point of the curve and not the neutral element.
#[derive(Clone, Copy, Debug)]
pub struct EcdsaPublicKey {
    curve: Curve,
    point: Affine,
}

impl EcdsaPublicKey {
    /// Parses an uncompressed point (SEC 1 §2.3.4): 04 ‖ x ‖ y.
    ///
    /// # Errors
    /// `UnsupportedKey` for a compressed point, `InvalidKey` for any other bytes that are not an uncompressed point
    /// of this curve.
    pub fn from_sec1(curve: Curve, bytes: &[u8]) -> Result<Self, Rejection> {
        let constants = domain(curve);
        let (tag, coordinates) = bytes.split_first().ok_or(Rejection::InvalidKey)?;
        let (x, y) =
            coordinates.split_at_checked(constants.len_bytes()).ok_or(Rejection::InvalidKey)?;
        if matches!(tag, 2 | 3) && y.is_empty() {
            return Err(Rejection::UnsupportedKey);
        }
        if *tag != 4 || y.len() != x.len() {
            return Err(Rejection::InvalidKey);
        }
        let point = constants.point(x, y).ok_or(Rejection::InvalidKey)?;
        Ok(Self { curve, point })
    }

    /// Parses SubjectPublicKeyInfo with the algorithm id-ecPublicKey and a named curve (RFC 5480 §2), in DER and
    /// without trailing bytes.
    ///
    /// # Errors
    /// The errors of [`from_sec1`](Self::from_sec1). Also `UnsupportedKey` for other algorithms and other named curves,
    /// and `InvalidKey` if the key has explicit curve parameters (RFC 5480 §2.1.1).
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Rejection> {
        /// The object identifier 1.2.840.10045.2.1.
        const EC_PUBLIC_KEY: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
        let (algorithm, parameters, key) =
            der::subject_public_key_info(der).ok_or(Rejection::InvalidKey)?;
        if algorithm != EC_PUBLIC_KEY {
            return Err(Rejection::UnsupportedKey);
        }
        let name = || {
            let mut parameters = Reader::new(parameters);
            let name = parameters.element(OBJECT_IDENTIFIER)?;
            parameters.end()?;
            Some(name)
        };
        let name = name().ok_or(Rejection::InvalidKey)?;
        let curve = [Curve::P256, Curve::P384]
            .into_iter()
            .find(|curve| domain(*curve).identifier == name)
            .ok_or(Rejection::UnsupportedKey)?;
        Self::from_sec1(curve, key)
    }

    /// Returns the curve of the key.
    pub const fn curve(&self) -> Curve {
        self.curve
    }
}

/// Verifies a signature r ‖ s of `message`, which is hashed with `H`.
///
/// # Errors
/// The errors of [`compare`], and `Mismatch` if the signature is not valid.
pub fn verify<H: Hash>(
    kernels: &Kernels,
    key: &EcdsaPublicKey,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(key, digest::<H>(kernels, message).as_ref(), signature)?.check()
}

/// Computes x of \[e / s\]G + \[r / s\]Q modulo n, and returns it with the r of the signature, both in big-endian
/// order (FIPS 186-5 §6.4.2). The signature is r ‖ s, each with the length of n (IEEE P1363). If the digest is longer
/// than n, its leftmost bits are used.
///
/// # Errors
/// `SignatureLength` for a signature of another length, `NonCanonicalSignature` unless r and s are from 1 to n - 1,
/// and `Mismatch` if the sum is the neutral element.
pub fn compare(
    key: &EcdsaPublicKey,
    digest: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let curve = domain(key.curve);
    let (limbs, len) = (curve.limbs(), curve.len_bytes());
    // Step 1.
    let (r, s, r_bytes) = scalars(curve, signature)?;
    // Steps 2 and 3: the bit length of n is a multiple of 8, so the leftmost bits are whole bytes.
    let e = read(digest.get(..len).unwrap_or(digest));
    // Steps 4 and 5.
    let modulus = Modulus::new(curve.order()).ok_or(Rejection::Mismatch)?;
    let w = modulus.invert(&s);
    let [u, v] = [&e, &r].map(|factor| {
        let mut product = [0; LIMBS];
        if let (Some(product), Some(factor), Some(w)) =
            (product.get_mut(..limbs), factor.get(..limbs), w.get(..limbs))
        {
            modulus.plain_product(product, factor, w);
        }
        product
    });
    // Step 6.
    let sum = point::double_product(curve, &u, &v, &key.point);
    if sum.is_neutral() {
        return Err(Rejection::Mismatch);
    }
    // Steps 7 and 8: x is below p, and p is below 2n, so one subtraction is enough.
    let mut x = sum.affine_x(curve);
    if let Some(x) = x.get_mut(..limbs) {
        modulus.subtract_once(x, false);
    }
    let mut computed = [0; MAX_SIGNATURE_LEN / 2];
    let computed = computed.get_mut(..len).ok_or(Rejection::Mismatch)?;
    bignum::write_be(computed, &x);
    Comparison::of(computed, r_bytes)
}

/// Returns r, s and the bytes of r. Returns an error unless r and s are from 1 to n - 1.
fn scalars<'a>(curve: &Domain, signature: &'a [u8]) -> Result<(Limbs, Limbs, &'a [u8]), Rejection> {
    let len = curve.len_bytes();
    let (r_bytes, s_bytes) = signature.split_at_checked(len).ok_or(Rejection::SignatureLength)?;
    if s_bytes.len() != len {
        return Err(Rejection::SignatureLength);
    }
    let (r, s) = (read(r_bytes), read(s_bytes));
    for value in [&r, &s] {
        if *value == [0; LIMBS] || !bignum::is_below(value, &curve.n) {
            return Err(Rejection::NonCanonicalSignature);
        }
    }
    Ok((r, s, r_bytes))
}

/// Reads a big-endian integer of at most [`LIMBS`] limbs.
fn read(bytes: &[u8]) -> Limbs {
    let mut value = [0; LIMBS];
    bignum::read_be(&mut value, bytes);
    value
}

/// Converts a DER signature, Ecdsa-Sig-Value (RFC 3279 §2.2.3), to the form r ‖ s at the start of `buffer`.
///
/// # Errors
/// `NonCanonicalSignature` if it is not the canonical encoding of two nonnegative integers that are not longer than
/// n.
pub fn from_der<'b>(
    curve: Curve,
    der: &[u8],
    buffer: &'b mut [u8; MAX_SIGNATURE_LEN],
) -> Result<&'b [u8], Rejection> {
    let mut convert = || {
        let mut numbers = Reader::sequence(der)?;
        let signature = buffer.get_mut(..signature_len(curve))?;
        signature.fill(0);
        let (r, s) = signature.split_at_mut_checked(domain(curve).len_bytes())?;
        for half in [r, s] {
            let number = numbers.unsigned_integer()?;
            let start = half.len().checked_sub(number.len())?;
            for (to, from) in half.get_mut(start..)?.iter_mut().zip(number) {
                *to = *from;
            }
        }
        numbers.end()
    };
    convert().ok_or(Rejection::NonCanonicalSignature)?;
    buffer.get(..signature_len(curve)).ok_or(Rejection::NonCanonicalSignature)
}
