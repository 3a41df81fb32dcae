//! Storage of hash values and messages, and the writer of messages.

use super::function::Shape;
use super::words::Words;
use crate::dispatch::MAX_LANES;

/// Maximum number of messages that are hashed at once. It is more than half of the maximum number of lanes, because
/// kernels with the widest vectors are not used for fewer messages. It is not larger, because the storage is on the
/// stack. A stage without kernels for several messages has storage for one.
pub(crate) const LANES: usize =
    if cfg!(any(test, feature = "lanes")) { MAX_LANES / 2 + 1 } else { 1 };

/// Number of words for hash values. 67 chains of 32 bytes fit, and also the subtree roots of 131 chains of 64 bytes
/// together with 32 of these chains.
pub(crate) const VALUE_WORDS: usize = 36 * 8;

/// Length in words of the longest message, which is three blocks of SHA-512.
const MAX_MESSAGE_WORDS: usize = 48;

/// Number of words for messages. Each lane has room for a short message, which is two blocks of SHA-256 or one of
/// SHAKE256. Fewer messages fit if they are longer.
pub(super) const MESSAGE_WORDS: usize =
    if LANES * 17 > MAX_MESSAGE_WORDS { LANES * 17 } else { MAX_MESSAGE_WORDS };

/// Word index of the message of the first lane. It follows the hash values.
pub(crate) const MESSAGES: usize = VALUE_WORDS;

/// Storage for hash values, which start at word 0, and for the messages of all lanes, which follow.
///
/// Kernels require aligned messages. The code that writes them also benefits, because an unaligned word takes eight
/// stores. The compiler knows the alignment of a word only if it is accessed by its index from the start of the
/// array. Therefore the functions return no slices of words, and values and messages share one array. A digest can go
/// to either part.
#[repr(C, align(8))]
pub(crate) struct Room {
    pub(super) words: [[u8; 8]; VALUE_WORDS + MESSAGE_WORDS],
    /// Scratch states of SHA-256. States on the stack would be zeroed for every digest.
    pub(super) states: [[u32; 8]; LANES],
}

impl Room {
    pub(crate) const fn new() -> Self {
        Self { words: [[0; 8]; VALUE_WORDS + MESSAGE_WORDS], states: [[0; 8]; LANES] }
    }

    /// Returns the number of hash values of `value_words` words that fit.
    pub(crate) fn capacity(value_words: usize) -> usize {
        VALUE_WORDS.checked_div(value_words).unwrap_or(0)
    }

    /// Returns a word, or 0 if the index is past the end.
    #[inline(always)]
    fn get(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Sets a word. An index past the end is ignored.
    #[inline(always)]
    fn set(&mut self, index: usize, word: u64) {
        if let Some(bytes) = self.words.get_mut(index) {
            *bytes = word.to_le_bytes();
        }
    }

    /// Sets a byte of a message that begins at word `at`.
    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) fn set_byte(&mut self, at: usize, index: usize, value: u8) {
        if let Some(byte) = self.words.as_flattened_mut().get_mut((at << 3).wrapping_add(index)) {
            *byte = value;
        }
    }

    /// Returns `count` words from word `at` as bytes, or an empty slice if they are not all in range.
    pub(crate) fn bytes(&self, at: usize, count: usize) -> &[u8] {
        bytes(&self.words, at, count)
    }

    /// Copies the bytes of hash values to the words from `at`.
    pub(crate) fn load(&mut self, at: usize, from: &[u8]) {
        let to = self.words.get_mut(at..).unwrap_or_default();
        for (to, from) in to.iter_mut().zip(from.as_chunks().0) {
            *to = *from;
        }
    }

    /// Returns a hash value of `count` words, padded with zeros.
    pub(crate) fn value(&self, at: usize, count: usize) -> Words {
        let mut value = [0; 8];
        for (index, word) in value.iter_mut().enumerate().take(count) {
            *word = self.get(at.wrapping_add(index));
        }
        value
    }

    /// Writes a zero-padded hash value to the words from `at`.
    pub(crate) fn put(&mut self, at: usize, value: &Words) {
        for (index, word) in value.iter().enumerate() {
            self.set(at.wrapping_add(index), *word);
        }
    }

