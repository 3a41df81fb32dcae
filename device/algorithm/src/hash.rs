//! Hash functions.

/// A hash function with its number in the image format (§2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum HashId {
    Sha256 = 1,
    Sha384 = 2,
    Sha512 = 3,
    Sha3_256 = 4,
    Sha3_384 = 5,
    Sha3_512 = 6,
    Kt128 = 7,
    Shake128 = 8,
    Shake256 = 9,
}

impl HashId {
    /// All hashes in the order of their numbers.
    pub const ALL: [HashId; 9] = [
        HashId::Sha256,
        HashId::Sha384,
        HashId::Sha512,
        HashId::Sha3_256,
        HashId::Sha3_384,
        HashId::Sha3_512,
        HashId::Kt128,
        HashId::Shake128,
        HashId::Shake256,
    ];

    /// Returns the hash with this number, or `None` if the format does not define it.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| *hash as u32 == number)
    }

    /// Returns the hash with this name, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// Returns the length of a digest in bytes.
    pub const fn output_len(self) -> usize {
        match self {
            HashId::Sha256 | HashId::Sha3_256 | HashId::Kt128 | HashId::Shake128 => 32,
            HashId::Sha384 | HashId::Sha3_384 => 48,
            HashId::Sha512 | HashId::Sha3_512 | HashId::Shake256 => 64,
        }
    }

    /// Returns the name of the hash in files, output and command lines.
    pub const fn name(self) -> &'static str {
        match self {
            HashId::Sha256 => "sha256",
            HashId::Sha384 => "sha384",
            HashId::Sha512 => "sha512",
            HashId::Sha3_256 => "sha3-256",
            HashId::Sha3_384 => "sha3-384",
            HashId::Sha3_512 => "sha3-512",
            HashId::Kt128 => "kt128",
            HashId::Shake128 => "shake128",
            HashId::Shake256 => "shake256",
        }
    }

    /// Returns true if NIST has approved the hash (§2.3).
    pub const fn is_nist_approved(self) -> bool {
        !matches!(self, HashId::Kt128)
    }
}
