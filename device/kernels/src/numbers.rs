//! An engine for big numbers (`hw/ip/bignum`) as a kernel of the verifiers of RSA and ECDSA.
//!
//! Keys and signatures are checked before it is asked, by the same code as without an engine. Of RSA it computes the power, and
//! the encoded message that follows is judged as always. Of ECDSA it gives a word that says whether the equation holds: that
//! word and the one for a genuine signature are the two values that the caller compares, so no branch here accepts anything.

#[cfg(feature = "ecdsa")]
use hartlock_algorithm::Curve;

/// The verdict on a signature of ECDSA that fits, and the one on a signature that does not: they differ in 16 bits. Any other
/// word is no verdict.
pub const GENUINE: u32 = 0xc33c_c33c;
/// See [`GENUINE`].
pub const NOT_GENUINE: u32 = 0x9669_9669;

/// The exponent of every key of RSA that a verifier accepts.
pub const EXPONENT: u32 = 65537;

/// The base to the power of [`EXPONENT`], modulo an odd modulus: modulus, base and result are big-endian and of one length, and the
/// base is below the modulus. Nothing if there is no result: software computes it then.
pub type Power = fn(&[u8], &[u8], &mut [u8]) -> Option<()>;

/// What computes for these verifiers.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Powers of RSA.
    pub power: Power,
    /// The verdict on a signature of ECDSA. Nothing if there is none: software computes it then.
    pub verify: fn(&Request<'_>) -> Option<u32>,
}

/// A signature of ECDSA: the key is a point of the curve, and r and s are from 1 to n - 1. Every number is big-endian and as long
/// as those of the curve.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// P-384, and not P-256.
    pub is_p384: bool,
    /// x and y.
    pub point: &'a [u8],
    /// Of the message.
    pub digest: &'a [u8],
    /// r and s.
    pub signature: &'a [u8],
}

/// What an engine may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// RSA with [`EXPONENT`].
    Rsa,
    /// ECDSA with P-256.
    P256,
    /// ECDSA with P-384.
    P384,
}

/// An engine with the purposes for which it gave known answers.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    engine: Engine,
    purposes: u8,
}

impl Numbers {
    /// No engine.
    pub(crate) const NONE: Self =
        Self { engine: Engine { power: |_, _, _| None, verify: |_| None }, purposes: 0 };

    pub(crate) const fn has(&self, purpose: Purpose) -> bool {
        self.purposes & bit(purpose) != 0
    }

    /// The same, or this engine, for one more purpose.
    pub(crate) const fn known_to(self, engine: Engine, purpose: Purpose) -> Self {
        Self { engine, purposes: self.purposes | bit(purpose) }
    }

    /// Whether it is used for nothing.
    pub(crate) const fn is_none(&self) -> bool {
        self.purposes == 0
    }

    /// The function for powers, if the engine may compute them.
    #[cfg(feature = "rsa")]
    pub(crate) fn power(&self) -> Option<Power> {
        self.has(Purpose::Rsa).then_some(self.engine.power)
    }

    /// The verdict of ECDSA, if the engine may give one and gives one.
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
