//! Kernels in RISC-V assembly: the tables of them, and the tokens that allow to call one.
//!
//! A token is made by [`Probe`] alone: it says that this hart executes the instructions that a row
//! of a table needs. With it the kernel of that row becomes a safe function; nothing else in this
//! crate calls assembly.

mod aligned;
mod assembly;

#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
use core::arch::asm;
use core::marker::PhantomData;
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
use core::mem::MaybeUninit;

use crate::dispatch::{
    Compress, CompressMany, HashFamily, KernelFault, Kernels, MAX_LANES, Many, One, Probe, Tier,
};
use crate::keccak::permutation::{Absorb, AbsorbMany};
use crate::known::{answers_many, answers_one};
use crate::kt128::Kt128;
use crate::sha2::{Sha256, Sha512};
use crate::sha3::Sha3_256;
use aligned::{MAX_BLOCK_LEN, each_aligned, each_group};
use assembly::*;

/// Instructions that a kernel needs beside those of RV64I, for which this module is compiled.
#[derive(Clone, Copy)]
struct Extension {
    tier: Tier,
    /// Whether this build carries the kernels that need it.
    is_carried: bool,
    /// None for RV64I alone: no test is needed.
    probe: Option<Instructions>,
}

const RV64: Extension =
    Extension { tier: Tier::Rv64, is_carried: cfg!(feature = "scalar"), probe: None };
/// `rori`, `rev8`, `andn` and their kind.
const ZBB: Extension = Extension {
    tier: Tier::Zbb,
    is_carried: cfg!(feature = "zbb"),
    probe: Some(hartlock_probe_zbb),
};
/// Zknh, with Zbb.
const ZKNH: Extension = Extension {
    tier: Tier::Zknh,
    is_carried: cfg!(feature = "zknh"),
    probe: Some(hartlock_probe_zknh),
};
/// Vectors with Zvkb, the part of Zvbb that lanes need.
const ZVKB: Extension = Extension {
    tier: Tier::Zvbb,
    is_carried: cfg!(feature = "zvbb"),
    probe: Some(hartlock_probe_zvkb),
};
/// Vectors with Zvkb, and Zvknha or Zvknhb.
const ZVKNHA: Extension = Extension {
    tier: Tier::Zvknh,
    is_carried: cfg!(feature = "zvknh"),
    probe: Some(hartlock_probe_zvknha),
};
/// Vectors with Zvkb and Zvknhb.
const ZVKNHB: Extension = Extension { probe: Some(hartlock_probe_zvknhb), ..ZVKNHA };

/// A kernel and what it needs.
struct Row<K> {
    needs: Extension,
    kernel: K,
}

/// A kernel for several messages, each of which takes `element_len` bytes of a vector register.
#[derive(Clone, Copy)]
struct InLanes<K> {
    element_len: usize,
    kernel: K,
}

/// The kernels for one message, or for several, of a family of hashes, from the lowest tier up.
///
/// # Safety
///
/// The kernel of a row executes no instructions but those of RV64I and of the extension that the row
/// needs, and does no more than its prototype says ([`assembly`]). With [`InLanes`], that extension
/// has vectors, and a kernel takes as many messages as its elements fit into a vector register.
unsafe trait Table: Sized {
    type Kernel: Copy + 'static;
    const ROWS: &'static [Row<Self::Kernel>];
    const FAMILY: HashFamily;
    /// Whether this build carries the kernels of the family.
    const IS_CARRIED: bool;

    /// Whether the kernel in use gives known answers.
    fn answers(kernels: &Kernels) -> bool;

    /// Uses the kernel of a row.
    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>);
}

struct Sha256One;
struct Sha256Many;
struct Sha512One;
struct Sha512Many;
struct KeccakOneByOne;
struct KeccakInLanes;

