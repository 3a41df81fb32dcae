//! The root of trust as its programs see it (`hw/soc/README.md`): start-up code, where devices are, the
//! bench, and accesses that may fail.
//!
//! A program defines `rot_main` and is linked with `link.ld`.

#![no_std]
#![cfg(target_arch = "riscv32")]

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

global_asm!(include_str!("start.S"), bench_exit = const EXIT);

include!(env!("HARTLOCK_ROOT_OF_TRUST_CONSTANTS"));

const CONSOLE: usize = BENCH;
const EXIT: usize = BENCH + 0x4;
const MARK: usize = BENCH + 0x8;

/// Causes of traps (RISC-V Privileged Architecture §3.1.15).
pub mod cause {
    /// A fetch that the bus refused.
    pub const INSTRUCTION_ACCESS: u32 = 1;
    /// A load that the bus refused.
    pub const LOAD_ACCESS: u32 = 5;
    /// A store that the bus refused.
    pub const STORE_ACCESS: u32 = 7;
}

unsafe extern "C" {
    fn rot_try_load(address: usize, value: *mut u32) -> u32;
    fn rot_try_store(address: usize, value: u32) -> u32;
    fn rot_try_call(address: usize) -> u32;
}

/// Reads a word from anywhere.
///
/// # Errors
/// The cause of the trap, if the bus refuses.
pub fn try_load(address: usize) -> Result<u32, u32> {
    let mut value = 0;
    // SAFETY: survives a trap, and a load changes nothing of this program's memory.
    let cause = unsafe { rot_try_load(address, &raw mut value) };
    if cause == 0 { Ok(value) } else { Err(cause) }
}

/// Writes a word to a register, or to memory that is not the program's.
///
/// # Safety
/// No Rust object is at the address, and the write has no effect on one.
///
/// # Errors
/// The cause of the trap, if the bus refuses.
pub unsafe fn try_store(address: usize, value: u32) -> Result<(), u32> {
    // SAFETY: survives a trap; the caller guarantees the rest.
    let cause = unsafe { rot_try_store(address, value) };
    if cause == 0 { Ok(()) } else { Err(cause) }
}

/// Calls code at an address.
///
/// # Safety
/// There is no code, or a function without arguments that returns.
///
/// # Errors
/// The cause of the trap, if its first fetch is refused.
pub unsafe fn try_call(address: usize) -> Result<(), u32> {
    // SAFETY: survives a trap; the caller guarantees the rest.
    let cause = unsafe { rot_try_call(address) };
    if cause == 0 { Ok(()) } else { Err(cause) }
}

/// The cycle counter, lower half. Differences up to 2^32 are right.
pub fn cycle() -> u32 {
    let value;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) value, options(nomem, nostack)) };
    value
}

/// Fast interrupts of Ibex that are wired (hw/soc/README.md), as bits of `mie`.
pub mod interrupt {
    /// The SHA-2 engine's.
    pub const SHA2: u32 = 1 << 16;
    /// The mailbox's.
    pub const MAILBOX: u32 = 1 << 17;
}

/// Sleeps until one of these interrupts is pending, or returns at once if one is. None is ever taken:
/// `mstatus.MIE` stays clear (RISC-V Privileged Architecture §3.3.3).
pub fn sleep_until(interrupts: u32) {
    // SAFETY: start-up code leaves interrupts off, so this only waits.
    unsafe { asm!("csrw mie, {}", "wfi", in(reg) interrupts, options(nomem, nostack)) };
}

/// Puts a number into the trace of the machine, where the program is.
pub fn mark(number: u32) {
    write_register(MARK, number);
}

/// Ends the run. 0 is success.
pub fn exit(code: u32) -> ! {
    write_register(EXIT, code);
    loop {
        // SAFETY: waits for an interrupt, of which none is enabled.
        unsafe { asm!("wfi", options(nomem, nostack)) };
    }
}

fn write_register(address: usize, value: u32) {
    let register: *mut u32 = core::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the addresses above are the bench's, which touches none of this program's memory.
    unsafe { register.write_volatile(value) };
}

/// Prints a byte on the console of the bench.
pub fn put(byte: u8) {
    write_register(CONSOLE, u32::from(byte));
}

/// The console of the bench, for `core::fmt`.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(put);
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn rot_trap(cause: u32, address: u32, value: u32) -> ! {
    let _ = writeln!(Console, "rot: trap {cause} at {address:#010x}, value {value:#010x}");
    exit(0x100 | cause)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(0xff)
}
