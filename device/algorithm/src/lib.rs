//! Signature algorithms and hashes that the image format names (image format §2.2, §2.3).
//!
//! The other crates depend on this one. It is the only place that defines the algorithms, their parameter sets, their
//! numbers in the format, their names, and the sizes of keys and signatures. Each scheme is a file with a type that
//! implements [`ParameterSet`]. Verifiers (`hartlock-kernels`) and signers take these types as their parameters.
//!
//! An algorithm number in this crate does not imply that a given program can verify the algorithm.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod ecdsa;
mod ed25519;
mod hash;
mod hss;
mod ml_dsa;
mod parameter_set;
mod profile;
mod rsa;
mod slh_dsa;
#[cfg(test)]
mod tests;
mod xmss;

use core::fmt;

pub use ecdsa::Curve;
pub use ed25519::Ed25519Set;
pub use hash::HashId;
pub use hss::HssSet;
pub use ml_dsa::MlDsaSet;
pub use parameter_set::{Family, ParameterSet};
pub use profile::Profile;
pub use rsa::{RsaPadding, RsaSet};
pub use slh_dsa::SlhDsaSet;
pub use xmss::XmssSet;

use parameter_set::is_written;

/// A signature algorithm with its parameters (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Ed25519 (RFC 8032 §5.1).
    Ed25519,
    /// RSASSA-PSS or RSASSA-PKCS1-v1_5 (RFC 8017 §8) with public exponent 65537.
    // The variant has fields instead of an `RsaSet`, because the enum tag then has a byte of its own. This makes the
    // ROM 90 bytes smaller.
    Rsa {
        /// The encoding of the digest before the RSA operation.
        padding: RsaPadding,
        /// Length of the modulus in bits: 2048, 3072 or 4096.
        modulus_bits: u16,
        /// The hash of the message: SHA-256, SHA-384 or SHA-512. PSS also uses it for the mask generation function,
        /// and the salt is as long as its digest.
        hash: HashId,
    },
    /// ECDSA (FIPS 186-5 §6).
    Ecdsa(Curve),
    /// HSS (RFC 8554 §6) with SHA-256. LMS is HSS with one level.
    Hss(HssSet),
    /// XMSS (RFC 8391 §4.1) with a parameter set that SP 800-208 approves.
    Xmss(XmssSet),
    /// XMSS^MT (RFC 8391 §4.2) with a parameter set that SP 800-208 approves.
    XmssMt(XmssSet),
    /// ML-DSA (FIPS 204), the pure version with an empty context.
    MlDsa(MlDsaSet),
    /// SLH-DSA (FIPS 205), the pure version with an empty context.
    SlhDsa(SlhDsaSet),
}

/// Applies a generic function to the parameter set of an algorithm, for each type of set.
macro_rules! with_set {
    ($algorithm:expr, $function:path $(, $more:expr)?) => {
        match $algorithm {
            Algorithm::Ed25519 => $function(Ed25519Set $(, $more)?),
            Algorithm::Rsa { padding, modulus_bits, hash } => {
                $function(RsaSet { padding, modulus_bits, hash } $(, $more)?)
            }
            Algorithm::Ecdsa(curve) => $function(curve $(, $more)?),
            Algorithm::Hss(set) => $function(set $(, $more)?),
            Algorithm::Xmss(set) | Algorithm::XmssMt(set) => $function(set $(, $more)?),
            Algorithm::MlDsa(set) => $function(set $(, $more)?),
            Algorithm::SlhDsa(set) => $function(set $(, $more)?),
        }
    };
}

