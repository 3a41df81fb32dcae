//! The serial console (16550), written by polling.

use hartlock_image::Reason;
use hartlock_stage::console;

use crate::board;

pub use hartlock_stage::console::Number;

const UART: *mut u8 = board::UART as *mut u8;
const LINE_STATUS: usize = 5;
const TRANSMITTER_EMPTY: u8 = 0x20;
/// Maximum number of polls for a byte. A console that does not respond must not stop a boot.
const PATIENCE: u32 = 1_000_000;

fn put_byte(byte: u8) {
    for _ in 0..PATIENCE {
        if board::UART_IS_ALWAYS_READY {
            break;
        }
        // SAFETY: this is the UART of the board; reading its line status has no side effect that
        // matters here.
        let status = unsafe { UART.wrapping_add(LINE_STATUS).read_volatile() };
        if status & TRANSMITTER_EMPTY != 0 {
            break;
        }
    }
    // SAFETY: this is the transmit register of the same device.
    unsafe { UART.write_volatile(byte) };
}

/// Prints a byte, with a carriage return before a line end.
#[inline]
fn put(byte: u8) {
    if byte == b'\n' {
        put_byte(b'\r');
    }
    put_byte(byte);
}

/// Prints text.
#[inline(never)]
pub fn print(text: &str) {
    text.bytes().for_each(put);
}

/// Prints texts and a line end.
pub fn line(parts: &[&str]) {
    for part in parts {
        print(part);
    }
    print("\n");
}

/// Prints a refusal with its stage, code, title and hint (boot flow §7).
pub fn refusal(stage: &str, reason: Reason) {
    console::refusal(line, stage, reason);
}

/// Prints a refusal with its stage, code and title.
pub fn refusal_without_hint(stage: &str, reason: Reason) {
    console::refusal_without_hint(line, stage, reason);
}

/// Prints the header of a measurement log and `entries` entries.
pub fn log(memory: &[u8], entries: usize) {
    console::log(put, memory, entries);
}
