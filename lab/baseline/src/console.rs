//! Writes to the console and ends the simulation (hw/soc/README.md).

use core::arch::asm;

const CONSOLE: usize = hartlock_virt::board::UART;
const END: usize = hartlock_virt::board::TEST;

pub fn put(byte: u8) {
    // SAFETY: the address is the transmit register, which is always ready.
    unsafe { (CONSOLE as *mut u8).write_volatile(byte) };
}

pub fn print(text: &str) {
    text.bytes().for_each(put);
}

pub fn decimal(number: u64) {
    if number > 9 {
        decimal(number / 10);
    }
    put(b'0' + (number % 10) as u8);
}

/// Ends the simulation.
pub fn end(code: u32) -> ! {
    // SAFETY: the address is the test device of the board.
    unsafe { (END as *mut u32).write_volatile(code) };
    loop {
        // SAFETY: the instruction only waits.
        unsafe { asm!("wfi") };
    }
}
