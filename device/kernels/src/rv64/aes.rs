//! Kernels of AES: their tables, and the safe functions that tokens allow.

use super::assembly::*;
use super::{Extension, Family, Table, TableRow, Token, offer_table};
use crate::aes::ctr::portable_stream;
use crate::aes::gcm::portable_open;
use crate::aes::kernels::{CipherMode, CipherTier, Ctr, Gcm};
use crate::aes::known::{answers_ctr, answers_gcm};
use crate::aes::{AesKey, Block};
use crate::dispatch::{KernelFault, Kernels, Probe};

impl Family for CipherMode {
    type Tier = CipherTier;

    fn is_wanted(self, tier: CipherTier, probe: &dyn Probe) -> bool {
        probe.is_cipher_wanted(self, tier)
    }

    fn reject(self, tier: CipherTier, why: KernelFault, probe: &mut dyn Probe) {
        probe.rejected_cipher(self, tier, why);
    }
}

/// The vector extension with Zvkb and Zvkned.
const ZVKNED: Extension<CipherTier> = Extension {
    tier: CipherTier::Zvkned,
    is_carried: cfg!(feature = "zvkned"),
    probe: Some(hartlock_probe_zvkned),
};

/// The vector extension with Zvkb, Zvkned and Zvkg.
const ZVKG: Extension<CipherTier> =
    Extension { tier: CipherTier::Zvkg, probe: Some(hartlock_probe_zvkned_zvkg), ..ZVKNED };

/// The kernels of GCM with the same extensions.
#[derive(Clone, Copy)]
struct GcmRow {
    hash: Ghash,
    open: AesGcm,
}

struct CtrTable;
struct GcmTable;

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for CtrTable {
    type Kernel = AesCtr;
    type Family = CipherMode;
    const ROWS: &'static [TableRow<Self::Kernel, CipherTier>] =
        &[TableRow { needs: ZVKNED, kernel: hartlock_aes_ctr_rv64_zvkned }];
    const FAMILY: CipherMode = CipherMode::Ctr;
    const IS_CARRIED: bool = true;

    fn answers(kernels: &Kernels) -> bool {
        answers_ctr(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.aes.ctr = ctr(token);
    }
}

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for GcmTable {
    type Kernel = GcmRow;
    type Family = CipherMode;
    const ROWS: &'static [TableRow<Self::Kernel, CipherTier>] = &[TableRow {
        needs: ZVKG,
        kernel: GcmRow { hash: hartlock_ghash_rv64_zvkg, open: hartlock_aes_gcm_rv64_zvkg },
    }];
    const FAMILY: CipherMode = CipherMode::Gcm;
    const IS_CARRIED: bool = true;

    fn answers(kernels: &Kernels) -> bool {
        answers_gcm(kernels)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.aes.gcm = gcm(token);
    }
}

/// Returns the kernel of a row for counter mode.
fn ctr<T, const ROW: usize>(_: Token<T, ROW>) -> Ctr
where
    T: Table<Kernel = AesCtr, Family = CipherMode>,
{
    // Only the enclosing function can name `run`, and it requires the token.
    fn run<T, const ROW: usize>(key: &AesKey, first: &Block, data: &mut [u8])
    where
        T: Table<Kernel = AesCtr>,
    {
        let Some((keys, rounds)) = key.columns() else {
            return portable_stream(key, first, data);
        };
        let kernel = Token::<T, ROW>::KERNEL;
        // SAFETY: the token proves that the hart has the instructions. The kernel reads `rounds` + 1 round keys, which
        // `columns` guarantees, and the counter block, and rewrites the data. All of them are borrowed here.
        unsafe { kernel(keys.as_ptr(), rounds, first, data.as_mut_ptr(), data.len()) }
    }
    Ctr { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, ROW> }
}

/// Returns the kernels of a row for GCM.
fn gcm<T, const ROW: usize>(_: Token<T, ROW>) -> Gcm
where
    T: Table<Kernel = GcmRow, Family = CipherMode>,
{
    // Only the enclosing function can name the two others, and it requires the token.
    fn add<T, const ROW: usize>(hash_key: &Block, hash: &mut Block, data: &[u8])
    where
        T: Table<Kernel = GcmRow>,
    {
        let kernel = const { Token::<T, ROW>::KERNEL.hash };
        // SAFETY: the token proves that the hart has the instructions. The kernel reads hash key and data, and rewrites the
        // hash. All of them are borrowed here.
        unsafe { kernel(hash_key, hash, data.as_ptr(), data.len()) }
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
        let Some((keys, rounds)) = key.columns() else {
            return portable_open(key, first, hash_key, hash, text);
        };
        let kernel = const { Token::<T, ROW>::KERNEL.open };
        // SAFETY: the token proves that the hart has the instructions. The kernel reads `rounds` + 1 round keys, which
        // `columns` guarantees, the counter block and the hash key, and rewrites hash and text. All of them are borrowed here.
        unsafe {
            kernel(keys.as_ptr(), rounds, first, hash_key, hash, text.as_mut_ptr(), text.len());
        }
    }
    Gcm { tier: Token::<T, ROW>::NEEDS.tier, hash: add::<T, ROW>, open: open::<T, ROW> }
}

/// Tests every kernel, and selects the best of each mode. GCM comes last, because it uses the kernel of counter mode.
pub(super) fn offer_all(kernels: &mut Kernels, probe: &mut dyn Probe) {
    offer_table::<CtrTable>(kernels, probe);
    offer_table::<GcmTable>(kernels, probe);
}
