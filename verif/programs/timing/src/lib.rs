//! Computations with secrets, whose instructions and addresses must not depend on the secrets.
//!
//! `cargo xtask timing` runs each of them with many secrets and the same public values. [`SUBJECTS`] must not leak
//! anything, and each of [`LEAKS`] must be found by every means.

#![no_std]
#![deny(unsafe_code)]

mod leaks;
mod subjects;

use hartlock_kernels::{CipherMode, HashFamily, Kernels};

#[cfg(target_arch = "riscv64")]
pub use leaks::VECTOR_LEAKS;
pub use leaks::{LEAKS, OPERAND_LEAKS};
pub use subjects::SUBJECTS;

/// Length in bytes of the secret of a computation, of which it uses as many bytes as it needs.
pub const SECRET_LEN: usize = 64;

/// The secret of a computation, at an address that does not change.
pub type SecretBytes = [u8; SECRET_LEN];

/// The kernels that a computation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// None: it is portable code, with the assembly that is selected when it is compiled.
    Portable,
    /// Those of a mode of AES.
    Cipher(CipherMode),
    /// Those of a family of hashes.
    Hash(HashFamily),
}

/// The part of a computation that is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Everything,
    /// What runs inside of [`confined`](hartlock_kernels::secret::confined). The rest handles results that are public
    /// but depend on the secret: a signature is verified before it is returned.
    Confined,
}

/// A computation with a secret.
#[derive(Clone, Copy)]
pub struct Subject {
    /// Its name in reports.
    pub name: &'static str,
    /// The kernels that it uses.
    pub uses: Uses,
    /// The part that is observed.
    pub part: Part,
    /// The number of branches that depend on the secret, but whose outcome is public: that of a comparison of tags, or
    /// of a check for zero.
    pub decisions: u64,
    /// The computation. It must return true for every secret.
    pub run: fn(&Kernels, &SecretBytes) -> bool,
}

/// Fills a secret. The first ones have few bits that differ, all others are random (SplitMix64). None of them has equal
/// bits in its first or its last 32 bytes: such a secret was never programmed, which is no secret.
pub fn fill(secret: &mut SecretBytes, number: u32) {
    let (pattern, middle, last) = match number {
        0 => (0, 31, 63),
        1 => (0xff, 31, 63),
        2 => (0, 0, 32),
        3 => (0xff, 0, 32),
        _ => {
            let mut state = u64::from(number);
            for bytes in secret.as_chunks_mut::<8>().0 {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                *bytes = (word ^ (word >> 31)).to_le_bytes();
            }
            return;
        }
    };
    secret.fill(pattern);
    secret[middle] ^= 1;
    secret[last] ^= 0x80;
}
