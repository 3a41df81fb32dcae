//! Public keys, and the recovery of the encoded message from a signature.

use super::digits::{self, MAX_DIGITS, Odd};
use crate::bignum::{self, Modulus};
use crate::der::{self, Reader};
use crate::signature::Rejection;

/// Length of the longest modulus in bytes, which is also that of the longest signature.
pub const MAX_MODULUS_LEN: usize = 512;

/// Number of limbs of the longest modulus.
const MAX_LIMBS: usize = MAX_MODULUS_LEN / 8;

/// The public exponent 65537 in big-endian order.
const EXPONENT: &[u8] = &[1, 0, 1];

/// A public key of a supported length with exponent 65537. It borrows its modulus.
#[derive(Clone, Copy, Debug)]
pub struct RsaPublicKey<'a> {
    /// Modulus in big-endian order. It is odd, and its top bit is set.
    modulus: &'a [u8],
    /// Function of an engine that computes modular powers, if there is an engine.
    #[cfg(any(feature = "engine", test))]
    engines: Option<&'static dyn crate::engines::Engines>,
}

impl<'a> RsaPublicKey<'a> {
    /// Makes a key from its modulus and exponent in big-endian order, without leading zeros.
    ///
    /// # Errors
    /// `InvalidKey` for numbers that no RSA key has (RFC 8017 §3.1): n and e must be odd, and e must be at least 3
    /// and below n. `UnsupportedKey` for any other key of an unsupported length or exponent.
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
        Ok(Self {
            modulus,
            #[cfg(any(feature = "engine", test))]
            engines: None,
        })
    }

    /// Returns the same key, with the engine of these kernels if they have one.
    #[cfg(any(feature = "engine", test))]
    #[must_use]
    pub fn by(self, kernels: &crate::Kernels) -> Self {
        Self { engines: kernels.engines_for(crate::EngineUse::Rsa), ..self }
    }

    /// Parses RSAPublicKey (RFC 8017 appendix A.1.1), in DER and without trailing bytes.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and `InvalidKey` for any other encoding.
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

    /// Parses SubjectPublicKeyInfo with the algorithm rsaEncryption, whose parameters are NULL (RFC 3279 §2.3.1), in
    /// DER and without trailing bytes.
    ///
    /// # Errors
    /// The errors of [`from_pkcs1_der`](Self::from_pkcs1_der), and `UnsupportedKey` for other algorithms, which include
    /// id-RSASSA-PSS.
    pub fn from_spki_der(der: &'a [u8]) -> Result<Self, Rejection> {
        /// The object identifier 1.2.840.113549.1.1.1.
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

    /// Returns the modulus in big-endian order, with 256, 384 or 512 bytes.
    pub const fn modulus(&self) -> &'a [u8] {
        self.modulus
    }

    /// Computes the encoded message EM, which has the length of the modulus, at the start of `encoded`. This is
    /// RSAVP1 and I2OSP (RFC 8017 §5.2.2, §4.1), with which both schemes start.
    pub(super) fn open<'e>(
        &self,
        signature: &[u8],
        encoded: &'e mut [u8; MAX_MODULUS_LEN],
    ) -> Result<&'e mut [u8], Rejection> {
        #[cfg(any(feature = "engine", test))]
        if let Some(engines) = self.engines {
            self.check(signature)?;
            let place = encoded.get_mut(..signature.len()).ok_or(Rejection::SignatureLength)?;
            let is_opened = engines.power(self.modulus, signature, place).is_some();
            if is_opened {
                return encoded.get_mut(..signature.len()).ok_or(Rejection::SignatureLength);
            }
        }
        self.open_in_software(signature, encoded)
    }

    /// Checks that a signature has the length of the modulus and is below it. Both are big-endian, so the comparison
    /// of bytes is that of numbers.
    #[cfg(any(feature = "engine", test))]
    fn check(&self, signature: &[u8]) -> Result<(), Rejection> {
        if signature.len() != self.modulus.len() {
            return Err(Rejection::SignatureLength);
        }
        if signature >= self.modulus { Err(Rejection::NonCanonicalSignature) } else { Ok(()) }
    }

    // The function is not inlined, so that the stack space of the limbs is released before anything is hashed.
    #[inline(never)]
    fn open_in_software<'e>(
        &self,
        signature: &[u8],
        encoded: &'e mut [u8; MAX_MODULUS_LEN],
    ) -> Result<&'e mut [u8], Rejection> {
        if signature.len() != self.modulus.len() {
            return Err(Rejection::SignatureLength);
        }
        let len = self.modulus.len() / 8;
        let (count, more) = digits::digits_for(len);
        let (mut n, mut x) = ([0; MAX_LIMBS], [0; MAX_LIMBS]);
        let (mut m, mut s) = ([0; MAX_DIGITS], [0; MAX_DIGITS]);
        let (mut power, mut wide) = ([0; MAX_DIGITS], [0; 2 * MAX_DIGITS]);
        // `new` accepts only lengths for which this succeeds. `get_mut` avoids a panic path that the compiler cannot
        // exclude.
        let (Some(n), Some(x), Some(m), Some(s), Some(power), Some(wide), Some(encoded)) = (
            n.get_mut(..len),
            x.get_mut(..len),
            m.get_mut(..count),
            s.get_mut(..count),
            power.get_mut(..count),
            wide.get_mut(..count.wrapping_mul(2)),
            encoded.get_mut(..signature.len()),
        ) else {
            return Err(Rejection::SignatureLength);
        };
        bignum::read_be(n, self.modulus);
        bignum::read_be(x, signature);
        if !bignum::is_below(x, n) {
            return Err(Rejection::NonCanonicalSignature);
        }
        let modulus = Modulus::new(n).ok_or(Rejection::InvalidKey)?;
        digits::from_limbs(m, n);
        digits::from_limbs(s, x);
        modulus.to_montgomery(x, more, wide);
        digits::from_limbs(power, x);
        let odd = Odd::new(m, modulus.negated_inverse());
        // The loop computes s^65536 · R. The multiplication by s without the factor R gives s^65537.
        for _ in 0..16 {
            odd.square(power, wide);
        }
        odd.multiply(power, s, wide);
        let above = digits::to_limbs(x, power);
        modulus.subtract_once(x, above != 0);
        bignum::write_be(encoded, x);
        Ok(encoded)
    }
}
