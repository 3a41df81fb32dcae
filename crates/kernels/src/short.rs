//! Short messages, laid out as words and hashed several at a time: the messages of hash-based
//! signatures.
//!
//! A chain step or a tree node hashes a hundred bytes or so, thousands of times, and the blocks that
//! a compression function takes are known beforehand: no general `update` is needed. The user writes
//! each message with a [`Writer`], which pads it, and [`Hasher::digest`] writes the digests to the
//! place that a [`Sink`] names. As many messages are hashed at once as the kernels have lanes.
//! Messages and the hash values in work are stored in one [`Room`].
//!
//! [`Function::shape`] tells a user how messages of a length are padded, [`Hasher::lanes`] how many
//! to take at once. For each [`Job`] the user starts a [`Writer`] at its place, appends words and
//! finishes it. If all messages begin with the same block, [`Hasher::midstate`] computes the state after
//! it once.
//!
//! Everything is a word of eight bytes, little-endian, whatever the hash. Heads of messages that are
//! not a multiple of eight bytes long shift what follows, which costs registers and no bytes.

mod digest;
#[cfg(test)]
pub(crate) mod fake;
mod room;
mod stream;

#[cfg(feature = "xmss")]
pub(crate) use room::Prefix;
pub(crate) use room::{MESSAGES, Room, Writer};
pub(crate) use stream::Stream;

use crate::Kernels;
use crate::dispatch::{Chosen, MAX_LANES};
#[cfg(feature = "xmss")]
use crate::keccak::{RATE_128, RATE_256};

/// Maximum number of messages that are hashed at once: more than half of all lanes, since with fewer
/// the widest vectors would stay idle, and no more, because all of this is on the stack. A stage
/// without kernels for several messages has room for one.
pub(crate) const LANES: usize =
    if cfg!(any(test, feature = "lanes")) { MAX_LANES / 2 + 1 } else { 1 };

/// Words of hash values that are in work at once: those of 67 chains of 32 bytes, and of the
/// subtree roots of 131 chains of 64 bytes beside 32 of them.
pub(crate) const VALUE_WORDS: usize = 36 * 8;

/// A hash value, or the first 64 bytes of an output, as stored in memory: little-endian words of
/// a byte string. States of SHA-2 are kept in it too, one word of theirs in each.
pub(crate) type Words = [u64; 8];

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sha256,
    #[cfg(feature = "xmss")]
    Sha512,
    #[cfg(feature = "xmss")]
    Shake128,
    #[cfg(feature = "xmss")]
    Shake256,
}

/// How messages of one length are padded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Words of the padded message, or of the part that follows a midstate.
    pub words: usize,
    /// The byte after the message.
    marker: u64,
    /// Added to the last word: the length in bits (FIPS 180-4 §5.1), or the end of pad10*1
    /// (FIPS 202 §5.1).
    tail: u64,
}

impl Function {
    /// The shape of messages of `len` bytes, of which a midstate holds the first `hashed`: whole
    /// blocks of SHA-2, or none. No message is longer than three blocks of SHA-512 with its padding.
    #[inline(never)]
    pub(crate) const fn shape(self, len: usize, hashed: usize) -> Shape {
        let rest = len.wrapping_sub(hashed);
        let bits = (len as u64).wrapping_mul(8).swap_bytes();
        match self {
            Self::Sha256 => {
                Shape { words: rest.wrapping_add(9).div_ceil(64) * 8, marker: 0x80, tail: bits }
            }
            #[cfg(feature = "xmss")]
            Self::Sha512 => {
                Shape { words: rest.wrapping_add(17).div_ceil(128) * 16, marker: 0x80, tail: bits }
            }
            #[cfg(feature = "xmss")]
            Self::Shake128 | Self::Shake256 => {
                let rate_words = self.rate_words();
                let is_long = rest >= rate_words.wrapping_mul(8);
                let words = if is_long { rate_words.wrapping_mul(2) } else { rate_words };
                // FIPS 202 §6.2: four ones of SHAKE, then the first bit of the padding.
                Shape { words, marker: 0x1f, tail: 0x80 << 56 }
            }
        }
    }

