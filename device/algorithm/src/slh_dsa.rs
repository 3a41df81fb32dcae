//! SLH-DSA parameter sets.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// A parameter set of SLH-DSA (FIPS 205 §11), numbered from 1 to 12 in the order of table 2. Keys and signatures do
/// not contain the number.
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
    /// All parameter sets in the order of their numbers.
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

    /// Returns the parameter set with this number, or `None` if there is none.
    pub const fn new(number: u32) -> Option<Self> {
        // The numbers are matched here. A search in `ALL` would add that array to a boot stage.
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

    /// Returns the number of the set. Sets with odd numbers hash with SHA-2, sets with even numbers with SHAKE.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Returns the length of a node in bytes: 16, 24 or 32.
    pub const fn n(self) -> usize {
        16 + 8 * ((self.number() - 1) >> 2) as usize
    }

    /// Returns true for an `s` set (small signatures, slow signing), false for an `f` set (large signatures, fast
    /// signing).
    pub const fn is_small(self) -> bool {
        (self.number() - 1) & 2 == 0
    }

    /// Returns true if the set hashes with SHAKE256, false if with SHA-2.
    pub const fn is_shake(self) -> bool {
        self.number() & 1 == 0
    }

    /// Returns the length of a public key (`PK.seed ‖ PK.root`) in bytes.
    pub const fn public_key_len(self) -> usize {
        2 * self.n()
    }

    /// Returns the length of a signature in bytes: `R`, the FORS signature, and the layers of the hypertree.
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

    /// Returns the hash of the message. The SHA-2 sets with 16-byte nodes use only SHA-256, the others use SHA-512
    /// (FIPS 205 §11.2).
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
