//! Inter-processor interrupts and timer of M-mode (CLINT).

use crate::board::CLINT;

const MTIMECMP: usize = CLINT + 0x4000;
const MTIME: usize = CLINT + 0xbff8;
/// Value of the timer compare register that releases a parked hart. The release uses a device
/// register instead of memory, so that no data of an earlier boot in RAM can release a hart.
pub const RELEASE: u64 = 0x4841_5254_4c4f_434b;
/// Timer compare value for a timer that never fires.
pub const NEVER: u64 = u64::MAX;

fn msip(hart: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(CLINT.wrapping_add(hart.wrapping_mul(4)))
}

fn mtimecmp(hart: usize) -> *mut u64 {
    core::ptr::with_exposed_provenance_mut(MTIMECMP.wrapping_add(hart.wrapping_mul(8)))
}

/// Raises the software interrupt of a hart. If the hart does not exist, the bus drops the write.
pub fn raise(hart: usize) {
    // SAFETY: the device has a register for each of 4095 harts, and callers use numbers below 8.
    unsafe { msip(hart).write_volatile(1) };
}

/// Clears the software interrupt of a hart.
pub fn lower(hart: usize) {
    // SAFETY: the same argument as in `raise` applies.
    unsafe { msip(hart).write_volatile(0) };
}

/// Returns true if the software interrupt of a hart is raised.
pub fn is_raised(hart: usize) -> bool {
    // SAFETY: the same argument as in `raise` applies.
    unsafe { msip(hart).read_volatile() & 1 != 0 }
}

/// Sets the timer compare register of a hart.
pub fn set_timer(hart: usize, at: u64) {
    // SAFETY: the same argument as in `raise` applies.
    unsafe { mtimecmp(hart).write_volatile(at) };
}

/// Returns the current time, which timers are compared with.
pub fn time() -> u64 {
    let register: *const u64 = core::ptr::with_exposed_provenance(MTIME);
    // SAFETY: this is a counter register of the device.
    unsafe { register.read_volatile() }
}
