//! Hashes of several messages of one length at once, one in each lane of the processor's vectors.
//!
//! Blocks of a payload are independent, so their leaves need not wait for each other. RustCrypto
//! hashes one message at a time and is the reference: before lanes are used for a hash, they have
//! to give its digests ([`Engine::agrees`]).

use std::sync::OnceLock;

use fearless_simd::{Simd, SimdBase, SimdInt};
use hartlock_image::HashId;
use hartlock_verify::tree::{Digest, Hasher};

use super::HostHasher;

mod kt128;
mod sha2;
mod sha3;

/// Maximum number of messages at once: 32-bit words in a vector of 512 bits.
pub(super) const MAX_LANES: usize = 16;
/// The longest message block, of SHAKE128 and TurboSHAKE128.
const MAX_BLOCK_SIZE: usize = 168;

/// What the processor has. There is none on other processors than x86-64.
#[derive(Clone, Copy, Debug)]
enum Width {
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::x86::Avx2),
}

impl Width {
    /// Every width, the widest first.
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

    /// Bytes of a vector.
    fn bytes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 64,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => 32,
        }
    }

    /// Whether eight lanes of SHA-256 are slower than the SHA instructions of the processor.
    fn loses(self, hash: HashId) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => false,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => hash == HashId::Sha256 && std::is_x86_feature_detected!("sha"),
        }
    }
}

/// A hash in lanes on this processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    hash: HashId,
    width: Width,
}

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

    /// Every engine of a hash that this processor can run, the widest first.
    pub(super) fn all(hash: HashId) -> impl Iterator<Item = Self> {
        Width::all().into_iter().map(move |width| Self { hash, width })
    }

    /// Messages that it hashes at once.
    pub(super) fn lanes(self) -> usize {
        match self.hash {
            HashId::Sha256 => self.width.bytes() / 4,
            _ => self.width.bytes() / 8,
        }
    }

    /// Bytes of a message block.
    fn block_size(self) -> usize {
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

    /// The domain's bits and the first bit of the padding (FIPS 202 §6.1, §6.2). Of KT128 there are
    /// several, and [`kt128::Lanes`] knows which.
    fn suffix(self) -> u8 {
        match self.hash {
            HashId::Shake128 | HashId::Shake256 => 0x1f,
            _ => 0x06,
        }
    }

    /// Rounds of Keccak-p.
    fn rounds(self) -> usize {
        if self.hash == HashId::Kt128 { 12 } else { 24 }
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

/// Messages under a hash without chunks: SHA-2, or a sponge.
pub(super) struct Plain {
    engine: Engine,
    state: State,
    /// The beginning of a block whose end has not come yet, of each message.
    partial: [[u8; MAX_BLOCK_SIZE]; MAX_LANES],
    partial_len: usize,
    message_len: u64,
}

/// Words by their number and lane.
#[expect(clippy::large_enum_variant, reason = "a thread has one at a time")]
enum State {
    Narrow([[u32; MAX_LANES]; 8]),
    Wide([[u64; MAX_LANES]; 8]),
    Sponge([[u64; MAX_LANES]; sha3::STATE_WORDS]),
}

impl Plain {
    fn new(engine: Engine) -> Self {
        let state = match engine.hash {
            HashId::Sha256 => State::Narrow(sha2::H512.map(|h| [(h >> 32) as u32; MAX_LANES])),
            HashId::Sha384 => State::Wide(sha2::H384.map(|h| [h; MAX_LANES])),
            HashId::Sha512 => State::Wide(sha2::H512.map(|h| [h; MAX_LANES])),
            HashId::Sha3_256
            | HashId::Sha3_384
            | HashId::Sha3_512
            | HashId::Kt128
            | HashId::Shake128
            | HashId::Shake256 => State::Sponge([[0; MAX_LANES]; sha3::STATE_WORDS]),
        };
        let partial = [[0; MAX_BLOCK_SIZE]; MAX_LANES];
        Self { engine, state, partial, partial_len: 0, message_len: 0 }
    }

    /// See [`Lanes::update`].
    fn update(&mut self, parts: &[&[u8]]) {
        // A lane without a message repeats the first one, and its digest is not read.
        let mut parts: [&[u8]; MAX_LANES] =
            std::array::from_fn(|lane| *parts.get(lane).unwrap_or(&parts[0]));
        self.message_len += parts[0].len() as u64;
        if self.partial_len > 0 {
            let missing = self.engine.block_size() - self.partial_len;
            parts = self.keep(parts, missing);
            if self.partial_len < self.engine.block_size() {
                return;
            }
            self.compress_partial();
        }
        let whole = parts[0].len() - parts[0].len() % self.engine.block_size();
        if whole > 0 {
            compress(self.engine, &mut self.state, &parts.map(|part| &part[..whole]));
        }
        self.keep(parts.map(|part| &part[whole..]), usize::MAX);
    }

    /// Moves up to `limit` bytes of each message to the end of its partial block. Returns the rest.
    fn keep<'a>(&mut self, parts: [&'a [u8]; MAX_LANES], limit: usize) -> [&'a [u8]; MAX_LANES] {
        let len = parts[0].len().min(limit);
        for (partial, part) in self.partial.iter_mut().zip(parts) {
            partial[self.partial_len..][..len].copy_from_slice(&part[..len]);
        }
        self.partial_len += len;
        parts.map(|part| &part[len..])
    }

    /// Uses the partial blocks, which are complete.
    fn compress_partial(&mut self) {
        let size = self.engine.block_size();
        let blocks = self.partial.each_ref().map(|partial| &partial[..size]);
        compress(self.engine, &mut self.state, &blocks);
        self.partial_len = 0;
    }

    /// Appends one byte to each partial block and fills the rest with zeros.
    fn pad(&mut self, marker: u8) {
        for partial in &mut self.partial {
            partial[self.partial_len] = marker;
            partial[self.partial_len + 1..].fill(0);
        }
    }

    /// The digest of each message, in their order. `suffix` is that of a sponge.
    fn finalize(mut self, suffix: u8) -> [Digest; MAX_LANES] {
        let size = self.engine.block_size();
        match self.state {
            // FIPS 180-4 §5.1: a one, zeros, and the length in bits in the last two words.
            State::Narrow(_) | State::Wide(_) => {
                self.pad(0x80);
                if self.partial_len + 1 > size - size / 8 {
                    self.compress_partial();
                    self.partial = [[0; MAX_BLOCK_SIZE]; MAX_LANES];
                }
                let bits = (self.message_len * 8).to_be_bytes();
                for partial in &mut self.partial {
                    partial[size - 8..size].copy_from_slice(&bits);
                }
            }
            // FIPS 202 §5.1: pad10*1 after the suffix.
            State::Sponge(_) => {
                self.pad(suffix);
                for partial in &mut self.partial {
                    partial[size - 1] |= 0x80;
                }
            }
        }
        self.compress_partial();
        std::array::from_fn(|lane| self.digest(lane))
    }

    /// The digest of a message whose last block was compressed.
    fn digest(&self, lane: usize) -> Digest {
        let mut digest = [0; 64];
        let bytes = &mut digest[..self.engine.hash.output_len()];
        match &self.state {
            State::Narrow(state) => {
                for (to, word) in bytes.chunks_mut(4).zip(state) {
                    to.copy_from_slice(&word[lane].to_be_bytes());
                }
            }
            State::Wide(state) => {
                for (to, word) in bytes.chunks_mut(8).zip(state) {
                    to.copy_from_slice(&word[lane].to_be_bytes());
                }
            }
            State::Sponge(state) => {
                for (to, word) in bytes.chunks_mut(8).zip(state) {
                    to.copy_from_slice(&word[lane].to_le_bytes());
                }
            }
        }
        digest
    }
}

