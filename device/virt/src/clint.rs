//! Inter-processor interrupts and timer of M-mode (CLINT).

use crate::board::CLINT;

const MTIMECMP: usize = CLINT + 0x4000;
const MTIME: usize = CLINT + 0xbff8;
/// The value of a parked hart's timer compare register that releases it. A register of the
/// device, not memory: nothing that an earlier boot left in RAM can release a hart.
pub const RELEASE: u64 = 0x4841_5254_4c4f_434b;
/// Timer compare value that never fires.
pub const NEVER: u64 = u64::MAX;

fn msip(hart: usize) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(CLINT.wrapping_add(hart.wrapping_mul(4)))
}

fn mtimecmp(hart: usize) -> *mut u64 {
    core::ptr::with_exposed_provenance_mut(MTIMECMP.wrapping_add(hart.wrapping_mul(8)))
}

/// Raises the interrupt of a hart. One that does not exist is a write that the bus drops.
pub fn raise(hart: usize) {
    // SAFETY: the device has a register for each of 4095 harts; callers count to 8.
    unsafe { msip(hart).write_volatile(1) };
}

/// Lowers the interrupt of a hart.
pub fn lower(hart: usize) {
    // SAFETY: as above.
    unsafe { msip(hart).write_volatile(0) };
}

/// Whether the interrupt of a hart is raised.
pub fn is_raised(hart: usize) -> bool {
    // SAFETY: as above.
    unsafe { msip(hart).read_volatile() & 1 != 0 }
}

/// Sets the timer of a hart.
pub fn set_timer(hart: usize, at: u64) {
    // SAFETY: as above.
    unsafe { mtimecmp(hart).write_volatile(at) };
}

/// What timers are compared with.
pub fn time() -> u64 {
    let register: *const u64 = core::ptr::with_exposed_provenance(MTIME);
    // SAFETY: a register of the device that counts.
    unsafe { register.read_volatile() }
}
