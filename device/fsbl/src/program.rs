//! The first-stage boot loader on the machine `tee-1` (`hw/soc/README.md`): storage, engines and the secret of the
//! device. With the feature `virt` the program is for QEMU `virt`, without engines (`virt/machine.rs`).
//!
//! The loader runs in M-mode on a single hart. It ends in the monitor, or in a refusal that ends the machine. A program
//! defines the functions that start.S calls (`fsbl_main`, `fsbl_trap` and `fsbl_refused`) and is linked with `link.ld`.

#[cfg(feature = "machine")]
pub mod engines;
#[cfg(feature = "virt")]
#[path = "program/virt/identity.rs"]
mod identity;
#[cfg_attr(feature = "virt", path = "program/virt/machine.rs")]
mod machine;
mod stack;

use core::arch::global_asm;

use hartlock_image::{PAGE_SIZE, Reason};
use hartlock_kernels::Kernels;
use hartlock_kernels::engines::{EngineFault, Engines, NoEngines};
#[cfg(not(feature = "virt"))]
use hartlock_stage::identity::linked as identity;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, PrivilegeMode};
use hartlock_virt::machine::end;

use crate::{Booted, Computer, Endorsement, HANDOVER_SIZE, Handover, Medium, Pages, boot};
#[cfg(not(feature = "virt"))]
use machine::TeeMachine as Machine;
#[cfg(feature = "virt")]
use machine::VirtMachine as Machine;

global_asm!(include_str!("program/start.S"));

/// The selection of engines and kernels of a program.
pub trait Form {
    /// The engines.
    type Engines: Engines + 'static;
    /// True if a successful boot prints nothing.
    const IS_QUIET: bool = false;

    /// Returns the kernels that software uses.
    // The function is not inlined, so that its variables are off the stack when it has returned.
    #[inline(never)]
    fn kernels() -> Kernels {
        kernels::choose(PrivilegeMode::Machine).kernels
    }

    /// Takes the engines, once.
    fn engines() -> Self::Engines;

    /// Clears all engines, in whatever state they are. A boot that is refused calls this.
    fn forget();
}

unsafe extern "C" {
    fn fsbl_leave(entry: u64, handover: u64, wiped_from: u64) -> !;
    fn fsbl_refuse(reason: Reason) -> !;
}

/// Maximum size in bytes of signed region and signature area.
const METADATA_SIZE: usize = 24 << 10;

/// Memory for the data that storage writes. It contains no secrets, so it is neither cleared at the start nor wiped.
#[repr(align(64))]
struct Aligned<const N: usize>([u8; N]);

#[unsafe(link_section = ".public")]
static mut METADATA: Aligned<METADATA_SIZE> = Aligned([0; METADATA_SIZE]);
#[unsafe(link_section = ".public")]
static mut PAGE: Aligned<{ PAGE_SIZE as usize }> = Aligned([0; PAGE_SIZE as usize]);

/// A program without engines.
pub struct Software;

impl Form for Software {
    type Engines = NoEngines;

    fn engines() -> NoEngines {
        NoEngines
    }

    fn forget() {}
}

#[cfg(feature = "virt")]
pub use Software as Shipped;
#[cfg(feature = "machine")]
pub use engines::TeeEngines as Shipped;

/// Runs the whole loader.
pub fn run<F: Form>() -> ! {
    let mut machine = Machine::new();
    machine.note("begins");
    let page = &raw mut PAGE;
    // SAFETY: this is the only user of the page.
    let mut pages = Pages::new(unsafe { &mut (*page).0 });
    pages.begin(&mut machine);
    // Earlier data in memory would be counted as used stack. A device does not need this number and has to save time.
    if !F::IS_QUIET {
        stack::wipe_unused();
    }
    tell::<F>("fsbl: begins");
    let kernels = F::kernels();
    let engines = F::engines();
    let engines = &raw const engines;
    // SAFETY: this function does not return, so that the value stays as long as the program runs.
    let engines: &'static F::Engines = unsafe { &*engines };
    machine.note("kernels chosen");
    let mut computer = Computer::untried(kernels.join(engines));
    let mut endorsement = Endorsement::EMPTY;
    let booted = decide(&mut machine, &mut computer, &mut pages, &mut endorsement);
    if !F::IS_QUIET {
        let late = stack::wipe_unused();
        machine.print();
        print_faults(computer.fault());
        let early = machine.stack_used().unwrap_or(late);
        let used = [early, late].map(Number::decimal);
        let [early, late] = used.each_ref().map(Number::as_str);
        console::line(&["fsbl: used ", early, " bytes of stack, ", late, " late"]);
    }
    let is_settled = machine.settle();
    match booted.and_then(|booted| is_settled.map(|()| booted)) {
        Ok(booted) => {
            let is_wiped = machine.stack_used().is_some() && computer.fault() == [None; 2];
            leave::<F>(&booted, &mut endorsement, is_wiped)
        }
        Err(reason) => {
            endorsement.wipe();
            refuse::<F>(reason)
        }
    }
}

