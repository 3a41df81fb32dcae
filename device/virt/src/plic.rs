//! Interrupts of devices, for M-mode of hart 0 (RISC-V Platform-Level Interrupt Controller 1.0, context 0).
//!
//! They end a `wfi` and are not taken: `mstatus.MIE` stays 0, and the code that slept reads which it was.

use core::arch::asm;

use crate::board::PLIC;
use crate::hart;

const ENABLE: usize = 0x2000;
const THRESHOLD: usize = 0x20_0000;
const CLAIM: usize = THRESHOLD + 4;
/// `mie` and `mip`: external and timer interrupts of M-mode (Privileged Architecture §3.1.9).
const EXTERNAL: u64 = 1 << 11;
const TIMER: u64 = 1 << 7;

/// A source of interrupts, 1 to 31; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub u32);

fn register(offset: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(PLIC.wrapping_add(offset))
}

/// Lets interrupts of this source, and no others, end [`sleep`].
pub fn listen(source: Source) {
    let number = source.0 & 31;
    let priority = (number as usize).wrapping_mul(4);
    for (offset, value) in [(priority, 1), (ENABLE, 1 << number), (THRESHOLD, 0)] {
        // SAFETY: registers of the controller; an interrupt is raised at most, and none is taken.
        unsafe { register(offset).write_volatile(value) };
    }
    hart::fence();
    // SAFETY: as above; the timer's is the deadline of `sleep`.
    unsafe { asm!("csrs mie, {}", in(reg) EXTERNAL | TIMER, options(nomem, nostack)) };
}

/// Sleeps until a source is pending or the hart's timer fires (`clint::set_timer`). One that
/// happened before counts: there is no moment in which it could be missed.
pub fn sleep() {
    loop {
        let pending: u64;
        // SAFETY: reads which interrupts are pending.
        unsafe { asm!("csrr {}, mip", out(reg) pending, options(nostack)) };
        if pending & (EXTERNAL | TIMER) != 0 {
            return;
        }
        hart::wait_for_interrupt();
    }
}

/// Claims the pending source, if there is one. It raises no interrupt until [`complete`].
pub fn claim() -> Option<Source> {
    // SAFETY: reading the register claims.
    let number = unsafe { register(CLAIM).read_volatile() };
    (number != 0).then_some(Source(number))
}

/// Completes a source that was served: what it raises from now on is new.
pub fn complete(source: Source) {
    // What was done about it comes first.
    hart::fence();
    // SAFETY: completes what was claimed.
    unsafe { register(CLAIM).write_volatile(source.0) };
}
