//! The hash functions F, H and T_l (FIPS 205 §11.1, §11.2) over messages that are kept in place.
//!
//! All three functions hash `PK.seed`, an address and one or more values of n bytes. A buffer holds such a message in
//! the form that the compression function reads, including its padding. A chain step therefore changes only a few
//! bytes and compresses one block:
//!
//! | | SHA-2 | SHAKE256 |
//! |---|---|---|
//! | `PK.seed` | hashed beforehand: with its zeros it fills a block | n bytes |
//! | address | 22 bytes, ADRS^c (§11.2) | 32 bytes (§4.2) |
//! | values | from byte 22 | from byte n + 32 |
//!
//! The last 13 bytes have the same meaning in both forms of an address, so their offsets relative to the first value
//! are the same.

use crate::dispatch::Chosen;
use crate::keccak::{FULL_ROUNDS, RATE_256};
use crate::sha2::compression::{H256, H512};
use crate::{Kernels, Tier, fills_lanes};

use super::lanes::{LANES, Lanes};
use super::parameters::SlhDsaParameters;

/// The types of addresses (§4.2, table 1).
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Kind {
    WotsHash = 0,
    WotsPk = 1,
    Tree = 2,
    ForsTree = 3,
    ForsRoots = 4,
}

/// An address up to its key pair. The two words that follow are written into the message separately.
#[derive(Clone, Copy)]
pub(super) struct KeyPairAddress {
    pub kind: Kind,
    pub layer: u8,
    pub tree: u64,
    pub key_pair: u32,
}

/// The primitive that computes a hash function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Primitive {
    Sha256,
    Sha512,
    Shake256,
}

impl Primitive {
    /// Returns the length of a block in bytes.
    pub(super) const fn block_len(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
            Self::Shake256 => 8 * RATE_256,
        }
    }

    /// Returns the length of a message with its padding in bytes (FIPS 180-4 §5.1, FIPS 202 §5.1).
    const fn padded_len(self, message_len: usize) -> usize {
        match self {
            Self::Sha256 => (message_len + 9).next_multiple_of(64),
            Self::Sha512 => (message_len + 17).next_multiple_of(128),
            Self::Shake256 => (message_len + 1).next_multiple_of(8 * RATE_256),
        }
    }
}

/// Length of the longest block in bytes.
pub(super) const MAX_BLOCK_LEN: usize = 8 * RATE_256;

/// The hash functions of one key.
pub(super) struct Functions<'a> {
    pub kernels: &'a Kernels,
    /// Primitive of F.
    pub f: Primitive,
    /// Primitive of H and T_l.
    pub h: Primitive,
    pub n: usize,
    /// Offset of the first value in a message.
    pub values_at: usize,
    seed: &'a [u8],
    /// States of SHA-256 and SHA-512 after `PK.seed` and the zeros that follow it.
    sha256: [u32; 8],
    sha512: [u64; 8],
}

/// A value with the word alignment that compression functions require.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct AlignedBlock<T>(pub T);

impl<'a> Functions<'a> {
    /// Makes the functions of a key with this `PK.seed`, which has n bytes.
    // Here and below, functions are not inlined so that their stack space is released when they return.
    #[inline(never)]
    pub(super) fn new(
        kernels: &'a Kernels,
        parameters: &SlhDsaParameters,
        is_shake: bool,
        seed: &'a [u8],
    ) -> Self {
        // Sets of category 1 use only SHA-256 (§11.2.1). The other SHA-2 sets use SHA-256 for F and SHA-512 for the
        // rest (§11.2.2).
        let (f, h) = match (is_shake, parameters.n) {
            (true, _) => (Primitive::Shake256, Primitive::Shake256),
            (false, 16) => (Primitive::Sha256, Primitive::Sha256),
            (false, _) => (Primitive::Sha256, Primitive::Sha512),
        };
        let values_at = if is_shake { parameters.n + 32 } else { 22 };
        let (mut sha256, mut sha512) = (H256, H512);
        if !is_shake {
            let mut block = AlignedBlock([0; 128]);
            put(&mut block.0, 0, seed);
            let (halves, _) = block.0.as_chunks::<64>();
            kernels.sha256.one.run.add(&mut sha256, halves.get(..1).unwrap_or_default());
            if h == Primitive::Sha512 {
                kernels.sha512.one.run.add(&mut sha512, core::slice::from_ref(&block.0));
            }
        }
        Self { kernels, f, h, n: parameters.n, values_at, seed, sha256, sha512 }
    }

