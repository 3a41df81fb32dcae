//! AES and big numbers on the root of trust of `hw/soc`, by the drivers: known answers of both engines, changed inputs, and
//! both interrupts. A line for each part:
//!
//! ```text
//! <part> <cycles>
//! ```
//!
//! The first part that fails ends the program with its number. With the feature `vectors` it verifies signatures instead
//! (`vectors.rs`).

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

#[cfg(not(feature = "vectors"))]
mod answers;
#[cfg(not(feature = "vectors"))]
mod known;
#[cfg(feature = "vectors")]
mod vectors;

use hartlock_rot::exit;

#[unsafe(no_mangle)]
extern "C" fn rot_main() {
    #[cfg(not(feature = "vectors"))]
    answers::run();
    #[cfg(feature = "vectors")]
    if let Err(error) = vectors::run() {
        use core::fmt::Write;
        let _ = writeln!(hartlock_rot::Console, "rot-crypto: {error:?}");
        exit(1)
    }
    exit(0)
}
