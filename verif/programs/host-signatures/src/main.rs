//! Signatures in software on one hart of the cycle-accurate machine. The program computes roots of hash-based
//! signatures (`roots.rs`) or, with the feature `numbers`, verdicts on RSA and ECDSA signatures (`numbers.rs`). It
//! prints a line for each in the format of `rot-signatures` and `rot-crypto`. A root is computed twice, and the second
//! run is measured, because code and data are in the caches then.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod numbers;
mod roots;
mod timed;

use core::arch::global_asm;

use hartlock_kat::roots::OFFSET;
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, PrivilegeMode};
use hartlock_virt::{machine, memory};

global_asm!(include_str!("../../bench/src/start.S"));

/// Size in bytes of the memory for the cases, which is more than all of them need.
const ROOM: u64 = 1 << 20;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let kernels = kernels::choose(PrivilegeMode::Machine).kernels;
    // SAFETY: the workstation has filled this memory, and nothing writes to it.
    let cases = unsafe { memory::bytes(Region::new(map::RAM.start.saturating_add(OFFSET), ROOM)) };
    match judge_all(&kernels, cases) {
        Some(()) => machine::end(0),
        None => {
            console::line(&["host-signatures: the cases do not have their form"]);
            machine::end(1)
        }
    }
}

fn judge_all(kernels: &Kernels, cases: &[u8]) -> Option<()> {
    let (count, mut rest) = cases.split_first_chunk()?;
    for number in 0..u64::from_le_bytes(*count) {
        rest = if cfg!(feature = "numbers") {
            numbers::judge(kernels, number, rest)?
        } else {
            roots::judge(kernels, number, rest)?
        };
    }
    Some(())
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["host-signatures: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}
