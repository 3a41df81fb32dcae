//! The test bench's additions to a root of trust, for test programs and for an observed ROM: a console, the end of the
//! run, marks, accesses that may fail, and a report of unexpected traps. A chip has none of these (`bench` in
//! hw/soc/README.md).

#![no_std]
#![cfg(target_arch = "riscv32")]

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};

use hartlock_rot::BENCH;

global_asm!(include_str!("bench.S"));

const CONSOLE: usize = BENCH;
const EXIT: usize = BENCH + 0x4;
const MARK: usize = BENCH + 0x8;

unsafe extern "C" {
    fn rot_bench_catch();
    fn rot_try_load(address: usize, value: *mut u32) -> u32;
    fn rot_try_store(address: usize, value: u32) -> u32;
    fn rot_try_call(address: usize) -> u32;
}

/// Makes unexpected traps print a line and end the run, and the accesses below survive theirs. A program calls this
/// first. Until then an unexpected trap stops the hart, as on a chip.
pub fn catch_traps() {
    // SAFETY: the routine only writes the address of vectors that keep the rules of start.S.
    unsafe { rot_bench_catch() }
}

/// Reads a word from any address.
///
/// # Errors
/// The cause of the trap if the bus refuses the access.
pub fn try_load(address: usize) -> Result<u32, u32> {
    let mut value = 0;
    // SAFETY: the call survives a trap, and a load changes no memory of this program.
    let cause = unsafe { rot_try_load(address, &raw mut value) };
    if cause == 0 { Ok(value) } else { Err(cause) }
}

/// Writes a word to a register or to memory that does not belong to the program.
///
/// # Safety
/// No Rust object is at the address, and the write does not affect one.
///
/// # Errors
/// The cause of the trap if the bus refuses the access.
pub unsafe fn try_store(address: usize, value: u32) -> Result<(), u32> {
    // SAFETY: the call survives a trap, and the caller guarantees the rest.
    let cause = unsafe { rot_try_store(address, value) };
    if cause == 0 { Ok(()) } else { Err(cause) }
}

/// Calls the code at an address.
///
/// # Safety
/// The address holds no code, or a function without arguments that returns.
///
/// # Errors
/// The cause of the trap if the first instruction fetch is refused.
pub unsafe fn try_call(address: usize) -> Result<(), u32> {
    // SAFETY: the call survives a trap, and the caller guarantees the rest.
    let cause = unsafe { rot_try_call(address) };
    if cause == 0 { Ok(()) } else { Err(cause) }
}

/// Writes a number into the trace of the machine, to mark the progress of the program.
pub fn mark(number: u32) {
    write_register(MARK, number);
}

/// Ends the run with an exit code; 0 is success.
pub fn exit(code: u32) -> ! {
    write_register(EXIT, code);
    loop {
        // SAFETY: the instruction waits for an interrupt, and none is enabled.
        unsafe { asm!("wfi", options(nomem, nostack)) };
    }
}

fn write_register(address: usize, value: u32) {
    let register: *mut u32 = core::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the addresses above belong to the test bench, which does not access the memory of this program.
    unsafe { register.write_volatile(value) };
}

/// Prints a byte on the console.
pub fn put(byte: u8) {
    write_register(CONSOLE, u32::from(byte));
}

/// The console, as a writer for `core::fmt`.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(put);
        Ok(())
    }
}

/// Prints an unexpected trap and ends the run. bench.S calls this function after it has told the boot sequencer to
/// stop.
#[unsafe(no_mangle)]
extern "C" fn rot_trap(cause: u32, address: u32, value: u32) -> ! {
    let _ = writeln!(Console, "rot: trap {cause} at {address:#010x}, value {value:#010x}");
    exit(0x100 | cause)
}
