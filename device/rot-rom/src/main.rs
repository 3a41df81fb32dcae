//! The ROM of the root of trust, as a chip has it.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use hartlock_rot_rom::Environment;

struct Chip;

impl Environment for Chip {}

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_rom::run::<Chip>()
}