// SAFETY: the first lines of each file name the extension and what is read and written.
unsafe impl Table for Sha256One {
    type Kernel = Sha2One<u32, 64>;
    const ROWS: &'static [Row<Self::Kernel>] = &[
        Row { needs: RV64, kernel: hartlock_sha256_rv64 },
        Row { needs: ZBB, kernel: hartlock_sha256_rv64_zbb },
        Row { needs: ZKNH, kernel: hartlock_sha256_rv64_zknh },
        Row { needs: ZVKNHA, kernel: hartlock_sha256_rv64_zvknha },
    ];
    const FAMILY: HashFamily = HashFamily::Sha256;
    const IS_CARRIED: bool = cfg!(feature = "sha256");

    fn answers(kernels: &Kernels) -> bool {
        answers_one::<Sha256>(kernels, &Sha256::KAT)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.sha256.one = sha2_one(token);
    }
}

// SAFETY: as for one message; a word of each message in a lane, or four words in two registers.
unsafe impl Table for Sha256Many {
    type Kernel = InLanes<Sha2Many<u32, 64>>;
    const ROWS: &'static [Row<Self::Kernel>] = &[
        Row { needs: ZVKB, kernel: InLanes { element_len: 4, kernel: hartlock_sha256_rv64_zvbb } },
        Row {
            needs: ZVKNHA,
            kernel: InLanes { element_len: 4 * 4 / 2, kernel: hartlock_sha256_rv64_zvknha_streams },
        },
    ];
    const FAMILY: HashFamily = HashFamily::Sha256;
    const IS_CARRIED: bool = Sha256One::IS_CARRIED && cfg!(feature = "lanes");

    fn answers(kernels: &Kernels) -> bool {
        answers_many::<Sha256>(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.sha256.many = Some(sha2_many(token));
    }
}

// SAFETY: the first lines of each file name the extension and what is read and written.
unsafe impl Table for Sha512One {
    type Kernel = Sha2One<u64, 128>;
    const ROWS: &'static [Row<Self::Kernel>] = &[
        Row { needs: RV64, kernel: hartlock_sha512_rv64 },
        Row { needs: ZBB, kernel: hartlock_sha512_rv64_zbb },
        Row { needs: ZKNH, kernel: hartlock_sha512_rv64_zknh },
        Row { needs: ZVKNHB, kernel: hartlock_sha512_rv64_zvknhb },
    ];
    const FAMILY: HashFamily = HashFamily::Sha512;
    const IS_CARRIED: bool = cfg!(feature = "sha512");

    fn answers(kernels: &Kernels) -> bool {
        answers_one::<Sha512>(kernels, &Sha512::KAT)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.sha512.one = sha2_one(token);
    }
}

// SAFETY: as for one message; a word of each message in a lane, or four words in two registers.
unsafe impl Table for Sha512Many {
    type Kernel = InLanes<Sha2Many<u64, 128>>;
    const ROWS: &'static [Row<Self::Kernel>] = &[
        Row { needs: ZVKB, kernel: InLanes { element_len: 8, kernel: hartlock_sha512_rv64_zvbb } },
        Row {
            needs: ZVKNHB,
            kernel: InLanes { element_len: 4 * 8 / 2, kernel: hartlock_sha512_rv64_zvknhb_streams },
        },
    ];
    const FAMILY: HashFamily = HashFamily::Sha512;
    const IS_CARRIED: bool = Sha512One::IS_CARRIED && cfg!(feature = "lanes");

    fn answers(kernels: &Kernels) -> bool {
        answers_many::<Sha512>(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.sha512.many = Some(sha2_many(token));
    }
}

// SAFETY: the first lines of each file name the extension and what is read and written.
unsafe impl Table for KeccakOneByOne {
    type Kernel = KeccakOne;
    const ROWS: &'static [Row<Self::Kernel>] = &[
        Row { needs: RV64, kernel: hartlock_keccak_rv64 },
        Row { needs: ZBB, kernel: hartlock_keccak_rv64_zbb },
    ];
    const FAMILY: HashFamily = HashFamily::Keccak;
    const IS_CARRIED: bool = cfg!(feature = "keccak");

    // 24 rounds and 12.
    fn answers(kernels: &Kernels) -> bool {
        answers_one::<Sha3_256>(kernels, &Sha3_256::KAT)
            && answers_one::<Kt128>(kernels, &Kt128::KAT)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.keccak.one = keccak_one(token);
    }
}

