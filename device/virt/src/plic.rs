//! Device interrupts for M-mode of hart 0 (RISC-V Platform-Level Interrupt Controller 1.0, context 0).
//!
//! The interrupts end a `wfi` and are not taken: `mstatus.MIE` stays 0, and the code that slept reads the pending
//! source.

use core::arch::asm;

use crate::board::PLIC;
use crate::hart;

const ENABLE: usize = 0x2000;
const THRESHOLD: usize = 0x20_0000;
const CLAIM: usize = THRESHOLD + 4;
/// Bits of the external interrupt and of the timer interrupt of M-mode in `mie` and `mip` (Privileged Architecture
/// §3.1.9).
const EXTERNAL: u64 = 1 << 11;
const TIMER: u64 = 1 << 7;

/// The number of an interrupt source, 1 to 31; 0 means no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

fn register(offset: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(PLIC.wrapping_add(offset))
}

/// Lets only interrupts of this source end [`sleep`].
pub fn listen(source: Source) {
    let number = source.0 & 31;
    let priority = (number as usize).wrapping_mul(4);
    for (offset, value) in [(priority, 1), (ENABLE, 1 << number), (THRESHOLD, 0)] {
        // SAFETY: these are registers of the controller; a write can at most raise an interrupt, and none is taken.
        unsafe { register(offset).write_volatile(value) };
    }
    hart::fence();
    // SAFETY: no interrupt is taken; the timer interrupt is the deadline of `sleep`.
    unsafe { asm!("csrs mie, {}", in(reg) EXTERNAL | TIMER, options(nomem, nostack)) };
}

/// Sleeps until a source is pending or the hart's timer fires (`clint::set_timer`). An interrupt that occurred before
/// the call also ends the sleep, so none can be missed.
pub fn sleep() {
    loop {
        let pending: u64;
        // SAFETY: the instruction only reads which interrupts are pending.
        unsafe { asm!("csrr {}, mip", out(reg) pending, options(nostack)) };
        if pending & (EXTERNAL | TIMER) != 0 {
            return;
        }
        hart::wait_for_interrupt();
    }
}

/// Claims the pending source, if there is one. The source raises no further interrupt until [`complete`].
pub fn claim() -> Option<Source> {
    // SAFETY: reading the register claims the source.
    let number = unsafe { register(CLAIM).read_volatile() };
    (number != 0).then_some(Source(number))
}

/// Completes a source that was served, so that it can raise interrupts again.
pub fn complete(source: Source) {
    // All accesses that served the source have to be complete before.
    hart::fence();
    // SAFETY: the write completes a source that was claimed.
    unsafe { register(CLAIM).write_volatile(source.0) };
}
