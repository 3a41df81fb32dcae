//! Keccak-p and the sponge (FIPS 202 §3, §4; RFC 9861 §2): what [`crate::sha3`], [`crate::xof`],
//! [`crate::parallelhash`] and [`crate::kt128`] are made of.

use crate::Kernels;
use crate::dispatch::{Chosen, Keccak, MAX_LANES, Tier};
use crate::many::{self, Padding};

/// Rounds of Keccak-f\[1600\], for everything in FIPS 202 and SP 800-185.
pub(crate) const FULL_ROUNDS: usize = 24;
/// Rounds of TurboSHAKE (RFC 9861 §2.2).
pub(crate) const TURBO_ROUNDS: usize = 12;
/// Rate of 128-bit security in lanes: 168 bytes.
pub(crate) const RATE_128: usize = 21;
/// Rate of 256-bit security in lanes: 136 bytes.
pub(crate) const RATE_256: usize = 17;

/// A block that changes nothing before the permutation.
static ZEROS: [u8; 8 * RATE_128] = [0; 8 * RATE_128];

/// A sponge. Digests are squeezed once, for at most 64 bytes.
///
/// Rate and rounds are values and not types: one copy of this code serves every function in a ROM.
/// Bytes that do not fill a block are added to the state where they belong, so there is no buffer.
#[derive(Clone)]
pub(crate) struct Sponge {
    state: [u64; 25],
    /// Bytes of the block in work that are in the state. Below the rate between calls.
    filled: usize,
    rate_words: usize,
    rounds: usize,
    absorb: Absorb,
}

/// State, whole blocks, words of the rate, rounds.
pub(crate) type Absorb = fn(&mut [u64; 25], &[u8], usize, usize);

/// States, as many messages of whole blocks and of equal length, words of the rate, rounds.
pub(crate) type AbsorbMany = fn(&mut [[u64; 25]], &[&[u8]], usize, usize);

impl Sponge {
    /// `rate_words` is 1 to 21, `rounds` 12 or 24.
    pub(crate) const fn new(kernels: &Kernels, rate_words: usize, rounds: usize) -> Self {
        Self { state: [0; 25], filled: 0, rate_words, rounds, absorb: kernels.keccak.one.run }
    }

    /// Goes on from a state to which whole blocks were added elsewhere.
    pub(crate) fn resume(&mut self, state: &[u64; 25]) {
        self.state = *state;
        self.filled = 0;
    }

    /// Appends `data` to the message.
    // Out of line: every caller would otherwise carry its own copy.
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

    /// Adds bytes that fit into the block in work. Byte i of a block goes to bits 8 (i mod 8) and
    /// up of lane i / 8 (FIPS 202 §B.1).
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

    /// Ends the block in work, which has zeros where nothing was added.
    pub(crate) fn permute(&mut self) {
        let zeros = ZEROS.get(..self.rate_words.wrapping_mul(8)).unwrap_or(&ZEROS);
        (self.absorb)(&mut self.state, zeros, self.rate_words, self.rounds);
        self.filled = 0;
    }

    /// Ends the block in work if anything was added to it.
    #[allow(dead_code, reason = "not every selection of algorithms pads")]
    pub(crate) fn pad_block(&mut self) {
        if self.filled != 0 {
            self.permute();
        }
    }

    /// Ends the message and returns the first 64 bytes of output.
    ///
    /// `suffix` holds the domain's bits and the first bit of pad10*1 (FIPS 202 §5.1, §B.2); its last
    /// bit is the top one of the block. Both can be in the same byte.
    #[inline(never)]
    pub(crate) fn finalize(mut self, suffix: u8) -> [u8; 64] {
        self.end(suffix);
        squeeze(&self.state)
    }

    /// Ends the message as [`Sponge::finalize`] does. The first `rate_words` lanes of the state are then
    /// the first block of output, and [`permute_each`] makes the next.
    #[cfg(feature = "ml-dsa")]
    pub(crate) fn finish(&mut self, suffix: u8) -> &mut [u64; 25] {
        self.end(suffix);
        &mut self.state
    }

    /// Ends the message, as [`Sponge::finalize`] does; output of any length follows with
    /// [`Sponge::squeeze`].
    pub(crate) fn end(&mut self, suffix: u8) {
        self.add(&[suffix]);
        if let Some(last) = self.state.get_mut(self.rate_words.wrapping_sub(1)) {
            *last ^= 1 << 63;
        }
        self.permute();
    }

