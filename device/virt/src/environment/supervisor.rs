//! Environment of a stage in S-mode above OpenSBI.

use core::arch::asm;

use super::Csr;
use crate::kernels::PrivilegeMode;
use crate::{hart, sbi};

/// Privilege mode that the stage runs in.
pub const MODE: PrivilegeMode = PrivilegeMode::Supervisor;
/// True if the program is the only one on the machine.
pub const IS_ALONE: bool = false;
/// CSR numbers of this mode.
pub const CSR: Csr =
    Csr { ie: 0x104, scratch: 0x140, tvec: 0x105, cause: 0x142, epc: 0x141, tval: 0x143 };
/// Bit of the software interrupt in `sie` and `sip`.
const SOFTWARE: usize = 1 << 1;

/// Starts a stopped hart at `entry` with its number in a0. Returns true if OpenSBI has accepted the
/// request.
#[must_use]
pub fn start_hart(hart: usize, entry: usize) -> bool {
    sbi::hart_start(hart, entry, 0).is_ok()
}

/// Returns true if a hart is STOPPED.
pub fn is_stopped(hart: usize) -> bool {
    sbi::hart_status(hart) == Ok(sbi::STOPPED)
}

/// Stops the calling hart. The function returns only if this fails.
pub fn stop_self() {
    sbi::hart_stop();
}

/// Raises the software interrupt of the harts in `mask`.
pub fn interrupt(mask: u64) {
    sbi::send_ipi(mask);
}

/// Lets the software interrupt end a `wfi`. The interrupt is not taken, because sstatus.SIE stays
/// 0.
pub fn enable_interrupt() {
    // SAFETY: the instruction only changes what wakes `wfi`.
    unsafe { asm!("csrw sie, {}", in(reg) SOFTWARE, options(nomem, nostack)) };
}

/// Clears the software interrupt of the calling hart.
pub fn clear_interrupt(_: usize) {
    // SAFETY: the instruction clears the pending bit of this hart's own software interrupt.
    unsafe { asm!("csrc sip, {}", in(reg) SOFTWARE, options(nostack)) };
}

/// Returns the numbers of the extensions by which OpenSBI accesses memory for S-mode, as far as it offers any.
pub fn calls_with_address() -> impl Iterator<Item = usize> {
    sbi::calls_with_address()
}

/// Returns true if this hart translates addresses by the Sv39 tables at this address (RISC-V Privileged Architecture
/// §10.1.11): a hart without Sv39 ignores the request for it.
#[must_use]
pub fn is_paged(tables: u64) -> bool {
    const SV39: u64 = 8 << 60;
    let satp: u64;
    // SAFETY: the instruction reads a register of S-mode.
    unsafe { asm!("csrr {}, satp", out(reg) satp, options(nomem, nostack)) };
    satp == SV39 | tables >> 12
}

/// Resets the machine. The function returns only if this fails.
pub fn reset() {
    sbi::cold_reset();
}

/// Ends a refused boot by stopping this hart.
pub fn give_up() -> ! {
    sbi::hart_stop();
    hart::halt()
}
