//! Kernels of AES: their tables, and the safe functions that tokens allow.

use super::assembly::*;
use super::quads::each_quad;
#[cfg(feature = "aes")]
use super::quads::{AlignedBytes, each_block};
use super::{Extension, Family, Table, TableRow, Token, offer_table};
use crate::aes::ctr::portable_stream;
#[cfg(feature = "aes")]
use crate::aes::gcm::portable_open;
#[cfg(feature = "aes")]
use crate::aes::kernels::Gcm;
use crate::aes::kernels::{CipherMode, CipherTier, Ctr, Schedule};
use crate::aes::known::answers_ctr;
#[cfg(feature = "aes")]
use crate::aes::known::answers_gcm;
use crate::aes::{AesKey, Block, Columns};
use crate::dispatch::{KernelFault, Kernels, Probe};
#[cfg(feature = "aes")]
use crate::secret::wipe;

impl Family for CipherMode {
    type Tier = CipherTier;

    fn is_wanted(self, tier: CipherTier, probe: &dyn Probe) -> bool {
        probe.is_cipher_wanted(self, tier)
    }

    fn reject(self, tier: CipherTier, why: KernelFault, probe: &mut dyn Probe) {
        probe.rejected_cipher(self, tier, why);
    }
}

/// Zkne with Zbkb.
const ZKNE: Extension<CipherTier> = Extension {
    tier: CipherTier::Zkne,
    is_carried: cfg!(feature = "zkne"),
    probe: Some(hartlock_probe_zkne),
};
/// Zkne with Zbkb and Zbkc.
#[cfg(feature = "aes")]
const ZKNE_ZBKC: Extension<CipherTier> =
    Extension { probe: Some(hartlock_probe_zkne_zbkc), ..ZKNE };
/// The vector extension with Zvkb and Zvkned.
const ZVKNED: Extension<CipherTier> = Extension {
    tier: CipherTier::Zvkned,
    is_carried: cfg!(feature = "zvkned"),
    probe: Some(hartlock_probe_zvkned),
};

/// The vector extension with Zvkb, Zvkned and Zvbc.
#[cfg(feature = "aes")]
const ZVBC: Extension<CipherTier> = Extension { probe: Some(hartlock_probe_zvkned_zvbc), ..ZVKNED };
/// The vector extension with Zvkb, Zvkned and Zvkg.
#[cfg(feature = "aes")]
const ZVKG: Extension<CipherTier> =
    Extension { tier: CipherTier::Zvkg, probe: Some(hartlock_probe_zvkned_zvkg), ..ZVKNED };

/// A kernel of counter mode.
#[derive(Clone, Copy)]
enum Streaming {
    /// For any text.
    Bytes(AesCtr),
    /// For whole quads of blocks that are aligned, like the counter block.
    Quads(AesCtr),
}

/// A key schedule.
#[derive(Clone, Copy)]
enum Expanding {
    /// For keys of all lengths.
    Every(AesKeySchedule),
    /// For keys of 128 and of 256 bits.
    But192(AesKeySchedule),
}

/// The kernels of counter mode with the same extensions.
#[derive(Clone, Copy)]
struct CtrRow {
    schedule: Expanding,
    stream: Streaming,
}

/// A kernel of GHASH.
#[cfg(feature = "aes")]
#[derive(Clone, Copy)]
enum GhashKernel {
    /// For any data.
    Bytes(GhashFunction),
    /// For whole blocks that are aligned, like hash key and hash.
    Blocks(GhashFunction),
}

/// How a text is hashed and decrypted.
#[cfg(feature = "aes")]
#[derive(Clone, Copy)]
enum Opening {
    /// In one pass.
    Together(AesGcm),
    /// By the kernel of the hash, and then by this one.
    AfterHash(Streaming),
}

/// The kernels of GCM with the same extensions.
#[cfg(feature = "aes")]
#[derive(Clone, Copy)]
struct GcmRow {
    hash: GhashKernel,
    open: Opening,
}

