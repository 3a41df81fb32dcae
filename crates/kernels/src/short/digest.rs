//! From messages that stand in their places to their digests.

use super::{Function, LANES, Messages, Shape, WORDS, Words, bytes};
use crate::Kernels;
#[cfg(feature = "xmss")]
use crate::keccak::FULL_ROUNDS;

/// Hashes `count` messages of one shape, `stride` words apart, from the state `start` on. A digest
/// takes the place of the first words of its message.
#[inline(never)]
pub(crate) fn digest(
    kernels: &Kernels,
    function: Function,
    start: &Words,
    messages: &mut Messages,
    (shape, stride, count): (Shape, usize, usize),
) {
    match function {
        Function::Sha256 if count == 1 => {
            let mut state = [0; 8];
            narrow(&mut state, start);
            (kernels.sha256.one.run)(&mut state, messages.bytes(0, shape.words).as_chunks().0);
            put_sha256(&mut messages.words, 0, &state);
        }
        Function::Sha256 => digest_sha256(kernels, start, messages, (shape, stride, count)),
        #[cfg(feature = "xmss")]
        Function::Sha512 if count == 1 => {
            let mut state = *start;
            (kernels.sha512.one.run)(&mut state, messages.bytes(0, shape.words).as_chunks().0);
            messages.put(0, &state.map(u64::swap_bytes));
        }
        #[cfg(feature = "xmss")]
        Function::Sha512 => digest_sha512(kernels, start, messages, (shape, stride, count)),
        #[cfg(feature = "xmss")]
        Function::Shake128 | Function::Shake256 if count == 1 => {
            digest_one_shake(kernels, function.rate_words(), messages, shape);
        }
        #[cfg(feature = "xmss")]
        Function::Shake128 | Function::Shake256 => {
            digest_shake(kernels, function.rate_words(), messages, (shape, stride, count));
        }
    }
}

// Each of the following has states on its stack. Out of line, so that nobody else has room for them.

#[inline(never)]
fn digest_sha256(
    kernels: &Kernels,
    start: &Words,
    messages: &mut Messages,
    (shape, stride, count): (Shape, usize, usize),
) {
    let Messages { words, states } = messages;
    let states = states.get_mut(..count).unwrap_or_default();
    for state in &mut *states {
        narrow(state, start);
    }
    let mut room: [&[u8]; LANES] = [&[]; LANES];
    kernels.sha256.each(states, slices(&mut room, words, (shape, stride, count)));
    let mut at = 0_usize;
    for state in states {
        put_sha256(words, at, state);
        at = at.wrapping_add(stride);
    }
}

#[cfg(feature = "xmss")]
#[inline(never)]
fn digest_sha512(
    kernels: &Kernels,
    start: &Words,
    messages: &mut Messages,
    (shape, stride, count): (Shape, usize, usize),
) {
    let mut states = [[0; 8]; LANES];
    let states = states.get_mut(..count).unwrap_or_default();
    for state in &mut *states {
        *state = *start;
    }
    let mut room: [&[u8]; LANES] = [&[]; LANES];
    kernels.sha512.each(states, slices(&mut room, &messages.words, (shape, stride, count)));
    for (lane, state) in states.iter().enumerate() {
        messages.put(lane.wrapping_mul(stride), &state.map(u64::swap_bytes));
    }
}

#[cfg(feature = "xmss")]
#[inline(never)]
fn digest_one_shake(kernels: &Kernels, rate_words: usize, messages: &mut Messages, shape: Shape) {
    let mut state = [0; 25];
    (kernels.keccak.one.run)(&mut state, messages.bytes(0, shape.words), rate_words, FULL_ROUNDS);
    messages.put(0, &front(&state));
}

#[cfg(feature = "xmss")]
#[inline(never)]
fn digest_shake(
    kernels: &Kernels,
    rate_words: usize,
    messages: &mut Messages,
    (shape, stride, count): (Shape, usize, usize),
) {
    let mut states = [[0; 25]; LANES];
    let states = states.get_mut(..count).unwrap_or_default();
    let mut room: [&[u8]; LANES] = [&[]; LANES];
    let slices = slices(&mut room, &messages.words, (shape, stride, count));
    kernels.keccak.each(states, slices, rate_words, FULL_ROUNDS);
    for (lane, state) in states.iter().enumerate() {
        messages.put(lane.wrapping_mul(stride), &front(state));
    }
}

/// Where the message of each lane stands: in an array of the caller, which would be copied otherwise.
#[inline(always)]
fn slices<'a>(
    slices: &'a mut [&'a [u8]; LANES],
    words: &'a [[u8; 8]],
    (shape, stride, count): (Shape, usize, usize),
) -> &'a [&'a [u8]] {
    let slices = slices.get_mut(..count).unwrap_or_default();
    let mut at = 0_usize;
    for slice in &mut *slices {
        *slice = bytes(words, at, shape.words);
        at = at.wrapping_add(stride);
    }
    slices
}

/// A state of SHA-256. Written out, since a loop costs three times as much.
#[inline(always)]
pub(super) fn narrow(state: &mut [u32; 8], words: &Words) {
    let [a, b, c, d, e, f, g, h] = state;
    let [word_a, word_b, word_c, word_d, word_e, word_f, word_g, word_h] = *words;
    (*a, *b, *c, *d) = (word_a as u32, word_b as u32, word_c as u32, word_d as u32);
    (*e, *f, *g, *h) = (word_e as u32, word_f as u32, word_g as u32, word_h as u32);
}

/// The digest of SHA-256: words in big-endian byte order (FIPS 180-4 §6.2.2).
#[inline(always)]
fn put_sha256(words: &mut [[u8; 8]; WORDS], at: usize, state: &[u32; 8]) {
    for (index, [low, high]) in state.as_chunks().0.iter().enumerate() {
        // Both halves at once: without Zbb there is no instruction for one.
        let word = u64::from(*low) | u64::from(*high) << 32;
        let word = (word >> 8 & 0x00ff_00ff_00ff_00ff) | (word & 0x00ff_00ff_00ff_00ff) << 8;
        let word = (word >> 16 & 0x0000_ffff_0000_ffff) | (word & 0x0000_ffff_0000_ffff) << 16;
        if let Some(bytes) = words.get_mut(at.wrapping_add(index)) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// The first 64 bytes of output.
#[cfg(feature = "xmss")]
fn front(state: &[u64; 25]) -> Words {
    let mut words = [0; 8];
    for (to, from) in words.iter_mut().zip(state) {
        *to = *from;
    }
    words
}
