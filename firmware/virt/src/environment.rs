//! What a stage that employs other harts needs from around it (its execution environment): starting,
//! waking and stopping them, and giving up.
//!
//! On QEMU `virt` that is OpenSBI, and the stage runs in S-mode. On the cycle-accurate machine there
//! is nobody else: the stage runs in M-mode and does it itself, with interrupts of the CLINT. A port
//! to another board chooses one of the two.

#[cfg(feature = "soc")]
mod bare;
#[cfg(not(feature = "soc"))]
mod supervisor;

#[cfg(feature = "soc")]
pub use bare::*;
#[cfg(not(feature = "soc"))]
pub use supervisor::*;

/// Numbers of the CSRs that start-up code uses (RISC-V Privileged Architecture §2.2).
#[derive(Clone, Copy, Debug)]
pub struct Csr {
    /// Interrupt enable.
    pub ie: u32,
    /// Scratch: the number of the hart.
    pub scratch: u32,
    /// Trap vector.
    pub tvec: u32,
    /// Cause of a trap.
    pub cause: u32,
    /// Where it happened.
    pub epc: u32,
    /// What it happened with.
    pub tval: u32,
}
