//! Selects the vector instructions with which a hash is computed.

use hartlock_image::HashId;

/// A set of vector instructions of the processor. Only x86-64 has any here.
#[derive(Clone, Copy, Debug)]
pub(super) enum VectorExtension {
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::x86::Avx2),
}

impl VectorExtension {
    /// Returns every set that this processor has, the widest vectors first.
    #[cfg(target_arch = "x86_64")]
    fn all() -> Vec<Self> {
        let level = fearless_simd::Level::new();
        let avx512 = level.as_avx512().map(Self::Avx512);
        avx512.into_iter().chain(level.as_avx2().map(Self::Avx2)).collect()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn all() -> Vec<Self> {
        Vec::new()
    }

    /// Returns the size of a vector in bytes.
    fn bytes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 64,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => 32,
        }
    }

    /// Returns true if lanes of this width are slower than RustCrypto: that is the case for SHA-256 in eight
    /// lanes if the processor has SHA instructions.
    pub(super) fn loses(self, hash: HashId) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => hash == HashId::Sha256 && std::is_x86_feature_detected!("sha"),
        }
    }
}

/// A hash that is computed in vector lanes of this processor.
#[derive(Clone, Copy, Debug)]
pub(in crate::digest) struct Engine {
    pub(super) hash: HashId,
    pub(super) extension: VectorExtension,
}

impl Engine {
    /// Returns every engine of a hash that this processor supports, the widest vectors first. KT128 has none,
    /// because it is a tree hash itself.
    pub(in crate::digest) fn all(hash: HashId) -> impl Iterator<Item = Self> {
        let extensions = VectorExtension::all().into_iter().filter(move |_| hash != HashId::Kt128);
        extensions.map(move |extension| Self { hash, extension })
    }

    /// Returns the number of messages that are hashed at once.
    pub(in crate::digest) fn lanes(self) -> usize {
        match self.hash {
            HashId::Sha256 => self.extension.bytes() / 4,
            _ => self.extension.bytes() / 8,
        }
    }

    /// Returns the size of a message block in bytes.
    pub(super) fn block_size(self) -> usize {
        match self.hash {
            HashId::Sha256 => 64,
            HashId::Sha384 | HashId::Sha512 => 128,
            HashId::Sha3_256 | HashId::Sha3_384 | HashId::Sha3_512 => {
                200 - 2 * self.hash.output_len()
            }
            HashId::Kt128 | HashId::Shake128 => 168,
            HashId::Shake256 => 136,
        }
    }

    /// Returns the domain separation bits of the hash, followed by the first bit of the padding (FIPS 202
    /// §6.1, §6.2).
    pub(super) fn suffix(self) -> u8 {
        match self.hash {
            HashId::Shake128 | HashId::Shake256 => 0x1f,
            _ => 0x06,
        }
    }
}
