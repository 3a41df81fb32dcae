//! Hashes of other projects on a bare hart, alone on QEMU `virt` or on the cycle-accurate machine,
//! counted in retired instructions as the bench counts ours. A line for each:
//!
//! ```text
//! count <peer> <hash> <bytes> <instructions> <digest>
//! ```
//!
//! With the feature `soc` it ends with cycles. Which instructions a peer uses is decided when this
//! program is built, and for OpenSSL by the feature `vectors`, because that one detects it at run time.

#![no_std]
#![no_main]

mod aws_lc;
mod hash;
mod openssl;
mod rustcrypto;
mod wolfssl;

// For no target: the lab compiles the sources that these carry (lab/src/peers/libraries.rs).
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

/// As long as what the bench counts, made the same way (verif/programs/bench/src/kernels.rs).
const LEN: usize = if IS_SOC { 8 << 10 } else { 64 << 10 };
const SEED: u64 = 1;
/// What is hashed before something is counted, so that code is in the caches.
const WARM_UP: usize = 1024;

/// Memory that nothing else uses, more than a data cache holds.
const OTHERS: usize = 0x8800_0000;
const OTHERS_LEN: usize = 64 << 10;

/// The cycle-accurate machine (hw/soc/README.md) instead of QEMU.
const IS_SOC: bool = cfg!(feature = "soc");
/// The transmit register of the UART, and the test device.
const CONSOLE: usize = if IS_SOC { 0x1100_0000 } else { 0x1000_0000 };
const END: usize = if IS_SOC { 0x1200_0000 } else { 0x10_0000 };
/// Every hash takes seconds there, and these share their kernels with others.
const LEFT_OUT: &[&str] = if IS_SOC { &["sha512", "sha3-512"] } else { &[] };

static mut MESSAGE: [u64; LEN / 8] = [0; LEN / 8];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: one hart, and this is the only use.
    let words = unsafe { &mut *(&raw mut MESSAGE) };
    let mut state = SEED << 32;
    for word in words.iter_mut() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = (mixed ^ (mixed >> 31)).to_le();
    }
    // SAFETY: the same bytes.
    let message = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), LEN) };
    for (peer, hashes) in [
        ("rustcrypto", rustcrypto::HASHES),
        ("openssl", openssl::HASHES),
        ("wolfssl", wolfssl::HASHES),
        ("aws-lc", aws_lc::HASHES),
    ] {
        for (name, hash) in hashes.iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
            // Two lengths where cycles are counted: their difference is the cost of a further byte.
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

/// Reads so much else that no message is left in the cache: a payload comes from a disk, too.
fn fill_data_cache() {
    // SAFETY: memory of the board that nothing writes to.
    let others = unsafe { core::slice::from_raw_parts(OTHERS as *const u8, OTHERS_LEN) };
    black_box(others.iter().step_by(64).fold(0, |sum: u8, byte| sum ^ byte));
}

fn instructions() -> u64 {
    let count: u64;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

/// On QEMU they mean nothing.
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