// SAFETY: as for one message; a word of each message in a lane.
unsafe impl Table for KeccakInLanes {
    type Kernel = InLanes<KeccakMany>;
    const ROWS: &'static [Row<Self::Kernel>] = &[Row {
        needs: ZVKB,
        kernel: InLanes { element_len: 8, kernel: hartlock_keccak_rv64_zvbb },
    }];
    const FAMILY: HashFamily = HashFamily::Keccak;
    const IS_CARRIED: bool = KeccakOneByOne::IS_CARRIED && cfg!(feature = "lanes");

    fn answers(kernels: &Kernels) -> bool {
        answers_many::<Sha3_256>(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.keccak.many = Some(keccak_many(token));
    }
}

/// This hart executes the instructions that a row of a table needs. Only [`Token::detect`] makes it.
struct Token<T, const ROW: usize>(PhantomData<T>);

impl<T: Table, const ROW: usize> Token<T, ROW> {
    const IS_CARRIED: bool = T::IS_CARRIED && ROW < T::ROWS.len() && Self::NEEDS.is_carried;
    // With the remainder, the constants exist for rows past the end too, of which no token is made.
    const NEEDS: Extension = T::ROWS[ROW % T::ROWS.len()].needs;
    const KERNEL: T::Kernel = T::ROWS[ROW % T::ROWS.len()].kernel;

    fn detect(probe: &mut dyn Probe) -> Option<Self> {
        match Self::NEEDS.probe {
            Some(instructions) => probe.runs(instructions).then_some(Self(PhantomData)),
            None => Some(Self(PhantomData)),
        }
    }
}

/// A kernel of SHA-2 for one message.
fn sha2_one<T, W: 'static, const N: usize, const ROW: usize>(
    _: Token<T, ROW>,
) -> One<Compress<W, N>>
where
    T: Table<Kernel = Sha2One<W, N>>,
{
    // Only the function around it can name it, and that needs the token. The same below.
    fn run<T, W: 'static, const N: usize, const ROW: usize>(state: &mut [W; 8], blocks: &[[u8; N]])
    where
        T: Table<Kernel = Sha2One<W, N>>,
    {
        const { assert!(N <= MAX_BLOCK_LEN) };
        each_aligned(state, blocks.as_flattened(), N, |state, blocks| {
            // Named here and not captured: a capture would cost a stack frame. The same below.
            let kernel = Token::<T, ROW>::KERNEL;
            // SAFETY: the token proves that the instructions are there. The kernel rewrites a state
            // that is borrowed here, and reads `count` aligned blocks of N bytes, as `Blocks` has.
            unsafe { kernel(state, blocks.as_ptr().cast(), blocks.count()) }
        });
    }
    One { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, W, N, ROW> }
}

/// A kernel of SHA-2 for several messages.
fn sha2_many<T, W: 'static, const N: usize, const ROW: usize>(
    token: Token<T, ROW>,
) -> Many<CompressMany<W>>
where
    T: Table<Kernel = InLanes<Sha2Many<W, N>>>,
{
    fn run<T, W: 'static, const N: usize, const ROW: usize>(
        states: &mut [[W; 8]],
        messages: &[&[u8]],
    ) where
        T: Table<Kernel = InLanes<Sha2Many<W, N>>>,
    {
        const { assert!(N <= MAX_BLOCK_LEN) };
        // SAFETY: the token proves that there are vectors, which every table of lanes needs.
        let max = unsafe { lanes(const { Token::<T, ROW>::KERNEL.element_len }) };
        each_group(states, messages, N, max, |states, messages| {
            let kernel = const { Token::<T, ROW>::KERNEL.kernel };
            // SAFETY: the token proves that the instructions are there. The kernel rewrites `len`
            // states that are borrowed here, and reads `count` aligned blocks of N bytes of as many
            // messages, as `Messages` has. They are no more than its lanes.
            unsafe {
                kernel(
                    states.as_mut_ptr(),
                    messages.as_ptr().cast(),
                    messages.count(),
                    states.len(),
                );
            }
        });
    }
    Many { tier: Token::<T, ROW>::NEEDS.tier, lanes: token.lanes(), run: run::<T, W, N, ROW> }
}