struct CtrTable;
#[cfg(feature = "aes")]
struct GcmTable;

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for CtrTable {
    type Kernel = CtrRow;
    type Family = CipherMode;
    const ROWS: &'static [TableRow<Self::Kernel, CipherTier>] = &[
        TableRow {
            needs: ZKNE,
            kernel: CtrRow {
                schedule: Expanding::Every(hartlock_aes_key_rv64_zkne),
                stream: Streaming::Quads(hartlock_aes_ctr_rv64_zkne),
            },
        },
        TableRow {
            needs: ZVKNED,
            kernel: CtrRow {
                schedule: Expanding::But192(hartlock_aes_key_rv64_zvkned),
                stream: Streaming::Bytes(hartlock_aes_ctr_rv64_zvkned),
            },
        },
    ];
    const FAMILY: CipherMode = CipherMode::Ctr;
    const IS_CARRIED: bool = true;

    fn answers(kernels: &Kernels) -> bool {
        answers_ctr(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        (kernels.aes.schedule, kernels.aes.ctr) = (Some(schedule(&token)), ctr(token));
    }
}

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
#[cfg(feature = "aes")]
unsafe impl Table for GcmTable {
    type Kernel = GcmRow;
    type Family = CipherMode;
    const ROWS: &'static [TableRow<Self::Kernel, CipherTier>] = &[
        TableRow {
            needs: ZKNE_ZBKC,
            kernel: GcmRow {
                hash: GhashKernel::Blocks(hartlock_ghash_rv64_zbkc),
                open: Opening::AfterHash(Streaming::Quads(hartlock_aes_ctr_rv64_zkne)),
            },
        },
        TableRow {
            needs: ZVBC,
            kernel: GcmRow {
                hash: GhashKernel::Bytes(hartlock_ghash_rv64_zvbc),
                open: Opening::AfterHash(Streaming::Bytes(hartlock_aes_ctr_rv64_zvkned)),
            },
        },
        TableRow {
            needs: ZVKG,
            kernel: GcmRow {
                hash: GhashKernel::Bytes(hartlock_ghash_rv64_zvkg),
                open: Opening::Together(hartlock_aes_gcm_rv64_zvkg),
            },
        },
    ];
    const FAMILY: CipherMode = CipherMode::Gcm;
    const IS_CARRIED: bool = true;

    fn answers(kernels: &Kernels) -> bool {
        answers_gcm(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.aes.gcm = gcm(token);
    }
}

/// XORs a key stream to a text.
///
/// # Safety
///
/// The hart must have the instructions of the kernel.
unsafe fn stream(kernel: Streaming, key: &AesKey, first: &Block, text: &mut [u8]) {
    let Some((keys, rounds)) = key.columns() else {
        return portable_stream(key, first, text);
    };
    match kernel {
        Streaming::Bytes(kernel) => {
            // SAFETY: the caller guarantees that the hart has the instructions. The kernel reads `rounds` + 1 round
            // keys, which `columns` guarantees, and the counter block, and rewrites the text. All of them are
            // borrowed here.
            unsafe { kernel(keys.as_ptr(), rounds, first, text.as_mut_ptr(), text.len()) }
        }
        Streaming::Quads(kernel) => each_quad(first, text, |first, text| {
            // SAFETY: the same argument applies. Round keys and counter block are aligned by their types, and
            // `each_quad` passes whole quads that are aligned.
            unsafe {
                kernel(keys.as_ptr(), rounds, &raw const first.0, text.as_mut_ptr(), text.len())
            }
        }),
    }
}

/// Adds data to a hash.
///
/// # Safety
///
/// The hart must have the instructions of the kernel.
#[cfg(feature = "aes")]
unsafe fn add(kernel: GhashKernel, hash_key: &Block, hash: &mut Block, data: &[u8]) {
    match kernel {
        GhashKernel::Bytes(kernel) => {
            // SAFETY: the caller guarantees that the hart has the instructions. The kernel reads hash key and data,
            // and rewrites the hash. All of them are borrowed here.
            unsafe { kernel(hash_key, hash, data.as_ptr(), data.len()) }
        }
        GhashKernel::Blocks(kernel) => {
            let (mut aligned_key, mut aligned) = (AlignedBytes(*hash_key), AlignedBytes(*hash));
            each_block(data, |data| {
                // SAFETY: the same argument applies. Hash key and hash are aligned by their types, and `each_block`
                // passes whole blocks that are aligned.
                unsafe {
                    kernel(&raw const aligned_key.0, &raw mut aligned.0, data.as_ptr(), data.len());
                }
            });
            *hash = aligned.0;
            wipe(&mut aligned_key.0);
            wipe(&mut aligned.0);
        }
    }
}