    /// Returns the number of messages of one block to hash at once, from 1 to [`LANES`].
    pub(super) fn lanes(&self, primitive: Primitive) -> usize {
        match primitive {
            Primitive::Sha256 => lanes_of(&self.kernels.sha256),
            Primitive::Sha512 => lanes_of(&self.kernels.sha512),
            Primitive::Shake256 => lanes_of(&self.kernels.keccak),
        }
    }

    /// Initializes `buffer` as a message with this address, zeros in the rest of the address, and zeros for `count`
    /// values. Returns its length including padding.
    #[inline(never)]
    pub(super) fn prepare(
        &self,
        primitive: Primitive,
        buffer: &mut [u8],
        address: &KeyPairAddress,
        count: usize,
    ) -> usize {
        let end = self.values_at.wrapping_add(count.wrapping_mul(self.n));
        // At least a whole lane is cleared, because it can hold a longer message of another function.
        let message_len = primitive.padded_len(end).max(MAX_BLOCK_LEN);
        if let Some(message) = buffer.get_mut(..message_len) {
            message.fill(0);
        }
        let (layer_at, tree_at) = match primitive {
            Primitive::Shake256 => {
                put(buffer, 0, self.seed);
                (self.n.wrapping_add(3), self.n.wrapping_add(8))
            }
            _ => (0, 1),
        };
        put_byte(buffer, layer_at, address.layer);
        put(buffer, tree_at, &address.tree.to_be_bytes());
        put_byte(buffer, self.values_at.wrapping_sub(13), address.kind as u8);
        put(buffer, self.values_at.wrapping_sub(12), &address.key_pair.to_be_bytes());
        self.pad(primitive, buffer, count)
    }

    /// Writes the padding after `count` values. The bytes between are zero already. Returns the length including
    /// padding.
    pub(super) fn pad(&self, primitive: Primitive, buffer: &mut [u8], count: usize) -> usize {
        let end = self.values_at.wrapping_add(count.wrapping_mul(self.n));
        let len = primitive.padded_len(end);
        let (marker, tail) = match primitive {
            // The marker has 1111 and the first bit of pad10*1. The last bit of the padding is the top bit of the
            // block.
            Primitive::Shake256 => (0x1f, 0x80),
            // The length in bits includes the block with `PK.seed`.
            _ => (0x80, primitive.block_len().wrapping_add(end).wrapping_mul(8) as u64),
        };
        // The tail is written first. For H with n = 32, the marker of SHAKE256 is in the same eight bytes. It never
        // is the last byte, because all lengths are multiples of 8.
        put(buffer, len.wrapping_sub(8), &tail.to_be_bytes());
        put_byte(buffer, end, marker);
        len
    }

    /// Hashes the first `len` bytes of `buffer`, which are whole blocks, and writes the n bytes of the result at
    /// offset `place` of the buffer.
    #[inline(never)]
    pub(super) fn hash(&self, primitive: Primitive, buffer: &mut [u8], len: usize, place: usize) {
        let message = buffer.get(..len).unwrap_or_default();
        match primitive {
            Primitive::Sha256 => {
                let mut state = self.sha256;
                self.kernels.sha256.one.run.add(&mut state, message.as_chunks().0);
                self.write(buffer, place, state.iter().map(|word| word.to_be_bytes()));
            }
            Primitive::Sha512 => {
                let mut state = self.sha512;
                self.kernels.sha512.one.run.add(&mut state, message.as_chunks().0);
                self.write(buffer, place, state.iter().map(|word| word.to_be_bytes()));
            }
            Primitive::Shake256 => {
                let mut state = [0; 25];
                (self.kernels.keccak.one.run)(&mut state, message, RATE_256, FULL_ROUNDS);
                self.write(buffer, place, state.iter().map(|word| word.to_le_bytes()));
            }
        }
    }