    /// Fills `output` with what follows the output that was taken before (FIPS 202 §4, steps 7 to 10).
    /// Only valid after [`Sponge::end`]; then `filled` counts the bytes of the block that were taken.
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

/// Permutes states with all rounds: each then has its next block of output (FIPS 202 §4, step 10).
#[cfg(feature = "ml-dsa")]
pub(crate) fn permute_each(kernels: &Kernels, states: &mut [[u64; 25]]) {
    /// The alignment that kernels require of a block.
    #[repr(align(8))]
    struct Word([u8; 8]);
    // To absorb zeros changes nothing, at any rate; the least takes the least time.
    static ZERO: Word = Word([0; 8]);
    if cfg!(feature = "lanes") && states.len() > 1 {
        kernels.keccak.each(states, &[&ZERO.0 as &[u8]; MAX_LANES], 1, FULL_ROUNDS);
    } else {
        for state in states {
            (kernels.keccak.one.run)(state, &ZERO.0, 1, FULL_ROUNDS);
        }
    }
}

/// No output is longer than the rate: one squeeze is enough (FIPS 202 §4, step 8).
pub(crate) fn squeeze(state: &[u64; 25]) -> [u8; 64] {
    let mut output = [0; 64];
    for (bytes, lane) in output.as_chunks_mut::<8>().0.iter_mut().zip(state) {
        *bytes = lane.to_le_bytes();
    }
    output
}

/// The suffix of a function and pad10*1, as in [`Sponge::finalize`].
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

/// Outputs of the messages `heads[i] ‖ bodies[i]`, as [`crate::HashMany::digest_many`], for a sponge
/// with a rate of `N` bytes.
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

/// The portable form.
pub(crate) const PORTABLE: Keccak = Keccak::one_by_one(Tier::Portable, absorb);

/// The front of an output.
pub(crate) fn first<const N: usize>(output: [u8; 64]) -> [u8; N] {
    let mut digest = [0; N];
    for (to, from) in digest.iter_mut().zip(output) {
        *to = from;
    }
    digest
}

/// Adds whole blocks of `rate_words` lanes to the state and permutes it after each (FIPS 202 §4,
/// step 6). The capacity part of the state, which no block reaches, stays as it is. What follows the
/// last whole block is ignored.
// Every permutation happens here, so this is what a faster form replaces. Out of line: every caller
// would otherwise carry its own copy.
#[inline(never)]
fn absorb(state: &mut [u64; 25], blocks: &[u8], rate_words: usize, rounds: usize) {
    // No rate is 0; `max` only spares the panic of `chunks_exact`.
    for block in blocks.chunks_exact(rate_words.wrapping_mul(8).max(8)) {
        for (lane, bytes) in state.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane ^= u64::from_le_bytes(*bytes);
        }
        keccak_p1600(state, rounds);
    }
}

/// KECCAK-p\[1600, rounds\] (FIPS 202 §3.3): the last `rounds` of the 24. Lane A\[x, y\] is
/// `state[x + 5 * y]`.
#[inline(always)]
#[rustfmt::skip] // one plane a line
fn keccak_p1600(state: &mut [u64; 25], rounds: usize) {
    // All indexes below are constants, so that the compiler can split the copy into 25 local
    // values instead of one array in memory.
    let mut a = *state;
    let skipped = FULL_ROUNDS.wrapping_sub(rounds);
    for round_constant in ROUND_CONSTANTS.get(skipped..).unwrap_or(&ROUND_CONSTANTS) {
        // Theta (§3.2.1): column parities, and what each column adds to its lanes.
        let c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
        let c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
        let c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
        let c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
        let c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
        let d0 = c4 ^ c1.rotate_left(1);
        let d1 = c0 ^ c2.rotate_left(1);
        let d2 = c1 ^ c3.rotate_left(1);
        let d3 = c2 ^ c4.rotate_left(1);
        let d4 = c3 ^ c0.rotate_left(1);

        // Rho (§3.2.2) and pi (§3.2.3) choose the lanes of each plane, chi (§3.2.4) mixes it.
        let p0 = chi([
            a[0] ^ d0,
            (a[6] ^ d1).rotate_left(44),
            (a[12] ^ d2).rotate_left(43),
            (a[18] ^ d3).rotate_left(21),
            (a[24] ^ d4).rotate_left(14),
        ]);
        let p1 = chi([
            (a[3] ^ d3).rotate_left(28),
            (a[9] ^ d4).rotate_left(20),
            (a[10] ^ d0).rotate_left(3),
            (a[16] ^ d1).rotate_left(45),
            (a[22] ^ d2).rotate_left(61),
        ]);
        let p2 = chi([
            (a[1] ^ d1).rotate_left(1),
            (a[7] ^ d2).rotate_left(6),
            (a[13] ^ d3).rotate_left(25),
            (a[19] ^ d4).rotate_left(8),
            (a[20] ^ d0).rotate_left(18),
        ]);
        let p3 = chi([
            (a[4] ^ d4).rotate_left(27),
            (a[5] ^ d0).rotate_left(36),
            (a[11] ^ d1).rotate_left(10),
            (a[17] ^ d2).rotate_left(15),
            (a[23] ^ d3).rotate_left(56),
        ]);
        let p4 = chi([
            (a[2] ^ d2).rotate_left(62),
            (a[8] ^ d3).rotate_left(55),
            (a[14] ^ d4).rotate_left(39),
            (a[15] ^ d0).rotate_left(41),
            (a[21] ^ d1).rotate_left(2),
        ]);
        // Iota (§3.2.5).
        let p0_first = p0[0] ^ round_constant;

        a = [
            p0_first, p0[1], p0[2], p0[3], p0[4],
            p1[0], p1[1], p1[2], p1[3], p1[4],
            p2[0], p2[1], p2[2], p2[3], p2[4],
            p3[0], p3[1], p3[2], p3[3], p3[4],
            p4[0], p4[1], p4[2], p4[3], p4[4],
        ];
    }
    *state = a;
}

/// One plane of chi (FIPS 202 §3.2.4).
#[inline(always)]
fn chi([b0, b1, b2, b3, b4]: [u64; 5]) -> [u64; 5] {
    [b0 ^ (!b1 & b2), b1 ^ (!b2 & b3), b2 ^ (!b3 & b4), b3 ^ (!b4 & b0), b4 ^ (!b0 & b1)]
}

/// RC of the 24 rounds (FIPS 202 §3.2.5).
static ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
