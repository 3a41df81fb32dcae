//! Job 2: comparison of kernels with digests that a workstation computed, and counts of their
//! instructions.
//!
//! The pack starts with the *plan*, which selects the work. Its fields have 32 bits each:
//!
//! | offset | field |
//! |---|---|
//! | 0 | tiers to try: bit i = tier i |
//! | 4 | hashes to count: bit i = hash i |
//! | 8 | bytes of a counted message, up to [`MAX_LEN`] |
//! | 12 | 1: several messages at once are also counted; 0: only one message |
//!
//! An entry of the pack is a *case*: messages of equal length that both sides create from its seed,
//! and their digests.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | hash (image format §2.3) |
//! | 4 | 4 | messages, 1 to [`MAX_MESSAGES`] |
//! | 8 | 4 | bytes of each message, up to [`MAX_LEN`] |
//! | 12 | 4 | bytes of it that are the head |
//! | 16 | 4 | where the body begins, beyond a multiple of 64 |
//! | 20 | 4 | seed |
//! | 24 | 4 | 1: the message is given, and all messages are the same; 0: made from the seed |
//! | 28 | 4 | zero |
//! | 32 | 64 each | digests, zero padded |
//! | | | the message, if it is given, and zeros to a multiple of 8 |

use hartlock_image::{HashId, Writer, bytes_at, u32_at};
use hartlock_kernels::Tier;

/// Maximum number of messages of a case.
pub const MAX_MESSAGES: usize = 19;
/// Longest message in bytes.
pub const MAX_LEN: usize = 64 << 10;
/// Longest head in bytes.
pub const MAX_HEAD_LEN: usize = 300;
/// Number of bytes before the digests.
const FIELDS_SIZE: usize = 32;
/// Size of a plan in bytes.
pub const PLAN_SIZE: usize = 16;
/// Seed of the counted messages ([`Case::message`]); programs of other projects create the same
/// messages.
pub const COUNTED_SEED: u32 = 1;

/// The work of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bit mask of the tiers to try; bit i stands for tier i.
    pub tiers: u32,
    /// Bit mask of the hashes to count; bit i stands for hash i.
    pub hashes: u32,
    /// Length of each counted message in bytes.
    pub counted_len: usize,
    /// True if several messages at once are also counted.
    pub counts_many: bool,
}

impl Plan {
    /// The plan with every tier, every hash, and messages so long that the cost of start and
    /// padding is negligible.
    pub const EVERYTHING: Self =
        Self { tiers: u32::MAX, hashes: u32::MAX, counted_len: MAX_LEN, counts_many: true };

    /// Reads the plan at the start of `bytes`, and also returns the bytes after it.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (fields, rest) = bytes.split_at_checked(PLAN_SIZE)?;
        let counted_len = u32_at(fields, 8)? as usize;
        let plan = Self {
            tiers: u32_at(fields, 0)?,
            hashes: u32_at(fields, 4)?,
            counted_len,
            counts_many: u32_at(fields, 12)? == 1,
        };
        (counted_len <= MAX_LEN).then_some((plan, rest))
    }

    /// Returns the encoded plan.
    pub fn encode(&self) -> [u8; PLAN_SIZE] {
        let mut bytes = [0; PLAN_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_u32(self.tiers);
        out.put_u32(self.hashes);
        out.put_u32(self.counted_len as u32);
        out.put_u32(self.counts_many.into());
        bytes
    }

    /// Returns true if the plan contains a tier.
    pub fn tries(&self, tier: Tier) -> bool {
        self.tiers & (1 << tier as u32) != 0
    }

    /// Returns true if the plan counts a hash.
    pub fn counts(&self, hash: HashId) -> bool {
        self.hashes & (1 << hash as u32) != 0
    }
}

/// Returns the tag for the machine's report about the counting of one message.
pub const fn mark_tag(hash: HashId, tier: Tier) -> u64 {
    ((tier as u64) << 8) | hash as u64
}

/// A set of messages of equal length, and their layout in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// Hash algorithm of the digests.
    pub hash: HashId,
    /// Number of messages.
    pub count: usize,
    /// Length of each message in bytes, including its head.
    pub len: usize,
    /// Length of the head in bytes.
    pub head_len: usize,
    /// Offset of the start of a body from a multiple of 64.
    pub misalignment: usize,
    /// Seed of the messages.
    pub seed: u32,
    /// Digests of 64 bytes each.
    pub digests: &'a [[u8; 64]],
    /// Content of all messages, if they are not created from the seed.
    pub given: Option<&'a [u8]>,
}

impl<'a> Case<'a> {
    /// Reads the case at the start of `bytes`, and also returns the bytes after it.
    pub fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let field = |at| Some(u32_at(bytes, at)? as usize);
        let (count, len, head_len) = (field(4)?, field(8)?, field(12)?);
        let is_possible = (1..=MAX_MESSAGES).contains(&count)
            && len <= MAX_LEN
            && head_len <= len.min(MAX_HEAD_LEN)
            && field(24)? < 2
            && bytes_at::<4>(bytes, 28)? == [0; 4];
        let (digests, rest) = bytes.get(FIELDS_SIZE..)?.split_at_checked(count.checked_mul(64)?)?;
        let given_len = if field(24)? == 1 { len } else { 0 };
        let (given, rest) = rest.split_at_checked(given_len.checked_next_multiple_of(8)?)?;
        let case = Case {
            hash: HashId::from_number(u32_at(bytes, 0)?)?,
            count,
            len,
            head_len,
            misalignment: field(16)? & 63,
            seed: u32_at(bytes, 20)?,
            digests: digests.as_chunks().0,
            given: if field(24)? == 1 { Some(given.get(..len)?) } else { None },
        };
        is_possible.then_some((case, rest))
    }

    /// Writes the case. Returns `None` if it does not fit.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        out.put_u32(self.hash as u32);
        out.put_u32(self.count as u32);
        out.put_u32(self.len as u32);
        out.put_u32(self.head_len as u32);
        out.put_u32(self.misalignment as u32);
        out.put_u32(self.seed);
        out.put_u32(self.given.is_some().into());
        out.put_u32(0);
        self.digests.iter().for_each(|digest| out.put(digest));
        out.put(self.given.unwrap_or_default());
        out.pad_to(8);
        out.finish()
    }

    /// Writes message `index`: the given one, or [`crate::fill`] from the seed.
    pub fn message(&self, index: usize, into: &mut [u8]) {
        if let Some(given) = self.given {
            for (to, from) in into.iter_mut().zip(given) {
                *to = *from;
            }
            return;
        }
        crate::fill(into, (u64::from(self.seed) << 32) | index as u64);
    }
}
