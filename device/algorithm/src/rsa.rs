//! RSASSA-PSS and RSASSA-PKCS1-v1_5.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// How RSA makes a number of a digest (RFC 8017 §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the names of the standard")]
pub enum RsaPadding {
    Pss,
    Pkcs1,
}

/// Padding, size and hash of RSA with the exponent 65537 (RFC 8017 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RsaSet {
    /// How the digest becomes a number.
    pub padding: RsaPadding,
    /// Bits of the modulus: 2048, 3072 or 4096.
    pub modulus_bits: u16,
    /// SHA-256, SHA-384 or SHA-512; of the mask, too, and the salt is as long as its output.
    pub hash: HashId,
}

impl ParameterSet for RsaSet {
    const FAMILY: Family = Family::Classical;
    const FEATURE: &'static str = "rsa";

    /// A search, for tools: boot stages read the numbers in [`Algorithm::from_numbers`](crate::Algorithm).
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

    /// RSAPublicKey in DER: a modulus with its top bit set, and 65537, after their headers.
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