/// A kernel of the sponge for one message.
fn keccak_one<T, const ROW: usize>(_: Token<T, ROW>) -> One<Absorb>
where
    T: Table<Kernel = KeccakOne>,
{
    fn run<T, const ROW: usize>(
        state: &mut [u64; 25],
        blocks: &[u8],
        rate_words: usize,
        rounds: usize,
    ) where
        T: Table<Kernel = KeccakOne>,
    {
        let (rate_words, rounds) = sponge(rate_words, rounds);
        each_aligned(state, blocks, rate_words.wrapping_mul(8), |state, blocks| {
            let kernel = Token::<T, ROW>::KERNEL;
            // SAFETY: the token proves that the instructions are there. The kernel rewrites a state
            // that is borrowed here, and reads `count` aligned blocks of the rate, as `Blocks` has.
            // Rate and rounds are those that it takes.
            unsafe { kernel(state, blocks.as_ptr(), blocks.count(), rate_words, rounds) }
        });
    }
    One { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, ROW> }
}

/// A kernel of the sponge for several messages.
fn keccak_many<T, const ROW: usize>(token: Token<T, ROW>) -> Many<AbsorbMany>
where
    T: Table<Kernel = InLanes<KeccakMany>>,
{
    fn run<T, const ROW: usize>(
        states: &mut [[u64; 25]],
        messages: &[&[u8]],
        rate_words: usize,
        rounds: usize,
    ) where
        T: Table<Kernel = InLanes<KeccakMany>>,
    {
        let (rate_words, rounds) = sponge(rate_words, rounds);
        // SAFETY: the token proves that there are vectors, which every table of lanes needs.
        let max = unsafe { lanes(const { Token::<T, ROW>::KERNEL.element_len }) };
        each_group(states, messages, rate_words.wrapping_mul(8), max, |states, messages| {
            let kernel = const { Token::<T, ROW>::KERNEL.kernel };
            let (blocks, count) = (messages.as_ptr(), messages.count());
            // SAFETY: the token proves that the instructions are there. The kernel rewrites `len`
            // states that are borrowed here, and reads `count` aligned blocks of the rate of as many
            // messages, as `Messages` has. They are no more than its lanes. Rate and rounds are those
            // that it takes.
            unsafe { kernel(states.as_mut_ptr(), blocks, count, states.len(), rate_words, rounds) }
        });
    }
    Many { tier: Token::<T, ROW>::NEEDS.tier, lanes: token.lanes(), run: run::<T, ROW> }
}

impl<T: Table<Kernel = InLanes<K>>, K: Copy + 'static, const ROW: usize> Token<T, ROW> {
    /// Messages that the kernel of the row takes at once.
    fn lanes(self) -> usize {
        // SAFETY: the token proves that there are vectors, which every table of lanes needs.
        unsafe { lanes(Self::KERNEL.element_len) }
    }
}

/// Lanes of a hart with vectors, for messages that take `element_len` bytes of a register each.
///
/// # Safety
///
/// The hart has vectors.
unsafe fn lanes(element_len: usize) -> usize {
    // SAFETY: it reads a register of the vector unit, which the caller promises to be there.
    let vlenb = unsafe { hartlock_vlenb() };
    vlenb.checked_div(element_len).unwrap_or(1).clamp(1, MAX_LANES)
}

/// Rate and rounds as the kernels take them: 1 to 21 words, 12 or 24 rounds.
fn sponge(rate_words: usize, rounds: usize) -> (usize, usize) {
    (rate_words.clamp(1, MAX_BLOCK_LEN / 8), if rounds == 12 { 12 } else { 24 })
}

/// Adds groups of six digits, times the six of b, to a sum of at least six limbs more (`rsa/digits.rs`). It needs no
/// token: no instruction of it is beyond those for which this module is compiled.
#[cfg(all(feature = "scalar", feature = "rsa"))]
pub(crate) fn add_rows(sum: &mut [u64], a: &[[u64; 6]], b: &[u64; 6], start: &[u64; 6]) {
    let count = a.len().min((sum.len() / 6).saturating_sub(1));
    if count > 0 {
        // SAFETY: it reads `count` groups of `a`, `b` and `start`, and updates one group more of `sum`: borrows that are
        // held. Limbs are aligned.
        unsafe { hartlock_rsa_rv64(sum.as_mut_ptr(), a.as_ptr(), count, b, start) };
    }
}

