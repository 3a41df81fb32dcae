//! Computation of the digests of messages in a [`Room`].

use super::function::{Function, Shape};
use super::room::{LANES, MESSAGE_WORDS, MESSAGES, Room, bytes};
use super::words::Words;
use crate::Kernels;
use crate::dispatch::Chosen;
#[cfg(feature = "xmss")]
use crate::keccak::FULL_ROUNDS;

/// The parameters that all hashes of a signature share.
#[derive(Clone, Copy)]
pub(crate) struct SignatureHasher<'a> {
    pub kernels: &'a Kernels,
    pub function: Function,
    /// Length of a hash value in words.
    pub n: usize,
}

/// The input and output of one hash in a lane. `from` and `to` are word indexes in the room.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    /// Words in the encoding of the algorithm that separate this hash from all others (domain separation).
    pub tweak: [u64; 2],
    pub from: usize,
    pub to: usize,
}

impl Job {
    pub(crate) const NONE: Self = Self { tweak: [0; 2], from: 0, to: 0 };
}

/// The destination of a digest.
#[derive(Clone, Copy)]
pub(crate) enum Sink {
    /// The digest is written to the location `to` of the job.
    Result,
    /// The digest is written into the message, at this word offset.
    #[cfg(feature = "xmss")]
    Message(usize),
    /// The digest is XORed into the value at the location `from` of the job, at this word offset.
    #[cfg(feature = "xmss")]
    Mask(usize),
}