    /// Copies a hash value of `count` words.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: usize, to: usize, count: usize) {
        for index in 0..count {
            self.set(to.wrapping_add(index), self.get(from.wrapping_add(index)));
        }
    }

    /// Writes a prefix before a value of `count` words, which starts [`Prefix::room`] words after `at`. Returns a
    /// writer that continues after the value.
    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) fn put_prefix(&mut self, at: usize, prefix: Prefix, count: usize) -> Writer {
        let end = at.wrapping_add(count);
        match prefix {
            Prefix::Words(number) => {
                let last = end.wrapping_sub(1);
                for index in at..last {
                    self.set(index, 0);
                }
                self.set(last, u64::from(number) << 56);
                Writer { start: at, next: end.wrapping_add(count), carry: 0, shift: 0 }
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

/// Returns `count` words from word `from` as bytes, or an empty slice if they are not all in range.
pub(super) fn bytes(words: &[[u8; 8]], from: usize, count: usize) -> &[u8] {
    words.get(from..from.wrapping_add(count)).unwrap_or_default().as_flattened()
}

/// A number at the start of a message.
#[cfg(feature = "xmss")]
#[derive(Clone, Copy)]
pub(crate) enum Prefix {
    /// A number with the length of a hash value.
    Words(u8),
    /// A number of four bytes.
    HalfWord(u8),
}

#[cfg(feature = "xmss")]
impl Prefix {
    /// Returns the number of whole words that must be left free before a value of `count` words.
    pub(crate) const fn room(self, count: usize) -> usize {
        match self {
            Self::Words(_) => count,
            Self::HalfWord(_) => 0,
        }
    }
}

/// A writer of one message, word by word. It does not hold a reference to the room, because the compiler would not
/// know the alignment of a reference that is selected by a branch.
pub(crate) struct Writer {
    start: usize,
    next: usize,
    /// Bytes that do not fill a word yet.
    carry: u64,
    /// Number of bits in `carry`.
    shift: u32,
}

impl Writer {
    /// Makes a writer of a message that starts at word `at`.
    #[inline(always)]
    pub(crate) const fn at(at: usize) -> Self {
        Self { start: at, next: at, carry: 0, shift: 0 }
    }

    /// Writes a word at the current position. The bytes in `carry` follow it.
    #[inline(always)]
    pub(crate) fn push(&mut self, room: &mut Room, word: u64) {
        room.set(self.next, word);
        self.next = self.next.wrapping_add(1);
    }

    /// Appends a word after the bytes in `carry`.
    #[inline(always)]
    fn push_shifted(&mut self, room: &mut Room, word: u64) {
        self.push(room, self.carry | word.wrapping_shl(self.shift));
        self.carry = word.wrapping_shr(64_u32.wrapping_sub(self.shift));
    }

    /// Appends four words.
    #[inline(always)]
    pub(crate) fn extend(&mut self, room: &mut Room, words: [u64; 4]) {
        if self.shift == 0 {
            let to = room.words.get_mut(self.next..).and_then(|words| words.first_chunk_mut());
            if let Some(to) = to {
                let [a, b, c, d] = words.map(u64::to_le_bytes);
                *to = [a, b, c, d];
            }
            self.next = self.next.wrapping_add(words.len());
        } else {
            for word in words {
                self.push_shifted(room, word);
            }
        }
    }

    /// Appends one or more hash values that have `count` words together.
    #[inline(always)]
    pub(crate) fn append(&mut self, room: &mut Room, from: usize, count: usize) {
        if self.shift == 0 {
            // Four words are copied at a time, because values that follow whole words have 32 or 64 bytes.
            debug_assert!(count.is_multiple_of(4));
            for index in 0..count >> 2 {
                let four = room.words.get(from.wrapping_add(index << 2)..);
                let four = four.and_then(|words| words.first_chunk().copied());
                self.extend(room, four.map_or([0; 4], |words| words.map(u64::from_le_bytes)));
            }
        } else {
            for index in 0..count {
                self.push_shifted(room, room.get(from.wrapping_add(index)));
            }
        }
    }

    /// Appends bytes that fill less than a word, as the `shift` lowest bits of `bytes`. `shift` is a multiple of 8
    /// from 8 to 56. This happens once in a message, after whole words.
    #[cfg(feature = "lms")]
    #[inline(always)]
    pub(crate) const fn head(&mut self, bytes: u64, shift: u32) {
        (self.carry, self.shift) = (bytes, shift);
    }

    /// Ends the message, which must have the length of its shape.
    #[inline(always)]
    pub(crate) fn finish(mut self, room: &mut Room, shape: Shape) {
        let last = self.start.wrapping_add(shape.words).wrapping_sub(1);
        let mut word = self.carry | shape.marker.wrapping_shl(self.shift);
        // A single loop writes the marker and the zeros, because the compiler would call `memset` for a loop of
        // zeros.
        while self.next < last {
            self.push(room, word);
            word = 0;
        }
        self.push(room, word ^ shape.tail);
    }
}
