//! Kernels in RISC-V assembly, and the tokens that allow to call them.
//!
//! A token is made by [`Probe`] alone: it says that this hart executes the instructions of an
//! extension. Whoever holds one gets safe functions; nothing else in this crate calls assembly.

// A stage carries what it selects.
#![cfg_attr(not(feature = "every"), allow(dead_code, unused))]

use core::arch::global_asm;

use crate::dispatch::{Family, Keccak, Kernels, MAX_LANES, Probe, Rejection, Sha2, Tier};
use crate::{Hash, HashMany, keccak, sha2, sha3};

global_asm!(include_str!("rv64/probes.S"));

/// Assembles files of `rv64/` one behind the other, so that macros come before their use.
macro_rules! assemble {
    ($($file:literal)*) => {
        global_asm!($(include_str!(concat!("rv64/", $file, ".S"))),*, options(raw));
    };
}

#[cfg(feature = "scalar")]
assemble!("sha2_constants");
#[cfg(any(feature = "scalar", feature = "zbb"))]
assemble!("keccak_constants");
#[cfg(feature = "scalar")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64" "sha512_rv64" "keccak_macros" "keccak_rv64");
#[cfg(feature = "zbb")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64_zbb" "sha512_rv64_zbb" "keccak_macros" "keccak_rv64_zbb");
#[cfg(feature = "zknh")]
assemble!("frame_macros" "sha2_macros" "sha256_rv64_zknh" "sha512_rv64_zknh");
#[cfg(feature = "zvbb")]
assemble!("frame_macros" "sha2_zvbb_macros" "sha256_rv64_zvbb" "sha512_rv64_zvbb" "keccak_rv64_zvbb");
#[cfg(feature = "zvknh")]
assemble!("frame_macros" "sha2_zvknh_macros" "sha256_rv64_zvknha" "sha512_rv64_zvknhb");

/// A token for an extension, and how it is detected.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $probe:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            pub(crate) fn detect(probe: &mut impl Probe) -> Option<Self> {
                probe.runs($probe).then_some(Self(()))
            }
        }
    };
}

token!(
    /// `rori`, `rev8`, `andn` and their kind.
    HasZbb,
    hartlock_probe_zbb
);
token!(
    /// Zknh, with Zbb.
    HasZknh,
    hartlock_probe_zknh
);
token!(
    /// Vectors with Zvbb.
    HasZvbb,
    hartlock_probe_zvbb
);
token!(
    /// Vectors with Zvkb, and Zvknha or Zvknhb.
    HasZvknha,
    hartlock_probe_zvknha
);
token!(
    /// Vectors with Zvkb and Zvknhb.
    HasZvknhb,
    hartlock_probe_zvknhb
);

unsafe extern "C" {
    // Each executes every instruction of its extension that a kernel uses, and changes nothing that
    // a caller may rely on.
    fn hartlock_probe_zbb();
    fn hartlock_probe_zknh();
    fn hartlock_probe_zvbb();
    fn hartlock_probe_zvknha();
    fn hartlock_probe_zvknhb();
    /// Bytes of a vector register.
    fn hartlock_vlenb() -> usize;
}

/// Bytes of a vector register of this hart.
fn vlenb() -> usize {
    // SAFETY: only called by those who hold a token for vectors; it reads a register.
    unsafe { hartlock_vlenb() }
}

/// Where kernels want their blocks to begin.
const ALIGNMENT: usize = 8;
/// The longest block: the rate of SHAKE128 and KT128.
const MAX_BLOCK_LEN: usize = 168;

/// A block in the right place.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Copied([u8; MAX_BLOCK_LEN]);

