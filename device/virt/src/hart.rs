//! Instructions that affect the hart: waiting and fences.

use core::arch::asm;

/// Waits for ever. Interrupts are off in both stages, so no code runs after this.
#[inline(never)]
pub fn halt() -> ! {
    // SAFETY: the instructions change no register and no memory. `wfi` may return at any time,
    // hence the loop; the jump is repeated in case a fault skips the first one (boot flow §7).
    unsafe {
        asm!("2: wfi", "j 2b", "j 2b", "j 2b", options(nomem, nostack, noreturn));
    }
}

/// Waits until an enabled interrupt is pending. The function may also return earlier.
#[inline]
pub fn wait_for_interrupt() {
    // SAFETY: the instruction changes no register and no memory. The option `nomem` is not set,
    // because the data that the interrupt announces is read from memory afterwards.
    unsafe { asm!("wfi", options(nostack, preserves_flags)) };
}

/// Orders all earlier memory and device accesses before all later ones.
#[inline]
pub fn fence() {
    // SAFETY: a fence changes no register and no memory.
    unsafe { asm!("fence iorw, iorw", options(nostack, preserves_flags)) };
}
