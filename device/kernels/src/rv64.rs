//! Kernels in RISC-V assembly: the tables of kernels, and the tokens that allow a call.
//!
//! A token proves that this hart executes the instructions that a row of a table needs, which makes the kernel of that
//! row a safe function. [`Token::detect`] makes a token only if the [`Probe`] for these instructions succeeds, or if
//! the row needs no extension. All other code of this crate calls no assembly, except for functions that need only the
//! base instruction set.

#[cfg(feature = "aes-ctr")]
mod aes;
mod aligned;
mod assembly;
#[cfg(feature = "aes-ctr")]
mod quads;
#[cfg(feature = "research")]
mod walnut;

#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
use core::arch::asm;
use core::marker::PhantomData;
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
use core::mem::MaybeUninit;

use crate::dispatch::{
    Compress, CompressMany, HashFamily, KernelFault, Kernels, MAX_LANES, Many, One, Probe,
    Sha2Word, Tier,
};
#[cfg(feature = "ml-dsa")]
use crate::keccak::Squeeze;
use crate::keccak::permutation::{Absorb, AbsorbMany};
#[cfg(feature = "ml-dsa")]
use crate::known::answers_squeeze;
use crate::known::{answers_many, answers_one};
use crate::kt128::Kt128;
use crate::sha2::{Sha256, Sha512};
use crate::sha3::Sha3_256;
use aligned::{MAX_BLOCK_LEN, each_aligned, each_group};
use assembly::*;

/// Extensions that a kernel needs in addition to RV64I, for which this module is compiled.
#[derive(Clone, Copy)]
struct Extension<T = Tier> {
    tier: T,
    /// True if this build contains the kernels that need the extension.
    is_carried: bool,
    /// Function that executes the instructions. It is `None` for RV64I, which needs no test.
    probe: Option<Instructions>,
}

const RV64: Extension =
    Extension { tier: Tier::Rv64, is_carried: cfg!(feature = "scalar"), probe: None };
/// Zbb, with `rori`, `rev8`, `andn` and similar instructions.
const ZBB: Extension = Extension {
    tier: Tier::Zbb,
    is_carried: cfg!(feature = "zbb"),
    probe: Some(hartlock_probe_zbb),
};
/// Zknh together with Zbb.
const ZKNH: Extension = Extension {
    tier: Tier::Zknh,
    is_carried: cfg!(feature = "zknh"),
    probe: Some(hartlock_probe_zknh),
};
/// The vector extension alone, with at least 128 bits in a register.
const V: Extension =
    Extension { tier: Tier::V, is_carried: cfg!(feature = "v"), probe: Some(hartlock_probe_lanes) };
/// The vector extension with Zvkb, the subset of Zvbb that kernels for several messages need.
const ZVKB: Extension = Extension {
    tier: Tier::Zvbb,
    is_carried: cfg!(feature = "zvbb"),
    probe: Some(hartlock_probe_zvkb),
};
/// The vector extension with Zvkb and either Zvknha or Zvknhb.
const ZVKNHA: Extension = Extension {
    tier: Tier::Zvknh,
    is_carried: cfg!(feature = "zvknh"),
    probe: Some(hartlock_probe_zvknha),
};
/// The vector extension with Zvkb and Zvknhb.
const ZVKNHB: Extension = Extension { probe: Some(hartlock_probe_zvknhb), ..ZVKNHA };

/// A kernel and the extension that it needs.
struct TableRow<K, T = Tier> {
    needs: Extension<T>,
    kernel: K,
}

/// Functions that share a kernel, and the probe's say in the selection of that kernel.
trait Family: Copy {
    type Tier: Copy + 'static;

    fn is_wanted(self, tier: Self::Tier, probe: &dyn Probe) -> bool;

    fn reject(self, tier: Self::Tier, why: KernelFault, probe: &mut dyn Probe);
}

impl Family for HashFamily {
    type Tier = Tier;

    fn is_wanted(self, tier: Tier, probe: &dyn Probe) -> bool {
        probe.is_wanted(self, tier)
    }

