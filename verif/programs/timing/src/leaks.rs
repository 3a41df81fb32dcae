//! Computations that leak, which every means has to find.

use core::hint::black_box;

use hartlock_kernels::Kernels;

use crate::{Part, SecretBytes, Subject, Uses};

const fn leak(name: &'static str, run: fn(&Kernels, &SecretBytes) -> bool) -> Subject {
    Subject { name, uses: Uses::Portable, part: Part::Everything, decisions: 0, run }
}

/// One computation for each way in which code leaks: an address, and the number of iterations.
pub const LEAKS: &[Subject] = &[leak("leak-look-up", look_up), leak("leak-comparison", comparison)];

/// The operand of an instruction whose time depends on it. Only the interpreter sees operands.
pub const OPERAND_LEAKS: &[Subject] = &[leak("leak-division", division)];

/// An address of a load with vector registers, which a hart with vectors runs.
#[cfg(target_arch = "riscv64")]
pub const VECTOR_LEAKS: &[Subject] = &[leak("leak-gather", vector::gather)];

/// A table of constants, as that of an S-box.
static TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = (index as u8).rotate_left(3) ^ 0x63;
        index += 1;
    }
    table
};

/// Looks one byte of the secret up.
#[inline(never)]
fn look_up(_: &Kernels, secret: &SecretBytes) -> bool {
    let entry = TABLE.get(usize::from(secret[0]));
    black_box(entry.copied());
    true
}

/// Compares the secret with a tag, and ends at the first byte that differs.
#[inline(never)]
fn comparison(_: &Kernels, secret: &SecretBytes) -> bool {
    let mut equal = 0_u32;
    for (ours, theirs) in secret.iter().zip(black_box(&[0; 16])) {
        if ours != theirs {
            break;
        }
        equal = equal.wrapping_add(1);
    }
    black_box(equal);
    true
}

/// Divides by a byte of the secret.
#[inline(never)]
fn division(_: &Kernels, secret: &SecretBytes) -> bool {
    black_box(black_box(0x1234_5678_9abc_u64).checked_div(u64::from(secret[0] | 1)));
    true
}

#[cfg(target_arch = "riscv64")]
#[allow(unsafe_code, reason = "calls assembly")]
mod vector {
    use hartlock_kernels::Kernels;

    use super::{SecretBytes, TABLE};

    core::arch::global_asm!(include_str!("gather.S"));

    unsafe extern "C" {
        fn timing_gather(table: *const u8, indices: *const u8);
    }

    /// Looks 16 bytes of the secret up at once.
    pub fn gather(_: &Kernels, secret: &SecretBytes) -> bool {
        // SAFETY: only a hart with vectors runs this. The routine reads 16 indices, and entries of the table, which has
        // one for every index.
        unsafe { timing_gather(TABLE.as_ptr(), secret.as_ptr()) };
        true
    }
}
