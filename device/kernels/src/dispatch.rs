//! The selected kernels of a hart.
//!
//! A kernel is used if its instructions do not trap and its known-answer tests pass. The device tree is not read, so
//! its claims about extensions have no effect. The portable Rust implementations are always present and are the
//! reference for the others.

#[cfg(any(feature = "aes-ctr", test))]
use crate::aes::kernels::{AesKernels, CipherMode, CipherTier};
#[cfg(any(feature = "engine", test))]
use crate::engines::Engines;
#[cfg(any(feature = "engine", test))]
use crate::joined::Joined;
use crate::keccak::permutation::{Absorb, AbsorbMany, absorb};
use crate::sha2::compression::{compress_sha256, compress_sha512};
#[cfg(any(feature = "research", test))]
use crate::walnut::kernels::{WalnutKernel, WalnutTier};

/// Maximum number of messages that are hashed at once, for any length of the vector registers.
pub const MAX_LANES: usize = 16;

/// The extensions that a kernel needs beyond the base instruction set. The measurement log contains these numbers (boot
/// flow §3.5), so they are in the order in which the tiers came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Tier {
    /// Portable Rust code.
    Portable = 1,
    /// Assembly with RV64I instructions.
    Rv64 = 2,
    /// Assembly with Zbb, which has rotations, byte reversal and `andn`.
    Zbb = 3,
    /// Assembly with Zbb and Zknh, which has the functions of SHA-2.
    Zknh = 4,
    /// Assembly with V and Zvbb. Each vector lane hashes one message.
    Zvbb = 5,
    /// Assembly with V, Zvkb and either Zvknha or Zvknhb, which compute SHA-2 rounds in vector registers.
    Zvknh = 6,
    /// A hardware engine outside of the hart (`hw/ip/sha2`).
    Engine = 7,
    /// Assembly with V and nothing of vector crypto. Each vector lane hashes one message.
    V = 8,
}

impl Tier {
    /// All tiers that a hart itself can have. In all measurements a later one was faster.
    pub const ALL: [Tier; 7] =
        [Tier::Portable, Tier::Rv64, Tier::Zbb, Tier::Zknh, Tier::V, Tier::Zvbb, Tier::Zvknh];
    /// The largest number of a tier.
    pub const LAST: u32 = Tier::V as u32;

    /// Returns the name of the tier in tables, output and command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            Tier::Rv64 => "rv64",
            Tier::Zbb => "zbb",
            Tier::Zknh => "zknh",
            Tier::Zvbb => "zvbb",
            Tier::Zvknh => "zvknh",
            Tier::Engine => "engine",
            Tier::V => "v",
        }
    }
}

/// A family of hashes that share a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFamily {
    /// SHA-256.
    Sha256,
    /// SHA-384 and SHA-512.
    Sha512,
    /// All functions based on KECCAK-p\[1600\]: SHA-3, SHAKE, ParallelHash and KT128.
    Keccak,
}

impl HashFamily {
    /// All families.
    pub const ALL: [HashFamily; 3] = [HashFamily::Sha256, HashFamily::Sha512, HashFamily::Keccak];

    /// Returns the name of the family in output.
    pub const fn name(self) -> &'static str {
        match self {
            HashFamily::Sha256 => "sha256",
            HashFamily::Sha512 => "sha512",
            HashFamily::Keccak => "keccak",
        }
    }
}

/// Reason why a kernel is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFault {
    /// An instruction of the kernel trapped.
    Trapped,
    /// A digest was wrong, which means that the hart implements the instructions incorrectly. For an engine, an
    /// answer was wrong or missing.
    WrongAnswer,
}

/// A test for instructions that the hart may not implement. It also receives the results of the selection.
///
/// # Safety
///
/// `runs` may return true only if `instructions` was called and returned without a trap.
pub unsafe trait Probe {
    /// Returns true if this hart executes these instructions without a trap.
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool;

    /// Reports that a tier is not used for a family. The next lower tier remains in use.
    fn rejected(&mut self, family: HashFamily, tier: Tier, why: KernelFault);

    /// Returns false if a tier must not be used even if it works. This serves to measure or test a lower tier.
    fn is_wanted(&self, _: HashFamily, _: Tier) -> bool {
        true
    }

    /// Does for a cipher what [`Self::rejected`] does for a hash.
    #[cfg(any(feature = "aes-ctr", test))]
    fn rejected_cipher(&mut self, _: CipherMode, _: CipherTier, _: KernelFault) {}