impl Copied {
    fn of(block: &[u8]) -> Self {
        let mut copy = [0; MAX_BLOCK_LEN];
        for (to, from) in copy.iter_mut().zip(block) {
            *to = *from;
        }
        Self(copy)
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
}

/// Runs a kernel for one message over whole blocks, which it gets aligned.
///
/// # Safety
///
/// `kernel(state, blocks, count)` must do no more than read `count` aligned blocks of `block_len`
/// bytes and rewrite the state, and its instructions must be there.
unsafe fn run_one<S>(
    state: &mut S,
    blocks: &[u8],
    block_len: usize,
    kernel: impl Fn(*mut S, *const u8, usize),
) {
    if is_aligned(blocks) {
        kernel(state, blocks.as_ptr(), blocks.len().checked_div(block_len).unwrap_or(0));
        return;
    }
    let mut rest = blocks;
    while let Some((block, later)) = rest.split_at_checked(block_len.max(1)) {
        kernel(state, Copied::of(block).0.as_ptr(), 1);
        rest = later;
    }
}

/// Runs a kernel for several messages, at most `most` at once, over whole blocks, which it gets
/// aligned. Messages of another length than the first are left out, with their states.
///
/// # Safety
///
/// `kernel(states, messages, count, n)` must do no more than read `count` aligned blocks of
/// `block_len` bytes behind each of `n` pointers and rewrite `n` states, for `n` up to `most`, and
/// its instructions must be there.
unsafe fn run_many<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    most: usize,
    kernel: impl Fn(*mut S, *const *const u8, usize, usize),
) {
    let most = most.clamp(1, MAX_LANES);
    let (mut states, mut messages) = (states, messages);
    // Not with `chunks`, which can panic for all that the compiler knows of `most`.
    loop {
        let n = most.min(states.len()).min(messages.len());
        let (Some((now_states, later_states)), Some((now, later))) =
            (core::mem::take(&mut states).split_at_mut_checked(n), messages.split_at_checked(n))
        else {
            return;
        };
        if n == 0 {
            return;
        }
        run_group(now_states, now, block_len.max(1), &kernel);
        (states, messages) = (later_states, later);
    }
}

/// As many states as messages, and no more than the kernel takes.
fn run_group<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    kernel: &impl Fn(*mut S, *const *const u8, usize, usize),
) {
    let n = states.len();
    let len = messages.first().map_or(0, |message| message.len());
    let is_even = messages.iter().all(|message| message.len() == len);
    let count = len.checked_div(block_len).unwrap_or(0);
    if !is_even || count == 0 {
        return;
    }
    let mut pointers = [core::ptr::null(); MAX_LANES];
    if messages.iter().all(|message| is_aligned(message)) {
        for (pointer, message) in pointers.iter_mut().zip(messages) {
            *pointer = message.as_ptr();
        }
        kernel(states.as_mut_ptr(), pointers.as_ptr(), count, n);
        return;
    }
    let mut copies = [Copied([0; MAX_BLOCK_LEN]); MAX_LANES];
    let mut from = 0_usize;
    for _ in 0..count {
        for ((copy, pointer), message) in copies.iter_mut().zip(&mut pointers).zip(messages) {
            *copy = Copied::of(message.get(from..).unwrap_or_default());
            *pointer = copy.0.as_ptr();
        }
        kernel(states.as_mut_ptr(), pointers.as_ptr(), 1, n);
        from = from.saturating_add(block_len);
    }
}

/// A safe function around a kernel of SHA-2 for one message.
macro_rules! sha2_one {
    ($name:ident, $kernel:ident, $word:ty, $block_len:literal) => {
        fn $name(state: &mut [$word; 8], blocks: &[[u8; $block_len]]) {
            unsafe extern "C" {
                fn $kernel(state: *mut [$word; 8], blocks: *const u8, count: usize);
            }
            let call = |state, blocks, count| {
                // SAFETY: handed out with a token alone, so the instructions are there; see below.
                unsafe { $kernel(state, blocks, count) }
            };
            // SAFETY: this is what the kernel's file promises.
            unsafe { run_one(state, blocks.as_flattened(), $block_len, call) }
        }
    };
}

/// A safe function around a kernel of SHA-2 for several messages.
macro_rules! sha2_many {
    ($name:ident, $kernel:ident, $most:expr, $word:ty, $block_len:literal) => {
        fn $name(states: &mut [[$word; 8]], messages: &[&[u8]]) {
            unsafe extern "C" {
                fn $kernel(
                    states: *mut [$word; 8],
                    messages: *const *const u8,
                    count: usize,
                    n: usize,
                );
            }
            let call = |states, messages, count, n| {
                // SAFETY: handed out with a token alone, so the instructions are there; see below.
                unsafe { $kernel(states, messages, count, n) }
            };
            // SAFETY: this is what the kernel's file promises.
            unsafe { run_many(states, messages, $block_len, $most, call) }
        }
    };
}