// The function is not inlined, for the same reason as `Form::kernels`.
#[inline(never)]
fn decide(
    machine: &mut Machine,
    computer: &mut Computer,
    pages: &mut Pages<'_>,
    endorsement: &mut Endorsement,
) -> Result<Booted, Reason> {
    // The requirements are used by reference, because moving them would put a second copy on the stack.
    let acceptance = identity::requirements(&map::BOARD);
    let acceptance = acceptance.as_ref().map_err(|reason| *reason)?;
    let again = identity::requirements_again(&map::BOARD);
    let again = again.as_ref().map_err(|reason| *reason)?;
    let metadata = &raw mut METADATA;
    // SAFETY: this is the only user of the buffer.
    let metadata = unsafe { &mut *metadata };
    let mut medium = Medium::new(machine, computer, pages);
    boot(&mut medium, acceptance, again, &mut metadata.0, endorsement, |_, secret| {
        machine::take_secret(secret)
    })
}

/// Takes the second decision and enters the monitor. `is_wiped` is true if the whole stack was wiped when the device
/// had its key, and software did no work of the engines afterwards.
fn leave<F: Form>(booted: &Booted, endorsement: &mut Endorsement, is_wiped: bool) -> ! {
    if !booted.verdict.is_confirmed() {
        endorsement.wipe();
        refuse::<F>(Reason::VerdictNotConfirmed)
    }
    machine::close_pages();
    if let Some(record) = machine::handover().first_chunk_mut::<HANDOVER_SIZE>() {
        Handover::encode(endorsement, record);
    }
    // This function does not return, so that nothing is dropped.
    endorsement.wipe();
    tell::<F>("fsbl: endorsed, entering the monitor");
    if !booted.verdict.is_confirmed() {
        refuse::<F>(Reason::VerdictNotConfirmed)
    }
    let wiped_from = stack::dirty_from(is_wiped);
    // SAFETY: the call does not return, so it does not matter that variables and stack are wiped; the monitor was
    // verified in place.
    unsafe { fsbl_leave(booted.entry, machine::HANDOVER.start, wiped_from) }
}

/// Refuses the boot: no code of the bundle is executed. The secret is closed, and no data derived from it is left in
/// memory.
fn refuse<F: Form>(reason: Reason) -> ! {
    machine::shut_secret();
    // After a trap the engines may hold keys.
    F::forget();
    machine::handover().fill(0);
    // SAFETY: the call does not return, so it does not matter that the stack is wiped.
    unsafe { fsbl_refuse(reason) }
}

/// Prints a refusal and ends the machine. start.S calls this function with an empty stack.
pub fn refused(reason: Reason) -> ! {
    console::refusal("fsbl", reason);
    end(1)
}

/// Prints a text of a successful boot.
fn tell<F: Form>(text: &str) {
    if !F::IS_QUIET {
        console::line(&[text]);
    }
}

/// Prints the reasons why software replaced engines.
fn print_faults(faults: [Option<EngineFault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        console::line(&["fsbl: ", name, " ", EngineFault::said(fault)]);
    }
}

/// Refuses after a trap. start.S calls this function with an empty stack.
pub fn trap<F: Form>(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["\nhartlock: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    refuse::<F>(Reason::UnexpectedTrap)
}
