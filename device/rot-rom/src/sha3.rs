//! The SHA-3 engine, which hashes payloads that DMA streams to it, and the roots over their blocks.
//!
//! The engine is not a kernel of `device/kernels`: a kernel absorbs blocks into a state that software keeps, and the
//! engine computes the whole sponge. A hash object that is created without a device has to find the engine, so the
//! engine is in a static, as with the [SHA-2 engine](crate::engine). One hart without interrupts uses it.

use hartlock_image::HashId;
use hartlock_kernels::engines::Sha3Digest;
use hartlock_kernels::{EngineUse, Kernels};
use hartlock_verify::tree::{Digest, Hasher, SoftwareHasher};

/// Maximum length in bytes of a message that a [`RootHasher`] collects: the header before the leaves, and 32 leaves of
/// SHA3-512, 43 of SHA3-384 or 66 of SHA3-256. With the usual block size this covers at least 2.5 MiB, more than the
/// load region of any payload. The buffer is on the stack, which has room because no signature is verified at that
/// time; a larger one would cost more to move.
const MOST_BYTES: usize = 2176;

/// Value that is no message's digest, so that any comparison with it fails.
const NO_DIGEST: Digest = [u8::MAX; 64];

/// Returns true if an engine computes this hash.
pub fn has(kernels: &Kernels, hash: HashId) -> bool {
    EngineUse::of_hash(hash).is_some_and(|purpose| kernels.engines_for(purpose).is_some())
}

/// Computes the digest of a message in the scratchpad. Returns `None` if there is no engine for this hash or it failed.
fn digest_of_message(kernels: &Kernels, hash: HashId, message: &[u8]) -> Option<Digest> {
    let mut digest = Sha3Digest::EMPTY;
    kernels.engines_for(EngineUse::of_hash(hash)?)?.sha3(hash, &[message], &mut digest)?;
    Some(digest.0)
}

/// The hash of the root over the blocks of a payload. The engine has a single state, which the blocks need, so the
/// message of the root is collected in the scratchpad. In the host's memory another master could replace leaves before
/// they are hashed.
///
/// Longer messages, and hashes that the engine does not have, are hashed by the kernels as the bytes arrive.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and there is no heap")]
pub enum RootHasher {
    /// The engine hashes the collected message at the end.
    Kept { hash: HashId, kernels: Kernels, message: [u8; MOST_BYTES], len: usize },
    /// The kernels hash the message.
    Software(SoftwareHasher),
}

impl Hasher for RootHasher {
    fn with(hash: HashId, kernels: &Kernels) -> Self {
        if has(kernels, hash) {
            return Self::Kept { hash, kernels: *kernels, message: [0; MOST_BYTES], len: 0 };
        }
        Self::Software(SoftwareHasher::with(hash, kernels))
    }

    fn parallelhash_with(hash: HashId, kernels: &Kernels) -> Self {
        Self::Software(SoftwareHasher::parallelhash_with(hash, kernels))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Software(hasher) => hasher.update(bytes),
            Self::Kept { hash, kernels, message, len } => {
                let end = len.saturating_add(bytes.len());
                if let Some(place) = message.get_mut(*len..end) {
                    place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                    *len = end;
                    return;
                }
                let mut hasher = SoftwareHasher::with(*hash, kernels);
                hasher.update(message.get(..*len).unwrap_or(message));
                hasher.update(bytes);
                *self = Self::Software(hasher);
            }
        }
    }

    fn finalize(self) -> Digest {
        match self {
            Self::Software(hasher) => hasher.finalize(),
            Self::Kept { hash, kernels, message, len } => {
                let message = message.get(..len).unwrap_or(&message);
                digest_of_message(&kernels, hash, message).unwrap_or(NO_DIGEST)
            }
        }
    }
}