impl SignatureHasher<'_> {
    /// Returns the hash state after the first `words` words of the first message, which are whole blocks of SHA-2.
    #[cfg(feature = "xmss")]
    pub(crate) fn midstate(&self, room: &Room, words: usize) -> Words {
        let mut start = self.function.initial();
        let blocks = room.bytes(MESSAGES, words);
        match self.function {
            Function::Sha256 => {
                let mut state = [0; 8];
                narrow(&mut state, &start);
                self.kernels.sha256.one.run.add(&mut state, blocks.as_chunks().0);
                start = state.map(u64::from);
            }
            Function::Sha512 => self.kernels.sha512.one.run.add(&mut start, blocks.as_chunks().0),
            // A sponge state does not fit into this type.
            Function::Shake128 | Function::Shake256 => {}
        }
        start
    }

    /// Returns the number of messages to hash at once, if their starts are `stride` words apart.
    pub(crate) fn lanes(&self, stride: usize) -> usize {
        let lanes = match self.function {
            Function::Sha256 => lanes_worth_using(&self.kernels.sha256),
            #[cfg(feature = "xmss")]
            Function::Sha512 => lanes_worth_using(&self.kernels.sha512),
            #[cfg(feature = "xmss")]
            Function::Shake128 | Function::Shake256 => lanes_worth_using(&self.kernels.keccak),
        };
        lanes.min(LANES).min(MESSAGE_WORDS.checked_div(stride).unwrap_or(1)).max(1)
    }

    /// Hashes one message for each job, starting from the state `start`. All messages have the same shape, and their
    /// starts are `stride` words apart.
    #[inline(always)]
    pub(crate) fn digest(
        &self,
        start: &Words,
        room: &mut Room,
        (shape, stride): (Shape, usize),
        jobs: &[Job],
        sink: Sink,
    ) {
        match jobs {
            [job] => self.digest_one(start, room, shape, sink.target(job, MESSAGES)),
            _ => self.digest_many(start, room, (shape, stride), jobs, sink),
        }
    }

    /// Does the work of [`SignatureHasher::digest`] for the message of the first lane.
    #[inline(never)]
    fn digest_one(&self, start: &Words, room: &mut Room, shape: Shape, target: Target) {
        match self.function {
            Function::Sha256 => {
                let Room { words, states: [state, ..] } = room;
                narrow(state, start);
                let message = bytes(words, MESSAGES, shape.words);
                self.kernels.sha256.one.run.add(state, message.as_chunks().0);
                put_sha256(room, 0, target, self.n);
            }
            #[cfg(feature = "xmss")]
            Function::Sha512 => {
                let mut state = *start;
                let message = room.bytes(MESSAGES, shape.words);
                self.kernels.sha512.one.run.add(&mut state, message.as_chunks().0);
                put(room, &state.map(u64::swap_bytes), target, self.n);
            }
            #[cfg(feature = "xmss")]
            Function::Shake128 | Function::Shake256 => self.digest_one_shake(room, shape, target),
        }
    }

    #[inline(never)]
    fn digest_many(
        &self,
        start: &Words,
        room: &mut Room,
        layout: (Shape, usize),
        jobs: &[Job],
        sink: Sink,
    ) {
        match self.function {
            Function::Sha256 => self.digest_sha256(start, room, layout, jobs, sink),
            #[cfg(feature = "xmss")]
            Function::Sha512 => self.digest_sha512(start, room, layout, jobs, sink),
            #[cfg(feature = "xmss")]
            Function::Shake128 | Function::Shake256 => self.digest_shake(room, layout, jobs, sink),
        }
    }

    // The following functions have states or slices on their stack. They are not inlined, so that other functions do
    // not reserve stack space for them.

    #[inline(never)]
    fn digest_sha256(
        &self,
        start: &Words,
        room: &mut Room,
        (shape, stride): (Shape, usize),
        jobs: &[Job],
        sink: Sink,
    ) {
        let Room { words, states } = room;
        let states = states.get_mut(..jobs.len()).unwrap_or_default();
        for state in &mut *states {
            narrow(state, start);
        }
        let mut slices: [&[u8]; LANES] = [&[]; LANES];
        let slices = fill(&mut slices, words, (shape, stride), jobs.len());
        self.kernels.sha256.each(states, slices);
        let mut at = MESSAGES;
        for (lane, job) in jobs.iter().enumerate() {
            put_sha256(room, lane, sink.target(job, at), self.n);
            at = at.wrapping_add(stride);
        }
    }

    #[cfg(feature = "xmss")]
    #[inline(never)]
    fn digest_sha512(
        &self,
        start: &Words,
        room: &mut Room,
        (shape, stride): (Shape, usize),
        jobs: &[Job],
        sink: Sink,
    ) {
        let mut states = [*start; LANES];
        let states = states.get_mut(..jobs.len()).unwrap_or_default();
        let mut slices: [&[u8]; LANES] = [&[]; LANES];
        let slices = fill(&mut slices, &room.words, (shape, stride), jobs.len());
        self.kernels.sha512.each(states, slices);
        let mut at = MESSAGES;
        for (state, job) in states.iter().zip(jobs) {
            put(room, &state.map(u64::swap_bytes), sink.target(job, at), self.n);
            at = at.wrapping_add(stride);
        }
    }

    #[cfg(feature = "xmss")]
    #[inline(never)]
    fn digest_one_shake(&self, room: &mut Room, shape: Shape, target: Target) {
        let mut state = [0; 25];
        let (message, rate_words) = (room.bytes(MESSAGES, shape.words), self.function.rate_words());
        (self.kernels.keccak.one.run)(&mut state, message, rate_words, FULL_ROUNDS);
        put(room, &state, target, self.n);
    }

    #[cfg(feature = "xmss")]
    #[inline(never)]
    fn digest_shake(
        &self,
        room: &mut Room,
        (shape, stride): (Shape, usize),
        jobs: &[Job],
        sink: Sink,
    ) {
        let mut states = [[0; 25]; LANES];
        let states = states.get_mut(..jobs.len()).unwrap_or_default();
        let mut slices: [&[u8]; LANES] = [&[]; LANES];
        let slices = fill(&mut slices, &room.words, (shape, stride), jobs.len());
        self.kernels.keccak.each(states, slices, self.function.rate_words(), FULL_ROUNDS);
        let mut at = MESSAGES;
        for (state, job) in states.iter().zip(jobs) {
            put(room, state, sink.target(job, at), self.n);
            at = at.wrapping_add(stride);
        }
    }
}

