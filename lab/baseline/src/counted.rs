//! Reads the counters of the hart, and prints the counts.

use core::arch::asm;

use crate::console::{decimal, print, put};

/// Cycles and instructions, at a point in the program or between two points.
pub struct Count {
    instructions: u64,
    cycles: u64,
}

impl Count {
    pub fn begin() -> Self {
        Self { instructions: instructions(), cycles: cycles() }
    }

    /// Returns the counts since `begin`.
    pub fn end(self) -> Self {
        let cycles = cycles().wrapping_sub(self.cycles);
        Self { instructions: instructions().wrapping_sub(self.instructions), cycles }
    }

    pub fn report(&self, who: &str, what: &str, bytes: usize, result: &[u8]) {
        for part in ["count ", who, " ", what, " "] {
            print(part);
        }
        for number in [bytes as u64, self.cycles, self.instructions] {
            decimal(number);
            print(" ");
        }
        for byte in result {
            for digit in [byte >> 4, byte & 15] {
                put(b"0123456789abcdef"[usize::from(digit)]);
            }
        }
        print("\n");
    }
}

fn instructions() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter. The compiler does not move the counted code across
    // it, because the instruction may access memory as far as the compiler knows.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nostack)) };
    count
}

fn cycles() -> u64 {
    let count: u64;
    // SAFETY: see `instructions`.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nostack)) };
    count
}
