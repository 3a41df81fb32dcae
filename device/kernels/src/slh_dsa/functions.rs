//! The hash functions F, H and T_l (FIPS 205 §11.1, §11.2) over messages that are kept in place.
//!
//! All three hash `PK.seed`, an address and one or more values of n bytes. A buffer holds such a
//! message as the compression function reads it, padding included, so a step of a chain changes a few
//! bytes and compresses one block:
//!
//! | | SHA-2 | SHAKE256 |
//! |---|---|---|
//! | `PK.seed` | hashed beforehand: with its zeros it fills a block | n bytes |
//! | address | 22 bytes, ADRS^c (§11.2) | 32 bytes (§4.2) |
//! | values | from byte 22 | from byte n + 32 |
//!
//! The last 13 bytes of both forms of an address have the same meaning, so offsets from the first
//! value serve both.

use crate::dispatch::Chosen;
use crate::keccak::{FULL_ROUNDS, RATE_256};
use crate::sha2::compression::{H256, H512};
use crate::{Kernels, Tier, fills_lanes};

use super::lanes::{LANES, Lanes};
use super::parameters::Parameters;

/// Types of addresses (§4.2, table 1).
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Kind {
    WotsHash = 0,
    WotsPk = 1,
    Tree = 2,
    ForsTree = 3,
    ForsRoots = 4,
}

/// An address up to its key pair. The two words after it are written into the message separately.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub kind: Kind,
    pub layer: u8,
    pub tree: u64,
    pub key_pair: u32,
}

/// What computes a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Primitive {
    Sha256,
    Sha512,
    Shake256,
}

impl Primitive {
    /// Bytes of a block.
    pub(super) const fn block_len(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
            Self::Shake256 => 8 * RATE_256,
        }
    }

    /// Bytes of a message with its padding (FIPS 180-4 §5.1, FIPS 202 §5.1).
    const fn padded_len(self, message_len: usize) -> usize {
        match self {
            Self::Sha256 => (message_len + 9).next_multiple_of(64),
            Self::Sha512 => (message_len + 17).next_multiple_of(128),
            Self::Shake256 => (message_len + 1).next_multiple_of(8 * RATE_256),
        }
    }
}

/// Longest block.
pub(super) const MAX_BLOCK_LEN: usize = 8 * RATE_256;

/// The functions of one key.
pub(super) struct Functions<'a> {
    pub kernels: &'a Kernels,
    /// Computes F.
    pub f: Primitive,
    /// Computes H and T_l.
    pub h: Primitive,
    pub n: usize,
    /// Offset of the first value in a message.
    pub values_at: usize,
    seed: &'a [u8],
    /// States of SHA-256 and SHA-512 after `PK.seed` and its zeros.
    sha256: [u32; 8],
    sha512: [u64; 8],
}

/// Compression functions need their blocks aligned to words.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct Aligned<T>(pub T);

impl<'a> Functions<'a> {
    /// Prepares the functions of the key with this `PK.seed`, of n bytes.
    // Out of line, here and elsewhere: what it has on the stack is gone afterwards.
    #[inline(never)]
    pub(super) fn new(
        kernels: &'a Kernels,
        parameters: &Parameters,
        is_shake: bool,
        seed: &'a [u8],
    ) -> Self {
        // Category 1 uses SHA-256 alone (§11.2.1), the others SHA-512 for everything but F (§11.2.2).
        let (f, h) = match (is_shake, parameters.n) {
            (true, _) => (Primitive::Shake256, Primitive::Shake256),
            (false, 16) => (Primitive::Sha256, Primitive::Sha256),
            (false, _) => (Primitive::Sha256, Primitive::Sha512),
        };
        let values_at = if is_shake { parameters.n + 32 } else { 22 };
        let (mut sha256, mut sha512) = (H256, H512);
        if !is_shake {
            let mut block = Aligned([0; 128]);
            put(&mut block.0, 0, seed);
            let (halves, _) = block.0.as_chunks::<64>();
            (kernels.sha256.one.run)(&mut sha256, halves.get(..1).unwrap_or_default());
            if h == Primitive::Sha512 {
                (kernels.sha512.one.run)(&mut sha512, core::slice::from_ref(&block.0));
            }
        }
        Self { kernels, f, h, n: parameters.n, values_at, seed, sha256, sha512 }
    }

