//! Which kernel computes what on this hart.
//!
//! A kernel is used if its instructions do not trap and its known-answer tests pass. No claim about
//! extensions counts: the device tree is not read. The portable Rust forms are always present and are
//! the reference for the others.

use crate::keccak::permutation::{Absorb, AbsorbMany, absorb};
use crate::sha2::compression::{compress_sha256, compress_sha512};

/// Maximum number of messages that are hashed at once, whatever the length of a vector register.
pub const MAX_LANES: usize = 16;

/// What a kernel needs beyond the base instruction set. A higher number was faster wherever it was
/// counted; the numbers are recorded in the measurement log (boot flow §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Tier {
    /// Rust, for any machine.
    Portable = 1,
    /// Assembly for RV64I.
    Rv64 = 2,
    /// Zbb: rotations, byte reversal and `andn`.
    Zbb = 3,
    /// Zbb and Zknh: the functions of SHA-2.
    Zknh = 4,
    /// V and Zvbb: a message in each lane of the vector registers.
    Zvbb = 5,
    /// V, Zvkb and Zvknha or Zvknhb: rounds of SHA-2 in vector registers.
    Zvknh = 6,
    /// An engine beside the hart (`hw/ip/sha2`).
    Engine = 7,
}

impl Tier {
    /// Every tier that is an extension of a hart, in the order of the numbers.
    pub const ALL: [Tier; 6] =
        [Tier::Portable, Tier::Rv64, Tier::Zbb, Tier::Zknh, Tier::Zvbb, Tier::Zvknh];

    /// The name in tables, on consoles and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            Tier::Rv64 => "rv64",
            Tier::Zbb => "zbb",
            Tier::Zknh => "zknh",
            Tier::Zvbb => "zvbb",
            Tier::Zvknh => "zvknh",
            Tier::Engine => "engine",
        }
    }
}

/// Hashes that share a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFamily {
    /// SHA-256.
    Sha256,
    /// SHA-384 and SHA-512.
    Sha512,
    /// Everything on KECCAK-p\[1600\]: SHA-3, SHAKE, ParallelHash, KT128.
    Keccak,
}

impl HashFamily {
    /// All of them.
    pub const ALL: [HashFamily; 3] = [HashFamily::Sha256, HashFamily::Sha512, HashFamily::Keccak];

    /// The name on consoles.
    pub const fn name(self) -> &'static str {
        match self {
            HashFamily::Sha256 => "sha256",
            HashFamily::Sha512 => "sha512",
            HashFamily::Keccak => "keccak",
        }
    }
}

/// Why a kernel is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFault {
    /// The hart refused an instruction.
    Trapped,
    /// A digest was wrong: the hart implements the instructions, but not correctly. Of an engine: an answer was wrong, or there
    /// was none.
    WrongAnswer,
}

/// Tries instructions that the hart may not implement, and receives the results.
///
/// # Safety
///
/// `runs` may return true only if `instructions` was called and returned without a trap.
pub unsafe trait Probe {
    /// Whether this hart executes these instructions.
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool;

    /// A tier is not used for a family; the next lower one is tried.
    fn rejected(&mut self, family: HashFamily, tier: Tier, why: KernelFault);

    /// Whether a tier may be used if it works: false leaves it out, to measure or to test a lower one.
    fn is_wanted(&self, _: HashFamily, _: Tier) -> bool {
        true
    }
}

/// A kernel for one message. Only code that knows that its instructions are implemented makes one.
#[derive(Clone, Copy)]
pub(crate) struct One<F> {
    pub tier: Tier,
    pub run: F,
}

/// A kernel for several messages.
#[derive(Clone, Copy)]
pub(crate) struct Many<F> {
    pub tier: Tier,
    /// Messages that take as long as one, from 1 to [`MAX_LANES`].
    pub lanes: usize,
    pub run: F,
}

/// What a family of hashes is computed with.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<F, G> {
    pub one: One<F>,
    /// Without it, several messages are hashed one by one.
    pub many: Option<Many<G>>,
}

/// The compression function of SHA-2 with words `W` over blocks of `N` bytes.
pub(crate) type Compress<W, const N: usize> = fn(&mut [W; 8], &[[u8; N]]);

/// The same over as many messages as states, which are whole blocks and of equal length.
pub(crate) type CompressMany<W> = fn(&mut [[W; 8]], &[&[u8]]);

/// What a member of SHA-2 is computed with.
pub(crate) type Sha2<W, const N: usize> = Chosen<Compress<W, N>, CompressMany<W>>;

/// The sponge on KECCAK-p\[1600\]: xor blocks of `rate_words * 8` bytes into the state and permute
/// after each with the last `rounds` rounds.
pub(crate) type Keccak = Chosen<Absorb, AbsorbMany>;

impl<F, G> Chosen<F, G> {
    /// A kernel for one message and none for several.
    pub(crate) const fn one_by_one(tier: Tier, run: F) -> Self {
        Self { one: One { tier, run }, many: None }
    }

    const fn tier(&self) -> Tier {
        self.one.tier
    }

    const fn tier_of_many(&self) -> Tier {
        match &self.many {
            Some(many) => many.tier,
            None => self.one.tier,
        }
    }

