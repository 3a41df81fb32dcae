//! The sponge construction with Keccak-p (FIPS 202 §4; RFC 9861 §2), which [`crate::sha3`], [`crate::xof`],
//! [`crate::parallelhash`] and [`crate::kt128`] use.

pub(crate) mod permutation;

use crate::Kernels;
use crate::dispatch::{Chosen, MAX_LANES};
use crate::many::{self, Padding};
use permutation::Absorb;
pub(crate) use permutation::FULL_ROUNDS;

/// Number of rounds of TurboSHAKE (RFC 9861 §2.2).
pub(crate) const TURBO_ROUNDS: usize = 12;
/// Rate for 128-bit security: 21 lanes, which are 168 bytes.
pub(crate) const RATE_128: usize = 21;
/// Rate for 256-bit security: 17 lanes, which are 136 bytes.
pub(crate) const RATE_256: usize = 17;

/// A function that permutes a state with all rounds, once more than there are blocks. The first lanes after each
/// permutation except for the last are stored as a block of output.
#[cfg(feature = "ml-dsa")]
pub(crate) type Squeeze = fn(&mut [u64; 25], &mut [[u64; RATE_128]]);

/// A zero block. Absorbing it changes nothing except for the permutation that follows.
static ZEROS: [u8; 8 * RATE_128] = [0; 8 * RATE_128];

/// A sponge. A digest has at most 64 bytes, which are squeezed in one step.
///
/// Rate and number of rounds are run-time values, so that a ROM has only one copy of this code for all functions. The
/// bytes of an incomplete block are XORed into the state immediately, so there is no buffer.
#[derive(Clone)]
pub(crate) struct Sponge {
    state: [u64; 25],
    /// Number of bytes of the current block that were XORed into the state. It is below the rate between calls.
    filled: usize,
    rate_words: usize,
    rounds: usize,
    absorb: Absorb,
}

impl Sponge {
    /// Makes a sponge. `rate_words` is from 1 to 21, and `rounds` is 12 or 24.
    pub(crate) const fn new(kernels: &Kernels, rate_words: usize, rounds: usize) -> Self {
        Self { state: [0; 25], filled: 0, rate_words, rounds, absorb: kernels.keccak.one.run }
    }

    /// Continues with a state that has absorbed whole blocks elsewhere.
    pub(crate) fn resume(&mut self, state: &[u64; 25]) {
        self.state = *state;
        self.filled = 0;
    }

    /// Appends `data` to the message.
    // The function is not inlined, so that callers do not contain copies of it.
    #[inline(never)]
    pub(crate) fn absorb(&mut self, mut data: &[u8]) {
        let rate = self.rate_words.wrapping_mul(8);
        if self.filled != 0 {
            let (now, later) =
                data.split_at_checked(rate.wrapping_sub(self.filled)).unwrap_or((data, &[]));
            self.add(now);
            if self.filled < rate {
                return;
            }
            self.permute();
            data = later;
        }
        let rest_len = data.len().checked_rem(rate).unwrap_or(0);
        let (blocks, rest) =
            data.split_at_checked(data.len().wrapping_sub(rest_len)).unwrap_or((data, &[]));
        (self.absorb)(&mut self.state, blocks, self.rate_words, self.rounds);
        self.add(rest);
    }

    /// XORs bytes into the current block, in which they must fit. Byte i of a block goes to bits 8 (i mod 8) to 8 (i
    /// mod 8) + 7 of lane i / 8 (FIPS 202 §B.1).
    fn add(&mut self, mut bytes: &[u8]) {
        if self.filled & 7 == 0 {
            let (words, rest) = bytes.as_chunks::<8>();
            let lanes = self.state.iter_mut().skip(self.filled >> 3);
            for (lane, word) in lanes.zip(words) {
                *lane ^= u64::from_le_bytes(*word);
            }
            self.filled = self.filled.wrapping_add(words.as_flattened().len());
            bytes = rest;
        }
        for byte in bytes {
            if let Some(lane) = self.state.get_mut(self.filled >> 3) {
                *lane ^= u64::from(*byte) << ((self.filled & 7) * 8);
            }
            self.filled = self.filled.wrapping_add(1);
        }
    }

    /// Appends eight little-endian bytes to a message that consists of whole words.
    #[cfg(feature = "ml-dsa")]
    pub(crate) fn absorb_word(&mut self, word: u64) {
        if let Some(lane) = self.state.get_mut(self.filled >> 3) {
            *lane ^= word;
        }
        self.filled = self.filled.wrapping_add(8);
        if self.filled >= self.rate_words.wrapping_mul(8) {
            self.permute();
        }
    }

    /// Ends the current block. Its remaining bytes count as zeros.
    pub(crate) fn permute(&mut self) {
        let zeros = ZEROS.get(..self.rate_words.wrapping_mul(8)).unwrap_or(&ZEROS);
        (self.absorb)(&mut self.state, zeros, self.rate_words, self.rounds);
        self.filled = 0;
    }

    /// Ends the current block if it contains any bytes.
    #[allow(dead_code, reason = "not every selection of algorithms pads")]
    pub(crate) fn pad_block(&mut self) {
        if self.filled != 0 {
            self.permute();
        }
    }

