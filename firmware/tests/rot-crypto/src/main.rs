//! AES and big numbers on the root of trust of `hw/soc`, by the drivers: known answers of both engines, changed inputs, and
//! both interrupts. A line for each part:
//!
//! ```text
//! <part> <cycles>
//! ```
//!
//! The first part that fails ends the program with its number. With the feature `vectors` it verifies signatures instead
//! (`vectors.rs`), with `software` without the engine, with `streams` AES works between DMA and the stream writer (`streams.rs`),
//! and with `keys` it serves requests with keys (`keys.rs`).

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

#[cfg(not(any(feature = "keys", feature = "streams", feature = "vectors")))]
mod answers;
#[cfg(feature = "keys")]
mod keys;
#[cfg(not(any(feature = "keys", feature = "vectors")))]
#[cfg_attr(feature = "streams", expect(dead_code, reason = "of these only the key is used then"))]
mod known;
#[cfg(feature = "streams")]
mod streams;
#[cfg(feature = "vectors")]
mod vectors;

use hartlock_rot::exit;

#[unsafe(no_mangle)]
extern "C" fn rot_main() {
    #[cfg(not(any(feature = "keys", feature = "streams", feature = "vectors")))]
    answers::run();
    #[cfg(feature = "keys")]
    let result = keys::run();
    #[cfg(feature = "streams")]
    let result = streams::run();
    #[cfg(feature = "vectors")]
    let result = vectors::run();
    #[cfg(any(feature = "keys", feature = "streams", feature = "vectors"))]
    if let Err(error) = result {
        use core::fmt::Write;
        let _ = writeln!(hartlock_rot::Console, "rot-crypto: {error:?}");
        exit(1)
    }
    exit(0)
}
