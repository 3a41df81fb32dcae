//! The hash implementations of RustCrypto, which hash one message at a time and use the SHA instructions of
//! the processor.

use cshake::digest::{ExtendableOutput, Update};
use cshake::{CShake128, CShake256};
use hartlock_image::HashId;
use hartlock_kernels::Kernels;
use hartlock_verify::tree::{Digest, Hasher, padded};
use k12::Kt128;
use sha2::Digest as _;

/// The state of a hash computation.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
#[expect(clippy::large_enum_variant, reason = "a thread has two at most")]
pub enum HostHasher {
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
    Sha3_256(sha3::Sha3_256),
    Sha3_384(sha3::Sha3_384),
    Sha3_512(sha3::Sha3_512),
    Kt128(Kt128),
    /// SHAKE128, and the outer function of ParallelHash128.
    CShake128(CShake128),
    /// SHAKE256, and the outer function of ParallelHash256.
    CShake256(CShake256),
}

/// The function name of ParallelHash for cSHAKE (SP 800-185 §6.3).
const PARALLELHASH: &[u8] = b"ParallelHash";

/// Returns the first `len` bytes of the output of an extendable-output function.
fn output(hash: impl ExtendableOutput, len: usize) -> Digest {
    let mut digest = [0; 64];
    hash.finalize_xof_into(&mut digest[..len]);
    digest
}

impl Hasher for HostHasher {
    // The kernels of this project are for RISC-V only. RustCrypto selects an implementation itself.
    fn with(hash: HashId, _: &Kernels) -> Self {
        match hash {
            HashId::Sha256 => HostHasher::Sha256(sha2::Sha256::new()),
            HashId::Sha384 => HostHasher::Sha384(sha2::Sha384::new()),
            HashId::Sha512 => HostHasher::Sha512(sha2::Sha512::new()),
            HashId::Sha3_256 => HostHasher::Sha3_256(sha3::Sha3_256::new()),
            HashId::Sha3_384 => HostHasher::Sha3_384(sha3::Sha3_384::new()),
            HashId::Sha3_512 => HostHasher::Sha3_512(sha3::Sha3_512::new()),
            HashId::Kt128 => HostHasher::Kt128(Kt128::default()),
            // cSHAKE with empty name and customization string is SHAKE (SP 800-185 §3.3).
            HashId::Shake128 => HostHasher::CShake128(CShake128::default()),
            HashId::Shake256 => HostHasher::CShake256(CShake256::default()),
        }
    }

    fn parallelhash_with(hash: HashId, _: &Kernels) -> Self {
        match hash {
            HashId::Shake128 => {
                HostHasher::CShake128(CShake128::new_with_function_name(PARALLELHASH, b""))
            }
            HashId::Shake256 => {
                HostHasher::CShake256(CShake256::new_with_function_name(PARALLELHASH, b""))
            }
            _ => Self::new(hash),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            HostHasher::Sha256(hash) => Update::update(hash, bytes),
            HostHasher::Sha384(hash) => Update::update(hash, bytes),
            HostHasher::Sha512(hash) => Update::update(hash, bytes),
            HostHasher::Sha3_256(hash) => Update::update(hash, bytes),
            HostHasher::Sha3_384(hash) => Update::update(hash, bytes),
            HostHasher::Sha3_512(hash) => Update::update(hash, bytes),
            HostHasher::Kt128(hash) => Update::update(hash, bytes),
            HostHasher::CShake128(hash) => Update::update(hash, bytes),
            HostHasher::CShake256(hash) => Update::update(hash, bytes),
        }
    }

    fn finalize(self) -> Digest {
        match self {
            HostHasher::Sha256(hash) => padded(&hash.finalize()),
            HostHasher::Sha384(hash) => padded(&hash.finalize()),
            HostHasher::Sha512(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_256(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_384(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_512(hash) => padded(&hash.finalize()),
            HostHasher::Kt128(hash) => output(hash, 32),
            HostHasher::CShake128(hash) => output(hash, 32),
            HostHasher::CShake256(hash) => output(hash, 64),
        }
    }
}
