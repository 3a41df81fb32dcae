//! Counts SHA-256, HMAC-SHA-256, AES-256-CBC and RSA in software on a bare hart of the cycle-accurate machine. This is
//! the baseline of the fifth paper: BearSSL, and for hashes and AES also this project's kernels. Each count is a line:
//!
//! ```text
//! count <who> <what> <bytes> <cycles> <instructions> <result>
//! ```
//!
//! The result is a digest, a digest of the AES ciphertext with its tag, or the whole result of RSA. Operands are in
//! `verif/programs/accelerator/src/operands.rs`; the reader of the lines computes the results again. `HARTLOCK_PART`
//! selects the part that is compiled.

#![no_std]
#![no_main]

mod bearssl;
mod bearssl_aes;
mod bearssl_modes;
mod bearssl_rsa;
mod ciphers;
mod console;
mod counted;
mod hash;
#[path = "../../../verif/programs/accelerator/src/operands.rs"]
mod operands;
mod ours;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_kernels::Kernels;
use hartlock_virt::kernels::{self, PrivilegeMode};

use console::{decimal, end, print};
use counted::Count;
use hash::Digest;
use operands::SIZES;

global_asm!(include_str!("../../../verif/programs/bench/src/start.S"));

const KEY_LEN: usize = 32;
/// The counted part: `hashes`; `ciphers`; `modes` of AES other than CBC; `chosen` implementations; or `quick`, which is
/// all hashes and the ciphers that take few cycles.
const PART: &str = env!("HARTLOCK_PART");

static mut MESSAGE: [u8; 4096] = [0; 4096];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let kernels = kernels::choose(PrivilegeMode::Machine).kernels;
    match PART {
        "hashes" => hashes(&kernels),
        "ciphers" => ciphers::all(&kernels),
        "modes" => ciphers::modes(&kernels),
        "chosen" => ciphers::chosen(&kernels),
        "quick" => {
            hashes(&kernels);
            ciphers::quick(&kernels);
        }
        _ => end(1 << 16 | 0x3333),
    }
    print("bench: done\n");
    end(0x5555)
}

fn hashes(kernels: &Kernels) {
    // SAFETY: there is one hart, and this is the only use.
    let message = unsafe { &mut *(&raw mut MESSAGE) };
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = operands::payload_byte(at);
    }
    let key: [u8; KEY_LEN] = core::array::from_fn(operands::key_byte);
    for size in SIZES {
        let message = &message[..size];
        count("bearssl", "sha256", size, || bearssl::sha256(black_box(message)));
        count("bearssl", "hmac-sha256", size, || {
            bearssl::HMAC(black_box(&key), black_box(message))
        });
        count("hartlock", "sha256", size, || ours::sha256(kernels, black_box(message)));
        count("hartlock", "hmac-sha256", size, || {
            ours::hmac(kernels, black_box(&key), black_box(message))
        });
    }
}

/// Counts the second of two executions, for which code and message are in the caches as far as they fit.
fn count(who: &str, what: &str, bytes: usize, hash: impl Fn() -> Digest) {
    black_box(hash());
    let begin = Count::begin();
    let digest = black_box(hash());
    begin.end().report(who, what, bytes, &digest);
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
