//! ML-DSA parameter sets.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// A parameter set of ML-DSA (FIPS 204 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MlDsaSet {
    /// Security category 2.
    MlDsa44 = 44,
    /// Security category 3.
    MlDsa65 = 65,
    /// Security category 5.
    MlDsa87 = 87,
}

impl MlDsaSet {
    /// All parameter sets in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// Returns the length of a public key (ρ, then t1) in bytes.
    pub const fn public_key_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// Returns the length of a signature (c̃, then z, then the hint) in bytes.
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }
}

impl ParameterSet for MlDsaSet {
    const FAMILY: Family = Family::PostQuantum;
    const FEATURE: &'static str = "ml-dsa";

    fn from_numbers(_: u32, parameters: u32) -> Option<Self> {
        match parameters {
            44 => Some(Self::MlDsa44),
            65 => Some(Self::MlDsa65),
            87 => Some(Self::MlDsa87),
            _ => None,
        }
    }

    fn numbers(self) -> (u32, u32) {
        (19, self as u32)
    }

    fn public_key_size(self) -> usize {
        self.public_key_len()
    }

    fn signature_size(self) -> Option<usize> {
        Some(self.signature_len())
    }

    fn hash(self) -> HashId {
        HashId::Shake256
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ml-dsa-{}", self as u32)
    }

    fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }
}
