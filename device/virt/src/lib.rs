//! Board support: console, clock, interrupts, SBI, storage, memory. Addresses come from the description
//! of the board that the build script chose (`device/boards/`), and so does the form of a module that has several.
//!
//! Nothing here formats with `core::fmt`, which would bring panic paths into the stages.

#![no_std]
#![cfg(target_arch = "riscv64")]

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

// Copies and fills without a jump that a skipped instruction sends elsewhere.
#[cfg(feature = "copies")]
core::arch::global_asm!(include_str!("copy.S"));

/// The board that this build is for: addresses of its devices, and the memory map of its stages.
pub mod board {
    include!(env!("HARTLOCK_BOARD_CONSTANTS"));
}
