//! Board support: console, clock, interrupts, SBI, storage and memory. The description of the board that the build
//! script selected (`device/boards/`) provides all addresses, and selects the implementation of a module that has several.
//!
//! No code of this crate formats with `core::fmt`, which would bring panic paths into the stages.

#![no_std]
#![cfg(target_arch = "riscv64")]

/// The machine that boots a TEE has no block device.
#[cfg(not(feature = "tee"))]
pub mod block;
pub mod clint;
pub mod clock;
pub mod console;
pub mod dma;
pub mod environment;
pub mod hart;
pub mod kernels;
pub mod machine;
mod panic;
pub mod plic;
pub mod sbi;
#[cfg(storage = "bench")]
pub mod soc;

pub use hartlock_stage::memory;

// These functions copy and fill without a jump that a skipped instruction would redirect.
#[cfg(feature = "copies")]
core::arch::global_asm!(include_str!("copy.S"));

/// Constants of the board that this build is for: device addresses, and the memory map of its stages.
pub mod board {
    use hartlock_maps as maps;

    include!(env!("HARTLOCK_BOARD_CONSTANTS"));
}