    #[cfg(feature = "xmss")]
    const fn rate_words(self) -> usize {
        match self {
            Self::Shake128 => RATE_128,
            _ => RATE_256,
        }
    }

    /// The state before the first block. That of a sponge is zero.
    pub(crate) fn initial(self) -> Words {
        match self {
            Self::Sha256 => crate::sha2::H256.map(u64::from),
            #[cfg(feature = "xmss")]
            Self::Sha512 => crate::sha2::H512,
            #[cfg(feature = "xmss")]
            Self::Shake128 | Self::Shake256 => [0; 8],
        }
    }
}

/// What all hashes of a signature have in common.
#[derive(Clone, Copy)]
pub(crate) struct Hasher<'a> {
    pub kernels: &'a Kernels,
    pub function: Function,
    /// Words of a hash value.
    pub n: usize,
}

/// One hash of a lane: which one, from which words of the room, and to which.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    /// Separates this hash from all others (domain separation), in words of its algorithm.
    pub tweak: [u64; 2],
    pub from: usize,
    pub to: usize,
}

impl Job {
    pub(crate) const NONE: Self = Self { tweak: [0; 2], from: 0, to: 0 };
}

/// Where a digest goes.
#[derive(Clone, Copy)]
pub(crate) enum Sink {
    /// To the place that the job names.
    Result,
    /// Into the message, this many words after its beginning.
    #[cfg(feature = "xmss")]
    Message(usize),
    /// XORed into the value that the job reads, this many words after its beginning.
    #[cfg(feature = "xmss")]
    Mask(usize),
}

impl Hasher<'_> {
    /// The state after the first `words` words of the first message, which are whole blocks of SHA-2.
    #[cfg(feature = "xmss")]
    pub(crate) fn midstate(&self, room: &Room, words: usize) -> Words {
        let mut start = self.function.initial();
        let blocks = room.bytes(MESSAGES, words);
        match self.function {
            Function::Sha256 => {
                let mut state = [0; 8];
                digest::narrow(&mut state, &start);
                (self.kernels.sha256.one.run)(&mut state, blocks.as_chunks().0);
                start = state.map(u64::from);
            }
            Function::Sha512 => (self.kernels.sha512.one.run)(&mut start, blocks.as_chunks().0),
            // Sponges have no states of this size.
            Function::Shake128 | Function::Shake256 => {}
        }
        start
    }

    /// How many messages, `stride` words apart, are worth hashing at once.
    pub(crate) fn lanes(&self, stride: usize) -> usize {
        let lanes = match self.function {
            Function::Sha256 => lanes_worth_using(&self.kernels.sha256),
            #[cfg(feature = "xmss")]
            Function::Sha512 => lanes_worth_using(&self.kernels.sha512),
            #[cfg(feature = "xmss")]
            Function::Shake128 | Function::Shake256 => lanes_worth_using(&self.kernels.keccak),
        };
        lanes.min(LANES).min(room::MESSAGE_WORDS.checked_div(stride).unwrap_or(1)).max(1)
    }
}

/// The lanes of a family. Two of them, if one message has a kernel of the same tier, spare fewer
/// instructions than it takes to lay messages side by side: counted with Zvknha and VLEN 128.
fn lanes_worth_using<F, G>(family: &Chosen<F, G>) -> usize {
    match &family.many {
        Some(many) if many.lanes > 2 || many.tier != family.one.tier => many.lanes,
        _ => 1,
    }
}

/// Fills what a known-answer test checks with arbitrary bytes. Any bytes are the signature of
/// some key.
#[inline(never)]
pub(crate) fn fill_with_pattern(bytes: &mut [u8], seed: u8) {
    // Opaque, so that the test runs on the device and the compiler does not evaluate it.
    let mut byte = core::hint::black_box(seed);
    for to in bytes {
        *to = byte;
        byte = byte.wrapping_add(167);
    }
}

/// Reads words out of bytes, as many as both have.
pub(crate) fn load(words: &mut [u64], bytes: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

/// The bytes of a hash value.
pub(crate) fn to_bytes(words: &Words) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// The big-endian bytes of `value`, as the low half of a word.
#[inline(always)]
pub(crate) const fn be32(value: u32) -> u64 {
    value.swap_bytes() as u64
}