    /// Hashes the block of each of the first `count` lanes and writes the result at its `place`.
    pub(super) fn hash_each(&self, primitive: Primitive, lanes: &mut Lanes<'_>, count: usize) {
        if LANES > 1 && fills_lanes(count, self.lanes(primitive)) {
            return self.hash_at_once(primitive, lanes, count);
        }
        for lane in lanes.each.iter_mut().take(count) {
            self.hash(primitive, &mut lane.block.0, primitive.block_len(), lane.place);
        }
    }

    /// Does the work of [`Functions::hash_each`] with kernels for several messages.
    // The function is not inlined, so that a hart without such kernels does not save registers for it.
    #[inline(never)]
    fn hash_at_once(&self, primitive: Primitive, lanes: &mut Lanes<'_>, count: usize) {
        let Some(running) = lanes.each.get_mut(..count) else { return };
        let mut messages: [&[u8]; LANES] = [&[]; LANES];
        for (message, lane) in messages.iter_mut().zip(running.iter()) {
            *message = lane.block.0.get(..primitive.block_len()).unwrap_or_default();
        }
        let messages = messages.get(..count).unwrap_or_default();
        match primitive {
            Primitive::Sha256 => {
                let states = lanes.states32.get_mut(..count).unwrap_or_default();
                states.fill(self.sha256);
                self.kernels.sha256.each(states, messages);
                for (lane, state) in running.iter_mut().zip(states) {
                    let words = state.iter().map(|word| word.to_be_bytes());
                    self.write(&mut lane.block.0, lane.place, words);
                }
            }
            Primitive::Sha512 => {
                let (states, _) = lanes.states64.as_chunks_mut();
                let states = states.get_mut(..count).unwrap_or_default();
                states.fill(self.sha512);
                self.kernels.sha512.each(states, messages);
                for (lane, state) in running.iter_mut().zip(states) {
                    let words = state.iter().map(|word| word.to_be_bytes());
                    self.write(&mut lane.block.0, lane.place, words);
                }
            }
            Primitive::Shake256 => {
                let (states, _) = lanes.states64.as_chunks_mut();
                let states = states.get_mut(..count).unwrap_or_default();
                states.as_flattened_mut().fill(0);
                self.kernels.keccak.each(states, messages, RATE_256, FULL_ROUNDS);
                for (lane, state) in running.iter_mut().zip(states) {
                    let words = state.iter().map(|word| word.to_le_bytes());
                    self.write(&mut lane.block.0, lane.place, words);
                }
            }
        }
    }

    /// Writes the first n bytes of a state. They are whole words.
    #[inline(always)]
    fn write<const N: usize>(
        &self,
        buffer: &mut [u8],
        place: usize,
        words: impl Iterator<Item = [u8; N]>,
    ) {
        let value = buffer.get_mut(place..).and_then(|rest| rest.get_mut(..self.n));
        for (to, word) in value.unwrap_or_default().as_chunks_mut().0.iter_mut().zip(words) {
            *to = word;
        }
    }
}

fn lanes_of<F, G>(kernels: &Chosen<F, G>) -> usize {
    match kernels.lanes() {
        // Up to four streams of Zvknh take more instructions than the same number of single messages, because for a
        // single block that kernel spends most of its time on preparation.
        ..=4 if kernels.one.tier == Tier::Zvknh => 1,
        lanes => lanes.clamp(1, LANES),
    }
}

/// Copies `bytes` to offset `at`, until the buffer ends. Lengths were checked before, so the buffer is always long
/// enough. Otherwise the computed root would be wrong.
#[inline(never)]
pub(super) fn put(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in buffer.get_mut(at..).unwrap_or_default().iter_mut().zip(bytes) {
        *to = *from;
    }
}

/// Writes one byte at offset `at`, if it is in range. The function does not use [`put`], whose call would slow down a
/// chain step.
pub(super) fn put_byte(buffer: &mut [u8], at: usize, byte: u8) {
    if let Some(to) = buffer.get_mut(at) {
        *to = byte;
    }
}

/// Returns `len` bytes from offset `at`, or an empty slice if they are not all in range.
pub(super) fn part(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    bytes.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default()
}