    /// Does for a cipher what [`Self::is_wanted`] does for a hash.
    #[cfg(any(feature = "aes-ctr", test))]
    fn is_cipher_wanted(&self, _: CipherMode, _: CipherTier) -> bool {
        true
    }

    /// Does for E-multiplication what [`Self::rejected`] does for a hash.
    #[cfg(any(feature = "research", test))]
    fn rejected_walnut(&mut self, _: WalnutTier, _: KernelFault) {}

    /// Does for E-multiplication what [`Self::is_wanted`] does for a hash.
    #[cfg(any(feature = "research", test))]
    fn is_walnut_wanted(&self, _: WalnutTier) -> bool {
        true
    }
}

/// A kernel for one message. It is made only by code that knows that the hart implements its instructions.
#[derive(Clone, Copy)]
pub(crate) struct One<F> {
    pub tier: Tier,
    pub run: F,
}

/// A kernel for several messages at once.
#[derive(Clone, Copy)]
pub(crate) struct Many<F> {
    pub tier: Tier,
    /// Number of messages, from 1 to [`MAX_LANES`], that take as long as one message.
    pub lanes: usize,
    pub run: F,
}

/// The kernels of a hash family.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<F, G> {
    pub one: One<F>,
    /// The kernel for several messages, if any. Without it, messages are hashed one by one.
    pub many: Option<Many<G>>,
}

/// The compression function of SHA-2 with words `W` over blocks of `N` bytes.
pub(crate) enum Compress<W: Sha2Word<N>, const N: usize> {
    Software(fn(&mut [W; 8], &[[u8; N]])),
    #[cfg(any(feature = "engine", test))]
    Engine(W::Engine),
}

impl<W: Sha2Word<N>, const N: usize> Clone for Compress<W, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Sha2Word<N>, const N: usize> Copy for Compress<W, N> {}

impl<W: Sha2Word<N>, const N: usize> Compress<W, N> {
    /// Adds whole blocks to a hash value.
    #[inline]
    pub(crate) fn add(&self, state: &mut [W; 8], blocks: &[[u8; N]]) {
        match self {
            Self::Software(run) => run(state, blocks),
            #[cfg(any(feature = "engine", test))]
            Self::Engine(engine) => W::add_by(*engine, state, blocks),
        }
    }
}

/// Words of SHA-2 with blocks of `N` bytes.
pub(crate) trait Sha2Word<const N: usize>: Sized {
    /// The engine that compresses in place of software.
    #[cfg(any(feature = "engine", test))]
    type Engine: Copy;

    /// Adds blocks to the state with the engine.
    #[cfg(any(feature = "engine", test))]
    fn add_by(engine: Self::Engine, state: &mut [Self; 8], blocks: &[[u8; N]]);
}

impl Sha2Word<64> for u32 {
    #[cfg(any(feature = "engine", test))]
    type Engine = &'static dyn Engines;

    #[cfg(any(feature = "engine", test))]
    fn add_by(engine: Self::Engine, state: &mut [Self; 8], blocks: &[[u8; 64]]) {
        engine.compress_sha256(state, blocks);
    }
}

impl Sha2Word<128> for u64 {
    // No engine has it.
    #[cfg(any(feature = "engine", test))]
    type Engine = core::convert::Infallible;

    #[cfg(any(feature = "engine", test))]
    fn add_by(engine: Self::Engine, _: &mut [Self; 8], _: &[[u8; 128]]) {
        match engine {}
    }
}

/// The same function for several messages. The numbers of states and messages are equal. Messages consist of whole
/// blocks and have equal lengths.
pub(crate) type CompressMany<W> = fn(&mut [[W; 8]], &[&[u8]]);

/// The kernels of a SHA-2 family.
pub(crate) type Sha2<W, const N: usize> = Chosen<Compress<W, N>, CompressMany<W>>;

/// The kernels of the KECCAK-p\[1600\] sponge. They XOR blocks of `rate_words * 8` bytes into the state, and apply
/// the last `rounds` rounds of the permutation after each block.
pub(crate) type Keccak = Chosen<Absorb, AbsorbMany>;

impl<F, G> Chosen<F, G> {
    /// Makes a family with a kernel for one message and none for several.
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