    /// How many messages of one block to hash at once, from 1 to [`LANES`].
    pub(super) fn lanes(&self, primitive: Primitive) -> usize {
        match primitive {
            Primitive::Sha256 => lanes_of(&self.kernels.sha256),
            Primitive::Sha512 => lanes_of(&self.kernels.sha512),
            Primitive::Shake256 => lanes_of(&self.kernels.keccak),
        }
    }

    /// Makes `buffer` a message with this address, zeros after its key pair, and zeros for `count`
    /// values. Returns its length with the padding.
    #[inline(never)]
    pub(super) fn prepare(
        &self,
        primitive: Primitive,
        buffer: &mut [u8],
        address: &Address,
        count: usize,
    ) -> usize {
        let end = self.values_at.wrapping_add(count.wrapping_mul(self.n));
        // At least a whole lane, which may still hold a longer message of another function.
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

    /// Writes the padding after `count` values; the bytes between are zero. Returns the length with it.
    pub(super) fn pad(&self, primitive: Primitive, buffer: &mut [u8], count: usize) -> usize {
        let end = self.values_at.wrapping_add(count.wrapping_mul(self.n));
        let len = primitive.padded_len(end);
        let (marker, tail) = match primitive {
            // 1111 and the first bit of pad10*1; the last one is the top bit of the block.
            Primitive::Shake256 => (0x1f, 0x80),
            // The block of `PK.seed` counts.
            _ => (0x80, primitive.block_len().wrapping_add(end).wrapping_mul(8) as u64),
        };
        // The tail first: after H of n = 32, the marker of SHAKE256 is in the same eight bytes. It is
        // never the last of them, since all lengths are multiples of 8.
        put(buffer, len.wrapping_sub(8), &tail.to_be_bytes());
        put_byte(buffer, end, marker);
        len
    }

    /// Hashes the first `len` bytes of `buffer`, whole blocks, and writes the n bytes that come out at
    /// `place` in the same buffer.
    #[inline(never)]
    pub(super) fn hash(&self, primitive: Primitive, buffer: &mut [u8], len: usize, place: usize) {
        let message = buffer.get(..len).unwrap_or_default();
        match primitive {
            Primitive::Sha256 => {
                let mut state = self.sha256;
                (self.kernels.sha256.one.run)(&mut state, message.as_chunks().0);
                self.write(buffer, place, state.iter().map(|word| word.to_be_bytes()));
            }
            Primitive::Sha512 => {
                let mut state = self.sha512;
                (self.kernels.sha512.one.run)(&mut state, message.as_chunks().0);
                self.write(buffer, place, state.iter().map(|word| word.to_be_bytes()));
            }
            Primitive::Shake256 => {
                let mut state = [0; 25];
                (self.kernels.keccak.one.run)(&mut state, message, RATE_256, FULL_ROUNDS);
                self.write(buffer, place, state.iter().map(|word| word.to_le_bytes()));
            }
        }
    }

    /// Hashes the block of each of the first `count` lanes and writes what comes out at its `place`.
    pub(super) fn hash_each(&self, primitive: Primitive, lanes: &mut Lanes<'_>, count: usize) {
        if LANES > 1 && fills_lanes(count, self.lanes(primitive)) {
            return self.hash_at_once(primitive, lanes, count);
        }
        for lane in lanes.each.iter_mut().take(count) {
            self.hash(primitive, &mut lane.block.0, primitive.block_len(), lane.place);
        }
    }

    /// The same with kernels for several messages.
    // Out of line, so that a hart without them does not save registers for it.
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

    /// Writes the first n bytes of a state, which are whole words.
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
        // Up to four streams of Zvknh take more instructions than the messages one by one: in front of
        // a single block that kernel mostly prepares.
        ..=4 if kernels.one.tier == Tier::Zvknh => 1,
        lanes => lanes.clamp(1, LANES),
    }
}

/// Copies `bytes` to `at`, as far as the buffer goes. Lengths were checked before, so that it always
/// goes far enough; if it did not, the root would be another one.
#[inline(never)]
pub(super) fn put(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in buffer.get_mut(at..).unwrap_or_default().iter_mut().zip(bytes) {
        *to = *from;
    }
}

/// Writes one byte, likewise. Not with [`put`], which a step of a chain should not wait for.
pub(super) fn put_byte(buffer: &mut [u8], at: usize, byte: u8) {
    if let Some(to) = buffer.get_mut(at) {
        *to = byte;
    }
}

/// `len` bytes from `at` on; none if there are not so many.
pub(super) fn part(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    bytes.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default()
}
