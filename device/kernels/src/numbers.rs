//! Verification of RSA and ECDSA with a big-number engine (`hw/ip/bignum`).
//!
//! The same code as without an engine checks keys and signatures before the engine is used. For RSA the engine
//! computes the modular power, and software checks the encoded message as usual. For ECDSA it returns a word that
//! states if the signature is valid. The caller compares this word with [`GENUINE`], so no branch in this module
//! accepts a signature.

#[cfg(feature = "ecdsa")]
use hartlock_algorithm::Curve;

/// Word that an engine returns for a valid ECDSA signature. It differs in 16 bits from [`NOT_GENUINE`]. Any other
/// word is not a verdict.
pub const GENUINE: u32 = 0xc33c_c33c;
/// Word that an engine returns for an invalid ECDSA signature.
pub const NOT_GENUINE: u32 = 0x9669_9669;

/// Public exponent of every RSA key that a verifier accepts.
pub const EXPONENT: u32 = 65537;

/// A function of modulus, base and result, which writes base^[`EXPONENT`] mod modulus to the result. All three are
/// big-endian and have the same length, the modulus is odd, and the base is below the modulus. Returns `None` if the
/// engine has no result. Then software computes it.
pub type Power = fn(&[u8], &[u8], &mut [u8]) -> Option<()>;

/// The functions of a big-number engine.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Computes the modular power of RSA.
    pub power: Power,
    /// Verifies an ECDSA signature. Returns [`GENUINE`] or [`NOT_GENUINE`], or `None` if the engine has no verdict.
    /// Then software verifies the signature.
    pub verify: fn(&Request<'_>) -> Option<u32>,
}

/// An ECDSA signature to verify. The key is a point of the curve, and r and s are from 1 to n - 1. Every number is
/// big-endian and has the length of the numbers of the curve.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Curve of the key: true for P-384, false for P-256.
    pub is_p384: bool,
    /// Coordinates of the public key, x and y.
    pub point: &'a [u8],
    /// Digest of the message.
    pub digest: &'a [u8],
    /// Signature, r and s.
    pub signature: &'a [u8],
}

/// The algorithm for which an engine is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// RSA with [`EXPONENT`].
    Rsa,
    /// ECDSA with P-256.
    P256,
    /// ECDSA with P-384.
    P384,
}

/// An engine, and the purposes for which it passed the known-answer tests.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    engine: Engine,
    purposes: u8,
}

impl Numbers {
    /// The value without an engine.
    pub(crate) const NONE: Self =
        Self { engine: Engine { power: |_, _, _| None, verify: |_| None }, purposes: 0 };

    pub(crate) const fn has(&self, purpose: Purpose) -> bool {
        self.purposes & bit(purpose) != 0
    }

    /// Returns a value that uses `engine` for one more purpose.
    pub(crate) const fn known_to(self, engine: Engine, purpose: Purpose) -> Self {
        Self { engine, purposes: self.purposes | bit(purpose) }
    }

    /// Returns true if no engine is used for any purpose.
    pub(crate) const fn is_none(&self) -> bool {
        self.purposes == 0
    }

    /// Returns the function for modular powers if the engine is used for RSA.
    #[cfg(feature = "rsa")]
    pub(crate) fn power(&self) -> Option<Power> {
        self.has(Purpose::Rsa).then_some(self.engine.power)
    }

    /// Returns the verdict of the engine on an ECDSA signature. Returns `None` if the engine is not used for this
    /// curve or gives no verdict.
    #[cfg(feature = "ecdsa")]
    pub(crate) fn verdict(&self, curve: Curve, request: &Request<'_>) -> Option<u32> {
        if !self.has(purpose_of(curve)) {
            return None;
        }
        (self.engine.verify)(request).filter(|word| matches!(*word, GENUINE | NOT_GENUINE))
    }
}

#[cfg(feature = "ecdsa")]
const fn purpose_of(curve: Curve) -> Purpose {
    match curve {
        Curve::P256 => Purpose::P256,
        Curve::P384 => Purpose::P384,
    }
}

const fn bit(purpose: Purpose) -> u8 {
    1 << purpose as u32
}