impl Algorithm {
    /// Returns the name of the scheme with this number, without its parameters. Returns `None` for an unknown number.
    pub const fn scheme_name(algorithm: u32) -> Option<&'static str> {
        Some(match algorithm {
            1 => "ed25519",
            2 => "rsa-pss",
            3 => "rsa-pkcs1",
            4 => "ecdsa",
            16 => "lms",
            17 => "xmss",
            18 => "xmssmt",
            19 => "ml-dsa",
            20 => "slh-dsa",
            _ => return None,
        })
    }

    /// Returns the algorithm that the two numbers of a key record or signature block name. Returns `None` if the
    /// format does not define them.
    pub fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self> {
        match algorithm {
            1 => Ed25519Set::from_numbers(algorithm, parameters).map(|_| Self::Ed25519),
            // RSA is decoded here and not in `RsaSet`, because separate functions make the ROM 8 bytes larger.
            2 | 3 => {
                let padding = if algorithm == 2 { RsaPadding::Pss } else { RsaPadding::Pkcs1 };
                let modulus_bits = match parameters >> 16 {
                    bits @ (2048 | 3072 | 4096) => bits as u16,
                    _ => return None,
                };
                let hash = match parameters & 0xffff {
                    1 => HashId::Sha256,
                    2 => HashId::Sha384,
                    3 => HashId::Sha512,
                    _ => return None,
                };
                Some(Self::Rsa { padding, modulus_bits, hash })
            }
            4 => Curve::from_numbers(algorithm, parameters).map(Self::Ecdsa),
            16 => HssSet::from_numbers(algorithm, parameters).map(Self::Hss),
            17 => XmssSet::single(parameters).map(Self::Xmss),
            18 => XmssSet::multi(parameters).map(Self::XmssMt),
            19 => MlDsaSet::from_numbers(algorithm, parameters).map(Self::MlDsa),
            20 => SlhDsaSet::from_numbers(algorithm, parameters).map(Self::SlhDsa),
            _ => None,
        }
    }

    /// Returns all algorithms in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        (Ed25519Set::all().map(|_| Self::Ed25519))
            .chain(RsaSet::all().map(Self::of_rsa))
            .chain(Curve::all().map(Self::Ecdsa))
            .chain(HssSet::all().map(Self::Hss))
            .chain(XmssSet::all().map(Self::of_xmss))
            .chain(MlDsaSet::all().map(Self::MlDsa))
            .chain(SlhDsaSet::all().map(Self::SlhDsa))
    }

    /// Returns the numbers `(algorithm, parameters)` of this algorithm.
    pub fn numbers(self) -> (u32, u32) {
        with_set!(self, ParameterSet::numbers)
    }

    /// Returns the length of a public key in bytes.
    pub fn public_key_size(self) -> usize {
        with_set!(self, ParameterSet::public_key_size)
    }

    /// Returns the length of a signature in bytes. Returns `None` for HSS with several levels, where the length
    /// depends on the signature.
    pub fn signature_size(self) -> Option<usize> {
        with_set!(self, ParameterSet::signature_size)
    }

    /// Returns the hash that the scheme is built on. If it uses several, this is the one that hashes the message.
    pub fn hash(self) -> HashId {
        with_set!(self, ParameterSet::hash)
    }

    /// Returns the family of the algorithm: classical or post-quantum.
    pub fn family(self) -> Family {
        with_set!(self, family_of)
    }

    /// Returns the Cargo feature that compiles the verifier of this algorithm.
    pub fn feature(self) -> &'static str {
        with_set!(self, feature_of)
    }

    /// Returns true if each signature uses up a one-time key, which means that a private key has a state.
    pub fn is_stateful(self) -> bool {
        with_set!(self, is_stateful)
    }

    /// Returns the algorithm whose [`Display`](fmt::Display) form is `name`, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|algorithm| is_written(algorithm, name))
    }

    const fn of_rsa(RsaSet { padding, modulus_bits, hash }: RsaSet) -> Self {
        Self::Rsa { padding, modulus_bits, hash }
    }

    const fn of_xmss(set: XmssSet) -> Self {
        if set.layers() == 1 { Self::Xmss(set) } else { Self::XmssMt(set) }
    }
}

/// Writes the name that files, output and command lines use: the name from the standard in lower case, with hyphens.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_set!(*self, ParameterSet::write_name, f)
    }
}

const fn family_of<S: ParameterSet>(_: S) -> Family {
    S::FAMILY
}

const fn feature_of<S: ParameterSet>(_: S) -> &'static str {
    S::FEATURE
}

const fn is_stateful<S: ParameterSet>(_: S) -> bool {
    S::IS_STATEFUL
}
