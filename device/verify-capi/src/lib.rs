//! The C library (`spec/c-library.md`): the verification of bundles for boot loaders that are not ours, such as U-Boot.
//!
//! The caller owns all memory and gives functions for everything else: reading, time, requirements, places. The library
//! has no variables, no heap, and no panic that can be reached. `hartlock.h` is made from this crate by cbindgen.
//!
//! | module | contents |
//! |---|---|
//! | [`types`] | structures and constants of the header |
//! | [`calls`] | the functions of the header |
//! | `library` | the memory of a boot |
//! | `port` | the medium and the memory of payloads |
//! | `decryption` | keys and plain text of encrypted payloads |
//! | `requirements` | what the device requires |
//! | `tree` | the device tree for Linux |
//! | `harts` | kernels of a hart, and the work of those that do not boot |

#![no_std]

pub mod calls;
#[cfg_attr(not(feature = "decrypt"), path = "no_decryption.rs")]
mod decryption;
mod harts;
mod library;
mod port;
mod requirements;
mod tree;
pub mod types;

// The three functions need privileged instructions of RISC-V.
#[cfg(target_arch = "riscv64")]
core::arch::global_asm!(include_str!("attempt.S"));

/// The linker removes this function unless a panic can be reached; then its undefined symbol ends the link.
#[cfg(feature = "archive")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn hartlock_panic_is_reachable() -> !;
    }
    // SAFETY: no linked program has this function.
    unsafe { hartlock_panic_is_reachable() }
}