    fn reject(self, tier: Tier, why: KernelFault, probe: &mut dyn Probe) {
        probe.rejected(self, tier, why);
    }
}

/// A kernel for several messages, each of which takes `element_len` bytes of a vector register.
#[derive(Clone, Copy)]
struct InLanes<K> {
    element_len: usize,
    kernel: K,
}

/// The two functions of a sponge kernel for one message.
#[derive(Clone, Copy)]
struct KeccakPair {
    absorb: KeccakOne,
    #[cfg(feature = "ml-dsa")]
    squeeze: KeccakSqueeze,
}

/// The kernels of a family, such as a hash for one message or for several, from the lowest tier to the highest.
///
/// # Safety
///
/// The kernel of a row executes only instructions of RV64I and of the extension that the row needs, and its effects
/// are limited to those that its prototype describes ([`assembly`]). With [`InLanes`], that extension includes the
/// vector extension, and the kernel can process as many messages as elements of `element_len` bytes fit into a vector
/// register.
unsafe trait Table: Sized {
    type Kernel: Copy + 'static;
    type Family: Family;
    const ROWS: &'static [TableRow<Self::Kernel, TierOf<Self>>];
    const FAMILY: Self::Family;
    /// True if this build contains the kernels of the family.
    const IS_CARRIED: bool;

    /// Returns true if the selected kernel passes the known-answer tests.
    fn answers(kernels: &Kernels) -> bool;

    /// Selects the kernel of a row.
    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>);
}

type TierOf<T> = <<T as Table>::Family as Family>::Tier;

