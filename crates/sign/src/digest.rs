//! Payload digests (image format §6) of data that lies in a file, on all cores.
//!
//! A payload in mode `blocks` is cut into runs of blocks. Each thread takes the next run, has its
//! bytes moved into a buffer of its own, and hashes them there: several blocks at once where the
//! processor has vectors for it. No byte is handed from one thread to another. Mode `flat` is one
//! hash from the first byte to the last, so one thread has to do it.
//!
//! Memory does not grow with the payload or with the number of cores: 40 MiB is the bound of the
//! buffers of all threads and of the leaves that wait for an earlier one.

use std::num::NonZero;
use std::thread;

use hartlock_image::{HashId, PayloadRecord};
use hartlock_verify::tree::{Digest, Hasher, padded};
use sha2::Digest as _;

mod lanes;
mod plan;
#[cfg(test)]
mod tests;
mod turns;

pub use plan::{Piece, Plan};

/// The hashes of RustCrypto, which use the SHA instructions of the processor: one message at a time.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum HostHasher {
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
    Sha3_256(sha3::Sha3_256),
    Sha3_384(sha3::Sha3_384),
    Sha3_512(sha3::Sha3_512),
}

impl Hasher for HostHasher {
    fn new(hash: HashId) -> Self {
        match hash {
            HashId::Sha256 => HostHasher::Sha256(sha2::Sha256::new()),
            HashId::Sha384 => HostHasher::Sha384(sha2::Sha384::new()),
            HashId::Sha512 => HostHasher::Sha512(sha2::Sha512::new()),
            HashId::Sha3_256 => HostHasher::Sha3_256(sha3::Sha3_256::new()),
            HashId::Sha3_384 => HostHasher::Sha3_384(sha3::Sha3_384::new()),
            HashId::Sha3_512 => HostHasher::Sha3_512(sha3::Sha3_512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            HostHasher::Sha256(hash) => hash.update(bytes),
            HostHasher::Sha384(hash) => hash.update(bytes),
            HostHasher::Sha512(hash) => hash.update(bytes),
            HostHasher::Sha3_256(hash) => hash.update(bytes),
            HostHasher::Sha3_384(hash) => hash.update(bytes),
            HostHasher::Sha3_512(hash) => hash.update(bytes),
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
        }
    }
}

/// Payloads from here on are read and written past the page cache where that helps.
pub(crate) const LARGE_PAYLOAD: u64 = 64 << 20;

/// Whether a payload is read and written past the page cache where that helps.
pub(crate) const fn is_large(payload: &PayloadRecord) -> bool {
    payload.size >= LARGE_PAYLOAD
}

/// Threads for a payload.
pub(crate) fn thread_count(payload: &PayloadRecord) -> usize {
    // Past the cache a thread waits for the disk, and another one can hash meanwhile.
    if is_large(payload) { 2 * core_count() } else { core_count() }
}

/// Cores that this process may use.
pub fn core_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
