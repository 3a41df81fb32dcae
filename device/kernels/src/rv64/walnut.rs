//! Kernels of WalnutDSA: their table, the values in the form that each takes, and the safe function that a token allows.

use super::assembly::*;
use super::{Extension, Family, Table, TableRow, Token, offer_table};
use crate::dispatch::{KernelFault, Kernels, Probe};
use crate::walnut::kernels::{WalnutKernel, WalnutTier};
use crate::walnut::known::answers;
use crate::walnut::{Action, BinaryField, EACH, Matrix, STRANDS, StrandValue, WalnutLevel};

/// E-multiplication, the only function that has kernels.
#[derive(Clone, Copy)]
struct EMultiplication;

impl Family for EMultiplication {
    type Tier = WalnutTier;

    fn is_wanted(self, tier: WalnutTier, probe: &dyn Probe) -> bool {
        probe.is_walnut_wanted(tier)
    }

    fn reject(self, tier: WalnutTier, why: KernelFault, probe: &mut dyn Probe) {
        probe.rejected_walnut(tier, why);
    }
}

/// The form of values and columns that a kernel takes.
#[derive(Clone, Copy)]
enum ColumnForm {
    /// The values alone.
    Values,
    /// The products of each value with powers of x.
    Powers,
    /// Tables of products. A column has a byte for each row.
    Tables,
}

/// A kernel for each level, and its form.
#[derive(Clone, Copy)]
struct Levels {
    form: ColumnForm,
    kernels: [EMultiply; WalnutLevel::ALL.len()],
}

const RV64: Extension<WalnutTier> =
    Extension { tier: WalnutTier::Rv64, is_carried: true, probe: None };
const V: Extension<WalnutTier> =
    Extension { tier: WalnutTier::V, probe: Some(hartlock_probe_v), ..RV64 };
const ZVBC: Extension<WalnutTier> =
    Extension { tier: WalnutTier::Zvbc, probe: Some(hartlock_probe_zvbc), ..RV64 };
const ZBC: Extension<WalnutTier> =
    Extension { tier: WalnutTier::Zbc, probe: Some(hartlock_probe_zbc), ..RV64 };

struct EMultiplicationTable;

// SAFETY: the first lines of each file state the extension, and the memory that it reads and writes.
unsafe impl Table for EMultiplicationTable {
    type Kernel = Levels;
    type Family = EMultiplication;
    const ROWS: &'static [TableRow<Self::Kernel, WalnutTier>] = &[
        TableRow {
            needs: RV64,
            kernel: Levels {
                form: ColumnForm::Powers,
                kernels: [hartlock_walnut128_rv64, hartlock_walnut256_rv64],
            },
        },
        TableRow {
            needs: V,
            kernel: Levels {
                form: ColumnForm::Tables,
                kernels: [hartlock_walnut128_rv64_v, hartlock_walnut256_rv64_v],
            },
        },
        TableRow {
            needs: ZVBC,
            kernel: Levels {
                form: ColumnForm::Values,
                kernels: [hartlock_walnut128_rv64_zvbc, hartlock_walnut256_rv64_zvbc],
            },
        },
        TableRow {
            needs: ZBC,
            kernel: Levels {
                form: ColumnForm::Values,
                kernels: [hartlock_walnut128_rv64_zbc, hartlock_walnut256_rv64_zbc],
            },
        },
    ];
    const FAMILY: EMultiplication = EMultiplication;
    const IS_CARRIED: bool = true;

    fn answers(kernels: &Kernels) -> bool {
        answers(kernels.walnut.run)
    }

    fn choose<const ROW: usize>(kernels: &mut Kernels, token: Token<Self, ROW>) {
        kernels.walnut = walnut(token);
    }
}

impl ColumnForm {
    /// Exchanges the form of the matrix for that of the portable form or back.
    fn convert(self, matrix: &mut Matrix) {
        if let Self::Tables = self {
            matrix.iter_mut().for_each(|column| *column = transposed(*column));
        }
    }
}

/// Computes the products of an element with the powers of x, reduced.
fn write_powers(field: BinaryField, value: u64, powers: &mut [u64; 8]) {
    let mut product = value;
    for power in powers.iter_mut().take(field.bits as usize) {
        *power = product;
        product = field.reduce(field.double(product));
    }
}

