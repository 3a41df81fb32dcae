//! The console of the bench, without a heap and without `core::fmt`.

use hartlock_handoff::LOG_ENTRY_SIZE;
use hartlock_image::Reason;
use hartlock_rot::put;

fn print(text: &str) {
    text.bytes().for_each(put);
}

/// Prints texts and a line end.
pub fn line(parts: &[&str]) {
    parts.iter().for_each(|part| print(part));
    put(b'\n');
}

/// Prints a refusal: code, title, hint (boot flow §7).
pub fn refusal(reason: Reason) {
    print("\nhartlock: root of trust refused: E");
    let number = reason as u16;
    for unit in [1000, 100, 10, 1] {
        put(b'0' | (number.checked_div(unit).unwrap_or(0).wrapping_rem(10) as u8));
    }
    line(&[" ", reason.title()]);
    line(&["hartlock: hint: ", reason.hint()]);
}

/// Prints the records of a log, a line each, as the loader does on its machine.
pub fn log(memory: &[u8], entries: usize) {
    let (records, _) = memory.as_chunks::<LOG_ENTRY_SIZE>();
    for record in records.iter().take(entries.saturating_add(1)) {
        print("log ");
        for byte in record {
            for digit in [byte >> 4, byte & 15] {
                put(if digit < 10 { b'0' | digit } else { (b'a' - 10).wrapping_add(digit) });
            }
        }
        put(b'\n');
    }
}
