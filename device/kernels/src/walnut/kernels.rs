//! The kernels of E-multiplication that a hart uses.

use super::{Action, STRANDS, StrandValue, WalnutLevel};

/// The extensions that a kernel needs beyond the base instruction set. In all measurements a higher tier took fewer
/// instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum WalnutTier {
    /// Portable Rust code.
    Portable = 1,
    /// Assembly with RV64IM instructions.
    Rv64 = 2,
    /// Assembly with V: a column is a vector of bytes, and a product is a look-up in a register.
    V = 3,
    /// Assembly with V and Zvbc: a column is an element of a vector.
    Zvbc = 4,
    /// Assembly with Zbc: a column is a register.
    Zbc = 5,
}

impl WalnutTier {
    /// All tiers, in the order of their numbers.
    pub const ALL: [WalnutTier; 5] =
        [WalnutTier::Portable, WalnutTier::Rv64, WalnutTier::V, WalnutTier::Zvbc, WalnutTier::Zbc];

    /// Returns the name of the tier in output.
    pub const fn name(self) -> &'static str {
        match self {
            WalnutTier::Portable => "portable",
            WalnutTier::Rv64 => "rv64",
            WalnutTier::V => "v",
            WalnutTier::Zvbc => "zvbc",
            WalnutTier::Zbc => "zbc",
        }
    }
}

/// Multiplies the matrix of each action by its word. Elements of the matrices are reduced before; afterwards they need
/// not be. Permutations stay as they are.
pub(crate) type Multiply = fn(WalnutLevel, &[StrandValue; STRANDS], &mut [Action<'_>; 2]);

/// The kernel of E-multiplication.
#[derive(Clone, Copy)]
pub(crate) struct WalnutKernel {
    pub tier: WalnutTier,
    pub run: Multiply,
}

impl WalnutKernel {
    /// The portable implementation.
    pub(crate) const PORTABLE: Self = Self { tier: WalnutTier::Portable, run: portable };
}

/// The portable form of [`Multiply`].
pub(crate) fn portable(
    level: WalnutLevel,
    values: &[StrandValue; STRANDS],
    actions: &mut [Action<'_>; 2],
) {
    let field = level.field();
    for Action { matrix, permutation, word } in actions {
        // Values in the order of the strands, so that only they are exchanged.
        let mut values = permutation.map(|strand| values.get(strand).copied().unwrap_or_default());
        for generator in word.nibbles() {
            let strand = usize::from(generator & 7);
            let at = strand..=strand + 1;
            let (Some([left, right]), Some([here, after])) = (
                values.get_mut(at.clone()).and_then(|it| it.as_mut_array()),
                matrix.get_mut(at).and_then(|it| it.as_mut_array()),
            ) else {
                continue;
            };
            // The coloured Burau matrix adds a x, b x and c x, of which two are equal and one is x.
            let is_inverse = generator & 8 != 0;
            let scaled = field.scale(*here, if is_inverse { right.inverse } else { left.value });
            let (to_left, to_right) = if is_inverse { (*here, scaled) } else { (scaled, *here) };
            *here = scaled;
            *after ^= to_right;
            core::mem::swap(left, right);
            if let Some(before) = strand.checked_sub(1).and_then(|at| matrix.get_mut(at)) {
                *before ^= to_left;
            }
        }
    }
}
