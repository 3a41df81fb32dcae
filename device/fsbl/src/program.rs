//! The first-stage loader on the machine `tee-1` (`hw/soc/README.md`): storage, engines, the secret of the device. With the
//! feature `virt` it is for QEMU `virt`, without engines (`virt/machine.rs`).
//!
//! M-mode, alone on the hart. It ends in the monitor, or in a refusal that ends the machine. A program defines what start.S
//! calls, `fsbl_main`, `fsbl_trap` and `fsbl_refused`, and is linked with `link.ld`.

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
#[cfg(not(feature = "virt"))]
use hartlock_stage::identity::linked as identity;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, Mode};
use hartlock_virt::machine::end;

use crate::{
    Booted, Computer, Endorsement, Fault, HANDOVER_SIZE, Handover, HashEngine, Medium, Never,
    Pages, SignEngine, boot,
};
use machine::Machine;

global_asm!(include_str!("program/start.S"));

/// What computes.
pub trait Form {
    /// The engine for SHA3-512.
    type Hash: HashEngine;
    /// The engine for Ed25519.
    type Sign: SignEngine;
    /// Whether a boot that goes well says nothing.
    const IS_QUIET: bool = false;

    /// What software computes with.
    // Out of line: what only this needs is off the stack when it has returned.
    #[inline(never)]
    fn kernels() -> Kernels {
        kernels::choose(Mode::Machine).kernels
    }

    /// Takes the engines, once.
    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>);

    /// Has the engines forget everything, whatever they do: for a boot that ends here.
    fn forget();
}

unsafe extern "C" {
    fn fsbl_leave(entry: u64, handover: u64, wiped_from: u64) -> !;
    fn fsbl_refuse(reason: Reason) -> !;
}

/// Signed region and signature area.
const METADATA_SIZE: usize = 24 << 10;

/// Memory that storage writes to, and what it has written: no secrets, so that it is neither cleared nor wiped.
#[repr(align(64))]
struct Aligned<const N: usize>([u8; N]);

#[unsafe(link_section = ".public")]
static mut METADATA: Aligned<METADATA_SIZE> = Aligned([0; METADATA_SIZE]);
#[unsafe(link_section = ".public")]
static mut PAGE: Aligned<{ PAGE_SIZE as usize }> = Aligned([0; PAGE_SIZE as usize]);

/// No engine.
pub struct Software;

impl Form for Software {
    type Hash = Never;
    type Sign = Never;

    fn engines() -> (Option<Never>, Option<Never>) {
        (None, None)
    }

    fn forget() {}
}

#[cfg(feature = "virt")]
pub use Software as Shipped;
#[cfg(feature = "machine")]
pub use engines::Engines as Shipped;

/// All of the loader.
pub fn run<F: Form>() -> ! {
    let mut machine = Machine::new();
    machine.note("begins");
    let page = &raw mut PAGE;
    // SAFETY: this is its only user.
    let mut pages = Pages::new(unsafe { &mut (*page).0 });
    pages.begin(&mut machine);
    // What was in memory before would count as used. A device has no use for this number, and less time.
    if !F::IS_QUIET {
        stack::wipe_unused();
    }
    tell::<F>("fsbl: begins");
    let kernels = F::kernels();
    let (hash, sign) = F::engines();
    machine.note("kernels chosen");
    let mut computer = Computer::untried(kernels, hash, sign);
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
            leave::<F>(&booted, &endorsement, is_wiped)
        }
        Err(reason) => refuse::<F>(reason),
    }
}

// Out of line, as `Form::kernels`.
#[inline(never)]
fn decide<H: HashEngine, S: SignEngine>(
    machine: &mut Machine,
    computer: &mut Computer<H, S>,
    pages: &mut Pages<'_>,
    endorsement: &mut Endorsement,
) -> Result<Booted, Reason> {
    // By reference: what is moved is on the stack twice.
    let acceptance = identity::requirements(&map::BOARD);
    let acceptance = acceptance.as_ref().map_err(|reason| *reason)?;
    let again = identity::requirements_again(&map::BOARD);
    let again = again.as_ref().map_err(|reason| *reason)?;
    let metadata = &raw mut METADATA;
    // SAFETY: this is its only user.
    let metadata = unsafe { &mut *metadata };
    let mut medium = Medium::new(machine, computer, pages);
    let secret = |_: &mut Machine| machine::take_secret();
    boot(&mut medium, acceptance, again, &mut metadata.0, endorsement, secret)
}

/// The second decision, then the monitor. `is_wiped` says that all of the stack was wiped when the device had its key, and that
/// no software did the work of engines after that.
fn leave<F: Form>(booted: &Booted, endorsement: &Endorsement, is_wiped: bool) -> ! {
    if !booted.verdict.is_confirmed() {
        refuse::<F>(Reason::VerdictNotConfirmed)
    }
    machine::close_pages();
    let record = machine::handover();
    let Some(record) = record.first_chunk_mut::<HANDOVER_SIZE>() else {
        refuse::<F>(Reason::InternalLimit)
    };
    Handover::encode(endorsement, record);
    tell::<F>("fsbl: endorsed, entering the monitor");
    if !booted.verdict.is_confirmed() {
        refuse::<F>(Reason::VerdictNotConfirmed)
    }
    let wiped_from = stack::dirty_from(is_wiped);
    // SAFETY: does not return, so it does not matter that variables and stack are wiped; the monitor was verified where it is.
    unsafe { fsbl_leave(booted.entry, machine::HANDOVER.start, wiped_from) }
}

/// Nothing of the bundle runs. The secret is out of reach, and nothing that was made of it is left in memory.
fn refuse<F: Form>(reason: Reason) -> ! {
    machine::shut_secret();
    // A trap may have left keys in them.
    F::forget();
    machine::handover().fill(0);
    // SAFETY: does not return, so it does not matter that the stack is wiped.
    unsafe { fsbl_refuse(reason) }
}

/// The end of a refusal: start.S calls it on an empty stack.
pub fn refused(reason: Reason) -> ! {
    console::refusal("fsbl", reason);
    end(1)
}

/// Prints what a boot says if all is well.
fn tell<F: Form>(text: &str) {
    if !F::IS_QUIET {
        console::line(&[text]);
    }
}

/// Why software did the work of engines.
fn print_faults(faults: [Option<Fault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        console::line(&["fsbl: ", name, " ", Fault::said(fault)]);
    }
}

/// Refuses after a trap: start.S calls it on a fresh stack.
pub fn trap<F: Form>(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["\nhartlock: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    refuse::<F>(Reason::UnexpectedTrap)
}
