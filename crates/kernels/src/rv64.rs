//! Kernels in RISC-V assembly, and the tokens that allow to call them.
//!
//! A token is made by [`Probe`] alone: it says that this hart executes the instructions of an
//! extension. Whoever holds one gets safe functions; nothing else in this crate calls assembly.

// A stage carries what it selects.
#![cfg_attr(not(feature = "every"), allow(dead_code, unused))]

use core::arch::global_asm;

use crate::dispatch::{HashFamily, KernelFault, Kernels, MAX_LANES, Many, One, Probe, Tier};
use crate::keccak::{Absorb, AbsorbMany};
use crate::known::{KNOWN_LEN, answers_one, known_message};
use crate::{HashMany, sha2};

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

/// RV64I, for which this module is compiled: no test is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HasRv64(());

impl HasRv64 {
    fn detect(_: &mut impl Probe) -> Option<Self> {
        Some(Self(()))
    }
}

/// A token for an extension, and how it is detected.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $probe:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(());

        impl $name {
            fn detect(probe: &mut impl Probe) -> Option<Self> {
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
    /// Vectors with Zvkb, the part of Zvbb that lanes need.
    HasZvkb,
    hartlock_probe_zvkb
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
    fn hartlock_probe_zvkb();
    fn hartlock_probe_zvknha();
    fn hartlock_probe_zvknhb();
    /// Bytes of a vector register.
    fn hartlock_vlenb() -> usize;
}

/// Lanes of a hart with vectors, for messages that take `element_len` bytes of a register each.
///
/// # Safety
///
/// The hart has vectors.
unsafe fn lanes(element_len: usize) -> usize {
    // SAFETY: reads a register of the vector unit, which the caller vouches for.
    let vlenb = unsafe { hartlock_vlenb() };
    vlenb.checked_div(element_len).unwrap_or(1).clamp(1, MAX_LANES)
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
    } else {
        run_one_copied(state, blocks, block_len, kernel);
    }
}

/// The same for blocks that are not aligned. Out of line: a short message would pay for its frame.
#[inline(never)]
fn run_one_copied<S>(
    state: &mut S,
    blocks: &[u8],
    block_len: usize,
    kernel: impl Fn(*mut S, *const u8, usize),
) {
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
    } else {
        run_copied(states, messages, block_len, count, kernel);
    }
}