/// A safe function around a kernel of the sponge for one message.
macro_rules! keccak_one {
    ($name:ident, $kernel:ident) => {
        fn $name(state: &mut [u64; 25], blocks: &[u8], rate_words: usize, rounds: usize) {
            unsafe extern "C" {
                fn $kernel(
                    state: *mut [u64; 25],
                    blocks: *const u8,
                    count: usize,
                    rate_words: usize,
                    rounds: usize,
                );
            }
            let (rate_words, rounds) = sponge(rate_words, rounds);
            let call = |state, blocks, count| {
                // SAFETY: handed out with a token alone, so the instructions are there; see below.
                unsafe { $kernel(state, blocks, count, rate_words, rounds) }
            };
            // SAFETY: this is what the kernel's file promises.
            unsafe { run_one(state, blocks, rate_words.wrapping_mul(8), call) }
        }
    };
}

/// A safe function around a kernel of the sponge for several messages.
macro_rules! keccak_many {
    ($name:ident, $kernel:ident, $most:expr) => {
        fn $name(states: &mut [[u64; 25]], messages: &[&[u8]], rate_words: usize, rounds: usize) {
            unsafe extern "C" {
                fn $kernel(
                    states: *mut [u64; 25],
                    messages: *const *const u8,
                    count: usize,
                    n: usize,
                    rate_words: usize,
                    rounds: usize,
                );
            }
            let (rate_words, rounds) = sponge(rate_words, rounds);
            let call = |states, messages, count, n| {
                // SAFETY: handed out with a token alone, so the instructions are there; see below.
                unsafe { $kernel(states, messages, count, n, rate_words, rounds) }
            };
            // SAFETY: this is what the kernel's file promises.
            unsafe { run_many(states, messages, rate_words.wrapping_mul(8), $most, call) }
        }
    };
}

/// Rate and rounds as the kernels take them: 1 to 21 words, 12 or 24 rounds.
fn sponge(rate_words: usize, rounds: usize) -> (usize, usize) {
    (rate_words.clamp(1, MAX_BLOCK_LEN / 8), if rounds == 12 { 12 } else { 24 })
}

#[cfg(feature = "scalar")]
sha2_one!(sha256_rv64, hartlock_sha256_rv64, u32, 64);
#[cfg(feature = "zbb")]
sha2_one!(sha256_zbb, hartlock_sha256_rv64_zbb, u32, 64);
#[cfg(feature = "zknh")]
sha2_one!(sha256_zknh, hartlock_sha256_rv64_zknh, u32, 64);
#[cfg(feature = "zvknh")]
sha2_one!(sha256_zvknha, hartlock_sha256_rv64_zvknha, u32, 64);
#[cfg(feature = "scalar")]
sha2_one!(sha512_rv64, hartlock_sha512_rv64, u64, 128);
#[cfg(feature = "zbb")]
sha2_one!(sha512_zbb, hartlock_sha512_rv64_zbb, u64, 128);
#[cfg(feature = "zknh")]
sha2_one!(sha512_zknh, hartlock_sha512_rv64_zknh, u64, 128);
#[cfg(feature = "zvknh")]
sha2_one!(sha512_zvknhb, hartlock_sha512_rv64_zvknhb, u64, 128);
#[cfg(feature = "scalar")]
keccak_one!(keccak_rv64, hartlock_keccak_rv64);
#[cfg(feature = "zbb")]
keccak_one!(keccak_zbb, hartlock_keccak_rv64_zbb);
#[cfg(feature = "zvbb")]
sha2_many!(sha256_zvbb, hartlock_sha256_rv64_zvbb, vlenb() / 4, u32, 64);
#[cfg(feature = "zvbb")]
sha2_many!(sha512_zvbb, hartlock_sha512_rv64_zvbb, vlenb() / 8, u64, 128);
#[cfg(all(feature = "zvknh", feature = "lanes"))]
sha2_many!(sha256_streams, hartlock_sha256_rv64_zvknha_streams, 2 * vlenb() / 16, u32, 64);
#[cfg(all(feature = "zvknh", feature = "lanes"))]
sha2_many!(sha512_streams, hartlock_sha512_rv64_zvknhb_streams, sha512_streams_most(), u64, 128);
#[cfg(feature = "zvbb")]
keccak_many!(keccak_zvbb, hartlock_keccak_rv64_zvbb, vlenb() / 8);

/// Two groups of registers at most; an element group of SHA-512 has 32 bytes.
fn sha512_streams_most() -> usize {
    (2 * vlenb() / 32).max(1)
}

