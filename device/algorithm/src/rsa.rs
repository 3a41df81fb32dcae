//! RSASSA-PSS and RSASSA-PKCS1-v1_5 parameter sets.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// The encoding method of an RSA signature (RFC 8017 §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the names of the standard")]
pub enum RsaPadding {
    Pss,
    Pkcs1,
}

/// Padding, modulus length and hash of RSA with public exponent 65537 (RFC 8017 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RsaSet {
    /// The encoding of the digest before the RSA operation.
    pub padding: RsaPadding,
    /// Length of the modulus in bits: 2048, 3072 or 4096.
    pub modulus_bits: u16,
    /// The hash of the message: SHA-256, SHA-384 or SHA-512. PSS also uses it for the mask generation function, and
    /// the salt is as long as its digest.
    pub hash: HashId,
}

impl ParameterSet for RsaSet {
    const FAMILY: Family = Family::Classical;
    const FEATURE: &'static str = "rsa";

    /// Searches all sets. Only tools call this function: boot stages decode the numbers in
    /// [`Algorithm::from_numbers`](crate::Algorithm).
    fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self> {
        Self::all().find(|set| set.numbers() == (algorithm, parameters))
    }

    fn numbers(self) -> (u32, u32) {
        let algorithm = match self.padding {
            RsaPadding::Pss => 2,
            RsaPadding::Pkcs1 => 3,
        };
        (algorithm, u32::from(self.modulus_bits) << 16 | self.hash as u32)
    }

    /// Returns the length of a DER RSAPublicKey in bytes: 14 bytes for the headers, a zero byte and the exponent
    /// 65537, and the modulus, whose top bit is set.
    fn public_key_size(self) -> usize {
        usize::from(self.modulus_bits / 8) + 14
    }

    fn signature_size(self) -> Option<usize> {
        Some(usize::from(self.modulus_bits / 8))
    }

    fn hash(self) -> HashId {
        self.hash
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let padding = match self.padding {
            RsaPadding::Pss => "pss",
            RsaPadding::Pkcs1 => "pkcs1",
        };
        write!(f, "rsa-{padding}-{}-{}", self.modulus_bits, self.hash.name())
    }

    fn all() -> impl Iterator<Item = Self> {
        let hashes = [HashId::Sha256, HashId::Sha384, HashId::Sha512];
        let of_size =
            move |padding, modulus_bits| hashes.map(|hash| Self { padding, modulus_bits, hash });
        let of_padding = move |padding| {
            [2048, 3072, 4096].into_iter().flat_map(move |bits| of_size(padding, bits))
        };
        [RsaPadding::Pss, RsaPadding::Pkcs1].into_iter().flat_map(of_padding)
    }
}
