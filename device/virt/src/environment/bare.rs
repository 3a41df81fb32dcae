//! Environment of a stage in M-mode without other software on the machine.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use super::Csr;
use crate::kernels::PrivilegeMode;
use crate::{clint, hart, machine};

/// Privilege mode that the stage runs in.
pub const MODE: PrivilegeMode = PrivilegeMode::Machine;
/// True if the program is the only one on the machine, so that all harts enter its start-up code.
pub const IS_ALONE: bool = true;
/// CSR numbers of this mode.
pub const CSR: Csr =
    Csr { ie: 0x304, scratch: 0x340, tvec: 0x305, cause: 0x342, epc: 0x341, tval: 0x343 };
/// Bit of the software interrupt in `mie`.
const SOFTWARE: usize = 1 << 3;

/// Mask of the harts that were started and have not stopped since.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// Starts a hart that waits in start-up code, which determines the entry point. Returns true if the
/// hart was stopped.
#[must_use]
pub fn start_hart(hart: usize, _: usize) -> bool {
    let bit = 1 << (hart & 63);
    let was_started = STARTED.fetch_or(bit, Ordering::AcqRel) & bit != 0;
    // The interrupt is a store to a device, so all earlier stores to memory have to be complete
    // before.
    hart::fence();
    clint::raise(hart);
    !was_started
}

/// Returns nothing, because nothing works for this program.
pub const fn calls_with_address() -> [usize; 0] {
    []
}

/// Returns false: M-mode does not translate addresses.
#[must_use]
pub const fn is_paged(_: u64) -> bool {
    false
}

/// Returns true if a hart is stopped.
pub fn is_stopped(hart: usize) -> bool {
    STARTED.load(Ordering::Acquire) & (1 << (hart & 63)) == 0
}

/// Records that the calling hart accesses no memory any more. Afterwards it waits in start-up code.
pub fn stop_self() {
    let number: usize;
    // SAFETY: the instruction only reads the number of this hart.
    unsafe { asm!("csrr {}, mhartid", out(reg) number, options(nomem, nostack)) };
    STARTED.fetch_and(!(1 << (number & 63)), Ordering::AcqRel);
}

/// Raises the software interrupt of the harts in `mask`.
pub fn interrupt(mask: u64) {
    hart::fence();
    (0..64).filter(|hart| mask & (1 << hart) != 0).for_each(clint::raise);
}

/// Lets the software interrupt end a `wfi`. The interrupt is not taken, because mstatus.MIE stays
/// 0.
pub fn enable_interrupt() {
    // SAFETY: the instruction only changes what wakes `wfi`.
    unsafe { asm!("csrw mie, {}", in(reg) SOFTWARE, options(nomem, nostack)) };
}

/// Clears the software interrupt of the calling hart.
pub fn clear_interrupt(hart: usize) {
    clint::lower(hart);
    // The fence ensures that later reads see the data that the next interrupt announces.
    hart::fence();
}

/// Ends the machine, which cannot be reset.
pub fn reset() {
    machine::end(1)
}

/// Ends a refused boot.
pub fn give_up() -> ! {
    machine::end(1)
}