/// The same for messages that are not aligned. Out of line: nobody else has room for copies on the
/// stack.
#[inline(never)]
fn run_copied<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    count: usize,
    kernel: &impl Fn(*mut S, *const *const u8, usize, usize),
) {
    let n = states.len();
    let mut pointers = [core::ptr::null(); MAX_LANES];
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

/// A kernel of SHA-2 for one message, for those who hold the token.
macro_rules! sha2_one {
    ($tier:ident, $token:ident, $name:ident, $kernel:ident, $word:ty, $block_len:literal) => {
        impl $token {
            fn $name(self) -> One<fn(&mut [$word; 8], &[[u8; $block_len]])> {
                unsafe extern "C" {
                    fn $kernel(state: *mut [$word; 8], blocks: *const u8, count: usize);
                }
                // Nobody can name this function but here, where the token is.
                fn run(state: &mut [$word; 8], blocks: &[[u8; $block_len]]) {
                    let call = |state, blocks, count| {
                        // SAFETY: the token proves that the instructions are there; see below.
                        unsafe { $kernel(state, blocks, count) }
                    };
                    // SAFETY: this is what the kernel's file promises.
                    unsafe { run_one(state, blocks.as_flattened(), $block_len, call) }
                }
                One { tier: Tier::$tier, run }
            }
        }
    };
}

/// A kernel of SHA-2 for several messages, each of which takes so many bytes of a vector register.
macro_rules! sha2_many {
    (
        $tier:ident, $token:ident, $name:ident, $kernel:ident, $element_len:expr,
        $word:ty, $block_len:literal
    ) => {
        impl $token {
            fn $name(self) -> Many<fn(&mut [[$word; 8]], &[&[u8]])> {
                unsafe extern "C" {
                    fn $kernel(
                        states: *mut [$word; 8],
                        messages: *const *const u8,
                        count: usize,
                        n: usize,
                    );
                }
                // Nobody can name this function but here, where the token is.
                fn run(states: &mut [[$word; 8]], messages: &[&[u8]]) {
                    let call = |states, messages, count, n| {
                        // SAFETY: the token proves that the instructions are there; see below.
                        unsafe { $kernel(states, messages, count, n) }
                    };
                    // SAFETY: the token proves that there are vectors.
                    let most = unsafe { lanes($element_len) };
                    // SAFETY: this is what the kernel's file promises.
                    unsafe { run_many(states, messages, $block_len, most, call) }
                }
                // SAFETY: the token proves that there are vectors.
                Many { tier: Tier::$tier, lanes: unsafe { lanes($element_len) }, run }
            }
        }
    };
}

/// A kernel of the sponge for one message.
macro_rules! keccak_one {
    ($tier:ident, $token:ident, $kernel:ident) => {
        impl $token {
            fn keccak(self) -> One<Absorb> {
                unsafe extern "C" {
                    fn $kernel(
                        state: *mut [u64; 25],
                        blocks: *const u8,
                        count: usize,
                        rate_words: usize,
                        rounds: usize,
                    );
                }
                // Nobody can name this function but here, where the token is.
                fn run(state: &mut [u64; 25], blocks: &[u8], rate_words: usize, rounds: usize) {
                    let (rate_words, rounds) = sponge(rate_words, rounds);
                    let call = |state, blocks, count| {
                        // SAFETY: the token proves that the instructions are there; see below.
                        unsafe { $kernel(state, blocks, count, rate_words, rounds) }
                    };
                    // SAFETY: this is what the kernel's file promises.
                    unsafe { run_one(state, blocks, rate_words.wrapping_mul(8), call) }
                }
                One { tier: Tier::$tier, run }
            }
        }
    };
}

/// Rate and rounds as the kernels take them: 1 to 21 words, 12 or 24 rounds.
fn sponge(rate_words: usize, rounds: usize) -> (usize, usize) {
    (rate_words.clamp(1, MAX_BLOCK_LEN / 8), if rounds == 12 { 12 } else { 24 })
}

#[cfg(feature = "scalar")]
sha2_one!(Rv64, HasRv64, sha256, hartlock_sha256_rv64, u32, 64);
#[cfg(feature = "scalar")]
sha2_one!(Rv64, HasRv64, sha512, hartlock_sha512_rv64, u64, 128);
#[cfg(feature = "scalar")]
keccak_one!(Rv64, HasRv64, hartlock_keccak_rv64);
#[cfg(feature = "zbb")]
sha2_one!(Zbb, HasZbb, sha256, hartlock_sha256_rv64_zbb, u32, 64);
#[cfg(feature = "zbb")]
sha2_one!(Zbb, HasZbb, sha512, hartlock_sha512_rv64_zbb, u64, 128);
#[cfg(feature = "zbb")]
keccak_one!(Zbb, HasZbb, hartlock_keccak_rv64_zbb);
#[cfg(feature = "zknh")]
sha2_one!(Zknh, HasZknh, sha256, hartlock_sha256_rv64_zknh, u32, 64);
#[cfg(feature = "zknh")]
sha2_one!(Zknh, HasZknh, sha512, hartlock_sha512_rv64_zknh, u64, 128);
#[cfg(feature = "zvknh")]
sha2_one!(Zvknh, HasZvknha, sha256, hartlock_sha256_rv64_zvknha, u32, 64);
#[cfg(feature = "zvknh")]
sha2_one!(Zvknh, HasZvknhb, sha512, hartlock_sha512_rv64_zvknhb, u64, 128);

// A word of each message in a lane.
#[cfg(feature = "zvbb")]
sha2_many!(Zvbb, HasZvkb, sha256, hartlock_sha256_rv64_zvbb, size_of::<u32>(), u32, 64);
#[cfg(feature = "zvbb")]
sha2_many!(Zvbb, HasZvkb, sha512, hartlock_sha512_rv64_zvbb, size_of::<u64>(), u64, 128);
// Four words of each message, in up to two registers.
#[cfg(all(feature = "zvknh", feature = "lanes"))]
sha2_many!(
    Zvknh,
    HasZvknha,
    sha256_streams,
    hartlock_sha256_rv64_zvknha_streams,
    4 * size_of::<u32>() / 2,
    u32,
    64
);
#[cfg(all(feature = "zvknh", feature = "lanes"))]
sha2_many!(
    Zvknh,
    HasZvknhb,
    sha512_streams,
    hartlock_sha512_rv64_zvknhb_streams,
    4 * size_of::<u64>() / 2,
    u64,
    128
);

#[cfg(feature = "zvbb")]
impl HasZvkb {
    /// A kernel of the sponge for several messages, a word of each in a lane.
    fn keccak(self) -> Many<AbsorbMany> {
        unsafe extern "C" {
            fn hartlock_keccak_rv64_zvbb(
                states: *mut [u64; 25],
                messages: *const *const u8,
                count: usize,
                n: usize,
                rate_words: usize,
                rounds: usize,
            );
        }
        // Nobody can name this function but here, where the token is.
        fn run(states: &mut [[u64; 25]], messages: &[&[u8]], rate_words: usize, rounds: usize) {
            let (rate_words, rounds) = sponge(rate_words, rounds);
            let call = |states, messages, count, n| {
                // SAFETY: the token proves that the instructions are there; see below.
                unsafe { hartlock_keccak_rv64_zvbb(states, messages, count, n, rate_words, rounds) }
            };
            // SAFETY: the token proves that there are vectors.
            let most = unsafe { lanes(size_of::<u64>()) };
            // SAFETY: this is what the kernel's file promises.
            unsafe { run_many(states, messages, rate_words.wrapping_mul(8), most, call) }
        }
        // SAFETY: the token proves that there are vectors.
        Many { tier: Tier::Zvbb, lanes: unsafe { lanes(size_of::<u64>()) }, run }
    }
}

/// Offers the kernels of one word size of SHA-2. The names of kernels and field are the same.
macro_rules! offer_sha2 {
    (
        $kernels:expr, $probe:expr, $name:ident, $family:expr, $hash:ty,
        $HasZvknh:ident, $streams:ident
    ) => {{
        let (kernels, probe) = (&mut *$kernels, &mut *$probe);
        let one = |kernels: &Kernels| answers_one::<$hash>(kernels, &<$hash>::KAT);
        #[cfg(feature = "scalar")]
        offer(kernels, probe, ($family, Tier::Rv64), HasRv64::detect, one, |kernels, token| {
            kernels.$name.one = token.$name();
        });
        #[cfg(feature = "zbb")]
        offer(kernels, probe, ($family, Tier::Zbb), HasZbb::detect, one, |kernels, token| {
            kernels.$name.one = token.$name();
        });
        #[cfg(feature = "zknh")]
        offer(kernels, probe, ($family, Tier::Zknh), HasZknh::detect, one, |kernels, token| {
            kernels.$name.one = token.$name();
        });
        #[cfg(feature = "zvknh")]
        offer(kernels, probe, ($family, Tier::Zvknh), $HasZvknh::detect, one, |kernels, token| {
            kernels.$name.one = token.$name();
        });
        #[cfg(feature = "lanes")]
        let many = answers_many::<$hash>;
        #[cfg(feature = "zvbb")]
        offer(kernels, probe, ($family, Tier::Zvbb), HasZvkb::detect, many, |kernels, token| {
            kernels.$name.many = Some(token.$name());
        });
        #[cfg(all(feature = "zvknh", feature = "lanes"))]
        offer(kernels, probe, ($family, Tier::Zvknh), $HasZvknh::detect, many, |kernels, token| {
            kernels.$name.many = Some(token.$streams());
        });
    }};
}

/// Tries every kernel, from the lowest tier up, and keeps the highest that works.
pub(crate) fn offer_all(kernels: &mut Kernels, probe: &mut impl Probe) {
    #[cfg(feature = "sha256")]
    offer_sha2!(
        kernels,
        probe,
        sha256,
        HashFamily::Sha256,
        sha2::Sha256,
        HasZvknha,
        sha256_streams
    );
    #[cfg(feature = "sha512")]
    offer_sha2!(
        kernels,
        probe,
        sha512,
        HashFamily::Sha512,
        sha2::Sha512,
        HasZvknhb,
        sha512_streams
    );
    #[cfg(feature = "keccak")]
    offer_keccak(kernels, probe);
}

/// Takes a changed copy of `kernels` over if the instructions are there and the answers are right.
fn offer<P: Probe, T>(
    kernels: &mut Kernels,
    probe: &mut P,
    (family, tier): (HashFamily, Tier),
    detect: impl Fn(&mut P) -> Option<T>,
    answers: impl Fn(&Kernels) -> bool,
    change: impl Fn(&mut Kernels, T),
) {
    if !probe.is_wanted(family, tier) {
        return;
    }
    let Some(token) = detect(probe) else {
        probe.rejected(family, tier, KernelFault::Trapped);
        return;
    };
    let mut changed = *kernels;
    change(&mut changed, token);
    if answers(&changed) {
        *kernels = changed;
    } else {
        probe.rejected(family, tier, KernelFault::WrongAnswer);
    }
}

fn offer_keccak(kernels: &mut Kernels, probe: &mut impl Probe) {
    use crate::kt128::Kt128;
    use crate::sha3::Sha3_256;
    const FAMILY: HashFamily = HashFamily::Keccak;
    // 24 rounds and 12.
    let one = |kernels: &Kernels| {
        answers_one::<Sha3_256>(kernels, &Sha3_256::KAT)
            && answers_one::<Kt128>(kernels, &Kt128::KAT)
    };
    #[cfg(feature = "scalar")]
    offer(kernels, probe, (FAMILY, Tier::Rv64), HasRv64::detect, one, |kernels, token| {
        kernels.keccak.one = token.keccak();
    });
    #[cfg(feature = "zbb")]
    offer(kernels, probe, (FAMILY, Tier::Zbb), HasZbb::detect, one, |kernels, token| {
        kernels.keccak.one = token.keccak();
    });
    #[cfg(feature = "zvbb")]
    offer(
        kernels,
        probe,
        (FAMILY, Tier::Zvbb),
        HasZvkb::detect,
        answers_many::<Sha3_256>,
        |kernels, token| kernels.keccak.many = Some(token.keccak()),
    );
}

/// As [`answers_one`] for a kernel for several messages, with all lanes in use and each with a message of its
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
        let mut judge = <H as crate::Hash>::with(&Kernels::PORTABLE);
        judge.update(message);
        *digest == Some(judge.finalize())
    })
}
