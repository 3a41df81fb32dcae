//! Measurements of the fifth paper for a root of trust (section 3.2), repeated on that of `hw/soc` with engines that
//! take as long as the paper's (`verif/machines/sim/paper`). The program measures SHA-256 and HMAC-SHA-256 or, with the feature
//! `ciphers`, AES-256-CBC and RSA, with payloads in the scratchpad and in the host's memory. The feature `own-speed` is
//! for engines at their own speed: it adds AES in CTR and GCM, and omits the scratchpad, RSA and interrupts.
//!
//! Each payload is processed twice, and the second run is measured, between a mark 1 and a mark 0 in the trace, because
//! then the payload is in the last-level cache. Results are stored in the memory that holds the payload. The program
//! prints one line for each payload. Its result is a digest, the digest of an AES ciphertext with its tag, or the whole
//! result of RSA:
//!
//! ```text
//! run <sha256|hmac-sha256|aes-256-cbc|rsa-512-public|...> <scratchpad|ram> <bytes> <result>
//! ```
//!
//! Then the driver of the hash engine works by interrupt, without measurement, and the program prints the number of
//! times that the hart slept:
//!
//! ```text
//! slept <times> <sha256|hmac-sha256> <bytes> <digest>
//! ```
//!
//! The operands are those of `operands.rs`.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

#[cfg(feature = "ciphers")]
mod ciphers;
#[cfg(not(feature = "ciphers"))]
mod hashes;
mod hexadecimal;
mod labels;
#[cfg_attr(not(feature = "ciphers"), expect(dead_code, reason = "keys are those of the ciphers"))]
mod operands;
mod speed;

use core::fmt::Write;

#[cfg(feature = "ciphers")]
use ciphers::measure;
use hartlock_rot_bench::{Console, exit};
#[cfg(not(feature = "ciphers"))]
use hashes::measure;

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_bench::catch_traps();
    match measure() {
        Ok(()) => exit(0),
        Err(error) => {
            let _ = writeln!(Console, "accelerator: {error:?}");
            exit(1)
        }
    }
}