    /// Ends the message and returns the first 64 bytes of output.
    ///
    /// `suffix` holds the domain separation bits and the first bit of pad10*1 (FIPS 202 §5.1, §B.2). The last bit of
    /// the padding is the top bit of the block. Both can be in the same byte.
    #[inline(never)]
    pub(crate) fn finalize(mut self, suffix: u8) -> [u8; 64] {
        self.end(suffix);
        squeeze(&self.state)
    }

    /// Ends the message like [`Sponge::finalize`]. Then the first `rate_words` lanes of the returned state are the
    /// first block of output. [`permute_each`] computes the next block.
    #[cfg(feature = "ml-dsa")]
    pub(crate) fn finish(&mut self, suffix: u8) -> &mut [u64; 25] {
        self.end(suffix);
        &mut self.state
    }

    /// Ends the message like [`Sponge::finalize`]. Afterwards [`Sponge::squeeze`] returns output of any length.
    pub(crate) fn end(&mut self, suffix: u8) {
        self.add(&[suffix]);
        if let Some(last) = self.state.get_mut(self.rate_words.wrapping_sub(1)) {
            *last ^= 1 << 63;
        }
        self.permute();
    }

    /// Fills `output` with the next bytes of output (FIPS 202 §4, steps 7 to 10). This is valid only after
    /// [`Sponge::end`]. Then `filled` counts the bytes of the block that were returned.
    #[allow(dead_code, reason = "not every selection of algorithms has long outputs")]
    #[inline(never)]
    pub(crate) fn squeeze(&mut self, output: &mut [u8]) {
        for byte in output {
            if self.filled >= self.rate_words.wrapping_mul(8) {
                self.permute();
            }
            let lane = self.state.get(self.filled >> 3).copied().unwrap_or(0);
            *byte = (lane >> ((self.filled & 7) * 8)) as u8;
            self.filled = self.filled.wrapping_add(1);
        }
    }
}

/// Permutes each state with all rounds, which gives its next block of output (FIPS 202 §4, step 10).
#[cfg(feature = "ml-dsa")]
pub(crate) fn permute_each(kernels: &Kernels, states: &mut [[u64; 25]]) {
    /// A word with the alignment that kernels require of a block.
    #[repr(align(8))]
    struct AlignedWord([u8; 8]);
    // Absorbing zeros only permutes the state. The smallest rate takes the least time.
    static ZERO: AlignedWord = AlignedWord([0; 8]);
    if cfg!(feature = "lanes") && states.len() > 1 {
        kernels.keccak.each(states, &[&ZERO.0 as &[u8]; MAX_LANES], 1, FULL_ROUNDS);
    } else {
        for state in states {
            (kernels.keccak.one.run)(state, &ZERO.0, 1, FULL_ROUNDS);
        }
    }
}

/// Returns the first 64 bytes of output. The output is never longer than the rate, so one squeeze is enough (FIPS 202
/// §4, step 8).
pub(crate) fn squeeze(state: &[u64; 25]) -> [u8; 64] {
    let mut output = [0; 64];
    for (bytes, lane) in output.as_chunks_mut::<8>().0.iter_mut().zip(state) {
        *bytes = lane.to_le_bytes();
    }
    output
}

/// The padding of a sponge: the suffix of [`Sponge::finalize`] and the rest of pad10*1.
struct SuffixPadding(u8);

impl<const N: usize> Padding<N> for SuffixPadding {
    fn pad(&self, block: &mut [u8; N], start: usize, message_len: usize) {
        if let Some(byte) = message_len.checked_sub(start).and_then(|at| block.get_mut(at)) {
            *byte = self.0;
            if let Some(last) = block.last_mut() {
                *last |= 0x80;
            }
        }
    }

    fn block_count(&self, message_len: usize) -> usize {
        message_len.checked_div(N).unwrap_or(0).wrapping_add(1)
    }
}

/// Hashes the messages `heads[i] ‖ bodies[i]` with a sponge whose rate is `N` bytes. The arguments are those of
/// [`crate::HashMany::digest_many`].
pub(crate) fn digest_many<const N: usize>(
    kernels: &Kernels,
    rounds: usize,
    suffix: u8,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on_output: &mut dyn FnMut(usize, [u8; 64]),
) {
    let Chosen { one, many } = kernels.keccak;
    let mut index = 0;
    for (heads, bodies) in many::groups(kernels.keccak.lanes(), heads, bodies) {
        let mut states = [[0; 25]; MAX_LANES];
        let states = states.get_mut(..heads.len()).unwrap_or_default();
        many::feed::<N>(&SuffixPadding(suffix), heads, bodies, |messages| match many {
            Some(many) => (many.run)(states, messages, N / 8, rounds),
            None => {
                for (state, message) in states.iter_mut().zip(messages) {
                    (one.run)(state, message, N / 8, rounds);
                }
            }
        });
        for state in states {
            on_output(index, squeeze(state));
            index = index.wrapping_add(1);
        }
    }
}

/// Returns the first `N` bytes of an output.
pub(crate) fn first<const N: usize>(output: [u8; 64]) -> [u8; N] {
    let mut digest = [0; N];
    for (to, from) in digest.iter_mut().zip(output) {
        *to = from;
    }
    digest
}
