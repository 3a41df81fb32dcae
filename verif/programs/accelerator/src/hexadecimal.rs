//! Output of bytes on the console as hexadecimal digits.

use core::fmt::Write;

use hartlock_rot_bench::Console;

pub fn print(bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(Console, "{byte:02x}");
    }
}
