//! Support for the stages of a host with a signature verification unit (`hw/soc/README.md`): start-up code, device
//! addresses, the medium, and the test bench.
//!
//! A program defines `stage_main` and is linked with the linker script of its name.

#![no_std]
#![cfg(target_arch = "riscv32")]

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

global_asm!(include_str!("start.S"), bench_exit = const EXIT);

/// Address at which the hardware stores header and code of the first stage.
pub const FIRST_STAGE: usize = 0x1000_0000;
/// Address at which header and code of the second stage must be. The front of its image is before this address.
pub const SECOND_STAGE: usize = 0x2001_1000;
/// Size in bytes of the memory for the code of the second stage.
pub const SECOND_STAGE_CAPACITY: usize = 32 << 10;
/// Address of the registers of the XMSS engine, which the host can use after its release.
pub const ENGINE: usize = 0x4000_0000;
/// Address of the registers of the one-time-programmable storage.
pub const OTP: usize = 0x4000_1000;
/// Address of the medium, which is read-only.
pub const MEDIUM: usize = 0x8000_0000;
/// Address of the second image on the medium.
pub const SECOND_IMAGE: usize = MEDIUM + 0x4_0000;

/// Address of the registers of the test bench, which a chip does not have.
const BENCH: usize = 0x4000_f000;
const EXIT: usize = BENCH + 0x4;
const MARK: usize = BENCH + 0x8;
/// Offset in bytes from the start of a stage's code to its first instruction.
const ENTRY: usize = 0x80;

unsafe extern "C" {
    fn svu_enter(entry: usize) -> !;
}

/// Starts the stage whose code is at this address, and ends the current one.
///
/// # Safety
/// The address holds code that was linked for it; that code may change all of memory.
pub unsafe fn enter(code: usize) -> ! {
    // SAFETY: the caller guarantees the code.
    unsafe { svu_enter(code.wrapping_add(ENTRY)) }
}

/// Copies words of the medium to memory. A read that fails causes a trap.
///
/// # Safety
/// Only the caller uses the `count` words of memory from `to` on; both addresses are aligned to words.
pub unsafe fn read_medium(to: usize, from: usize, count: usize) {
    for at in (0..count).map(|word| word.wrapping_mul(4)) {
        let word: *const u32 = core::ptr::with_exposed_provenance(from.wrapping_add(at));
        // SAFETY: the address is a word of the medium, which is never an object of this program.
        let word = unsafe { word.read_volatile() };
        let place: *mut u32 = core::ptr::with_exposed_provenance_mut(to.wrapping_add(at));
        // SAFETY: the caller guarantees the place.
        unsafe { place.write_volatile(word) };
    }
}

/// Returns the lower half of the cycle counter of the core.
pub fn cycle() -> u32 {
    let value;
    // SAFETY: the instruction only reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) value, options(nomem, nostack)) };
    value
}

/// Writes a number into the report of the machine, together with the current cycle.
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

/// The console of the test bench, as a writer for `core::fmt`.
pub struct SvuConsole;

impl Write for SvuConsole {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| write_register(BENCH, u32::from(byte)));
        Ok(())
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(0xff)
}
