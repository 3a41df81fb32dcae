//! The host beside a verification unit as its stages see it (`hw/soc/README.md`): start-up code, where devices are, the
//! medium, and the bench.
//!
//! A program defines `stage_main` and is linked with the script of its name.

#![no_std]
#![cfg(target_arch = "riscv32")]

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

global_asm!(include_str!("start.S"), bench_exit = const EXIT);

/// Where hardware has put header and code of the first stage.
pub const FIRST_STAGE: usize = 0x1000_0000;
/// Where header and code of the stage after it have to be. The front of its image is before that.
pub const SECOND_STAGE: usize = 0x2001_1000;
/// Bytes for its code.
pub const SECOND_STAGE_CAPACITY: usize = 32 << 10;
/// Registers of the engine for XMSS: the host's from the release on.
pub const ENGINE: usize = 0x4000_0000;
/// Registers of one-time-programmable storage.
pub const OTP: usize = 0x4000_1000;
/// The medium, which is only read.
pub const MEDIUM: usize = 0x8000_0000;
/// Where the second image is on it.
pub const SECOND_IMAGE: usize = MEDIUM + 0x4_0000;

/// Registers of the bench, which a chip lacks.
const BENCH: usize = 0x4000_f000;
const EXIT: usize = BENCH + 0x4;
const MARK: usize = BENCH + 0x8;
/// From the start of a stage's code to its first instruction.
const ENTRY: usize = 0x80;

unsafe extern "C" {
    fn svu_enter(entry: usize) -> !;
}

/// Starts a stage whose code is at this address, and ends this one.
///
/// # Safety
/// There is code for this address, which may change all of memory.
pub unsafe fn enter(code: usize) -> ! {
    // SAFETY: the caller guarantees the code.
    unsafe { svu_enter(code.wrapping_add(ENTRY)) }
}

/// Copies words of the medium to memory. A read that fails traps.
///
/// # Safety
/// The caller alone uses `count` words of memory from `to` on; both addresses are those of words.
pub unsafe fn read_medium(to: usize, from: usize, count: usize) {
    for at in (0..count).map(|word| word.wrapping_mul(4)) {
        let word: *const u32 = core::ptr::with_exposed_provenance(from.wrapping_add(at));
        // SAFETY: a word of the medium, which is never an object of this program.
        let word = unsafe { word.read_volatile() };
        let place: *mut u32 = core::ptr::with_exposed_provenance_mut(to.wrapping_add(at));
        // SAFETY: the caller guarantees the place.
        unsafe { place.write_volatile(word) };
    }
}

/// The cycle counter of the core, lower half.
pub fn cycle() -> u32 {
    let value;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) value, options(nomem, nostack)) };
    value
}

/// Puts a number into the report of the machine, with the cycle.
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

/// The console, for `core::fmt`.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| write_register(BENCH, u32::from(byte)));
        Ok(())
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(0xff)
}
