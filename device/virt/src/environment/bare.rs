//! M-mode, alone on the machine.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use super::Csr;
use crate::kernels::Mode;
use crate::{clint, hart, machine};

/// The mode that the stage runs in.
pub const MODE: Mode = Mode::Machine;
/// Whether a program is alone on the machine: all harts come to its start-up code.
pub const IS_ALONE: bool = true;
/// The CSRs of this mode.
pub const CSR: Csr =
    Csr { ie: 0x304, scratch: 0x340, tvec: 0x305, cause: 0x342, epc: 0x341, tval: 0x343 };
/// Bit of the software interrupt in `mie`.
const SOFTWARE: usize = 1 << 3;

/// Harts that were started and did not stop since.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// Starts a hart that waits in start-up code, which knows where it goes. Whether it was stopped.
#[must_use]
pub fn start_hart(hart: usize, _: usize) -> bool {
    let bit = 1 << (hart & 63);
    let was_started = STARTED.fetch_or(bit, Ordering::AcqRel) & bit != 0;
    // The interrupt is a store to a device: what it announces has to be in memory before.
    hart::fence();
    clint::raise(hart);
    !was_started
}

/// Whether a hart is stopped.
pub fn is_stopped(hart: usize) -> bool {
    STARTED.load(Ordering::Acquire) & (1 << (hart & 63)) == 0
}

/// Notes that the calling hart touches no memory any more. It waits in start-up code afterwards.
pub fn stop_self() {
    let number: usize;
    // SAFETY: reads the number of this hart.
    unsafe { asm!("csrr {}, mhartid", out(reg) number, options(nomem, nostack)) };
    STARTED.fetch_and(!(1 << (number & 63)), Ordering::AcqRel);
}

/// Interrupts the harts in `mask`.
pub fn interrupt(mask: u64) {
    hart::fence();
    (0..64).filter(|hart| mask & (1 << hart) != 0).for_each(clint::raise);
}

/// Lets the software interrupt end a `wfi`; mstatus.MIE stays 0, so it is not taken.
pub fn enable_interrupt() {
    // SAFETY: changes only what wakes `wfi`.
    unsafe { asm!("csrw mie, {}", in(reg) SOFTWARE, options(nomem, nostack)) };
}

/// Clears the software interrupt of the calling hart.
pub fn clear_interrupt(hart: usize) {
    clint::lower(hart);
    // What the next interrupt announces is read after this one is gone.
    hart::fence();
}

/// Ends the machine, which has no reset.
pub fn reset() {
    machine::end(1)
}

/// Ends a refused boot.
pub fn give_up() -> ! {
    machine::end(1)
}
