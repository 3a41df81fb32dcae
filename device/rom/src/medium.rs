//! The boot bundle in flash bank 1 (boot flow §4.1).

use hartlock_kernels::Kernels;
use hartlock_stage::{Hardware, Instant, RomLog, Slot};
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

/// The slot of the boot bundle as a medium.
pub type Flash<'a> = Slot<'a, Hart>;

/// The hart that copies and hashes.
pub struct Hart;

impl Hardware for Hart {
    fn now() -> Instant {
        clock::now()
    }
}

/// Opens the slot.
pub fn open(kernels: Kernels, log: &mut RomLog) -> Flash<'_> {
    // SAFETY: flash of this board, in read mode; nothing writes to it while the ROM runs.
    Slot::new(unsafe { memory::bytes(map::BOOT_SLOT) }, kernels, log)
}

/// Puts the flash into read mode: earlier software may have left it in another one, in which
/// reads return status instead of contents (boot flow §3.2).
pub fn reset_flash() {
    /// Intel command set: Read Array. Two 16-bit devices side by side make a 32-bit bank.
    const READ_ARRAY: u32 = 0x00ff_00ff;
    /// Flash that waits for a buffer takes the first for its length, 256 words, the next ones for those, and
    /// another in place of a confirmation; nothing is programmed then. The last one is obeyed.
    const TIMES: usize = 1 + 256 + 1 + 1;
    // A word that holds nothing: flash that waits for one word programs it.
    let last: *mut u32 = core::ptr::with_exposed_provenance_mut(map::BUNDLE_FLASH.end as usize - 4);
    for _ in 0..TIMES {
        // SAFETY: a command write to the flash of this board; it changes nothing that is read.
        unsafe { last.write_volatile(READ_ARRAY) };
    }
    hartlock_virt::hart::fence();
}
