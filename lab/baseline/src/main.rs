//! SHA-256 and HMAC-SHA-256 in software on a bare hart of the cycle-accurate machine: the baseline of
//! the fifth paper, BearSSL, and our own kernel. A line for each:
//!
//! ```text
//! count <who> <sha256|hmac-sha256> <bytes> <cycles> <instructions> <digest>
//! ```
//!
//! The message is byte i = i mod 251, the key byte i = 255 - i; the reader of the lines computes the
//! digests again.

#![no_std]
#![no_main]

mod bearssl;
mod hash;
mod ours;

use core::arch::{asm, global_asm};
use core::hint::black_box;

use hartlock_kernels::Kernels;
use hartlock_virt::kernels::{self, Mode};

use hash::Digest;

global_asm!(include_str!("../../../firmware/tests/bench/src/start.S"));

/// Bytes of the payloads (figure 2 of the paper).
const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
const KEY_LEN: usize = 32;

/// Registers of the machine (hw/soc/README.md).
const CONSOLE: usize = hartlock_virt::board::UART;
const END: usize = hartlock_virt::board::TEST;

static mut MESSAGE: [u8; 4096] = [0; 4096];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: one hart, and this is the only use.
    let message = unsafe { &mut *(&raw mut MESSAGE) };
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = (at % 251) as u8;
    }
    let key: [u8; KEY_LEN] = core::array::from_fn(|at| 255 - at as u8);
    let kernels = kernels::choose(Mode::Machine).kernels;
    for size in SIZES {
        let message = &message[..size];
        count("bearssl", "sha256", size, || bearssl::sha256(black_box(message)));
        count("bearssl", "hmac-sha256", size, || bearssl::HMAC(black_box(&key), black_box(message)));
        count_ours(&kernels, &key, message);
    }
    print("bench: done\n");
    end(0x5555)
}

fn count_ours(kernels: &Kernels, key: &[u8], message: &[u8]) {
    let size = message.len();
    count("hartlock", "sha256", size, || ours::sha256(kernels, black_box(message)));
    count("hartlock", "hmac-sha256", size, || {
        ours::hmac(kernels, black_box(key), black_box(message))
    });
}

/// Counts the second time: then code and message are in the caches as far as they fit.
fn count(who: &str, what: &str, bytes: usize, hash: impl Fn() -> Digest) {
    black_box(hash());
    let (start, start_cycles) = (instructions(), cycles());
    let digest = black_box(hash());
    let taken_cycles = cycles().wrapping_sub(start_cycles);
    let taken = instructions().wrapping_sub(start);
    for part in ["count ", who, " ", what, " "] {
        print(part);
    }
    for number in [bytes as u64, taken_cycles, taken] {
        decimal(number);
        print(" ");
    }
    for byte in digest {
        for digit in [byte >> 4, byte & 15] {
            put(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
    print("\n");
}

fn instructions() -> u64 {
    let count: u64;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

fn cycles() -> u64 {
    let count: u64;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nomem, nostack)) };
    count
}

fn put(byte: u8) {
    // SAFETY: the transmit register; it is always ready.
    unsafe { (CONSOLE as *mut u8).write_volatile(byte) };
}

fn print(text: &str) {
    text.bytes().for_each(put);
}

fn decimal(number: u64) {
    if number > 9 {
        decimal(number / 10);
    }
    put(b'0' + (number % 10) as u8);
}

/// Ends the machine.
fn end(code: u32) -> ! {
    // SAFETY: the test device of the board.
    unsafe { (END as *mut u32).write_volatile(code) };
    loop {
        // SAFETY: waits.
        unsafe { asm!("wfi") };
    }
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64) -> ! {
    print("bench: trapped, cause ");
    decimal(cause);
    print(" at ");
    decimal(pc);
    print("\n");
    end(1 << 16 | 0x3333)
}