/// Computes a table of 32 products, of a byte each (`walnut_rv64_v.S`).
fn write_products(field: BinaryField, value: u64, table: &mut [u64; 4]) {
    let polynomial = if field.bits == 8 { 0x11b } else { 0x25 };
    // The bits of the element side by side, and then its products with the powers of x.
    let mut product = value.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let mut next = || {
        let this = product;
        product = this << 1 ^ (this >> (field.bits - 1)).wrapping_mul(polynomial);
        this
    };
    // Each of them is XORed to every second product, to every second pair and so on.
    let mut sixteen = || {
        let eight = next().wrapping_mul(0x0100_0100_0100_0100)
            ^ next().wrapping_mul(0x0101_0000_0101_0000)
            ^ next().wrapping_mul(0x0101_0101_0000_0000);
        [eight, eight ^ next().wrapping_mul(EACH)]
    };
    let [first, second] = sixteen();
    let [third, fourth] = if field.bits == 8 {
        sixteen()
    } else {
        let more = next().wrapping_mul(EACH);
        [first ^ more, second ^ more]
    };
    *table = [first, second, third, fourth];
}

/// Exchanges rows and columns of a matrix of eight by eight bits.
const fn transposed(bits: u64) -> u64 {
    let mut bits = bits;
    let mut distance = 28;
    // Blocks of 4 by 4 bits are exchanged across the diagonal, then those of 2 by 2, then single ones.
    let masks = [0x0000_0000_f0f0_f0f0, 0x0000_cccc_0000_cccc, 0x00aa_00aa_00aa_00aa];
    let mut step = 0;
    while step < masks.len() {
        let changed = (bits ^ bits >> distance) & masks[step];
        bits ^= changed ^ changed << distance;
        distance /= 2;
        step += 1;
    }
    bits
}

/// Returns the kernel of a row.
fn walnut<T, const ROW: usize>(_: Token<T, ROW>) -> WalnutKernel
where
    T: Table<Kernel = Levels, Family = EMultiplication>,
{
    // Only the enclosing function can name `run`, and it requires the token.
    fn run<T, const ROW: usize>(
        level: WalnutLevel,
        values: &[StrandValue; STRANDS],
        actions: &mut [Action<'_>; 2],
    ) where
        T: Table<Kernel = Levels>,
    {
        let Levels { form, kernels: [level_128, level_256] } = const { Token::<T, ROW>::KERNEL };
        let kernel = match level {
            WalnutLevel::Level128 => level_128,
            WalnutLevel::Level256 => level_256,
        };
        let mut each = |first: *const u64, words: usize| {
            for Action { matrix, permutation, word } in &mut *actions {
                let values = permutation.map(|strand| first.wrapping_add(strand % STRANDS * words));
                form.convert(matrix);
                // SAFETY: the token proves that the hart has the instructions. The kernel rewrites the matrix, and reads
                // the bytes of the word and eight values, each of which has `words` words. All of them are borrowed
                // during the call.
                unsafe { kernel(*matrix, &raw const values, word.as_ptr(), word.count()) }
                form.convert(matrix);
            }
        };
        let field = level.field();
        match form {
            ColumnForm::Values => each(values.as_ptr().cast(), size_of::<StrandValue>() / 8),
            ColumnForm::Powers => {
                let mut all = [[[0; 8]; 2]; STRANDS];
                for (to, from) in all.iter_mut().zip(values) {
                    write_powers(field, from.value, &mut to[0]);
                    write_powers(field, from.inverse, &mut to[1]);
                }
                each(all.as_flattened().as_flattened().as_ptr(), size_of_val(&all[0]) / 8);
            }
            ColumnForm::Tables => {
                let mut all = [[[0; 4]; 2]; STRANDS];
                for (to, from) in all.iter_mut().zip(values) {
                    write_products(field, from.value, &mut to[0]);
                    write_products(field, from.inverse, &mut to[1]);
                }
                each(all.as_flattened().as_flattened().as_ptr(), size_of_val(&all[0]) / 8);
            }
        }
    }
    WalnutKernel { tier: Token::<T, ROW>::NEEDS.tier, run: run::<T, ROW> }
}

/// Tests every kernel, and selects the best.
pub(super) fn offer_all(kernels: &mut Kernels, probe: &mut dyn Probe) {
    offer_table::<EMultiplicationTable>(kernels, probe);
}