/// Tries every kernel, from the lowest tier up, and keeps the highest that works.
pub(crate) fn offer_all(kernels: &mut Kernels, probe: &mut impl Probe) {
    #[cfg(feature = "sha256")]
    offer_sha256(kernels, probe);
    #[cfg(feature = "sha512")]
    offer_sha512(kernels, probe);
    #[cfg(feature = "keccak")]
    offer_keccak(kernels, probe);
}

/// Takes a changed copy of `kernels` over if the instructions are there and the answers are right.
fn offer<P: Probe, T>(
    kernels: &mut Kernels,
    probe: &mut P,
    (family, tier): (Family, Tier),
    detect: impl Fn(&mut P) -> Option<T>,
    change: impl Fn(&mut Kernels, T),
    answers: impl Fn(&Kernels) -> bool,
) {
    if !probe.is_wanted(family, tier) {
        return;
    }
    let Some(token) = detect(probe) else {
        probe.rejected(family, tier, Rejection::Trapped);
        return;
    };
    let mut changed = *kernels;
    change(&mut changed, token);
    if answers(&changed) {
        *kernels = changed;
    } else {
        probe.rejected(family, tier, Rejection::WrongAnswer);
    }
}

macro_rules! offer_sha2 {
    (
        $offer:ident, $family:expr, $field:ident, $hash:ty,
        $rv64:ident, $zbb:ident, $zknh:ident, $zvknh:ident, $HasZvknh:ident,
        $zvbb:ident, $element_len:literal, $streams:ident, $most_streams:expr
    ) => {
        fn $offer(kernels: &mut Kernels, probe: &mut impl Probe) {
            let one = |kernels: &Kernels| answers_one::<$hash>(kernels, &<$hash>::KAT);
            #[cfg(feature = "lanes")]
            let both = |kernels: &Kernels| one(kernels) && answers_many::<$hash>(kernels);
            #[cfg(not(feature = "lanes"))]
            let both = one;
            let set = |kernels: &mut Kernels, tier, compress, compress_many| {
                let field = &mut kernels.$field;
                *field = Sha2 { tier, compress, tier_of_many: tier, lanes: 1, compress_many };
            };
            let family = $family;
            #[cfg(feature = "scalar")]
            offer(
                kernels,
                probe,
                (family, Tier::Rv64),
                |_| Some(()),
                |kernels, ()| {
                    set(kernels, Tier::Rv64, $rv64, |s, m| sha2::one_by_one(s, m, $rv64));
                },
                one,
            );
            #[cfg(feature = "zbb")]
            offer(
                kernels,
                probe,
                (family, Tier::Zbb),
                HasZbb::detect,
                |kernels, HasZbb(())| {
                    set(kernels, Tier::Zbb, $zbb, |s, m| sha2::one_by_one(s, m, $zbb));
                },
                one,
            );
            #[cfg(feature = "zknh")]
            offer(
                kernels,
                probe,
                (family, Tier::Zknh),
                HasZknh::detect,
                |kernels, HasZknh(())| {
                    set(kernels, Tier::Zknh, $zknh, |s, m| sha2::one_by_one(s, m, $zknh));
                },
                one,
            );
            #[cfg(feature = "zvbb")]
            offer(
                kernels,
                probe,
                (family, Tier::Zvbb),
                HasZvbb::detect,
                |kernels, HasZvbb(())| {
                    let field = &mut kernels.$field;
                    field.tier_of_many = Tier::Zvbb;
                    field.lanes = (vlenb() / $element_len).clamp(1, MAX_LANES);
                    field.compress_many = $zvbb;
                },
                answers_many::<$hash>,
            );
            #[cfg(feature = "zvknh")]
            offer(
                kernels,
                probe,
                (family, Tier::Zvknh),
                $HasZvknh::detect,
                |kernels, $HasZvknh(())| {
                    set(kernels, Tier::Zvknh, $zvknh, |s, m| sha2::one_by_one(s, m, $zvknh));
                    #[cfg(feature = "lanes")]
                    {
                        kernels.$field.compress_many = $streams;
                        kernels.$field.lanes = ($most_streams).clamp(1, MAX_LANES);
                    }
                },
                both,
            );
        }
    };
}
offer_sha2!(
    offer_sha256,
    Family::Sha256,
    sha256,
    sha2::Sha256,
    sha256_rv64,
    sha256_zbb,
    sha256_zknh,
    sha256_zvknha,
    HasZvknha,
    sha256_zvbb,
    4,
    sha256_streams,
    2 * vlenb() / 16
);

