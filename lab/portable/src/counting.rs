//! Counts and prints for both programs.

use core::arch::{asm, global_asm};
use core::hint::black_box;

use hartlock_virt::console::{self, Number};

global_asm!(include_str!("../../../verif/programs/bench/src/start.S"));

/// Counts a function, and prints the counts and its result.
pub fn count<const N: usize>(
    who: &str,
    what: &str,
    bytes: usize,
    f: impl FnOnce() -> [u8; N],
) -> [u8; N] {
    let (start, start_cycles) = (instructions(), cycles());
    let result = black_box(f());
    let taken_cycles = cycles().wrapping_sub(start_cycles);
    let taken = instructions().wrapping_sub(start);
    line(who, what, bytes, [taken_cycles, taken], &result);
    result
}

/// Prints cycles, instructions and a result.
pub fn line(who: &str, what: &str, bytes: usize, taken: [u64; 2], result: &[u8]) {
    console::print("count ");
    for part in [who, " ", what, " "] {
        console::print(part);
    }
    for number in [bytes as u64, taken[0], taken[1]] {
        console::print(Number::decimal(number).as_str());
        console::print(" ");
    }
    for byte in result {
        let digits = [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        console::print(core::str::from_utf8(&digits).unwrap_or("??"));
    }
    console::print("\n");
}

/// Returns the number of instructions since reset.
pub fn instructions() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

/// Returns the number of cycles since reset.
pub fn cycles() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nomem, nostack)) };
    count
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64) -> ! {
    let text = [cause, pc].map(Number::hex);
    console::line(&["bench: trapped, cause 0x", text[0].as_str(), " at 0x", text[1].as_str()]);
    hartlock_virt::machine::end(1)
}
