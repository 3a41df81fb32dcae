//! RSA signature verification: RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2) and RSASSA-PSS (§8.1.2).
//!
//! Only keys that a boot chain needs are accepted: 2048, 3072 or 4096 bits and the exponent 65537.
//! Everything else that is well formed is [`Rejection::UnsupportedKey`].
//!
//! [`pkcs1`] and [`pss`] each have `verify`, for a message and hashes of this crate, and `compare`, for a
//! digest and hashes that the caller brings, so that a workstation can support more hashes than a boot stage
//! has code for.
//!
//! No heap: all buffers are fixed for 4096 bits. Run time depends on key, message and signature, which
//! are public.

mod known_answer;
pub mod pkcs1;
pub mod pss;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use crate::bignum::{self, Modulus};
use crate::der::{self, Reader};
use crate::sha2::{Sha256, Sha384, Sha512};
use crate::signature::{Comparison, Rejection, Verifier};
use crate::{Hash, Kernels};
use hartlock_algorithm::HashId;
pub use hartlock_algorithm::{RsaPadding, RsaSet};

/// Length in bytes of the longest modulus, and so of the longest signature.
pub const MAX_MODULUS_LEN: usize = 512;

/// Limbs of the longest modulus.
const MAX_LIMBS: usize = MAX_MODULUS_LEN / 8;

/// Length in bytes of the longest digest.
pub const MAX_DIGEST_LEN: usize = 64;

/// The public exponent, 65537, in big-endian order.
const EXPONENT: &[u8] = &[1, 0, 1];

/// A public key of a supported size, with the exponent 65537. It borrows its modulus.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a> {
    /// Big-endian, odd, and with its top bit set.
    modulus: &'a [u8],
}

impl<'a> PublicKey<'a> {
    /// A key of its numbers in big-endian order, without leading zeros.
    ///
    /// # Errors
    /// `InvalidKey` for numbers that no RSA key has (RFC 8017 §3.1): n and e are odd, and e is at least 3
    /// and below n. `UnsupportedKey` for any other that is not of the kind above.
    pub fn new(modulus: &'a [u8], exponent: &[u8]) -> Result<Self, Rejection> {
        let is_odd = |bytes: &[u8]| bytes.last().is_some_and(|low| low & 1 == 1);
        let is_shortest = |bytes: &[u8]| bytes.first().is_some_and(|high| *high != 0);
        let is_below = exponent.len() < modulus.len()
            || (exponent.len() == modulus.len() && exponent < modulus);
        if [modulus, exponent].iter().any(|bytes| !is_odd(bytes) || !is_shortest(bytes))
            || exponent == [1]
            || !is_below
        {
            return Err(Rejection::InvalidKey);
        }
        let is_full = modulus.first().is_some_and(|high| *high >= 0x80);
        if !matches!(modulus.len(), 256 | 384 | 512) || !is_full || exponent != EXPONENT {
            return Err(Rejection::UnsupportedKey);
        }
        Ok(Self { modulus })
    }

    /// Reads RSAPublicKey (RFC 8017 appendix A.1.1), in DER and without trailing bytes.
    ///
    /// # Errors
    /// As for [`new`](Self::new); `InvalidKey` if it is not encoded so.
    pub fn from_pkcs1_der(der: &'a [u8]) -> Result<Self, Rejection> {
        let numbers = || {
            let mut key = Reader::sequence(der)?;
            let numbers = (key.unsigned_integer()?, key.unsigned_integer()?);
            key.end()?;
            Some(numbers)
        };
        let (modulus, exponent) = numbers().ok_or(Rejection::InvalidKey)?;
        Self::new(modulus, exponent)
    }

    /// Reads SubjectPublicKeyInfo with the algorithm rsaEncryption, whose parameters are NULL (RFC 3279
    /// §2.3.1), in DER and without trailing bytes.
    ///
    /// # Errors
    /// As for [`from_pkcs1_der`](Self::from_pkcs1_der); `UnsupportedKey` for keys of other algorithms,
    /// among them those that are limited to PSS.
    pub fn from_spki_der(der: &'a [u8]) -> Result<Self, Rejection> {
        /// 1.2.840.113549.1.1.1.
        const RSA_ENCRYPTION: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
        const NULL: &[u8] = &[5, 0];
        let (algorithm, parameters, key) =
            der::subject_public_key_info(der).ok_or(Rejection::InvalidKey)?;
        if algorithm != RSA_ENCRYPTION {
            return Err(Rejection::UnsupportedKey);
        }
        if parameters != NULL {
            return Err(Rejection::InvalidKey);
        }
        Self::from_pkcs1_der(key)
    }

