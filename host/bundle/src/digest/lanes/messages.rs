//! The state of several messages of the same length that are hashed with SHA-2 or a sponge.

use fearless_simd::Simd;
use hartlock_image::HashId;
use hartlock_kernels::sha2::{H384, H512};
use hartlock_verify::tree::Digest;

use super::engine::{Engine, VectorExtension};
use super::vectors::MAX_LANES;
use super::{sha2, sha3};

/// Size in bytes of the longest message block, which is that of SHAKE128.
pub(super) const MAX_BLOCK_SIZE: usize = 168;

/// Messages that are being hashed: at most one for each lane of the engine.
pub(in crate::digest) struct Lanes {
    engine: Engine,
    state: HashStates,
    /// The bytes of each message after its last complete block.
    partial: [[u8; MAX_BLOCK_SIZE]; MAX_LANES],
    partial_len: usize,
    message_len: u64,
}

/// The hash states of all messages. The first index is the number of the word, the second one the lane.
#[expect(clippy::large_enum_variant, reason = "a thread has one at a time")]
enum HashStates {
    Narrow([[u32; MAX_LANES]; 8]),
    Wide([[u64; MAX_LANES]; 8]),
    Sponge([[u64; MAX_LANES]; sha3::STATE_WORDS]),
}

impl Lanes {
    pub(in crate::digest) fn new(engine: Engine) -> Self {
        let state = match engine.hash {
            HashId::Sha256 => HashStates::Narrow(H512.map(|h| [(h >> 32) as u32; MAX_LANES])),
            HashId::Sha384 => HashStates::Wide(H384.map(|h| [h; MAX_LANES])),
            HashId::Sha512 => HashStates::Wide(H512.map(|h| [h; MAX_LANES])),
            _ => HashStates::Sponge([[0; MAX_LANES]; sha3::STATE_WORDS]),
        };
        let partial = [[0; MAX_BLOCK_SIZE]; MAX_LANES];
        Self { engine, state, partial, partial_len: 0, message_len: 0 }
    }

    /// Appends a part to each message. Every call passes the same number of parts, at least one and at most
    /// one for each lane, and all parts of a call have the same length.
    pub(in crate::digest) fn update(&mut self, parts: &[&[u8]]) {
        // A lane without a message repeats the first message, and its digest is not used.
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

    /// Appends up to `limit` bytes of each part to the partial block. Returns the rest of each part.
    fn keep<'a>(&mut self, parts: [&'a [u8]; MAX_LANES], limit: usize) -> [&'a [u8]; MAX_LANES] {
        let len = parts[0].len().min(limit);
        for (partial, part) in self.partial.iter_mut().zip(parts) {
            partial[self.partial_len..][..len].copy_from_slice(&part[..len]);
        }
        self.partial_len += len;
        parts.map(|part| &part[len..])
    }

    /// Processes the partial blocks, which must be complete.
    fn compress_partial(&mut self) {
        let size = self.engine.block_size();
        let blocks = self.partial.each_ref().map(|partial| &partial[..size]);
        compress(self.engine, &mut self.state, &blocks);
        self.partial_len = 0;
    }

    /// Appends one byte to each partial block and fills the rest of the block with zeros.
    fn pad(&mut self, marker: u8) {
        for partial in &mut self.partial {
            partial[self.partial_len] = marker;
            partial[self.partial_len + 1..].fill(0);
        }
    }

    /// Pads the messages and returns their digests, in order.
    pub(in crate::digest) fn finalize(mut self) -> [Digest; MAX_LANES] {
        let size = self.engine.block_size();
        match self.state {
            // FIPS 180-4 §5.1: the padding is a one bit, zeros, and the length in bits in the last two words.
            HashStates::Narrow(_) | HashStates::Wide(_) => {
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
            // FIPS 202 §5.1: the padding pad10*1 follows the suffix.
            HashStates::Sponge(_) => {
                self.pad(self.engine.suffix());
                for partial in &mut self.partial {
                    partial[size - 1] |= 0x80;
                }
            }
        }
        self.compress_partial();
        std::array::from_fn(|lane| self.digest(lane))
    }

    /// Returns the digest of a lane after its last block was processed.
    fn digest(&self, lane: usize) -> Digest {
        let mut digest = [0; 64];
        let bytes = &mut digest[..self.engine.hash.output_len()];
        let size = if let HashStates::Narrow(_) = self.state { 4 } else { 8 };
        for (at, to) in bytes.chunks_mut(size).enumerate() {
            match &self.state {
                HashStates::Narrow(state) => to.copy_from_slice(&state[at][lane].to_be_bytes()),
                HashStates::Wide(state) => to.copy_from_slice(&state[at][lane].to_be_bytes()),
                HashStates::Sponge(state) => to.copy_from_slice(&state[at][lane].to_le_bytes()),
            }
        }
        digest
    }
}

/// Processes complete blocks of all messages with the vector instructions of the engine.
fn compress(engine: Engine, state: &mut HashStates, messages: &[&[u8]; MAX_LANES]) {
    match engine.extension {
        #[cfg(target_arch = "x86_64")]
        VectorExtension::Avx512(simd) => {
            simd.vectorize(
                #[inline(always)]
                || compress_with(simd, state, messages, engine.block_size()),
            );
        }
        #[cfg(target_arch = "x86_64")]
        VectorExtension::Avx2(simd) => {
            simd.vectorize(
                #[inline(always)]
                || compress_with(simd, state, messages, engine.block_size()),
            );
        }
    }
}

#[inline(always)]
fn compress_with<S: Simd>(
    simd: S,
    state: &mut HashStates,
    messages: &[&[u8]; MAX_LANES],
    block_size: usize,
) {
    match state {
        HashStates::Narrow(state) => sha2::compress::<S, S::u32s, u32>(simd, state, messages),
        HashStates::Wide(state) => sha2::compress::<S, S::u64s, u64>(simd, state, messages),
        HashStates::Sponge(state) => sha3::absorb(simd, state, messages, block_size),
    }
}