    /// How many messages to take at once.
    pub(crate) const fn lanes(&self) -> usize {
        match &self.many {
            Some(many) => many.lanes,
            None => 1,
        }
    }
}

impl<F: Copy, G: Copy> Chosen<F, G> {
    /// Takes states and as many messages in groups of lanes, and those that fill no lanes one by one.
    #[allow(dead_code, reason = "not every selection of algorithms has short messages")]
    fn in_groups<S>(
        &self,
        mut states: &mut [S],
        mut messages: &[&[u8]],
        one: impl Fn(F, &mut S, &[u8]),
        several: impl Fn(G, &mut [S], &[&[u8]]),
    ) {
        while !states.is_empty() && !messages.is_empty() {
            let count = self.lanes().clamp(1, MAX_LANES).min(states.len()).min(messages.len());
            let (Some((now, later)), Some((messages_now, messages_later))) =
                (states.split_at_mut_checked(count), messages.split_at_checked(count))
            else {
                return;
            };
            match &self.many {
                Some(many) if fills_lanes(count, many.lanes) => {
                    several(many.run, now, messages_now);
                }
                _ => {
                    for (state, message) in now.iter_mut().zip(messages_now) {
                        one(self.one.run, state, message);
                    }
                }
            }
            (states, messages) = (later, messages_later);
        }
    }
}

impl<W, const N: usize> Sha2<W, N> {
    /// Compresses the blocks of each message into its state. Messages are whole blocks and of equal
    /// length; any number of them.
    #[allow(dead_code, reason = "not every selection of algorithms has short messages")]
    pub(crate) fn each(&self, states: &mut [[W; 8]], messages: &[&[u8]]) {
        let one = |run: Compress<W, N>, state: &mut [W; 8], message: &[u8]| {
            run(state, message.as_chunks().0);
        };
        self.in_groups(states, messages, one, |run, states, messages| run(states, messages));
    }
}

impl Keccak {
    /// Adds the blocks of each message to its state, as [`Sha2::each`]. Arguments as those of
    /// [`AbsorbMany`].
    #[allow(dead_code, reason = "not every selection of algorithms has short messages")]
    pub(crate) fn each(
        &self,
        states: &mut [[u64; 25]],
        messages: &[&[u8]],
        rate_words: usize,
        rounds: usize,
    ) {
        self.in_groups(
            states,
            messages,
            |run, state, message| run(state, message, rate_words, rounds),
            |run, states, messages| run(states, messages, rate_words, rounds),
        );
    }
}

/// Whether `count` messages are worth `lanes` lanes, which take the same time however many of them
/// are in use: more than half of them have to be.
pub const fn fills_lanes(count: usize, lanes: usize) -> bool {
    lanes > 1 && count > lanes / 2
}

/// The kernels that a hart uses. Cheap to copy; every hart chooses its own.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub(crate) sha256: Sha2<u32, 64>,
    pub(crate) sha512: Sha2<u64, 128>,
    pub(crate) keccak: Keccak,
    #[cfg(any(feature = "engine", test))]
    pub(crate) hash_based: crate::hash_based::HashBased,
    #[cfg(all(any(feature = "rsa", feature = "ecdsa"), any(feature = "engine", test)))]
    pub(crate) numbers: crate::numbers::Numbers,
}

impl Kernels {
    /// The portable forms, on any machine.
    pub const PORTABLE: Self = Self {
        sha256: Sha2::one_by_one(Tier::Portable, compress_sha256),
        sha512: Sha2::one_by_one(Tier::Portable, compress_sha512),
        keccak: Keccak::one_by_one(Tier::Portable, absorb),
        #[cfg(any(feature = "engine", test))]
        hash_based: crate::hash_based::HashBased::NONE,
        #[cfg(all(any(feature = "rsa", feature = "ecdsa"), any(feature = "engine", test)))]
        numbers: crate::numbers::Numbers::NONE,
    };

    /// The tier that one message is hashed with.
    pub const fn tier(&self, family: HashFamily) -> Tier {
        match family {
            HashFamily::Sha256 => self.sha256.tier(),
            HashFamily::Sha512 => self.sha512.tier(),
            HashFamily::Keccak => self.keccak.tier(),
        }
    }

    /// The tier that several messages are hashed with.
    pub const fn tier_of_many(&self, family: HashFamily) -> Tier {
        match family {
            HashFamily::Sha256 => self.sha256.tier_of_many(),
            HashFamily::Sha512 => self.sha512.tier_of_many(),
            HashFamily::Keccak => self.keccak.tier_of_many(),
        }
    }

    /// How many messages are worth hashing at once, from 1 to [`MAX_LANES`].
    pub const fn lanes(&self, family: HashFamily) -> usize {
        match family {
            HashFamily::Sha256 => self.sha256.lanes(),
            HashFamily::Sha512 => self.sha512.lanes(),
            HashFamily::Keccak => self.keccak.lanes(),
        }
    }
}

impl core::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut list = f.debug_list();
        for family in HashFamily::ALL {
            list.entry(&(family, self.tier(family), self.tier_of_many(family)));
        }
        list.finish()
    }
}
