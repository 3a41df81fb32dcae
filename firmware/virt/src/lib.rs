//! Board support for QEMU `virt` (boot flow §2): console, clock, interrupts, SBI, memory. With the
//! feature `soc`, for the cycle-accurate machine (`hw/soc/README.md`), which has the same devices at
//! other addresses, and some more.
//!
//! Together with the linker scripts of the stages this is what a port to another board replaces.
//! Nothing here formats with `core::fmt`, which would bring panic paths into the stages.

#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod clint;
pub mod clock;
pub mod console;
pub mod environment;
pub mod hart;
pub mod kernels;
pub mod machine;
pub mod memory;
mod panic;
#[cfg(feature = "soc")]
pub mod plic;
pub mod sbi;
#[cfg(feature = "soc")]
pub mod soc;
#[cfg(feature = "inject-unverified")]
pub mod unverified;
