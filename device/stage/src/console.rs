//! Texts for the console. Each machine provides its own function that prints them.

use hartlock_handoff::LOG_ENTRY_SIZE;
use hartlock_image::{Reason, hint_line, refusal_line};

/// The digits of a number, formatted without a heap and without `core::fmt`.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    digits: [u8; 20],
    start: usize,
}

impl Number {
    /// Formats a number in decimal.
    pub fn decimal(number: u64) -> Self {
        Self::new(number, 10)
    }

    /// Formats a number in hexadecimal.
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

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        self.digits.get(self.start..).and_then(ascii).unwrap_or("?")
    }
}

/// Converts ASCII bytes to text. The code is a fifth of the size of `from_utf8`, which no other code of the ROM needs.
fn ascii(bytes: &[u8]) -> Option<&str> {
    // SAFETY: the bytes are ASCII, and ASCII is UTF-8.
    bytes.iter().all(u8::is_ascii).then(|| unsafe { core::str::from_utf8_unchecked(bytes) })
}

/// Returns the four digits of a reason code.
fn code(reason: Reason) -> [u8; 4] {
    let mut digits = [0; 4];
    let mut rest = reason as u16;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' | (rest.wrapping_rem(10) as u8);
        rest = rest.wrapping_div(10);
    }
    digits
}

/// Prints a refusal through `line`: stage, code, title and hint (boot flow §7).
pub fn refusal(line: impl Fn(&[&str]), stage: &str, reason: Reason) {
    refusal_without_hint(&line, stage, reason);
    line(&hint_line("hartlock: ", reason.hint()));
}

/// Prints a refusal through `line` without its hint. The hints of all reasons would take 4 KiB of a ROM.
pub fn refusal_without_hint(line: impl Fn(&[&str]), stage: &str, reason: Reason) {
    let digits = code(reason);
    let digits = ascii(&digits).unwrap_or("????");
    let who = ["\nhartlock: ", stage, " refused: "];
    line(&refusal_line(who, digits, reason.title()));
}

/// Prints a measurement log byte by byte. Each line has the form `log <hexadecimal>`; there is one for the header and
/// one for each of the `entries` entries.
pub fn log(put: impl Fn(u8), memory: &[u8], entries: usize) {
    let (records, _) = memory.as_chunks::<LOG_ENTRY_SIZE>();
    for record in records.iter().take(entries.saturating_add(1)) {
        b"log ".iter().for_each(|byte| put(*byte));
        for byte in record {
            for digit in [byte >> 4, byte & 15] {
                put(if digit < 10 { b'0' | digit } else { (b'a' - 10).wrapping_add(digit) });
            }
        }
        put(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::format;
    use std::string::String;

    use super::*;

    #[test]
    fn numbers_have_the_digits_of_their_base() {
        for (number, decimal, hexadecimal) in [
            (0, "0", "0"),
            (4095, "4095", "fff"),
            (u64::MAX, "18446744073709551615", "ffffffffffffffff"),
        ] {
            assert_eq!(Number::decimal(number).as_str(), decimal);
            assert_eq!(Number::hex(number).as_str(), hexadecimal);
        }
    }

    #[test]
    fn every_refusal_has_four_digits_a_title_and_a_hint() {
        for reason in Reason::ALL {
            let out = RefCell::new(String::new());
            let line = |parts: &[&str]| *out.borrow_mut() += &(parts.concat() + "\n");
            refusal(&line, "rom", *reason);
            let (code, title, hint) = (*reason as u16, reason.title(), reason.hint());
            let first = format!("\nhartlock: rom refused: E{code:04} {title}\n");
            let expected = format!("{first}hartlock: hint: {hint}\n");
            assert_eq!(out.take(), expected);
            refusal_without_hint(line, "rom", *reason);
            assert_eq!(out.take(), first);
        }
    }

    #[test]
    fn a_log_is_a_line_for_its_header_and_for_each_entry() {
        let out = RefCell::new(String::new());
        let memory = [0xa5; 4 * LOG_ENTRY_SIZE];
        log(|byte| out.borrow_mut().push(byte.into()), &memory, 2);
        let line = String::from("log ") + &"a5".repeat(LOG_ENTRY_SIZE) + "\n";
        assert_eq!(out.into_inner(), line.repeat(3));
    }
}
