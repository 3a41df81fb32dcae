//! SLH-DSA.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// A parameter set of FIPS 205 §11, numbered as in its table 2 from 1 to 12. Neither key nor signature
/// names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the names of the standard")]
pub enum SlhDsaSet {
    Sha2_128s = 1,
    Shake128s = 2,
    Sha2_128f = 3,
    Shake128f = 4,
    Sha2_192s = 5,
    Shake192s = 6,
    Sha2_192f = 7,
    Shake192f = 8,
    Sha2_256s = 9,
    Shake256s = 10,
    Sha2_256f = 11,
    Shake256f = 12,
}

impl SlhDsaSet {
    /// Every set, in the order of the numbers.
    pub const ALL: [Self; 12] = [
        Self::Sha2_128s,
        Self::Shake128s,
        Self::Sha2_128f,
        Self::Shake128f,
        Self::Sha2_192s,
        Self::Shake192s,
        Self::Sha2_192f,
        Self::Shake192f,
        Self::Sha2_256s,
        Self::Shake256s,
        Self::Sha2_256f,
        Self::Shake256f,
    ];

    /// The set with this number.
    pub const fn new(number: u32) -> Option<Self> {
        // Not by index into ALL, which a boot stage would have to carry.
        Some(match number {
            1 => Self::Sha2_128s,
            2 => Self::Shake128s,
            3 => Self::Sha2_128f,
            4 => Self::Shake128f,
            5 => Self::Sha2_192s,
            6 => Self::Shake192s,
            7 => Self::Sha2_192f,
            8 => Self::Shake192f,
            9 => Self::Sha2_256s,
            10 => Self::Shake256s,
            11 => Self::Sha2_256f,
            12 => Self::Shake256f,
            _ => return None,
        })
    }

    /// Its number: odd ones hash with SHA-2, even ones with SHAKE.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Bytes of a node: 16, 24 or 32.
    pub const fn n(self) -> usize {
        16 + 8 * ((self.number() - 1) >> 2) as usize
    }

    /// Whether signatures are small and signing is slow, and not the other way round.
    pub const fn is_small(self) -> bool {
        (self.number() - 1) & 2 == 0
    }

    /// Whether it hashes with SHAKE256 and not with SHA-2.
    pub const fn is_shake(self) -> bool {
        self.number() & 1 == 0
    }

    /// Bytes of a public key: `PK.seed ‖ PK.root`.
    pub const fn public_key_len(self) -> usize {
        2 * self.n()
    }

    /// Bytes of a signature: `R`, the FORS signature, and the layers of the hypertree.
    pub const fn signature_len(self) -> usize {
        match (self.n(), self.is_small()) {
            (16, true) => 7856,
            (16, false) => 17088,
            (24, true) => 16224,
            (24, false) => 35664,
            (_, true) => 29792,
            (_, false) => 49856,
        }
    }
}

impl ParameterSet for SlhDsaSet {
    const FAMILY: Family = Family::PostQuantum;
    const FEATURE: &'static str = "slh-dsa";

    fn from_numbers(_: u32, parameters: u32) -> Option<Self> {
        Self::new(parameters)
    }

    fn numbers(self) -> (u32, u32) {
        (20, self.number())
    }

    fn public_key_size(self) -> usize {
        self.public_key_len()
    }

    fn signature_size(self) -> Option<usize> {
        Some(self.signature_len())
    }

    /// Of SHA-2 sets, sets with 16 bytes use SHA-256 alone (FIPS 205 §11.2).
    fn hash(self) -> HashId {
        match (self.is_shake(), self.n()) {
            (true, _) => HashId::Shake256,
            (false, 16) => HashId::Sha256,
            (false, _) => HashId::Sha512,
        }
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = if self.is_shake() { "shake" } else { "sha2" };
        let form = if self.is_small() { "s" } else { "f" };
        write!(f, "slh-dsa-{hash}-{}{form}", self.n() * 8)
    }

    fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }
}
