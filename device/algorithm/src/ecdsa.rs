//! ECDSA parameter sets.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// A curve of SP 800-186, together with the hash that the image format pairs with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256, also known as secp256r1 and prime256v1, with SHA-256.
    P256 = 1,
    /// P-384, also known as secp384r1, with SHA-384.
    P384 = 2,
}

impl Curve {
    /// Returns the length of a signature (`r ‖ s`) in bytes.
    pub const fn signature_len(self) -> usize {
        match self {
            Curve::P256 => 64,
            Curve::P384 => 96,
        }
    }
}

impl ParameterSet for Curve {
    const FAMILY: Family = Family::Classical;
    const FEATURE: &'static str = "ecdsa";

    fn from_numbers(_: u32, parameters: u32) -> Option<Self> {
        match parameters {
            1 => Some(Curve::P256),
            2 => Some(Curve::P384),
            _ => None,
        }
    }

    fn numbers(self) -> (u32, u32) {
        (4, self as u32)
    }

    /// Returns the length of an uncompressed point (`04 ‖ x ‖ y`) in bytes.
    fn public_key_size(self) -> usize {
        match self {
            Curve::P256 => 65,
            Curve::P384 => 97,
        }
    }

    fn signature_size(self) -> Option<usize> {
        Some(self.signature_len())
    }

    fn hash(self) -> HashId {
        match self {
            Curve::P256 => HashId::Sha256,
            Curve::P384 => HashId::Sha384,
        }
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Curve::P256 => "ecdsa-p256",
            Curve::P384 => "ecdsa-p384",
        })
    }

    fn all() -> impl Iterator<Item = Self> {
        [Curve::P256, Curve::P384].into_iter()
    }
}
