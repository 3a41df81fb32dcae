//! The execution environment of a stage that uses several harts. It starts, wakes and stops harts, and ends a refused
//! boot.
//!
//! The environment is OpenSBI, and the stage runs in S-mode; or there is no other software, and the stage runs in
//! M-mode and does this itself by interrupts of the CLINT. The description of a board selects one of the two.

#[cfg_attr(environment = "bare", path = "environment/bare.rs")]
#[cfg_attr(environment = "supervisor", path = "environment/supervisor.rs")]
mod form;

pub use form::*;

/// Numbers of the CSRs that start-up code uses (RISC-V Privileged Architecture §2.2).
#[derive(Clone, Copy, Debug)]
pub struct Csr {
    /// Interrupt enable.
    pub ie: u32,
    /// Scratch register, which holds the number of the hart.
    pub scratch: u32,
    /// Trap vector.
    pub tvec: u32,
    /// Cause of a trap.
    pub cause: u32,
    /// Program counter of a trap.
    pub epc: u32,
    /// Additional value of a trap, such as an address.
    pub tval: u32,
}