/// Returns the key schedule of a row.
fn schedule<T, const ROW: usize>(_: &Token<T, ROW>) -> Schedule
where
    T: Table<Kernel = CtrRow, Family = CipherMode>,
{
    fn run<T, const ROW: usize>(columns: &mut Columns, rounds: usize)
    where
        T: Table<Kernel = CtrRow>,
    {
        let kernel = match const { Token::<T, ROW>::KERNEL.schedule } {
            Expanding::But192(_) if rounds == 12 => return columns.expand(rounds),
            Expanding::Every(kernel) | Expanding::But192(kernel) => kernel,
        };
        if matches!(rounds, 10 | 12 | 14) {
            // SAFETY: the token proves that the hart has the instructions. The kernel rewrites `rounds` + 1 round
            // keys, for which there is place, and which are aligned by their type. They are borrowed mutably here.
            unsafe { kernel(columns.0.as_mut_ptr(), rounds) }
        }
    }
    run::<T, ROW>
}

/// Returns the kernel of a row for counter mode.
fn ctr<T, const ROW: usize>(_: Token<T, ROW>) -> Ctr
where
    T: Table<Kernel = CtrRow, Family = CipherMode>,
{
    // Only the enclosing function can name `run`, and it requires the token. The same holds for the functions below.
    fn run<T, const ROW: usize>(key: &AesKey, first: &Block, text: &mut [u8])
    where
        T: Table<Kernel = CtrRow>,
    {
        // SAFETY: the token proves that the hart has the instructions.
        unsafe { stream(const { Token::<T, ROW>::KERNEL.stream }, key, first, text) }
    }
    Ctr { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, ROW> }
}

/// Returns the kernels of a row for GCM.
#[cfg(feature = "aes")]
fn gcm<T, const ROW: usize>(_: Token<T, ROW>) -> Gcm
where
    T: Table<Kernel = GcmRow, Family = CipherMode>,
{
    fn hash<T, const ROW: usize>(hash_key: &Block, hash: &mut Block, data: &[u8])
    where
        T: Table<Kernel = GcmRow>,
    {
        // SAFETY: the token proves that the hart has the instructions.
        unsafe { add(const { Token::<T, ROW>::KERNEL.hash }, hash_key, hash, data) }
    }

    fn open<T, const ROW: usize>(
        key: &AesKey,
        first: &Block,
        hash_key: &Block,
        hash: &mut Block,
        text: &mut [u8],
    ) where
        T: Table<Kernel = GcmRow>,
    {
        let GcmRow { hash: hashing, open } = const { Token::<T, ROW>::KERNEL };
        let Some((keys, rounds)) = key.columns() else {
            return portable_open(key, first, hash_key, hash, text);
        };
        match open {
            Opening::Together(kernel) => {
                let (text, len) = (text.as_mut_ptr(), text.len());
                // SAFETY: the token proves that the hart has the instructions. The kernel reads `rounds` + 1 round
                // keys, which `columns` guarantees, the counter block and the hash key, and rewrites hash and text.
                // All of them are borrowed here.
                unsafe { kernel(keys.as_ptr(), rounds, first, hash_key, hash, text, len) }
            }
            Opening::AfterHash(streaming) => {
                // SAFETY: the token proves that the hart has the instructions.
                unsafe { add(hashing, hash_key, hash, text) }
                // SAFETY: the same argument applies.
                unsafe { stream(streaming, key, first, text) }
            }
        }
    }
    Gcm { tier: Token::<T, ROW>::NEEDS.tier, hash: hash::<T, ROW>, open: open::<T, ROW> }
}

/// Tests every kernel, and selects the best of each mode. GCM comes last, because it uses the kernel of counter mode.
pub(super) fn offer_all(kernels: &mut Kernels, probe: &mut dyn Probe) {
    offer_table::<CtrTable>(kernels, probe);
    #[cfg(feature = "aes")]
    offer_table::<GcmTable>(kernels, probe);
}
