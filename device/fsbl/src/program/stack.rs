//! What functions that have returned leave on the stack: secrets, as the compiler copies them.
//!
//! All of it is wiped twice: once the device has its key, while the rest of the monitor is read, and before the jump. A line of
//! the stack takes up to forty cycles to wipe, and the deepest functions are those that verify signatures, before the first of
//! these. So the second wipe leaves out what is still zero.

unsafe extern "C" {
    fn fsbl_wipe_unused() -> u64;
    static __stack_start: u8;
    static __stack_late: u8;
}

/// Bytes that have to be zero below what is wiped before the jump.
const GUARD: usize = 512;

/// Wipes what is not in use (start.S). Returns how many bytes were, at most, since this was called before.
pub fn wipe_unused() -> u64 {
    // SAFETY: memory below the stack pointer, where no variable is; the routine keeps all registers that it has to.
    unsafe { fsbl_wipe_unused() }
}

/// Where the wipe before the jump begins: with `is_wiped` nothing was stored below `__stack_late` since `wipe_unused`, which
/// the memory next to it has to confirm. A test says how much of the stack is used from then on.
pub fn dirty_from(is_wiped: bool) -> u64 {
    let late = &raw const __stack_late;
    let guard: *const u64 = late.wrapping_sub(GUARD).cast();
    // SAFETY: words of the stack below what is in use; nothing stores to them meanwhile.
    let word = |index: usize| unsafe { guard.wrapping_add(index).read_volatile() };
    let is_untouched = is_wiped && (0..GUARD / 8).fold(0, |seen, at| seen | word(at)) == 0;
    let from = if is_untouched { late } else { &raw const __stack_start };
    from.expose_provenance() as u64
}