/// Uses whole blocks of all messages, with the instructions of the engine.
fn compress(engine: Engine, state: &mut State, messages: &[&[u8]; MAX_LANES]) {
    match engine.width {
        #[cfg(target_arch = "x86_64")]
        Width::Avx512(simd) => {
            simd.vectorize(
                #[inline(always)]
                || compress_with(simd, state, messages, engine.block_size(), engine.rounds()),
            );
        }
        #[cfg(target_arch = "x86_64")]
        Width::Avx2(simd) => {
            simd.vectorize(
                #[inline(always)]
                || compress_with(simd, state, messages, engine.block_size(), engine.rounds()),
            );
        }
    }
}

#[inline(always)]
fn compress_with<S: Simd>(
    simd: S,
    state: &mut State,
    messages: &[&[u8]; MAX_LANES],
    block_size: usize,
    rounds: usize,
) {
    match state {
        State::Narrow(state) => sha2::compress::<S, S::u32s, u32>(simd, state, messages),
        State::Wide(state) => sha2::compress::<S, S::u64s, u64>(simd, state, messages),
        State::Sponge(state) => sha3::absorb(simd, state, messages, block_size, rounds),
    }
}

/// Turns vectors of neighbouring words, one a message, into vectors of the same word of every
/// message.
#[inline(always)]
fn transpose<S: Simd, V: SimdBase<S>>(rows: &mut [V; MAX_LANES]) {
    let half = V::LEN / 2;
    // Each pass shuffles the rows and their elements as in a perfect shuffle: after log2 passes every
    // element is exchanged with its transposed one.
    for _ in 0..V::LEN.ilog2() {
        let before = *rows;
        for at in 0..half {
            (rows[2 * at], rows[2 * at + 1]) = before[at].interleave(before[at + half]);
        }
    }
}

#[inline(always)]
fn rotate_right<S: Simd, V: SimdInt<S>>(x: V, count: u32) -> V {
    if count == 0 {
        return x;
    }
    // The compiler makes one instruction of it where there is one.
    (x >> count) | (x << (8 * size_of::<V::Element>() as u32 - count))
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
