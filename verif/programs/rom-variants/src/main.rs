//! Variants of the ROM, with a fault that a test has to detect, or without verification, to measure its cost. A feature
//! selects the variant.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

#[cfg(feature = "unverified")]
mod manifest;
#[cfg(feature = "unverified")]
mod unverified;

#[cfg(not(feature = "unverified"))]
#[unsafe(no_mangle)]
extern "C" fn rom_main() -> ! {
    if !cfg!(feature = "flash-as-it-is") {
        hartlock_rom::medium::reset_flash();
    }
    if cfg!(feature = "panic") {
        assert!(core::hint::black_box(true), "the gate against panics must see this");
    }
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    let metadata = unsafe { hartlock_virt::memory::bytes_mut(hartlock_virt::board::map::METADATA) };
    // The smaller buffer is too small for any manifest.
    let size = if cfg!(feature = "small-metadata") { 512 } else { metadata.len() };
    hartlock_rom::run(metadata.get_mut(..size).unwrap_or_default())
}
