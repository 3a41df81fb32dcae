//! The program of the ROM; the code is in the library.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use hartlock_virt::board::map;
use hartlock_virt::memory;

#[unsafe(no_mangle)]
extern "C" fn rom_main() -> ! {
    hartlock_rom::medium::reset_flash();
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    hartlock_rom::run(unsafe { memory::bytes_mut(map::METADATA) })
}
