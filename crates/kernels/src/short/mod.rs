//! Short messages, laid out as words and hashed several at a time: what hash-based signatures are
//! made of.
//!
//! A chain step or a tree node hashes a hundred bytes or so, thousands of times, and the blocks that
//! a compression function wants are known beforehand: no general `update` is needed. The user writes
//! each message with a [`Writer`], which pads it, and [`digest`] leaves the digests where the
//! messages began. As many messages are hashed at once as the kernels have lanes.
//!
//! A user asks [`Function::shape`] how messages of a length are padded, [`Function::lanes`] how many
//! to take at once, and for each of them starts a [`Writer`] at its place, appends words and finishes
//! it. A state behind a block that all messages begin with ([`Function::midstate`]) spares that block.
//!
//! Everything is a word of eight bytes, little-endian, whatever the hash. Heads of messages that are
//! not a multiple of eight bytes long shift what follows, which costs registers and no bytes.

mod digest;
#[cfg(test)]
pub(crate) mod fake;
mod stream;

pub(crate) use digest::digest;
pub(crate) use stream::Stream;

use crate::Kernels;
use crate::dispatch::{Chosen, MAX_LANES};
#[cfg(feature = "xmss")]
use crate::keccak::{RATE_128, RATE_256};

/// Most messages that are hashed at once: more than half of all lanes, with fewer the widest vectors
/// would stay idle, and no more, because all of this stands on the stack. A stage without kernels for
/// several messages has room for one.
pub(crate) const LANES: usize =
    if cfg!(any(test, feature = "lanes")) { MAX_LANES / 2 + 1 } else { 1 };

/// Longest message: three blocks of SHA-512.
const MAX_MESSAGE_WORDS: usize = 48;

/// Room for a short message in each lane: two blocks of SHA-256, or one of SHAKE256. Of longer ones
/// there are fewer.
const WORDS: usize = if LANES * 17 > MAX_MESSAGE_WORDS { LANES * 17 } else { MAX_MESSAGE_WORDS };

/// A hash value, or the first 64 bytes of an output, as it stands in memory: little-endian words of
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
    /// Words of the padded message, or of what is left of it behind a midstate.
    pub words: usize,
    /// The byte behind the message.
    marker: u64,
    /// Added to the last word: the length in bits (FIPS 180-4 §5.1), or the end of pad10*1
    /// (FIPS 202 §5.1).
    tail: u64,
}

impl Function {
    /// The shape of messages of `len` bytes, of which a midstate holds the first `hashed`: whole
    /// blocks of SHA-2, or none. No message is longer than [`MAX_MESSAGE_WORDS`] with its padding.
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

    /// The state behind the first `words` words of messages, which are whole blocks of SHA-2.
    #[cfg(feature = "xmss")]
    pub(crate) fn midstate(self, kernels: &Kernels, messages: &Messages, words: usize) -> Words {
        let mut start = self.initial();
        let blocks = messages.bytes(0, words);
        match self {
            Self::Sha256 => {
                let mut state = [0; 8];
                digest::narrow(&mut state, &start);
                (kernels.sha256.one.run)(&mut state, blocks.as_chunks().0);
                start = state.map(u64::from);
            }
            Self::Sha512 => (kernels.sha512.one.run)(&mut start, blocks.as_chunks().0),
            // Sponges have no states of this size.
            Self::Shake128 | Self::Shake256 => {}
        }
        start
    }

