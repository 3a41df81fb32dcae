//! AES and big numbers on the root of trust of `hw/soc`, with the drivers: known answers of both engines, changed
//! inputs, and both interrupts. The program prints a line for each part:
//!
//! ```text
//! <part> <cycles>
//! ```
//!
//! The first part that fails ends the program with its number. Features select other work: with `vectors` the program
//! verifies signatures (`vectors.rs`), with `software` it does this without the engine, with `streams` AES works
//! between DMA and the stream writer (`streams.rs`), and with `keys` it serves requests with keys (`keys.rs`). With
//! several of these features it does one after the other.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

#[cfg(not(any(feature = "keys", feature = "streams", feature = "vectors")))]
mod answers;
#[cfg(feature = "keys")]
mod keys;
#[cfg(any(feature = "streams", not(any(feature = "keys", feature = "vectors"))))]
#[cfg_attr(feature = "streams", expect(dead_code, reason = "of these only the key is used then"))]
mod known;
#[cfg(feature = "streams")]
mod streams;
#[cfg(feature = "vectors")]
mod vectors;

#[cfg(any(feature = "keys", feature = "streams", feature = "vectors"))]
use core::fmt::{Debug, Write};

use hartlock_rot_bench::exit;

#[unsafe(no_mangle)]
extern "C" fn rot_main() {
    hartlock_rot_bench::catch_traps();
    #[cfg(not(any(feature = "keys", feature = "streams", feature = "vectors")))]
    answers::run();
    #[cfg(feature = "keys")]
    require(keys::run());
    #[cfg(feature = "streams")]
    require(streams::run());
    #[cfg(feature = "vectors")]
    require(vectors::run());
    exit(0)
}

/// Ends the program if a part failed. The function is inlined, because otherwise the layout of the code changes, and
/// with it the measured cycles.
#[cfg(any(feature = "keys", feature = "streams", feature = "vectors"))]
#[inline(always)]
fn require(result: Result<(), impl Debug>) {
    if let Err(error) = result {
        let _ = writeln!(hartlock_rot_bench::Console, "rot-crypto: {error:?}");
        exit(1)
    }
}
