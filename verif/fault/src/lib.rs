//! An instruction set interpreter that runs a linked stage without changes, and campaigns that inject
//! faults into it.
//!
//! QEMU boots a stage in a twentieth of a second, which allows only a sample of faults. To skip each
//! instruction of a boot, each time it is executed, needs a machine that can be copied in microseconds
//! while it runs, and that knows the origin of every instruction. This interpreter serves only that
//! purpose. It is compared with QEMU: console output, reason code, and the registers after each of a few
//! thousand instructions (`cargo xtask skips --judge`).

#![forbid(unsafe_code)]

pub mod board;
pub mod campaign;
mod code;
pub mod hart;
pub mod instruction;
pub mod memory;
pub mod rot;
pub mod subject;
pub mod timing;