offer_sha2!(
    offer_sha512,
    Family::Sha512,
    sha512,
    sha2::Sha512,
    sha512_rv64,
    sha512_zbb,
    sha512_zknh,
    sha512_zvknhb,
    HasZvknhb,
    sha512_zvbb,
    8,
    sha512_streams,
    sha512_streams_most()
);

fn offer_keccak(kernels: &mut Kernels, probe: &mut impl Probe) {
    let one = |kernels: &Kernels| answers_one::<sha3::Sha3_256>(kernels, &sha3::Sha3_256::KAT);
    let set = |kernels: &mut Kernels, tier, absorb, absorb_many| {
        kernels.keccak = Keccak { tier, absorb, tier_of_many: tier, lanes: 1, absorb_many };
    };
    let family = Family::Keccak;
    #[cfg(feature = "scalar")]
    offer(
        kernels,
        probe,
        (family, Tier::Rv64),
        |_| Some(()),
        |kernels, ()| {
            set(kernels, Tier::Rv64, keccak_rv64, |states, messages, rate_words, rounds| {
                keccak::one_by_one(states, messages, (rate_words, rounds), keccak_rv64);
            });
        },
        one,
    );
    #[cfg(feature = "zbb")]
    offer(
        kernels,
        probe,
        (family, Tier::Zbb),
        HasZbb::detect,
        |kernels, HasZbb(())| {
            set(kernels, Tier::Zbb, keccak_zbb, |states, messages, rate_words, rounds| {
                keccak::one_by_one(states, messages, (rate_words, rounds), keccak_zbb);
            });
        },
        one,
    );
    #[cfg(feature = "zvbb")]
    offer(
        kernels,
        probe,
        (family, Tier::Zvbb),
        HasZvbb::detect,
        |kernels, HasZvbb(())| {
            kernels.keccak.tier_of_many = Tier::Zvbb;
            kernels.keccak.lanes = (vlenb() / 8).clamp(1, MAX_LANES);
            kernels.keccak.absorb_many = keccak_zvbb;
        },
        answers_many::<sha3::Sha3_256>,
    );
}

/// Length of a message in bytes that fills blocks of every hash and ends in the middle of one.
const KNOWN_LEN: usize = 347;

/// A message that is another one for every lane.
fn known_message(lane: usize) -> [u8; KNOWN_LEN] {
    let mut message = [0; KNOWN_LEN];
    for (index, byte) in message.iter_mut().enumerate() {
        *byte = (index.wrapping_mul(31) ^ lane.wrapping_mul(89)) as u8;
    }
    message
}

/// Whether a kernel for one message gives known answers: the published one, and that of the portable
/// form for a message of several blocks.
fn answers_one<H: Hash>(kernels: &Kernels, published: &H::Output) -> bool {
    let message = known_message(0);
    let digest = |kernels: &Kernels, message: &[u8]| {
        let mut hash = H::with(kernels);
        hash.update(core::hint::black_box(message));
        hash.finalize()
    };
    digest(kernels, b"abc") == *published
        && digest(kernels, &message) == digest(&Kernels::PORTABLE, &message)
}

/// The same for a kernel for several messages, with all lanes in use and each with a message of its
/// own.
fn answers_many<H: HashMany>(kernels: &Kernels) -> bool {
    let lanes = H::lanes(kernels).clamp(1, MAX_LANES);
    let mut messages = [[0; KNOWN_LEN]; MAX_LANES];
    for (lane, message) in messages.iter_mut().enumerate() {
        *message = known_message(lane);
    }
    let mut heads: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    let mut bodies: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    for ((head, body), message) in heads.iter_mut().zip(&mut bodies).zip(&messages) {
        (*head, *body) = message.split_at_checked(16).unwrap_or_default();
    }
    let mut digests: [Option<H::Output>; MAX_LANES] = [None; MAX_LANES];
    let (Some(heads), Some(bodies), Some(digests)) =
        (heads.get(..lanes), bodies.get(..lanes), digests.get_mut(..lanes))
    else {
        return false;
    };
    H::digest_many(kernels, heads, bodies, &mut |lane, digest| {
        if let Some(place) = digests.get_mut(lane) {
            *place = Some(digest);
        }
    });
    digests.iter().zip(&messages).all(|(digest, message)| {
        let mut judge = H::with(&Kernels::PORTABLE);
        judge.update(message);
        *digest == Some(judge.finalize())
    })
}
