//! The bench on the board `qemu-virt` or on the cycle-accurate machine, in M-mode on one hart without other software.
//! Only job 6 uses other harts, of the cycle-accurate machine. QEMU starts the program as `-bios`. It does the job of the
//! pack at [`PACK`] and ends the machine, with exit code 0 if the job was completed.
//!
//! Results are printed on the console; the program that started the machine compares them.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod jobs;

use core::arch::global_asm;

use hartlock_jobs::pack::{
    HEADER_SIZE, Header, JOB_CIPHERS, JOB_FIRST_STAGE, JOB_KAT, JOB_KERNELS, JOB_VECTORS,
    JOB_WALNUT,
};
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::{console, machine, memory};

// Other harts work for this program.
global_asm!(".equ HAS_CREW, 1", include_str!("start.S"));

/// Address of the pack, far after the program (link.ld).
const PACK: u64 = map::RAM.start + (256 << 20);
/// Maximum size of a pack's body in bytes. The machine has 256 MiB of RAM from [`PACK`] on.
const MAX_BODY_SIZE: u64 = 128 << 20;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: this is memory of this board that nothing writes to after the start.
    let header = unsafe { memory::bytes(Region::new(PACK, HEADER_SIZE as u64)) };
    let Some(header) = Header::parse(header).filter(|header| header.body_size <= MAX_BODY_SIZE)
    else {
        fail("there is no pack");
    };
    let body = Region::new(PACK.saturating_add(HEADER_SIZE as u64), header.body_size);
    // SAFETY: nothing writes to this memory, either, and the size was checked.
    let body = unsafe { memory::bytes(body) };
    let is_done = match header.job {
        JOB_VECTORS => jobs::vectors::run(header.count, body),
        JOB_KERNELS => jobs::kernels::run(header.count, body),
        JOB_KAT => jobs::kat::run(header.count, body),
        JOB_CIPHERS => jobs::ciphers::run(header.count, body),
        JOB_FIRST_STAGE => jobs::first_stage::run(header.count, body),
        JOB_WALNUT => jobs::walnut::run(header.count, body),
        _ => fail("the job is unknown"),
    };
    if !is_done {
        fail("the pack is malformed");
    }
    console::line(&["bench: done"]);
    machine::end(0)
}

/// The entry of any other hart, when it is woken for the first time.
#[unsafe(no_mangle)]
extern "C" fn bench_hart(hart: usize) -> ! {
    jobs::crew::serve(hart)
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(console::Number::hex);
    let [cause, pc, value] = text.each_ref().map(console::Number::as_str);
    console::line(&["bench: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}

fn fail(why: &str) -> ! {
    console::line(&["bench: ", why]);
    machine::end(1)
}
