//! Roots of hash-based signatures in software, on one hart of the cycle-accurate machine. Each case is computed twice, and
//! the second run counts: code and data are in the caches then. A line for each, as that of `rot-signatures`:
//!
//! ```text
//! sig <number> <cycles> 0 <root>
//! ```

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_kat::roots::{Case, HEAD_LEN, Head, OFFSET};
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{self, Mode};
use hartlock_virt::{machine, memory, soc};

global_asm!(include_str!("../../bench/src/start.S"));

/// More than all cases take.
const ROOM: u64 = 1 << 20;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let kernels = kernels::choose(Mode::Machine).kernels;
    // SAFETY: memory that the workstation has filled, and that nothing writes to.
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
        let (head, body) = rest.split_first_chunk::<HEAD_LEN>()?;
        let head = Head::decode(head)?;
        let (body, after) = body.split_at_checked(head.body_len())?;
        rest = after;
        judge(kernels, number, &head.case(body)?)?;
    }
    Some(())
}

fn judge(kernels: &Kernels, number: u64, case: &Case<'_>) -> Option<()> {
    let run = || {
        let start = soc::cycles();
        let comparison = black_box(case).compare(kernels).ok()?;
        Some((comparison, soc::cycles().saturating_sub(start)))
    };
    let _ = run()?;
    let (comparison, cycles) = run()?;
    let numbers = [number, cycles].map(Number::decimal);
    let [number, cycles] = numbers.each_ref().map(Number::as_str);
    ["sig ", number, " ", cycles, " 0 "].into_iter().for_each(console::print);
    for byte in comparison.computed.iter().take(case.root_len()) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or_default();
        let digits = [digit(byte >> 4), digit(*byte)];
        console::print(core::str::from_utf8(&digits).unwrap_or_default());
    }
    console::line(&[""]);
    Some(())
}

/// Called by start.S on a fresh stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["host-signatures: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}
