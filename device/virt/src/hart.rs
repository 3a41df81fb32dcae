//! The hart itself.

use core::arch::asm;

/// Waits for ever. Interrupts are off in both stages, so nothing runs after this.
#[inline(never)]
pub fn halt() -> ! {
    // SAFETY: changes no register or memory. `wfi` may return at any time, hence the loop; the
    // jump is duplicated in case a fault skips the first one (boot flow §7).
    unsafe {
        asm!("2: wfi", "j 2b", "j 2b", "j 2b", options(nomem, nostack, noreturn));
    }
}

/// Waits until an enabled interrupt is pending, or returns earlier without one.
#[inline]
pub fn wait_for_interrupt() {
    // SAFETY: as above. Not `nomem`: what the interrupt announces is read from memory afterwards.
    unsafe { asm!("wfi", options(nostack, preserves_flags)) };
}

/// Orders everything before against everything after, devices included.
#[inline]
pub fn fence() {
    // SAFETY: a fence changes no register and no memory.
    unsafe { asm!("fence iorw, iorw", options(nostack, preserves_flags)) };
}

/// Makes code that was just written visible to this hart's instruction fetch.
#[inline]
pub fn fence_instructions() {
    // SAFETY: `fence.i` changes no register and no memory.
    unsafe { asm!("fence.i", options(nostack, preserves_flags)) };
}