/// Returns the number of lanes of a family that are worth using. Two lanes of the same tier as the kernel for one
/// message save fewer instructions than the layout of the messages costs, as measured with Zvknha and VLEN = 128.
fn lanes_worth_using<F, G>(family: &Chosen<F, G>) -> usize {
    match &family.many {
        Some(many) if many.lanes > 2 || many.tier != family.one.tier => many.lanes,
        _ => 1,
    }
}

/// The destination of a digest: a word index in the room, and a mask of the old bits with which the digest is XORed.
type Target = (usize, u64);

impl Sink {
    /// Returns the destination of the digest of a message that begins at word `at`.
    #[inline(always)]
    #[cfg_attr(not(feature = "xmss"), expect(unused_variables, reason = "LMS has results alone"))]
    const fn target(self, job: &Job, at: usize) -> Target {
        match self {
            Self::Result => (job.to, 0),
            #[cfg(feature = "xmss")]
            Self::Message(offset) => (at.wrapping_add(offset), 0),
            #[cfg(feature = "xmss")]
            Self::Mask(offset) => (job.from.wrapping_add(offset), u64::MAX),
        }
    }
}

/// Fills `slices` with the messages of all lanes. The array belongs to the caller, because a returned array would be
/// copied.
#[inline(always)]
fn fill<'a>(
    slices: &'a mut [&'a [u8]; LANES],
    words: &'a [[u8; 8]],
    (shape, stride): (Shape, usize),
    count: usize,
) -> &'a [&'a [u8]] {
    let slices = slices.get_mut(..count).unwrap_or_default();
    let mut at = MESSAGES;
    for slice in &mut *slices {
        *slice = bytes(words, at, shape.words);
        at = at.wrapping_add(stride);
    }
    slices
}

/// Converts words to a state of SHA-256. The code is unrolled, because a loop costs three times as much.
#[inline(always)]
fn narrow(state: &mut [u32; 8], words: &Words) {
    let [a, b, c, d, e, f, g, h] = state;
    let [word_a, word_b, word_c, word_d, word_e, word_f, word_g, word_h] = *words;
    (*a, *b, *c, *d) = (word_a as u32, word_b as u32, word_c as u32, word_d as u32);
    (*e, *f, *g, *h) = (word_e as u32, word_f as u32, word_g as u32, word_h as u32);
}

/// Writes the SHA-256 digest of a lane in big-endian byte order (FIPS 180-4 §6.2.2). It has three or four words. The
/// code is unrolled like that of `narrow`.
#[inline(never)]
fn put_sha256(room: &mut Room, lane: usize, (at, kept): Target, count: usize) {
    let Room { words, states } = room;
    let (Some([a, b, c, d, e, f, g, h]), Some([ab, cd, ef, gh])) =
        (states.get(lane), words.get_mut(at..).and_then(|words| words.first_chunk_mut()))
    else {
        return;
    };
    let put = |to: &mut [u8; 8], low: u32, high: u32| {
        // Both halves are byte-swapped at once, because without Zbb there is no instruction for a byte swap.
        let word = u64::from(low) | u64::from(high) << 32;
        let word = (word >> 8 & 0x00ff_00ff_00ff_00ff) | (word & 0x00ff_00ff_00ff_00ff) << 8;
        let word = (word >> 16 & 0x0000_ffff_0000_ffff) | (word & 0x0000_ffff_0000_ffff) << 16;
        *to = (u64::from_le_bytes(*to) & kept ^ word).to_le_bytes();
    };
    put(ab, *a, *b);
    put(cd, *c, *d);
    put(ef, *e, *f);
    if count > 3 {
        put(gh, *g, *h);
    }
}

/// Writes the first `count` words of a digest.
#[cfg(feature = "xmss")]
#[inline(never)]
fn put(room: &mut Room, digest: &[u64], (at, kept): Target, count: usize) {
    let to = room.words.get_mut(at..at.wrapping_add(count)).unwrap_or_default();
    for (to, word) in to.iter_mut().zip(digest) {
        *to = (u64::from_le_bytes(*to) & kept ^ word).to_le_bytes();
    }
}
