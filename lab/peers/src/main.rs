//! Counts hashes of other projects on a bare hart, as the only program on QEMU `virt` or on the
//! cycle-accurate machine. It counts retired instructions in the same way as the bench. Each count is a
//! line:
//!
//! ```text
//! count <peer> <hash> <bytes> <instructions> <digest>
//! ```
//!
//! With the feature `soc`, cycles are added to the line. The instructions that a peer uses are selected when this
//! program is built. OpenSSL, which detects extensions at run time, is told them by the features of this program.

#![no_std]
#![no_main]

mod aws_lc;
mod hash;
#[cfg(linux)]
mod linux;
mod openssl;
mod rustcrypto;
mod wolfssl;

// These crates are not compiled for any target: the lab compiles the sources that they contain
// (lab/src/peers/libraries.rs).
#[cfg(any())]
use aws_lc_sys as _;
#[cfg(any())]
use openssl_src as _;
#[cfg(any())]
use wolfssl_sys as _;

use core::arch::{asm, global_asm};
use core::hint::black_box;

use hash::Hash;

global_asm!(include_str!("../../../verif/programs/bench/src/start.S"));

/// Message length in bytes, which is that of the bench; the message is made in the same way
/// (verif/programs/bench/src/kernels.rs).
const LEN: usize = if IS_SOC { 8 << 10 } else { 64 << 10 };
const SEED: u64 = 1;
/// Number of bytes that are hashed before a count, so that the code is in the caches.
const WARM_UP: usize = 1024;

/// Address and size of memory that nothing else uses, and which is larger than a data cache.
const OTHERS: usize = 0x8800_0000;
const OTHERS_LEN: usize = 64 << 10;

/// True on the cycle-accurate machine (hw/soc/README.md), false on QEMU.
const IS_SOC: bool = cfg!(feature = "soc");
/// Addresses of the transmit register of the UART, and of the test device.
const CONSOLE: usize = if IS_SOC { 0x1100_0000 } else { 0x1000_0000 };
const END: usize = if IS_SOC { 0x1200_0000 } else { 0x10_0000 };
/// Hashes that are not counted on the cycle-accurate machine, where every hash takes seconds. They
/// share their code with others.
const LEFT_OUT: &[&str] = if IS_SOC { &["sha512", "sha3-512"] } else { &[] };

static mut MESSAGE: [u64; LEN / 8] = [0; LEN / 8];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: there is one hart, and this is the only use.
    let words = unsafe { &mut *(&raw mut MESSAGE) };
    let mut state = SEED << 32;
    for word in words.iter_mut() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = (mixed ^ (mixed >> 31)).to_le();
    }
    // SAFETY: the slice has the same bytes as `words`, which is not written any more.
    let message = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), LEN) };
    for (peer, hashes) in [
        ("rustcrypto", rustcrypto::HASHES),
        ("openssl", openssl::HASHES),
        ("wolfssl", wolfssl::HASHES),
        ("aws-lc", aws_lc::HASHES),
        #[cfg(linux)]
        ("linux", linux::HASHES),
    ] {
        // The assembly of wolfSSL 5.9.4 for vectors is for registers of 128 bits. With longer ones its SHA-2 computes another
        // digest and writes past its buffers.
        if peer == "wolfssl" && cfg!(feature = "zvknh") && openssl::riscv_vlen() != 128 {
            continue;
        }
        for (name, hash) in hashes.iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
            // Where cycles are counted, two lengths are hashed: their difference is the cost of a
            // further byte.
            if IS_SOC {
                count(peer, name, *hash, &message[..LEN / 2]);
            }
            count(peer, name, *hash, message);
        }
    }
    print("bench: done\n");
    end(0x5555)
}

fn count(peer: &str, name: &str, hash: Hash, message: &[u8]) {
    let mut digest = [0; 64];
    hash(black_box(&message[..WARM_UP]), &mut digest);
    fill_data_cache();
    let mut digest = [0; 64];
    let (start, start_cycles) = (instructions(), cycles());
    hash(black_box(message), &mut digest);
    let taken = instructions().wrapping_sub(start);
    let taken_cycles = cycles().wrapping_sub(start_cycles);
    for part in ["count ", peer, " ", name, " "] {
        print(part);
    }
    decimal(message.len() as u64);
    print(" ");
    decimal(taken);
    print(" ");
    for byte in digest {
        for digit in [byte >> 4, byte & 15] {
            put(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
    if IS_SOC {
        print(" ");
        decimal(taken_cycles);
    }
    print("\n");
}

/// Reads enough other memory that no part of the message stays in the cache, as for a payload that
/// comes from a disk.
fn fill_data_cache() {
    // SAFETY: this is memory of the board that nothing writes.
    let others = unsafe { core::slice::from_raw_parts(OTHERS as *const u8, OTHERS_LEN) };
    black_box(others.iter().step_by(64).fold(0, |sum: u8, byte| sum ^ byte));
}

fn instructions() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

/// Returns the cycle counter, which has no meaning on QEMU.
fn cycles() -> u64 {
    let count: u64;
    // SAFETY: the instruction reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nomem, nostack)) };
    count
}

fn put(byte: u8) {
    // SAFETY: the address is the transmit register, which is always ready.
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

/// Ends the simulation.
fn end(code: u32) -> ! {
    // SAFETY: the address is the test device of the board.
    unsafe { (END as *mut u32).write_volatile(code) };
    loop {
        // SAFETY: the instruction only waits.
        unsafe { asm!("wfi") };
    }
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64) -> ! {
    print("peers: trap ");
    decimal(cause);
    print(" at ");
    decimal(pc);
    print("\n");
    end(0x1_3333)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    print("peers: panic\n");
    end(0x1_3333)
}