    /// The modulus in big-endian order: 256, 384 or 512 bytes.
    pub const fn modulus(&self) -> &'a [u8] {
        self.modulus
    }

    /// The encoded message EM, as long as the modulus, at the front of `encoded`: RSAVP1 and I2OSP (RFC 8017
    /// §5.2.2, §4.1), which both schemes start with.
    // Out of line, so that the limbs have left the stack before anything is hashed.
    #[inline(never)]
    fn open<'e>(
        &self,
        signature: &[u8],
        encoded: &'e mut [u8; MAX_MODULUS_LEN],
    ) -> Result<&'e mut [u8], Rejection> {
        if signature.len() != self.modulus.len() {
            return Err(Rejection::SignatureLength);
        }
        let len = self.modulus.len() / 8;
        let (mut n, mut s, mut x) = ([0; MAX_LIMBS], [0; MAX_LIMBS], [0; MAX_LIMBS]);
        let mut wide = [0; 2 * MAX_LIMBS];
        // `new` accepts no other lengths. `get` avoids a panic path that the compiler could not exclude.
        let (Some(n), Some(s), Some(x), Some(wide), Some(encoded)) = (
            n.get_mut(..len),
            s.get_mut(..len),
            x.get_mut(..len),
            wide.get_mut(..len.wrapping_mul(2)),
            encoded.get_mut(..signature.len()),
        ) else {
            return Err(Rejection::SignatureLength);
        };
        bignum::read_be(n, self.modulus);
        bignum::read_be(s, signature);
        if !bignum::is_below(s, n) {
            return Err(Rejection::NonCanonicalSignature);
        }
        let modulus = Modulus::new(n).ok_or(Rejection::InvalidKey)?;
        x.copy_from_slice(s);
        modulus.to_montgomery(x);
        // s^65536 · R, and then, times s without the factor R, s^65537.
        for _ in 0..16 {
            modulus.square(x, wide);
        }
        modulus.multiply(x, s, wide);
        bignum::write_be(encoded, x);
        Ok(encoded)
    }
}

impl Verifier for RsaSet {
    fn compare(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        let key = PublicKey::from_pkcs1_der(public_key)?;
        if key.modulus().len() != usize::from(set.modulus_bits >> 3) {
            return Err(Rejection::UnsupportedKey);
        }
        let compare = match set.hash {
            HashId::Sha256 => compare_with::<Sha256>,
            HashId::Sha384 => compare_with::<Sha384>,
            _ => compare_with::<Sha512>,
        };
        compare(kernels, set.padding, &key, message, signature)
    }
}

/// With one hash for message, mask and length of the salt (image format §2.2).
fn compare_with<H: pkcs1::Identified>(
    kernels: &Kernels,
    padding: RsaPadding,
    key: &PublicKey<'_>,
    message: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut digest = H::with(kernels);
    digest.update(message);
    let digest = digest.finalize();
    let digest = digest.as_ref();
    match padding {
        RsaPadding::Pkcs1 => pkcs1::compare(key, H::DIGEST_INFO, digest, signature),
        RsaPadding::Pss => {
            let hash = Hasher::<H>::new(kernels);
            let mask = pss::Mgf1(&hash);
            pss::compare(key, &hash, &mask, digest, H::OUTPUT_LEN, signature)
        }
    }
}

/// A hash function for PSS, as a trait object: one copy of the scheme serves all of them.
pub trait Digester {
    /// Length of the digest in bytes, at most [`MAX_DIGEST_LEN`].
    fn output_len(&self) -> usize;

    /// Hashes `parts`, one after the other. `digest` has the length of the output.
    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]);
}

/// A hash of this crate, computed by these kernels.
pub struct Hasher<'k, H> {
    kernels: &'k Kernels,
    hash: PhantomData<H>,
}

impl<'k, H: Hash> Hasher<'k, H> {
    /// The hash `H`.
    pub const fn new(kernels: &'k Kernels) -> Self {
        Self { kernels, hash: PhantomData }
    }
}

impl<H: Hash> Digester for Hasher<'_, H> {
    fn output_len(&self) -> usize {
        H::OUTPUT_LEN
    }

    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]) {
        let mut hash = H::with(self.kernels);
        for part in parts {
            hash.update(part);
        }
        for (to, from) in digest.iter_mut().zip(hash.finalize().as_ref()) {
            *to = *from;
        }
    }
}
