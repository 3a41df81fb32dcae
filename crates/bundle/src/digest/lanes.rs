//! Hashes of several messages of one length at once, one in each lane of the processor's vectors.
//!
//! Blocks of a payload are independent, so their leaves need not wait for each other. RustCrypto
//! hashes one message at a time and is the reference: before lanes are used for a hash, they have
//! to give its digests ([`Engine::agrees`]).

use std::sync::OnceLock;

use hartlock_image::HashId;
use hartlock_verify::tree::{Digest, Hasher};

use super::host::HostHasher;
use plain::{MAX_BLOCK_SIZE, Plain};
use vectors::MAX_LANES;

mod engine;
mod kt128;
mod plain;
mod sha2;
mod sha3;
mod vectors;

pub(super) use engine::Engine;

impl Engine {
    /// The engine of a hash, if this processor has one that is right, and faster than RustCrypto.
    /// Without optimisation none is: dependencies are optimised in every build, and this is not.
    pub(super) fn of(hash: HashId) -> Option<Self> {
        if cfg!(debug_assertions) {
            return None;
        }
        static ENGINES: [OnceLock<Option<Engine>>; HashId::ALL.len()] =
            [const { OnceLock::new() }; HashId::ALL.len()];
        let at = HashId::ALL.iter().position(|other| *other == hash)?;
        *ENGINES[at].get_or_init(|| {
            let fastest = Self::all(hash).next()?;
            (!fastest.width.loses(hash) && fastest.agrees()).then_some(fastest)
        })
    }

    /// Whether it gives the digests of RustCrypto. The messages differ, and end before, at and
    /// after the end of a block, and of the chunks of KT128.
    fn agrees(self) -> bool {
        const LONG: usize = 2 * kt128::CHUNK_SIZE + 1;
        let bytes: Vec<u8> = (0..LONG + MAX_LANES).map(|at| ((at * 89) >> 2) as u8).collect();
        let (block, chunk) = (self.block_size(), kt128::CHUNK_SIZE);
        [0, 1, block - 1, block, 3 * MAX_BLOCK_SIZE, chunk - 1, chunk, LONG].into_iter().all(
            |len| {
                let messages: Vec<&[u8]> =
                    (0..self.lanes()).map(|at| &bytes[at..at + len]).collect();
                let mut lanes = Lanes::new(self);
                lanes.update(&messages);
                let expected = messages.iter().map(|message| {
                    let mut hasher = HostHasher::new(self.hash);
                    hasher.update(message);
                    hasher.finalize()
                });
                lanes.finalize().into_iter().take(messages.len()).eq(expected)
            },
        )
    }
}

/// Messages that are being hashed: as many as the engine has lanes, or fewer.
#[expect(clippy::large_enum_variant, reason = "a thread has one at a time")]
pub(super) enum Lanes {
    Plain(Plain),
    Kt128(kt128::Lanes),
}

impl Lanes {
    pub(super) fn new(engine: Engine) -> Self {
        match engine.hash {
            HashId::Kt128 => Self::Kt128(kt128::Lanes::new(engine)),
            _ => Self::Plain(Plain::new(engine)),
        }
    }

    /// Adds a part to each message: one to as many as there are lanes, always the same number of
    /// messages, and parts of one length.
    pub(super) fn update(&mut self, parts: &[&[u8]]) {
        match self {
            Self::Plain(lanes) => lanes.update(parts),
            Self::Kt128(lanes) => lanes.update(parts),
        }
    }

    /// The digest of each message, in their order.
    pub(super) fn finalize(self) -> [Digest; MAX_LANES] {
        match self {
            Self::Plain(lanes) => {
                let suffix = lanes.engine.suffix();
                lanes.finalize(suffix)
            }
            Self::Kt128(lanes) => lanes.finalize(),
        }
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