    /// How many messages, `stride` words apart, are worth hashing at once.
    pub(crate) fn lanes(self, kernels: &Kernels, stride: usize) -> usize {
        let lanes = match self {
            Self::Sha256 => lanes_worth_using(&kernels.sha256),
            #[cfg(feature = "xmss")]
            Self::Sha512 => lanes_worth_using(&kernels.sha512),
            #[cfg(feature = "xmss")]
            Self::Shake128 | Self::Shake256 => lanes_worth_using(&kernels.keccak),
        };
        lanes.min(LANES).min(WORDS.checked_div(stride).unwrap_or(1)).max(1)
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

/// Messages, one for each lane, `stride` words apart.
///
/// Kernels want them aligned, and so does the code that writes them: a word that may lie anywhere
/// takes eight stores. The compiler knows where words lie as long as they are named by their index
/// from the beginning, which is why nothing here hands out slices of them.
#[repr(C, align(8))]
pub(crate) struct Messages {
    words: [[u8; 8]; WORDS],
    /// States of SHA-256, to be written over. Fresh ones would be zeroed for every digest.
    states: [[u32; 8]; LANES],
}

impl Messages {
    pub(crate) const fn new() -> Self {
        Self { words: [[0; 8]; WORDS], states: [[0; 8]; LANES] }
    }

    /// A word, or 0 where there is none.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Changes a word, if it is there.
    #[inline(always)]
    fn set(&mut self, index: usize, word: u64) {
        if let Some(bytes) = self.words.get_mut(index) {
            *bytes = word.to_le_bytes();
        }
    }

    fn bytes(&self, from: usize, count: usize) -> &[u8] {
        bytes(&self.words, from, count)
    }

    /// Copies a hash value out.
    #[inline(always)]
    pub(crate) fn read(&self, at: usize, value: &mut [u64]) {
        for (index, word) in value.iter_mut().enumerate() {
            *word = self.get(at.wrapping_add(index));
        }
    }

    /// Adds a hash value to another.
    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) fn xor_into(&self, at: usize, value: &mut [u64]) {
        for (index, word) in value.iter_mut().enumerate() {
            *word ^= self.get(at.wrapping_add(index));
        }
    }

    /// Puts a hash value where a message is to begin.
    #[cfg(feature = "xmss")]
    pub(crate) fn put(&mut self, at: usize, value: &Words) {
        for (index, word) in value.iter().enumerate() {
            self.set(at.wrapping_add(index), *word);
        }
    }

    /// Puts a prefix in front of the `count` words at `at`, a digest: the message goes on behind it.
    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) fn put_prefix(&mut self, at: usize, prefix: Prefix, count: usize) -> Writer {
        let end = at.wrapping_add(count);
        match prefix {
            Prefix::Words(number) => {
                // As long as a digest, which therefore moves as a whole.
                for index in at..end {
                    let word = self.get(index);
                    self.set(index.wrapping_add(count), word);
                    let is_last = index.wrapping_add(1) == end;
                    self.set(index, if is_last { u64::from(number) << 56 } else { 0 });
                }
                let next = end.wrapping_add(count);
                Writer { start: at, next, carry: 0, shift: 0 }
            }
            Prefix::HalfWord(number) => {
                let mut carry = u64::from(number) << 24;
                for index in at..end {
                    let word = self.get(index);
                    self.set(index, carry | word << 32);
                    carry = word >> 32;
                }
                Writer { start: at, next: end, carry, shift: 32 }
            }
        }
    }
}

/// `count` words from `from` on as bytes, or none.
fn bytes(words: &[[u8; 8]], from: usize, count: usize) -> &[u8] {
    words.get(from..from.wrapping_add(count)).unwrap_or_default().as_flattened()
}

/// A number in front of a message.
#[cfg(feature = "xmss")]
#[derive(Clone, Copy)]
pub(crate) enum Prefix {
    /// As long as a hash value.
    Words(u8),
    /// Four bytes.
    HalfWord(u8),
}

/// Writes one message, word by word. It does not hold the messages: a reference out of a value that
/// two branches make would be one of unknown alignment to the compiler.
pub(crate) struct Writer {
    start: usize,
    next: usize,
    /// Bytes that are still below a whole word.
    carry: u64,
    /// Bits of them.
    shift: u32,
}

impl Writer {
    /// Starts a message at word `at`.
    #[inline(always)]
    pub(crate) const fn at(at: usize) -> Self {
        Self { start: at, next: at, carry: 0, shift: 0 }
    }

    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) const fn is_at_word(&self) -> bool {
        self.shift == 0
    }

    /// Appends a word, in front of all bytes that fill none.
    #[inline(always)]
    pub(crate) fn push(&mut self, messages: &mut Messages, word: u64) {
        messages.set(self.next, word);
        self.next = self.next.wrapping_add(1);
    }

    /// Appends words.
    #[inline(always)]
    pub(crate) fn extend(&mut self, messages: &mut Messages, words: &[u64]) {
        if self.shift == 0 {
            for word in words {
                self.push(messages, *word);
            }
            return;
        }
        for word in words {
            self.push(messages, self.carry | word.wrapping_shl(self.shift));
            self.carry = word.wrapping_shr(64_u32.wrapping_sub(self.shift));
        }
    }

    /// Appends bytes that fill no word, below bit `shift`: a multiple of 8, 8 to 56. Once in a
    /// message, behind whole words.
    #[cfg(feature = "lms")]
    #[inline(always)]
    pub(crate) const fn head(&mut self, bytes: u64, shift: u32) {
        (self.carry, self.shift) = (bytes, shift);
    }

    /// Ends the message, which has to be as long as its shape says.
    #[inline(always)]
    pub(crate) fn finish(mut self, messages: &mut Messages, shape: Shape) {
        let last = self.start.wrapping_add(shape.words).wrapping_sub(1);
        let mut word = self.carry | shape.marker.wrapping_shl(self.shift);
        // Not in two parts: the compiler would call a function that fills memory for the zeros.
        while self.next < last {
            self.push(messages, word);
            word = 0;
        }
        self.push(messages, word ^ shape.tail);
    }
}

/// Fills what a known-answer test checks with bytes that say nothing. Any bytes are the signature of
/// some key.
#[inline(never)]
pub(crate) fn fill_with_pattern(bytes: &mut [u8], seed: u8) {
    // Opaque, so that the test runs on the device and is not answered by the compiler.
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
