//! The serial console (16550), written by polling.

use hartlock_image::Reason;

use crate::board;

const UART: *mut u8 = board::UART as *mut u8;
const LINE_STATUS: usize = 5;
const TRANSMITTER_EMPTY: u8 = 0x20;
/// Polls before a byte is given up: a dead console must not stop a boot.
const PATIENCE: u32 = 1_000_000;

fn put_byte(byte: u8) {
    for _ in 0..PATIENCE {
        if board::UART_IS_ALWAYS_READY {
            break;
        }
        // SAFETY: the board's UART; reading its line status has no side effect that matters here.
        let status = unsafe { UART.wrapping_add(LINE_STATUS).read_volatile() };
        if status & TRANSMITTER_EMPTY != 0 {
            break;
        }
    }
    // SAFETY: the transmit register of the same device.
    unsafe { UART.write_volatile(byte) };
}

/// Prints text.
pub fn print(text: &str) {
    for byte in text.bytes() {
        if byte == b'\n' {
            put_byte(b'\r');
        }
        put_byte(byte);
    }
}

/// Prints texts and a line end.
pub fn line(parts: &[&str]) {
    for part in parts {
        print(part);
    }
    print("\n");
}

/// A number as text, without a heap and without `core::fmt`.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    digits: [u8; 20],
    start: usize,
}

impl Number {
    /// Decimal digits.
    pub fn decimal(number: u64) -> Self {
        Self::new(number, 10)
    }

    /// Hexadecimal digits.
    pub fn hex(number: u64) -> Self {
        Self::new(number, 16)
    }

    fn new(mut number: u64, base: u64) -> Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        for (index, place) in digits.iter_mut().enumerate().rev() {
            let digit = number.checked_rem(base).unwrap_or(0) as u8;
            *place = if digit < 10 { b'0' | digit } else { (b'a' - 10).wrapping_add(digit) };
            start = index;
            number = number.checked_div(base).unwrap_or(0);
            if number == 0 {
                break;
            }
        }
        Self { digits, start }
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        self.digits
            .get(self.start..)
            .and_then(|text| core::str::from_utf8(text).ok())
            .unwrap_or("?")
    }
}

/// The four digits of a reason code.
fn code(reason: Reason) -> [u8; 4] {
    let mut digits = [0; 4];
    let mut rest = reason as u16;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' | (rest.wrapping_rem(10) as u8);
        rest = rest.wrapping_div(10);
    }
    digits
}

/// Prints a refusal: stage, code, title, hint (boot flow §7).
pub fn refusal(stage: &str, reason: Reason) {
    let digits = code(reason);
    let digits = core::str::from_utf8(&digits).unwrap_or("????");
    line(&["\nhartlock: ", stage, " refused: E", digits, " ", reason.title()]);
    line(&["hartlock: hint: ", reason.hint()]);
}