/// Calls a product of `ed25519_rv64.S`, whose calling convention is its own.
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
macro_rules! ed25519_product {
    ($function:ident, $to:expr, $a:expr, $last:expr) => {
        asm!(
            "call {}", sym $function,
            inlateout("a0") $to => _, inlateout("a1") $a => _, inlateout("a2") $last => _,
            out("s2") _, out("s3") _, out("s4") _, out("s5") _, out("s6") _, out("s7") _, out("s8") _,
            out("s9") _, out("s10") _, out("s11") _, clobber_abi("C"), options(nostack),
        )
    };
}

/// a · b modulo 2^255 - 19, reduced, for loose limbs (`ed25519/field.rs`). It needs no token, as [`add_rows`].
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let mut product = MaybeUninit::uninit();
    let to: *mut [u64; 5] = product.as_mut_ptr();
    // SAFETY: it reads five limbs of each factor and writes those of the product: borrows that are held, and aligned.
    unsafe { ed25519_product!(hartlock_ed25519_multiply_rv64, to, a, b) };
    // SAFETY: written just now.
    unsafe { product.assume_init() }
}

/// The same into limbs that are there.
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_multiply_into(product: &mut [u64; 5], a: &[u64; 5], b: &[u64; 5]) {
    // SAFETY: as above.
    unsafe { ed25519_product!(hartlock_ed25519_multiply_rv64, product, a, b) };
}

/// a, squared `times` times modulo 2^255 - 19, as [`ed25519_multiply`]. `times` is not zero.
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_square(a: &[u64; 5], times: usize) -> [u64; 5] {
    let mut square = MaybeUninit::uninit();
    let to: *mut [u64; 5] = square.as_mut_ptr();
    // SAFETY: as for a product.
    unsafe { ed25519_product!(hartlock_ed25519_square_rv64, to, a, times) };
    // SAFETY: written just now.
    unsafe { square.assume_init() }
}

/// Tries every kernel, from the lowest tier up, and keeps the highest that works. With `dyn` the rows are
/// compiled once, in this crate: smaller and faster than for each probe.
pub(crate) fn offer_all(kernels: &mut Kernels, probe: &mut dyn Probe) {
    offer_table::<Sha256One>(kernels, probe);
    offer_table::<Sha256Many>(kernels, probe);
    offer_table::<Sha512One>(kernels, probe);
    offer_table::<Sha512Many>(kernels, probe);
    offer_table::<KeccakOneByOne>(kernels, probe);
    offer_table::<KeccakInLanes>(kernels, probe);
}

/// One call a row and not a loop: a stage contains the rows that it carries, and no table.
fn offer_table<T: Table>(kernels: &mut Kernels, probe: &mut dyn Probe) {
    const { assert!(T::ROWS.len() <= 4, "a row would never be offered") };
    offer::<T, 0>(kernels, probe);
    offer::<T, 1>(kernels, probe);
    offer::<T, 2>(kernels, probe);
    offer::<T, 3>(kernels, probe);
}

/// Takes the kernel of a row if the instructions are there and the answers are right.
fn offer<T: Table, const ROW: usize>(kernels: &mut Kernels, probe: &mut dyn Probe) {
    if const { !Token::<T, ROW>::IS_CARRIED } {
        return;
    }
    let (family, tier) = (T::FAMILY, Token::<T, ROW>::NEEDS.tier);
    if !probe.is_wanted(family, tier) {
        return;
    }
    let Some(token) = Token::<T, ROW>::detect(probe) else {
        probe.rejected(family, tier, KernelFault::Trapped);
        return;
    };
    let mut changed = *kernels;
    T::choose(&mut changed, token);
    if T::answers(&changed) {
        *kernels = changed;
    } else {
        probe.rejected(family, tier, KernelFault::WrongAnswer);
    }
}
