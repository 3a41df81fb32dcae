//! Refusals of the loader (boot flow §7) and handling of traps.

use core::sync::atomic::{AtomicUsize, Ordering};

use hartlock_handoff::{Entry, Log, LogHeader, Step};
use hartlock_image::Reason;
use hartlock_virt::board::map;
use hartlock_virt::{clock, console, environment, hart, memory};

use crate::decryption;
use crate::harts::{self, Harts};
use crate::log::{self, step};

/// Number of the boot hart plus 1, or 0 if there is none. A trap on any other hart is that of a
/// worker.
static BOOT_HART: AtomicUsize = AtomicUsize::new(0);

/// Number of traps of the boot hart. The first one is a refusal, the second one ends this refusal and still overwrites
/// what it did not come to, and any other one stops the hart.
static TRAPS: AtomicUsize = AtomicUsize::new(0);

/// Log for a refusal. It is not on the stack, because a trap resets the stack.
static mut LOG: Option<Log<'static>> = None;
static mut HARTS: Option<Harts> = None;

/// Sets the hart on which a trap is a refusal.
pub fn set_boot_hart(hart: usize) {
    BOOT_HART.store(hart.wrapping_add(1), Ordering::Release);
}

/// Clears the boot hart. From here on a trap is one of the kernel, which has no handler of its own
/// yet. It is still printed, but the loader has given its verdict and no longer refuses.
pub fn clear_boot_hart() {
    BOOT_HART.store(0, Ordering::Release);
}

/// Stores the log where the trap handler finds it.
pub fn keep_log(log: Log<'static>) -> &'static mut Log<'static> {
    let place = &raw mut LOG;
    // SAFETY: the boot hart calls this once. Only its trap handler uses the place again, and then
    // the code that held this reference never continues.
    let place = unsafe { &mut *place };
    place.insert(log)
}

/// Stores the harts where the trap handler finds them.
pub fn keep_harts(harts: Harts) -> &'static mut Harts {
    let place = &raw mut HARTS;
    // SAFETY: the same argument as for the log applies.
    let place = unsafe { &mut *place };
    place.insert(harts)
}

/// Prints and logs a refusal, then stops every hart, this one last. If another hart does not stop,
/// the machine is reset, because that hart must not continue.
pub fn refuse(reason: Reason, log: &mut Log<'_>, harts: Option<&mut Harts>) -> ! {
    console::refusal("loader", reason);
    log.push(&Entry { reason: reason as u32, ..step(Step::Refusal, clock::now()) });
    // A hart that did not start or stop in time is not awaited a second time.
    let is_out_of_control = matches!(reason, Reason::HartNotStarted | Reason::HartNotStopped)
        || harts.is_some_and(|harts| harts.stop().is_err());
    decryption::forget();
    if is_out_of_control {
        console::line(&["hartlock: a hart is out of control, resetting the machine"]);
        environment::reset();
    }
    if environment::IS_ALONE {
        log::print();
    }
    environment::give_up()
}

/// Stops a hart that is not the boot hart of the hand-off block; called by start.S. The hart stops
/// only itself, because log and pool belong to the boot hart. The payload-key page it overwrites: maybe no other hart
/// comes.
#[unsafe(no_mangle)]
extern "C" fn loader_wrong_hart() -> ! {
    decryption::forget_page();
    console::refusal("loader", Reason::WrongBootHart);
    environment::stop_self();
    hart::halt()
}

/// Handles a trap; called by start.S on the hart that trapped, with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn loader_trap(hart: usize, cause: u64, pc: u64, value: u64) -> ! {
    let is_boot_hart = BOOT_HART.load(Ordering::Acquire) == hart.wrapping_add(1);
    let traps = if is_boot_hart { TRAPS.fetch_add(1, Ordering::AcqRel) } else { 0 };
    if traps > 0 {
        // The refusal itself trapped and would trap again.
        if traps == 1 {
            let is_stopped = harts::stop_workers();
            decryption::forget();
            if !is_stopped {
                environment::reset();
            }
        }
        environment::stop_self();
        hart::halt()
    }
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
    if !is_boot_hart {
        // This is a worker: another hart redoes its block, and this hart gets no more work.
        harts::report_fault(hart);
        environment::stop_self();
        hart::halt()
    }
    // The disk is not reset: it may still write only to memory from which no code runs.
    let (log, harts) = (&raw mut LOG, &raw mut HARTS);
    // SAFETY: the code that held a reference has ended with the trap, and this code runs once.
    let log = unsafe { &mut *log };
    // SAFETY: the same argument as for the log applies.
    let harts = unsafe { &mut *harts };
    let log = log.get_or_insert_with(|| {
        // SAFETY: `begin` did not store a log before the trap, so this is the only user of the
        // log region.
        let region = unsafe { memory::bytes_mut(map::LOG) };
        let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: 0 };
        Log::start(region, &header)
    });
    refuse(Reason::UnexpectedTrap, log, harts.as_mut())
}
