//! The boot bundle in flash bank 1 (boot flow §4.1).

use hartlock_kernels::Kernels;
use hartlock_stage::{Hardware, Instant, RomLog, Slot};
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

/// The flash slot of the boot bundle, as a medium.
pub type Flash<'a> = Slot<'a, Hart>;

/// The clock of the hart that copies and hashes.
pub struct Hart;

impl Hardware for Hart {
    fn now() -> Instant {
        clock::now()
    }
}

/// Opens the slot of the boot bundle.
pub fn open(kernels: Kernels, log: &mut RomLog) -> Flash<'_> {
    // SAFETY: the slot is flash of this board in read mode; nothing writes to it while the ROM runs.
    Slot::new(unsafe { memory::bytes(map::BOOT_SLOT) }, kernels, log)
}

/// Puts the flash into read mode. Earlier software may have left it in another mode, in which reads return status
/// instead of contents (boot flow §3.2).
pub fn reset_flash() {
    /// The command Read Array of the Intel command set. Two 16-bit devices side by side form a 32-bit bank.
    const READ_ARRAY: u32 = 0x00ff_00ff;
    /// Number of times that the command is written. A flash device that waits for a buffered program command
    /// interprets the first word as the length (256 words), the next 256 as data, and one more in place of the
    /// confirmation; then nothing is programmed. Only the last word is executed as a command.
    const TIMES: usize = 1 + 256 + 1 + 1;
    // The command is written to an unused word, because a flash device that waits for a single word programs it.
    let last: *mut u32 = core::ptr::with_exposed_provenance_mut(map::BUNDLE_FLASH.end as usize - 4);
    for _ in 0..TIMES {
        // SAFETY: this is a command write to the flash of this board; it changes nothing that is read.
        unsafe { last.write_volatile(READ_ARRAY) };
    }
    hartlock_virt::hart::fence();
}
