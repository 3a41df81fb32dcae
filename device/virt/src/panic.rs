//! The panic handler, which the linked stages must not contain.

use core::panic::PanicInfo;

/// The end of every panic path. A test of the linked images searches for this symbol: if it is
/// present, some input may cause a panic.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn hartlock_panic_sentinel() -> ! {
    crate::hart::halt()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    hartlock_panic_sentinel()
}
