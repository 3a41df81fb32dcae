//! Detection of the harts that are present, and their release into OpenSBI (boot flow §4, steps 1
//! and 5).

use core::sync::atomic::{AtomicU64, Ordering};

use hartlock_image::Reason;
use hartlock_virt::board::map;
use hartlock_virt::{clint, clock, hart};

/// Bit mask of the harts that have reported. Parked harts set their bits in start.S, after the word
/// was zeroed with the rest of ROM RAM.
#[unsafe(no_mangle)]
static hartlock_reported: AtomicU64 = AtomicU64::new(0);

const BOOT_HART: usize = 0;
/// Time in milliseconds to wait for another report after the last one.
const PATIENCE_MS: u64 = 500;
/// Time in milliseconds for a hart to acknowledge its release.
const RELEASE_MS: u64 = 5000;

const HART_COUNT: usize = map::BOARD.hart_count;
const ALL: u64 = (1 << HART_COUNT) - 1;

/// Tells the parked harts to report, and returns the mask of those that did, including the boot
/// hart.
pub fn count() -> u64 {
    for other in 1..HART_COUNT {
        clint::raise(other);
    }
    let mut reported = 0;
    let mut deadline = clock::deadline(PATIENCE_MS);
    clint::set_timer(BOOT_HART, deadline);
    enable_wakeup(true);
    while reported != ALL & !1 && !clock::is_past(deadline) {
        hart::wait_for_interrupt();
        clint::lower(BOOT_HART);
        let current = hartlock_reported.load(Ordering::Acquire);
        if current != reported {
            reported = current;
            deadline = clock::deadline(PATIENCE_MS);
            clint::set_timer(BOOT_HART, deadline);
        }
    }
    enable_wakeup(false);
    clint::set_timer(BOOT_HART, clint::NEVER);
    reported & ALL | 1 << BOOT_HART
}

/// Sends the harts in `counted` into OpenSBI and waits for their acknowledgements. `counted` is the
/// mask in the hand-off block: a hart that reported after the count stays parked.
///
/// # Errors
/// `HartNotStarted` if a hart does not acknowledge. Such a hart cannot do harm: the OpenSBI that it
/// would enter is verified, and there it waits for a boot hart that never comes.
pub fn release(counted: u64) -> Result<(), Reason> {
    let is_counted = |other: &usize| counted & (1 << other) != 0;
    for other in (1..HART_COUNT).filter(is_counted) {
        clint::set_timer(other, clint::RELEASE);
        clint::raise(other);
    }
    let deadline = clock::deadline(RELEASE_MS);
    for other in (1..HART_COUNT).filter(is_counted) {
        while clint::is_raised(other) {
            if clock::is_past(deadline) {
                return Err(Reason::HartNotStarted);
            }
        }
    }
    Ok(())
}

/// Lets timer and software interrupts end a `wfi`. The interrupts are not taken, because
/// mstatus.MIE stays 0.
fn enable_wakeup(is_enabled: bool) {
    let bits: usize = if is_enabled { 0x88 } else { 0 };
    // SAFETY: mie selects what wakes `wfi`; without mstatus.MIE no interrupt is taken.
    unsafe { core::arch::asm!("csrw mie, {}", in(reg) bits, options(nomem, nostack)) };
}
