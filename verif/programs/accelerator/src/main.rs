//! What the fifth paper measures on a root of trust (section 3.2), on that of `hw/soc`, with engines that take as long as
//! the paper's (`verif/machines/sim/paper`): SHA-256 and HMAC-SHA-256 or, with the feature `ciphers`, AES-256-CBC and RSA, of payloads in the scratchpad and
//! in the host's memory. With the feature `own-speed`, for engines as fast as they are, AES works in CTR and GCM, too, and the
//! rest is left out: the scratchpad, RSA, and interrupts.
//!
//! Each payload is processed twice and the second time is measured, between a mark 1 and a mark 0 in the
//! trace: then it is in the last-level cache. Results go to the memory that holds the payload. A line
//! for each, whose result is a digest, that of the ciphertext of AES and its tag, or all of RSA's:
//!
//! ```text
//! run <sha256|hmac-sha256|aes-256-cbc|rsa-512-public|...> <scratchpad|ram> <bytes> <result>
//! ```
//!
//! Then the driver of the hashes works by interrupt, unmeasured, and says how often it slept:
//!
//! ```text
//! slept <times> <sha256|hmac-sha256> <bytes> <digest>
//! ```
//!
//! Operands are those of `operands.rs`.

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
use hartlock_rot::{Console, exit};
#[cfg(not(feature = "ciphers"))]
use hashes::measure;

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    match measure() {
        Ok(()) => exit(0),
        Err(error) => {
            let _ = writeln!(Console, "accelerator: {error:?}");
            exit(1)
        }
    }
}
