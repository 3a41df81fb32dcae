//! Storage of hash values and messages, and how messages are written.

use super::function::Shape;
use super::words::Words;
use crate::dispatch::MAX_LANES;

/// Maximum number of messages that are hashed at once: more than half of all lanes, since with fewer
/// the widest vectors would stay idle, and no more, because all of this is on the stack. A stage
/// without kernels for several messages has room for one.
pub(crate) const LANES: usize =
    if cfg!(any(test, feature = "lanes")) { MAX_LANES / 2 + 1 } else { 1 };

/// Words of hash values that are in work at once: those of 67 chains of 32 bytes, and of the
/// subtree roots of 131 chains of 64 bytes beside 32 of them.
pub(crate) const VALUE_WORDS: usize = 36 * 8;

/// Longest message: three blocks of SHA-512.
const MAX_MESSAGE_WORDS: usize = 48;

/// Room for a short message in each lane: two blocks of SHA-256, or one of SHAKE256. Of longer ones
/// there are fewer.
pub(super) const MESSAGE_WORDS: usize =
    if LANES * 17 > MAX_MESSAGE_WORDS { LANES * 17 } else { MAX_MESSAGE_WORDS };

/// Where the message of the first lane begins: after all hash values.
pub(crate) const MESSAGES: usize = VALUE_WORDS;

/// Hash values that are in work, from word 0 on, followed by messages, one for each lane.
///
/// Kernels need aligned messages, and so does the code that writes them: an unaligned word takes eight
/// stores. The compiler knows the alignment of words as long as they are named by their index
/// from the beginning, which is why nothing here hands out slices of them, and why values and
/// messages are one array: a digest may go to either.
#[repr(C, align(8))]
pub(crate) struct Room {
    pub(super) words: [[u8; 8]; VALUE_WORDS + MESSAGE_WORDS],
    /// States of SHA-256, to be written over. Fresh ones would be zeroed for every digest.
    pub(super) states: [[u32; 8]; LANES],
}

impl Room {
    pub(crate) const fn new() -> Self {
        Self { words: [[0; 8]; VALUE_WORDS + MESSAGE_WORDS], states: [[0; 8]; LANES] }
    }

    /// How many values of so many words there is room for.
    pub(crate) fn capacity(value_words: usize) -> usize {
        VALUE_WORDS.checked_div(value_words).unwrap_or(0)
    }

    /// A word, or 0 where there is none.
    #[inline(always)]
    fn get(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Changes a word, if it is there.
    #[inline(always)]
    fn set(&mut self, index: usize, word: u64) {
        if let Some(bytes) = self.words.get_mut(index) {
            *bytes = word.to_le_bytes();
        }
    }

    /// Changes a byte of a message that begins at word `at`.
    #[cfg(feature = "xmss")]
    #[inline(always)]
    pub(crate) fn set_byte(&mut self, at: usize, index: usize, value: u8) {
        if let Some(byte) = self.words.as_flattened_mut().get_mut((at << 3).wrapping_add(index)) {
            *byte = value;
        }
    }

    /// `count` words from `at` on as bytes, or none.
    pub(crate) fn bytes(&self, at: usize, count: usize) -> &[u8] {
        bytes(&self.words, at, count)
    }

    /// Takes over the bytes of hash values.
    pub(crate) fn load(&mut self, at: usize, from: &[u8]) {
        let to = self.words.get_mut(at..).unwrap_or_default();
        for (to, from) in to.iter_mut().zip(from.as_chunks().0) {
            *to = *from;
        }
    }

    /// A hash value of `count` words, zero padded.
    pub(crate) fn value(&self, at: usize, count: usize) -> Words {
        let mut value = [0; 8];
        for (index, word) in value.iter_mut().enumerate().take(count) {
            *word = self.get(at.wrapping_add(index));
        }
        value
    }

    /// Puts a hash value, zero padded, anywhere.
    pub(crate) fn put(&mut self, at: usize, value: &Words) {
        for (index, word) in value.iter().enumerate() {
            self.set(at.wrapping_add(index), *word);
        }
    }

    /// Moves a hash value.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: usize, to: usize, count: usize) {
        for index in 0..count {
            self.set(to.wrapping_add(index), self.get(from.wrapping_add(index)));
        }
    }

    /// Puts a prefix in front of a value of `count` words that is [`Prefix::room`] words after `at`:
    /// the message continues after the value.
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

/// `count` words from `from` on as bytes, or none.
pub(super) fn bytes(words: &[[u8; 8]], from: usize, count: usize) -> &[u8] {
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

#[cfg(feature = "xmss")]
impl Prefix {
    /// Whole words that have to be left free for it in front of a value of `count` words.
    pub(crate) const fn room(self, count: usize) -> usize {
        match self {
            Self::Words(_) => count,
            Self::HalfWord(_) => 0,
        }
    }
}

/// Writes one message, word by word. It does not hold the room: a reference out of a value that
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

    /// Appends a word, in front of all bytes that fill none.
    #[inline(always)]
    pub(crate) fn push(&mut self, room: &mut Room, word: u64) {
        room.set(self.next, word);
        self.next = self.next.wrapping_add(1);
    }

    /// Appends a word after what has been written.
    #[inline(always)]
    fn push_shifted(&mut self, room: &mut Room, word: u64) {
        self.push(room, self.carry | word.wrapping_shl(self.shift));
        self.carry = word.wrapping_shr(64_u32.wrapping_sub(self.shift));
    }

    /// Appends words.
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

    /// Appends a hash value, or several, of `count` words in all.
    #[inline(always)]
    pub(crate) fn append(&mut self, room: &mut Room, from: usize, count: usize) {
        if self.shift == 0 {
            // Four at a time: values that follow whole words have 32 or 64 bytes.
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

    /// Appends bytes that fill no word, below bit `shift`: a multiple of 8, 8 to 56. Once in a
    /// message, after whole words.
    #[cfg(feature = "lms")]
    #[inline(always)]
    pub(crate) const fn head(&mut self, bytes: u64, shift: u32) {
        (self.carry, self.shift) = (bytes, shift);
    }

    /// Ends the message, which has to be as long as its shape says.
    #[inline(always)]
    pub(crate) fn finish(mut self, room: &mut Room, shape: Shape) {
        let last = self.start.wrapping_add(shape.words).wrapping_sub(1);
        let mut word = self.carry | shape.marker.wrapping_shl(self.shift);
        // Not in two parts: the compiler would call a function that fills memory for the zeros.
        while self.next < last {
            self.push(room, word);
            word = 0;
        }
        self.push(room, word ^ shape.tail);
    }
}