struct Sha256One;
struct Sha256Many;
struct Sha512One;
struct Sha512Many;
struct KeccakOneByOne;
struct KeccakInLanes;

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for Sha256One {
    type Kernel = Sha2One<u32, 64>;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow { needs: RV64, kernel: hartlock_sha256_rv64 },
        TableRow { needs: ZBB, kernel: hartlock_sha256_rv64_zbb },
        TableRow { needs: ZKNH, kernel: hartlock_sha256_rv64_zknh },
        TableRow { needs: ZVKNHA, kernel: hartlock_sha256_rv64_zvknha },
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

// SAFETY: the argument for one message applies. In addition, each lane holds one word of each message, or four words
// of a message are in two registers.
unsafe impl Table for Sha256Many {
    type Kernel = InLanes<Sha2Many<u32, 64>>;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow { needs: V, kernel: InLanes { element_len: 4, kernel: hartlock_sha256_rv64_v } },
        TableRow {
            needs: ZVKB,
            kernel: InLanes { element_len: 4, kernel: hartlock_sha256_rv64_zvbb },
        },
        TableRow {
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

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for Sha512One {
    type Kernel = Sha2One<u64, 128>;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow { needs: RV64, kernel: hartlock_sha512_rv64 },
        TableRow { needs: ZBB, kernel: hartlock_sha512_rv64_zbb },
        TableRow { needs: ZKNH, kernel: hartlock_sha512_rv64_zknh },
        TableRow { needs: ZVKNHB, kernel: hartlock_sha512_rv64_zvknhb },
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

// SAFETY: the argument for one message applies. In addition, each lane holds one word of each message, or four words
// of a message are in two registers.
unsafe impl Table for Sha512Many {
    type Kernel = InLanes<Sha2Many<u64, 128>>;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow { needs: V, kernel: InLanes { element_len: 8, kernel: hartlock_sha512_rv64_v } },
        TableRow {
            needs: ZVKB,
            kernel: InLanes { element_len: 8, kernel: hartlock_sha512_rv64_zvbb },
        },
        TableRow {
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

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for KeccakOneByOne {
    type Kernel = KeccakPair;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow {
            needs: RV64,
            kernel: KeccakPair {
                absorb: hartlock_keccak_rv64,
                #[cfg(feature = "ml-dsa")]
                squeeze: hartlock_keccak_squeeze_rv64,
            },
        },
        TableRow {
            needs: ZBB,
            kernel: KeccakPair {
                absorb: hartlock_keccak_rv64_zbb,
                #[cfg(feature = "ml-dsa")]
                squeeze: hartlock_keccak_squeeze_rv64_zbb,
            },
        },
    ];
    const FAMILY: HashFamily = HashFamily::Keccak;
    const IS_CARRIED: bool = cfg!(feature = "keccak");

    // These two hashes use 24 rounds and 12 rounds.
    fn answers(kernels: &Kernels) -> bool {
        #[cfg(feature = "ml-dsa")]
        if !answers_squeeze(kernels) {
            return false;
        }
        answers_one::<Sha3_256>(kernels, &Sha3_256::KAT)
            && answers_one::<Kt128>(kernels, &Kt128::KAT)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        #[cfg(feature = "ml-dsa")]
        {
            kernels.keccak_squeeze = Some(keccak_squeeze(&token));
        }
        kernels.keccak.one = keccak_one(token);
    }
}

// SAFETY: the argument for one message applies. In addition, each lane holds one word of each message.
unsafe impl Table for KeccakInLanes {
    type Kernel = InLanes<KeccakMany>;
    type Family = HashFamily;
    const ROWS: &'static [TableRow<Self::Kernel>] = &[
        TableRow { needs: V, kernel: InLanes { element_len: 8, kernel: hartlock_keccak_rv64_v } },
        TableRow {
            needs: ZVKB,
            kernel: InLanes { element_len: 8, kernel: hartlock_keccak_rv64_zvbb },
        },
    ];
    const FAMILY: HashFamily = HashFamily::Keccak;
    const IS_CARRIED: bool = KeccakOneByOne::IS_CARRIED && cfg!(feature = "lanes");

    fn answers(kernels: &Kernels) -> bool {
        answers_many::<Sha3_256>(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.keccak.many = Some(keccak_many(token));
    }
}

/// Proof that this hart executes the instructions that a row of a table needs. Only [`Token::detect`] makes it.
struct Token<T, const ROW: usize>(PhantomData<T>);

impl<T: Table, const ROW: usize> Token<T, ROW> {
    const IS_CARRIED: bool = T::IS_CARRIED && ROW < T::ROWS.len() && Self::NEEDS.is_carried;
    // The remainder makes the constants valid for rows past the end. No token is made for such rows.
    const NEEDS: Extension<TierOf<T>> = T::ROWS[ROW % T::ROWS.len()].needs;
    const KERNEL: T::Kernel = T::ROWS[ROW % T::ROWS.len()].kernel;

    fn detect(probe: &mut dyn Probe) -> Option<Self> {
        match Self::NEEDS.probe {
            Some(instructions) => probe.runs(instructions).then_some(Self(PhantomData)),
            None => Some(Self(PhantomData)),
        }
    }
}

/// Returns the SHA-2 kernel of a row for one message.
fn sha2_one<T, W: Sha2Word<N> + 'static, const N: usize, const ROW: usize>(
    _: Token<T, ROW>,
) -> One<Compress<W, N>>
where
    T: Table<Kernel = Sha2One<W, N>, Family = HashFamily>,
{
    // Only the enclosing function can name `run`, and it requires the token. The same holds for the functions below.
    fn run<T, W: 'static, const N: usize, const ROW: usize>(state: &mut [W; 8], blocks: &[[u8; N]])
    where
        T: Table<Kernel = Sha2One<W, N>>,
    {
        const { assert!(N <= MAX_BLOCK_LEN) };
        each_aligned(state, blocks.as_flattened(), N, |state, blocks| {
            // The kernel is a constant here and is not captured, because a capture would cost a stack frame. The same
            // holds for the functions below.
            let kernel = Token::<T, ROW>::KERNEL;
            // SAFETY: the token proves that the hart has the instructions. The kernel rewrites the state, which is
            // borrowed mutably here, and reads `count` aligned blocks of N bytes, which `Blocks` guarantees.
            unsafe { kernel(state, blocks.as_ptr().cast(), blocks.count()) }
        });
    }
    One { tier: Token::<T, ROW>::NEEDS.tier, run: Compress::Software(run::<T, W, N, ROW>) }
}

/// Returns the SHA-2 kernel of a row for several messages.
fn sha2_many<T, W: 'static, const N: usize, const ROW: usize>(
    token: Token<T, ROW>,
) -> Many<CompressMany<W>>
where
    T: Table<Kernel = InLanes<Sha2Many<W, N>>, Family = HashFamily>,
{
    fn run<T, W: 'static, const N: usize, const ROW: usize>(
        states: &mut [[W; 8]],
        messages: &[&[u8]],
    ) where
        T: Table<Kernel = InLanes<Sha2Many<W, N>>>,
    {
        const { assert!(N <= MAX_BLOCK_LEN) };
        // SAFETY: the token proves that the hart has the vector extension, which every table of kernels for several
        // messages needs.
        let max = unsafe { lanes(const { Token::<T, ROW>::KERNEL.element_len }) };
        each_group(states, messages, N, max, |states, messages| {
            let kernel = const { Token::<T, ROW>::KERNEL.kernel };
            // SAFETY: the token proves that the hart has the instructions. The kernel rewrites `len` states, which
            // are borrowed mutably here, and reads `count` aligned blocks of N bytes of each of `len` messages, which
            // `Messages` guarantees. `len` is at most the number of lanes.
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

/// Returns the sponge kernel of a row for one message.
fn keccak_one<T, const ROW: usize>(_: Token<T, ROW>) -> One<Absorb>
where
    T: Table<Kernel = KeccakPair, Family = HashFamily>,
{
    fn run<T, const ROW: usize>(
        state: &mut [u64; 25],
        blocks: &[u8],
        rate_words: usize,
        rounds: usize,
    ) where
        T: Table<Kernel = KeccakPair>,
    {
        let (rate_words, rounds) = sponge(rate_words, rounds);
        each_aligned(state, blocks, rate_words.wrapping_mul(8), |state, blocks| {
            let kernel = Token::<T, ROW>::KERNEL.absorb;
            // SAFETY: the token proves that the hart has the instructions. The kernel rewrites the state, which is
            // borrowed mutably here, and reads `count` aligned blocks of the rate, which `Blocks` guarantees.
            // `sponge` limits rate and rounds to the values that the kernel supports.
            unsafe { kernel(state, blocks.as_ptr(), blocks.count(), rate_words, rounds) }
        });
    }
    One { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, ROW> }
}

/// Returns the function of a row that squeezes a sponge.
#[cfg(feature = "ml-dsa")]
fn keccak_squeeze<T, const ROW: usize>(_: &Token<T, ROW>) -> Squeeze
where
    T: Table<Kernel = KeccakPair>,
{
    fn run<T: Table<Kernel = KeccakPair>, const ROW: usize>(
        state: &mut [u64; 25],
        blocks: &mut [[u64; 21]],
    ) {
        let kernel = Token::<T, ROW>::KERNEL.squeeze;
        // SAFETY: the token proves that the hart has the instructions. The kernel rewrites the state and as many blocks
        // as there are, one less than its count. Both are borrowed mutably here.
        unsafe { kernel(state, blocks.as_mut_ptr(), blocks.len().wrapping_add(1)) }
    }
    run::<T, ROW>
}

/// Returns the sponge kernel of a row for several messages.
fn keccak_many<T, const ROW: usize>(token: Token<T, ROW>) -> Many<AbsorbMany>
where
    T: Table<Kernel = InLanes<KeccakMany>, Family = HashFamily>,
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
        // SAFETY: the token proves that the hart has the vector extension, which every table of kernels for several
        // messages needs.
        let max = unsafe { lanes(const { Token::<T, ROW>::KERNEL.element_len }) };
        each_group(states, messages, rate_words.wrapping_mul(8), max, |states, messages| {
            let kernel = const { Token::<T, ROW>::KERNEL.kernel };
            let (blocks, count) = (messages.as_ptr(), messages.count());
            // SAFETY: the token proves that the hart has the instructions. The kernel rewrites `len` states, which
            // are borrowed mutably here, and reads `count` aligned blocks of the rate of each of `len` messages,
            // which `Messages` guarantees. `len` is at most the number of lanes. `sponge` limits rate and rounds to
            // the values that the kernel supports.
            unsafe { kernel(states.as_mut_ptr(), blocks, count, states.len(), rate_words, rounds) }
        });
    }
    Many { tier: Token::<T, ROW>::NEEDS.tier, lanes: token.lanes(), run: run::<T, ROW> }
}

impl<T: Table<Kernel = InLanes<K>>, K: Copy + 'static, const ROW: usize> Token<T, ROW> {
    /// Returns the number of messages that the kernel of the row processes at once.
    fn lanes(self) -> usize {
        // SAFETY: the token proves that the hart has the vector extension, which every table of kernels for several
        // messages needs.
        unsafe { lanes(Self::KERNEL.element_len) }
    }
}

/// Returns the number of lanes for messages that take `element_len` bytes of a vector register each.
///
/// # Safety
///
/// The hart must have the vector extension.
unsafe fn lanes(element_len: usize) -> usize {
    // SAFETY: the function reads a vector CSR, and the caller guarantees that the hart has the vector extension.
    let vlenb = unsafe { hartlock_vlenb() };
    vlenb.checked_div(element_len).unwrap_or(1).clamp(1, MAX_LANES)
}

/// Limits rate and rounds to the values that the kernels support: 1 to 21 words, 12 or 24 rounds.
fn sponge(rate_words: usize, rounds: usize) -> (usize, usize) {
    (rate_words.clamp(1, MAX_BLOCK_LEN / 8), if rounds == 12 { 12 } else { 24 })
}

/// Adds the product of `a` and the six digits of `b` to `sum`, which has at least six limbs more than `a`
/// (`rsa/digits.rs`). The function needs no token, because its assembly uses only the instructions for which this
/// module is compiled.
#[cfg(all(feature = "scalar", feature = "rsa"))]
pub(crate) fn add_rows(sum: &mut [u64], a: &[[u64; 6]], b: &[u64; 6], start: &[u64; 6]) {
    let count = a.len().min((sum.len() / 6).saturating_sub(1));
    if count > 0 {
        // SAFETY: the function reads `count` groups of `a`, and also `b` and `start`, and updates `count` + 1 groups
        // of `sum`. All of them are borrowed here. Limbs are aligned.
        unsafe { hartlock_rsa_rv64(sum.as_mut_ptr(), a.as_ptr(), count, b, start) };
    }
}

/// Writes NTT(w) to `to` (`ml_dsa/ntt.rs`). `w` is scratch space afterwards. This function and the next two need no
/// token, for the same reason as [`add_rows`].
#[cfg(all(feature = "scalar", feature = "ml-dsa"))]
pub(crate) fn ml_dsa_forward(w: &mut [u64; 256], zetas: &[[u64; 15]; 17], to: &mut [u32; 256]) {
    // SAFETY: the function reads `zetas`, updates `w` and writes `to`, and nothing else. All of them are borrowed here
    // and aligned.
    unsafe { hartlock_ml_dsa_forward_rv64(w, zetas, to) };
}

/// Replaces w by NTT(w) ∘ factor without reduction.
#[cfg(all(feature = "scalar", feature = "ml-dsa"))]
pub(crate) fn ml_dsa_multiply(w: &mut [u64; 256], zetas: &[[u64; 15]; 17], factor: &[u32; 256]) {
    // SAFETY: the function reads `zetas` and `factor` and updates `w`, and nothing else. All of them are borrowed here
    // and aligned.
    unsafe { hartlock_ml_dsa_multiply_rv64(w, zetas, factor) };
}

/// Replaces w by its inverse NTT, as fractions.
#[cfg(all(feature = "scalar", feature = "ml-dsa"))]
pub(crate) fn ml_dsa_inverse(w: &mut [u64; 256], zetas: &[[u64; 15]; 17], constants: &[u64; 3]) {
    // SAFETY: the function reads `zetas` and `constants` and updates `w`, and nothing else. All of them are borrowed
    // here and aligned.
    unsafe { hartlock_ml_dsa_inverse_rv64(w, zetas, constants) };
}

/// Calls a function of `ed25519_rv64.S`, which has a special calling convention.
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

/// Returns a · b modulo 2^255 - 19, reduced, for loose limbs (`ed25519/field.rs`). The function needs no token, for
/// the same reason as [`add_rows`].
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let mut product = MaybeUninit::uninit();
    let to: *mut [u64; 5] = product.as_mut_ptr();
    // SAFETY: the function reads five limbs of each factor and writes five limbs of the product. All of them are
    // borrowed here and aligned.
    unsafe { ed25519_product!(hartlock_ed25519_multiply_rv64, to, a, b) };
    // SAFETY: the call above has written all limbs.
    unsafe { product.assume_init() }
}

/// Writes a · b modulo 2^255 - 19 to `product`. Otherwise the same as [`ed25519_multiply`].
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_multiply_into(product: &mut [u64; 5], a: &[u64; 5], b: &[u64; 5]) {
    // SAFETY: the argument is the same as in `ed25519_multiply`.
    unsafe { ed25519_product!(hartlock_ed25519_multiply_rv64, product, a, b) };
}

/// Returns a^(2^`times`) modulo 2^255 - 19, reduced, for loose limbs. `times` is not zero.
#[cfg(all(feature = "scalar-ed25519", feature = "ed25519"))]
#[inline(always)]
pub(crate) fn ed25519_square(a: &[u64; 5], times: usize) -> [u64; 5] {
    let mut square = MaybeUninit::uninit();
    let to: *mut [u64; 5] = square.as_mut_ptr();
    // SAFETY: the argument is the same as in `ed25519_multiply`, except that the second operand is a number of squarings,
    // which is not zero.
    unsafe { ed25519_product!(hartlock_ed25519_square_rv64, to, a, times) };
    // SAFETY: the call above has written all limbs.
    unsafe { square.assume_init() }
}

/// Tests every kernel, from the lowest tier to the highest, and selects the highest that works. `dyn` has the effect
/// that the rows are compiled once, in this crate, which is smaller and faster than a copy for each probe type.
pub(crate) fn offer_all(kernels: &mut Kernels, probe: &mut dyn Probe) {
    offer_table::<Sha256One>(kernels, probe);
    offer_table::<Sha256Many>(kernels, probe);
    offer_table::<Sha512One>(kernels, probe);
    offer_table::<Sha512Many>(kernels, probe);
    offer_table::<KeccakOneByOne>(kernels, probe);
    offer_table::<KeccakInLanes>(kernels, probe);
    #[cfg(feature = "aes-ctr")]
    aes::offer_all(kernels, probe);
    #[cfg(feature = "research")]
    walnut::offer_all(kernels, probe);
}

/// Offers each row of a table with a call of its own. Without a loop, a stage contains only the rows that it uses,
/// and no table.
fn offer_table<T: Table>(kernels: &mut Kernels, probe: &mut dyn Probe) {
    const { assert!(T::ROWS.len() <= 4, "a row would never be offered") };
    offer::<T, 0>(kernels, probe);
    offer::<T, 1>(kernels, probe);
    offer::<T, 2>(kernels, probe);
    offer::<T, 3>(kernels, probe);
}

/// Selects the kernel of a row if the hart has its instructions and its answers are right.
fn offer<T: Table, const ROW: usize>(kernels: &mut Kernels, probe: &mut dyn Probe) {
    if const { !Token::<T, ROW>::IS_CARRIED } {
        return;
    }
    let (family, tier) = (T::FAMILY, Token::<T, ROW>::NEEDS.tier);
    if !family.is_wanted(tier, probe) {
        return;
    }
    let Some(token) = Token::<T, ROW>::detect(probe) else {
        family.reject(tier, KernelFault::Trapped, probe);
        return;
    };
    let mut changed = *kernels;
    T::choose(&mut changed, token);
    if T::answers(&changed) {
        *kernels = changed;
    } else {
        family.reject(tier, KernelFault::WrongAnswer, probe);
    }
}
