//! Hashes several messages of the same length at once, one in each lane of the processor's vectors.
//!
//! The blocks of a payload are independent, so their leaves can be computed at the same time. RustCrypto
//! hashes one message at a time and is the reference: lanes are used for a hash only if their digests are
//! equal to those of RustCrypto ([`Engine::agrees`]).

use std::sync::OnceLock;

use hartlock_image::HashId;
use hartlock_verify::tree::Hasher;

use super::host::HostHasher;
use messages::MAX_BLOCK_SIZE;
use vectors::MAX_LANES;

mod engine;
mod messages;
mod sha2;
mod sha3;
mod vectors;

pub(super) use engine::Engine;
pub(super) use messages::Lanes;

impl Engine {
    /// Returns the engine of a hash, if this processor has one that computes the right digests and is faster
    /// than RustCrypto. Debug builds use none: there dependencies such as RustCrypto are optimised, but this
    /// code is not.
    pub(super) fn of(hash: HashId) -> Option<Self> {
        if cfg!(debug_assertions) {
            return None;
        }
        static ENGINES: [OnceLock<Option<Engine>>; HashId::ALL.len()] =
            [const { OnceLock::new() }; HashId::ALL.len()];
        let at = HashId::ALL.iter().position(|other| *other == hash)?;
        *ENGINES[at].get_or_init(|| {
            let fastest = Self::all(hash).next()?;
            (!fastest.extension.loses(hash) && fastest.agrees()).then_some(fastest)
        })
    }

    /// Compares the digests with those of RustCrypto. The messages differ, and end before, at and after the
    /// end of a hash block.
    fn agrees(self) -> bool {
        const LONG: usize = 16_385;
        let bytes: Vec<u8> = (0..LONG + MAX_LANES).map(|at| ((at * 89) >> 2) as u8).collect();
        let block = self.block_size();
        [0, 1, block - 1, block, 3 * MAX_BLOCK_SIZE, LONG].into_iter().all(|len| {
            let messages: Vec<&[u8]> = (0..self.lanes()).map(|at| &bytes[at..at + len]).collect();
            let mut lanes = Lanes::new(self);
            lanes.update(&messages);
            let expected = messages.iter().map(|message| {
                let mut hasher = HostHasher::new(self.hash);
                hasher.update(message);
                hasher.finalize()
            });
            lanes.finalize().into_iter().take(messages.len()).eq(expected)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_agree_with_rustcrypto() {
        for engine in HashId::ALL.into_iter().flat_map(Engine::all) {
            assert!(engine.agrees(), "{engine:?}");
        }
    }

    #[test]
    fn parts_and_missing_messages_change_nothing() {
        let bytes: Vec<u8> = (0..30_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
        for engine in HashId::ALL.into_iter().flat_map(Engine::all) {
            for count in [1, 3, engine.lanes()] {
                let messages: Vec<&[u8]> = (0..count).map(|at| &bytes[at..at + 25_500]).collect();
                let mut lanes = Lanes::new(engine);
                let mut from = 0;
                for len in [16, 3, 0, 128, 1000, 1, 352, 6691, 1, 16_384, 924] {
                    let parts = messages.iter().map(|message| &message[from..from + len]);
                    lanes.update(&parts.collect::<Vec<_>>());
                    from += len;
                }
                let digests = lanes.finalize();
                for (digest, message) in digests.iter().zip(messages) {
                    let mut hasher = HostHasher::new(engine.hash);
                    hasher.update(message);
                    assert_eq!(*digest, hasher.finalize(), "{engine:?}, {count} messages");
                }
            }
        }
    }
}
