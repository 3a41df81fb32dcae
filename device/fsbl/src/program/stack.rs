//! Wiping of the stack, where the compiler may leave copies of secrets after functions have returned.
//!
//! The whole stack is wiped once the device's key is computed, while the rest of the monitor is read. Before the jump
//! it is wiped again. Wiping 64 bytes takes up to forty cycles, and the functions with the deepest stack, which verify
//! signatures, run before the first wipe. Therefore the second wipe omits the part that is still zero.

unsafe extern "C" {
    fn fsbl_wipe_unused() -> u64;
    static __stack_start: u8;
    static __stack_late: u8;
}

/// Number of bytes below the start of the second wipe that have to be zero.
const GUARD: usize = 512;

/// Wipes the unused part of the stack (start.S). Returns the maximum number of bytes in use since the previous call.
pub fn wipe_unused() -> u64 {
    // SAFETY: the memory is below the stack pointer and holds no variable; the routine preserves all registers that it
    // has to.
    unsafe { fsbl_wipe_unused() }
}

/// Returns the address at which the wipe before the jump starts. If `is_wiped` is true, nothing was stored below
/// `__stack_late` since `wipe_unused`; the memory directly below has to be zero to confirm this. A test checks how much
/// of the stack is used from then on.
pub fn dirty_from(is_wiped: bool) -> u64 {
    let late = &raw const __stack_late;
    let guard: *const u64 = late.wrapping_sub(GUARD).cast();
    // SAFETY: these are words of the stack below the part in use, and no code stores to them during the reads.
    let word = |index: usize| unsafe { guard.wrapping_add(index).read_volatile() };
    let is_untouched = is_wiped && (0..GUARD / 8).fold(0, |seen, at| seen | word(at)) == 0;
    let from = if is_untouched { late } else { &raw const __stack_start };
    from.expose_provenance() as u64
}
