//! The execution environment of a stage that uses other harts: starting, waking and stopping them,
//! and ending a refused boot.
//!
//! That is OpenSBI, and the stage runs in S-mode; or there is nothing else, and the stage runs in M-mode
//! and does it itself, with interrupts of the CLINT. The description of a board names one of the two.

#[cfg_attr(environment = "bare", path = "environment/bare.rs")]
#[cfg_attr(environment = "supervisor", path = "environment/supervisor.rs")]
mod form;

pub use form::*;

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
