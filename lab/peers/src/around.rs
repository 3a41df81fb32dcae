//! What the compiler of a Linux distribution expects around its libraries. `lab/signatures/peers` has it, too.

#[unsafe(no_mangle)]
static __stack_chk_guard: usize = 0x5bd1_e995;

#[unsafe(no_mangle)]
extern "C" fn __stack_chk_fail() -> ! {
    panic!()
}