    /// Returns the number of messages to hash at once.
    pub(crate) const fn lanes(&self) -> usize {
        match &self.many {
            Some(many) => many.lanes,
            None => 1,
        }
    }
}

impl<F: Copy, G: Copy> Chosen<F, G> {
    /// Splits states and messages into groups of `lanes`. The last group uses the kernel for one message if it is too
    /// small.
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

impl<W: Sha2Word<N>, const N: usize> Sha2<W, N> {
    /// Compresses the blocks of each message into its state. The number of messages is not limited. Messages consist
    /// of whole blocks and have equal lengths.
    #[allow(dead_code, reason = "not every selection of algorithms has short messages")]
    pub(crate) fn each(&self, states: &mut [[W; 8]], messages: &[&[u8]]) {
        let one = |run: Compress<W, N>, state: &mut [W; 8], message: &[u8]| {
            run.add(state, message.as_chunks().0);
        };
        self.in_groups(states, messages, one, |run, states, messages| run(states, messages));
    }
}

impl Keccak {
    /// Absorbs the blocks of each message into its state, like [`Sha2::each`]. The arguments are those of
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

/// Returns true if `count` messages should be hashed in `lanes` lanes. The time does not depend on the number of
/// lanes in use, so more than half of them must be in use.
pub const fn fills_lanes(count: usize, lanes: usize) -> bool {
    lanes > 1 && count > lanes / 2
}

/// The kernels that a hart uses. The type is cheap to copy, and every hart selects its own kernels.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub(crate) sha256: Sha2<u32, 64>,
    pub(crate) sha512: Sha2<u64, 128>,
    pub(crate) keccak: Keccak,
    /// Squeezes several blocks in one call, if the kernel of [`Self::keccak`] for one message can.
    #[cfg(feature = "ml-dsa")]
    pub(crate) keccak_squeeze: Option<crate::keccak::Squeeze>,
    #[cfg(any(feature = "aes-ctr", test))]
    pub(crate) aes: AesKernels,
    #[cfg(any(feature = "research", test))]
    pub(crate) walnut: WalnutKernel,
    #[cfg(any(feature = "engine", test))]
    pub(crate) joined: Joined,
}

impl Kernels {
    /// The portable implementations, which run on any machine.
    pub const PORTABLE: Self = Self {
        sha256: Sha2::one_by_one(Tier::Portable, Compress::Software(compress_sha256)),
        sha512: Sha2::one_by_one(Tier::Portable, Compress::Software(compress_sha512)),
        keccak: Keccak::one_by_one(Tier::Portable, absorb),
        #[cfg(feature = "ml-dsa")]
        keccak_squeeze: None,
        #[cfg(any(feature = "aes-ctr", test))]
        aes: AesKernels::PORTABLE,
        #[cfg(any(feature = "research", test))]
        walnut: WalnutKernel::PORTABLE,
        #[cfg(any(feature = "engine", test))]
        joined: Joined::NONE,
    };

    /// Returns the tier of the kernel for one message.
    pub const fn tier(&self, family: HashFamily) -> Tier {
        match family {
            HashFamily::Sha256 => self.sha256.tier(),
            HashFamily::Sha512 => self.sha512.tier(),
            HashFamily::Keccak => self.keccak.tier(),
        }
    }

    /// Returns the tier of the kernel for several messages.
    pub const fn tier_of_many(&self, family: HashFamily) -> Tier {
        match family {
            HashFamily::Sha256 => self.sha256.tier_of_many(),
            HashFamily::Sha512 => self.sha512.tier_of_many(),
            HashFamily::Keccak => self.keccak.tier_of_many(),
        }
    }

    /// Returns the tier of the kernel for a mode of AES.
    #[cfg(any(feature = "aes-ctr", test))]
    pub const fn cipher_tier(&self, mode: CipherMode) -> CipherTier {
        match mode {
            CipherMode::Ctr => self.aes.ctr.tier,
            #[cfg(any(feature = "aes", test))]
            CipherMode::Gcm => self.aes.gcm.tier,
            #[cfg(not(any(feature = "aes", test)))]
            CipherMode::Gcm => CipherTier::Portable,
        }
    }

    /// Returns the tier of the kernel of E-multiplication.
    #[cfg(any(feature = "research", test))]
    pub const fn walnut_tier(&self) -> WalnutTier {
        self.walnut.tier
    }

    /// Returns the number of messages to hash at once, from 1 to [`MAX_LANES`].
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
