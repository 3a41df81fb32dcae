//! Variants of the loader, with a fault that a test has to detect, or in another form for comparison. A feature selects
//! the variant.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

#[cfg(feature = "unverified")]
#[path = "../../rom-variants/src/manifest.rs"]
mod manifest;
#[cfg(feature = "unverified")]
mod unverified;

use hartlock_image::{PayloadRecord, Reason};
use hartlock_loader::disk::{Disk, Reading};
use hartlock_loader::harts;
use hartlock_verify::Loaded;
use hartlock_virt::{clock, environment};

/// Number of the faulty hart.
const VICTIM: usize = 2;
/// Time in milliseconds that the hart stalls. It is longer than the boot hart waits for a block and shorter than it
/// waits for a stop, so that the hart delivers its result, but too late.
const STALL_MS: u64 = 6000;

/// The reading strategy of this variant.
struct Variant;

impl Reading for Variant {
    const TRIES_ON_BOOT_HART: bool = !cfg!(feature = "trusting-boot-hart");

    fn load(disk: &mut Disk<'_, '_, Self>, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let mut transfer = disk.begin(payload)?;
        if cfg!(feature = "load-first") {
            disk.finish(&mut transfer)?;
        }
        let loaded = disk.digest(payload, transfer)?;
        if cfg!(feature = "reads-twice") {
            let mut again = disk.begin(payload)?;
            disk.finish(&mut again)?;
        }
        Ok(loaded)
    }

    fn close(mut disk: Disk<'_, '_, Self>) -> Result<(), Reason> {
        let result = disk.reset();
        if cfg!(feature = "reset-fails") { Err(Reason::MediumError) } else { result }
    }
}

#[cfg(not(feature = "unverified"))]
#[unsafe(no_mangle)]
extern "C" fn loader_main(hart: usize) -> ! {
    use hartlock_virt::board::map;
    use hartlock_virt::memory;

    let begun = hartlock_loader::begin(hart);
    let harts = if cfg!(feature = "one-hart") { 1 << hart } else { begun.handoff.harts };
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    let metadata = unsafe { memory::bytes_mut(map::METADATA) };
    // The smaller buffer is too small for any manifest.
    let size = if cfg!(feature = "small-metadata") { 512 } else { metadata.len() };
    hartlock_loader::run::<Variant>(begun, harts, metadata.get_mut(..size).unwrap_or_default())
}

#[unsafe(no_mangle)]
extern "C" fn worker_main(hart: usize) {
    harts::work(hart, |hart| {
        if hart != VICTIM {
            return;
        }
        if cfg!(feature = "worker-trap") {
            // SAFETY: the instruction traps, and the handler does not return.
            unsafe { core::arch::asm!("unimp", options(noreturn)) };
        }
        if cfg!(feature = "worker-stall") {
            let until = clock::deadline(STALL_MS);
            while !clock::is_past(until) {
                core::hint::spin_loop();
            }
        }
    });
    while cfg!(feature = "worker-never-stops") && hart == VICTIM {
        core::hint::spin_loop();
    }
    environment::stop_self();
}
