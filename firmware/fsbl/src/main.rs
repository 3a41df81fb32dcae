//! The first-stage loader on the machine `tee-1` (`hw/soc/README.md`): storage, engines, the secret of the device. With the
//! feature `virt` it is for QEMU `virt`, without engines (`virt/machine.rs`).
//!
//! M-mode, alone on the hart. It ends in the monitor, or in a refusal that ends the machine.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

#[cfg(not(any(feature = "no-engines", feature = "portable", feature = "virt")))]
mod engines;
#[cfg_attr(feature = "virt", path = "virt/identity.rs")]
mod identity;
#[cfg_attr(feature = "virt", path = "virt/machine.rs")]
mod machine;

use core::arch::global_asm;

use hartlock_fsbl::{
    Booted, Computer, Fault, HANDOVER_SIZE, Handover, HashEngine, Medium, Pages, SignEngine, boot,
};
use hartlock_image::{PAGE_SIZE, Reason};
use hartlock_kernels::Kernels;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, Mode};
use hartlock_virt::machine::end;

use machine::Machine;

global_asm!(include_str!("start.S"));

unsafe extern "C" {
    fn fsbl_leave(entry: u64, handover: u64) -> !;
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

#[unsafe(no_mangle)]
extern "C" fn fsbl_main() -> ! {
    let mut machine = Machine::new();
    machine.note("begins");
    let page = &raw mut PAGE;
    // SAFETY: this is its only user.
    let mut pages = Pages::new(unsafe { &mut (*page).0 });
    pages.begin(&mut machine);
    console::line(&["fsbl: begins"]);
    let kernels = if cfg!(feature = "portable") {
        Kernels::PORTABLE
    } else {
        kernels::choose(Mode::Machine).kernels
    };
    #[cfg(any(feature = "no-engines", feature = "portable", feature = "virt"))]
    let (hash, sign) = (None::<hartlock_fsbl::Never>, None::<hartlock_fsbl::Never>);
    #[cfg(not(any(feature = "no-engines", feature = "portable", feature = "virt")))]
    let (hash, sign) =
        (engines::Hash::take(), engines::Sign::take().filter(|_| !cfg!(feature = "no-signer")));
    machine.note("kernels chosen");
    let mut computer = Computer::untried(kernels, hash, sign);
    let booted = run(&mut machine, &mut computer, &mut pages);
    if !cfg!(feature = "quiet") {
        machine.print();
        print_faults(computer.fault());
    }
    let is_settled = machine.settle();
    match booted.and_then(|booted| is_settled.map(|()| booted)) {
        Ok(booted) => leave(&booted),
        Err(reason) => refuse(reason),
    }
}

fn run<H: HashEngine, S: SignEngine>(
    machine: &mut Machine,
    computer: &mut Computer<H, S>,
    pages: &mut Pages<'_>,
) -> Result<Booted, Reason> {
    let (acceptance, again) = (identity::requirements()?, identity::requirements_again()?);
    let metadata = &raw mut METADATA;
    // SAFETY: this is its only user.
    let metadata = unsafe { &mut *metadata };
    let mut medium = Medium::new(machine, computer, pages);
    boot(&mut medium, &acceptance, &again, &mut metadata.0, |_| machine::take_secret())
}

/// The second decision, then the monitor.
fn leave(booted: &Booted) -> ! {
    if !booted.verdict.is_confirmed() {
        refuse(Reason::VerdictNotConfirmed)
    }
    machine::close_pages();
    let record = machine::handover();
    let Some(record) = record.first_chunk_mut::<HANDOVER_SIZE>() else {
        refuse(Reason::InternalLimit)
    };
    Handover::encode(&booted.endorsement, record);
    console::line(&["fsbl: endorsed, entering the monitor"]);
    if !booted.verdict.is_confirmed() {
        refuse(Reason::VerdictNotConfirmed)
    }
    // SAFETY: does not return, so it does not matter that variables and stack are wiped; the monitor was verified where it is.
    unsafe { fsbl_leave(booted.entry, machine::HANDOVER.start) }
}

/// Nothing of the bundle runs, and the secret is out of reach.
fn refuse(reason: Reason) -> ! {
    machine::shut_secret();
    console::refusal("fsbl", reason);
    end(1)
}

/// Why software did the work of engines.
fn print_faults(faults: [Option<Fault>; 2]) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        let why = match fault {
            None => "by its engine",
            Some(Fault::Missing) => "in software, there is no engine",
            Some(Fault::WrongAnswer) => "in software, the engine answers wrong",
            Some(Fault::Failed) => "in software, the engine has failed",
            Some(Fault::Stuck) => "in software, the engine has failed and does not forget",
        };
        console::line(&["fsbl: ", name, " ", why]);
    }
}

/// Called by start.S on a fresh stack.
#[unsafe(no_mangle)]
extern "C" fn fsbl_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["\nhartlock: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    refuse(Reason::UnexpectedTrap)
}
