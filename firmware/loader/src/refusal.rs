//! How the loader ends when it refuses (boot flow §7), and what a trap does.

use core::sync::atomic::{AtomicUsize, Ordering};

use hartlock_handoff::{Entry, Log, Step};
use hartlock_image::Reason;
use hartlock_virt::{clock, console, hart, sbi};

use crate::harts::{self, Harts};
use crate::step;

/// 1 + the hart that runs the boot; a trap on any other one is that of a worker.
static BOOT_HART: AtomicUsize = AtomicUsize::new(0);

/// Names the hart on which a trap is a refusal.
pub fn set_boot_hart(hart: usize) {
    BOOT_HART.store(hart.wrapping_add(1), Ordering::Release);
}

/// Prints and logs a refusal, stops every hart, this one last. If another hart does not stop, the
/// machine is reset: it must not live on.
pub fn refuse(reason: Reason, log: &mut Log<'_>, harts: Option<&mut Harts>) -> ! {
    console::refusal("loader", reason);
    log.push(&Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    // A hart that did not start or stop in time is not waited for again.
    let is_out_of_control = matches!(reason, Reason::HartNotStarted | Reason::HartNotStopped)
        || harts.is_some_and(|harts| harts.stop().is_err());
    if is_out_of_control {
        console::line(&["hartlock: a hart is out of control, resetting the machine"]);
        sbi::cold_reset();
    }
    sbi::hart_stop();
    hart::halt()
}

/// Called by start.S on a hart that is not the boot hart of the hand-off block. It stops alone:
/// log and pool belong to the boot hart.
#[unsafe(no_mangle)]
extern "C" fn loader_wrong_hart() -> ! {
    console::refusal("loader", Reason::WrongBootHart);
    sbi::hart_stop();
    hart::halt()
}

/// Called by start.S on the hart that trapped, on a fresh stack.
#[unsafe(no_mangle)]
extern "C" fn loader_trap(hart: usize, cause: u64, pc: u64, value: u64) -> ! {
    let text = [hart as u64, cause, pc, value].map(console::Number::hex);
    let [number, cause, pc, value] = text.each_ref().map(console::Number::as_str);
    console::line(&[
        "\nhartlock: trap: hart ",
        number,
        " scause 0x",
        cause,
        " sepc 0x",
        pc,
        " stval 0x",
        value,
    ]);
    if BOOT_HART.load(Ordering::Acquire) != hart.wrapping_add(1) {
        // A worker: its block is redone elsewhere, and it takes part no more.
        harts::report_fault(hart);
        sbi::hart_stop();
        hart::halt()
    }
    console::refusal("loader", Reason::UnexpectedTrap);
    harts::request_stop();
    sbi::hart_stop();
    hart::halt()
}
